//! Until when the certificates are valid that this process has from files: those for Postgres. The
//! server itself ends no TLS; the proxy before it watches its own.

use std::ffi::OsString;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use metrics::{Unit, describe_gauge, gauge};
use recado_core::Timestamp;

use super::der::valid_until;
use crate::options::{DatabaseLocation, Options};

const LEFT: &str = "recado_certificate_seconds_left";
/// The longest file that is read.
const LONGEST: u64 = 1024 * 1024;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

pub(super) fn describe() {
    describe_gauge!(
        LEFT,
        Unit::Seconds,
        "For how long a certificate for the database is still valid; less than 0 when it has ended."
    );
}

/// Which certificate of a file decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decides {
    /// The first: the others lead to its authority.
    First,
    /// The one that is valid for the longest time: an authority's next one is added to the file
    /// before its last one ends.
    Last,
}

/// The files of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Certificates(Vec<(&'static str, Decides, PathBuf)>);

impl Certificates {
    /// The files that the options name.
    pub(crate) fn of(options: &Options, env: impl Fn(&str) -> Option<OsString>) -> Self {
        let DatabaseLocation::Postgres(url) = &options.database else { return Self(Vec::new()) };
        let files = [
            ("postgres_client", Decides::First, "sslcert", "PGSSLCERT"),
            ("postgres_root", Decides::Last, "sslrootcert", "PGSSLROOTCERT"),
        ];
        let named = files.into_iter().filter_map(|(label, decides, keyword, variable)| {
            let path = parameter(url.expose(), keyword).map(PathBuf::from);
            let path = path.or_else(|| env(variable).map(PathBuf::from))?;
            // `system` is not a file, but the roots of the operating system.
            let is_file = !path.as_os_str().is_empty() && path.as_os_str() != "system";
            is_file.then_some((label, decides, path))
        });
        Self(named.collect())
    }

    /// Sets for how long each is valid. A file that cannot be read has no value: the connection to
    /// the database says why. It blocks for a moment.
    pub(crate) fn record(&self, now: Timestamp) {
        for (certificate, decides, path) in &self.0 {
            let is_short = std::fs::metadata(path).is_ok_and(|found| found.len() <= LONGEST);
            let Some(text) = is_short.then(|| std::fs::read_to_string(path).ok()).flatten() else {
                continue;
            };
            let Some(end) = end_of(&text, *decides) else { continue };
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let left = (end.millis() - now.millis()) as f64 / 1000.0;
            gauge!(LEFT, "certificate" => *certificate).set(left);
        }
    }
}

/// Until when the certificates of a PEM file are valid.
fn end_of(pem: &str, decides: Decides) -> Option<Timestamp> {
    let mut ends = pem.split(BEGIN).skip(1).filter_map(|rest| {
        let (base64, _) = rest.split_once(END)?;
        let base64: String = base64.split_ascii_whitespace().collect();
        valid_until(&STANDARD.decode(base64).ok()?)
    });
    match decides {
        Decides::First => ends.next(),
        Decides::Last => ends.max(),
    }
}

/// A parameter of a connection string: of the query of a URL, or a `key=value` of a list.
fn parameter(url: &str, name: &str) -> Option<String> {
    let is_url = url.starts_with("postgres://") || url.starts_with("postgresql://");
    let pairs: Vec<&str> = match is_url {
        true => url.split_once('?')?.1.split('&').collect(),
        false => url.split_whitespace().collect(),
    };
    let found = pairs.into_iter().rev().find_map(|pair| {
        pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value)
    })?;
    Some(if is_url { percent_decoded(found) } else { found.trim_matches('\'').to_owned() })
}

/// A text with its `%XX` replaced. What is no UTF-8 then names no file that is found.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use recado_core::secret::SecretText;

    use super::super::der::tests::certificate;
    use super::*;

    fn pem(until: &str) -> String {
        format!("{BEGIN}\n{}\n{END}\n", STANDARD.encode(certificate(true, 0x17, until)))
    }

    fn at(text: &str) -> Option<Timestamp> {
        Some(Timestamp::parse(text).expect("a time"))
    }

    /// R281.
    #[test]
    fn a_chain_ends_with_its_first_certificate_and_roots_with_their_last() {
        let text = format!(
            "a comment\n{}{}{}",
            pem("300101000000Z"),
            pem("400101000000Z"),
            pem("350101000000Z")
        );
        assert_eq!(end_of(&text, Decides::First), at("2030-01-01T00:00:00Z"));
        assert_eq!(end_of(&text, Decides::Last), at("2040-01-01T00:00:00Z"));
        for nothing in ["", BEGIN, "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----"] {
            assert_eq!(end_of(nothing, Decides::First), None);
        }
    }

    /// R281.
    #[test]
    fn files_are_named_by_the_address_of_the_database_or_the_environment() {
        let files = |database: &str, env: &'static [(&str, &str)]| {
            let database = match database.strip_prefix("sqlite:") {
                Some(path) => DatabaseLocation::Sqlite(path.into()),
                None => DatabaseLocation::Postgres(SecretText::new(database)),
            };
            let options = Options { database, ..Options::default() };
            let known = move |name: &str| {
                let found = env.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let all = Certificates::of(&options, known).0.into_iter();
            all.map(|(label, _, path)| (label, path.display().to_string())).collect::<Vec<_>>()
        };
        let pair = |label, path: &str| (label, path.to_owned());
        let url = "postgres://db/recado?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem";
        assert_eq!(files(url, &[]), [pair("postgres_root", "/etc/ca.pem")]);
        assert_eq!(
            files(url, &[("PGSSLCERT", "/me.pem"), ("PGSSLROOTCERT", "/other.pem")]),
            [pair("postgres_client", "/me.pem"), pair("postgres_root", "/etc/ca.pem")]
        );
        assert_eq!(files("postgres://db/recado?sslrootcert=system", &[]), []);
        assert_eq!(files("sqlite:recado.db", &[("PGSSLCERT", "/me.pem")]), []);
    }
}
