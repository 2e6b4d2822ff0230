//! The parsed values of options: storages, addresses, lists.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use ipnet::IpNet;
use recado_core::Cell;
use recado_core::secret::SecretText;
use recado_store_postgres::ConnectionParameters;

/// Which database.
#[derive(Clone)]
pub enum DatabaseLocation {
    /// An SQLite file.
    Sqlite(PathBuf),
    /// A Postgres server; the address may carry a password.
    Postgres(SecretText),
}

impl FromStr for DatabaseLocation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            ConnectionParameters::check(text)
                .map_err(|error| format!("is no Postgres address: {error}"))?;
            return Ok(Self::Postgres(SecretText::new(text)));
        }
        let Some(path) = text.strip_prefix("sqlite:") else {
            return Err("must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE".to_owned());
        };
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() || path == ":memory:" {
            return Err("needs a file, such as sqlite:recado.db".to_owned());
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }
}

impl fmt::Debug for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(_) => f.write_str("postgres://***"),
        }
    }
}

/// Where the bytes of documents are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentStorage {
    /// A folder.
    Folder(PathBuf),
    /// An S3-compatible bucket.
    S3 {
        /// The bucket.
        bucket: String,
        /// The prefix of every key; may be empty.
        prefix: String,
    },
}

impl FromStr for DocumentStorage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("file:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => Err("needs a folder, such as file:recado-documents".to_owned()),
                path => Ok(Self::Folder(PathBuf::from(path))),
            };
        }
        let Some(rest) = text.strip_prefix("s3://") else {
            return Err("must be file:PATH or s3://BUCKET/PREFIX".to_owned());
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err("needs a bucket, such as s3://bucket/prefix".to_owned());
        }
        if cfg!(not(feature = "s3")) {
            return Err("names a bucket, and this build has no S3 support; build with \
                        --features s3, or use file:PATH"
                .to_owned());
        }
        Ok(Self::S3 { bucket: bucket.to_owned(), prefix: prefix.trim_matches('/').to_owned() })
    }
}

/// An address to listen on; `localhost` counts as 127.0.0.1.
pub(super) fn read_listen(text: &str) -> Result<SocketAddr, String> {
    let numeric = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    numeric
        .parse()
        .map_err(|_| "must be an IP address and a port, such as 127.0.0.1:8080".to_owned())
}

/// A base URL without a slash at the end.
pub(super) fn read_base_url(text: &str) -> Result<String, String> {
    let trimmed = text.trim().trim_end_matches('/');
    let host = trimmed.strip_prefix("https://").or_else(|| trimmed.strip_prefix("http://"));
    let bad = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#' | '@');
    match host {
        Some(host) if !host.is_empty() && !host.starts_with('/') && !host.contains(bad) => {
            Ok(trimmed.to_owned())
        }
        _ => Err("must be a base URL such as https://recado.example.com".to_owned()),
    }
}

/// Networks in CIDR notation, or single addresses, with commas between them.
pub(super) fn read_networks(text: &str) -> Result<Vec<IpNet>, String> {
    read_list(text)
        .map(|entry| {
            entry
                .parse::<IpNet>()
                .or_else(|_| entry.parse::<IpAddr>().map(IpNet::from))
                .map_err(|_| format!("holds {entry:?}, which is no network such as 10.0.0.0/8"))
        })
        .collect()
}

/// The entries of a list with commas between them; blank ones do not count.
pub(super) fn read_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

/// A switch.
pub(super) fn read_switch(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

/// The number of an installation (D3).
pub(crate) fn read_cell(text: &str) -> Result<Cell, String> {
    let cell = text.trim().parse().ok().and_then(Cell::new);
    cell.ok_or_else(|| format!("must be a number from 0 to {}", Cell::MAX))
}

/// How many connections to keep. Fewer than four would make reads wait for commits, of which two
/// are under way at once, and for upkeep (R465).
pub(super) fn read_connections(text: &str) -> Result<usize, String> {
    let count = text.trim().parse().ok().filter(|count| (4..=500).contains(count));
    count.ok_or_else(|| "must be a number from 4 to 500".to_owned())
}

/// The part of group codes after `@`.
pub(super) fn read_group_suffix(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if text.is_empty() || text.len() > 100 || !text.chars().all(allowed) {
        return Err("must be letters, digits, dots or hyphens, such as g.us".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_a_file_or_a_server() {
        for (text, path) in [
            ("sqlite:recado.db", "recado.db"),
            ("sqlite:/var/lib/recado.db", "/var/lib/recado.db"),
            ("sqlite:///var/lib/recado.db", "/var/lib/recado.db"),
        ] {
            let Ok(DatabaseLocation::Sqlite(read)) = text.parse() else { panic!("{text}") };
            assert_eq!(read, PathBuf::from(path));
        }
        assert!(matches!("postgres://a@b/c".parse(), Ok(DatabaseLocation::Postgres(_))));
        assert!(matches!("postgresql://a@b/c".parse(), Ok(DatabaseLocation::Postgres(_))));
        for text in
            ["", "recado.db", "sqlite:", "sqlite::memory:", "mysql://a@b/c", "postgres://b:x/c"]
        {
            assert!(text.parse::<DatabaseLocation>().is_err(), "{text}");
        }
    }

    /// R465.
    #[test]
    fn a_process_has_four_connections_or_more() {
        assert_eq!((read_connections("4"), read_connections(" 500 ")), (Ok(4), Ok(500)));
        for text in ["", "0", "3", "501", "-4", "many"] {
            assert!(read_connections(text).is_err(), "{text}");
        }
    }

    /// D3.
    #[test]
    fn a_cell_is_a_number_up_to_999() {
        for (text, number) in [("0", 0), ("7", 7), (" 999 ", 999)] {
            assert_eq!(read_cell(text).map(Cell::number), Ok(number));
        }
        for text in ["", "-1", "1000", "a", "1.0"] {
            assert_eq!(read_cell(text), Err("must be a number from 0 to 999".to_owned()), "{text}");
        }
    }

    #[test]
    fn the_password_of_a_database_is_not_printed() {
        let database: DatabaseLocation =
            "postgres://recado:hunter2@db/recado".parse().expect("valid");
        assert_eq!(format!("{database:?}"), "postgres://***");
    }

    #[test]
    fn documents_are_kept_in_a_folder_or_a_bucket() {
        assert_eq!("file:docs".parse(), Ok(DocumentStorage::Folder("docs".into())));
        assert_eq!("file:///srv/docs".parse(), Ok(DocumentStorage::Folder("/srv/docs".into())));
        for text in ["", "docs", "file:", "s3://", "ftp://docs"] {
            assert!(text.parse::<DocumentStorage>().is_err(), "{text}");
        }
    }

    #[cfg(not(feature = "s3"))]
    #[test]
    fn a_bucket_without_its_feature_says_what_to_do() {
        let refusal =
            "s3://bucket/prefix".parse::<DocumentStorage>().expect_err("not in this build");
        assert!(refusal.contains("--features s3"), "{refusal}");
    }

    #[cfg(feature = "s3")]
    #[test]
    fn a_bucket_may_have_a_prefix() {
        let place = |prefix: &str| DocumentStorage::S3 {
            bucket: "b".to_owned(),
            prefix: prefix.to_owned(),
        };
        assert_eq!("s3://b".parse(), Ok(place("")));
        assert_eq!("s3://b/a/c/".parse(), Ok(place("a/c")));
    }

    #[test]
    fn proxies_are_networks_or_addresses() {
        let networks = read_networks("10.0.0.0/8, ::1,192.168.1.5").expect("valid");
        assert_eq!(networks.len(), 3);
        assert_eq!(networks[2].to_string(), "192.168.1.5/32");
        assert_eq!(read_networks(""), Ok(Vec::new()));
        assert!(read_networks("10.0.0.0/8,proxy").expect_err("a name").contains("proxy"));
    }

    #[test]
    fn a_base_url_loses_its_slash_and_nothing_else_is_a_base_url() {
        assert_eq!(read_base_url("https://a.example/b/"), Ok("https://a.example/b".to_owned()));
        for text in
            ["", "a.example", "ftp://a", "https://", "https://a?b", "https://u@a", "http:///a"]
        {
            assert!(read_base_url(text).is_err(), "{text}");
        }
    }
}
