//! The database of a backup on Postgres: `pg_dump` and `pg_restore`.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use recado_core::secret::SecretText;

/// An address without its password, which would otherwise show in the list of processes.
struct Address {
    url: String,
    password: Option<String>,
}

impl Address {
    fn of(url: &SecretText) -> Result<Self, String> {
        let url = url.expose();
        if url.split_once('?').is_some_and(|(_, query)| query.contains("password=")) {
            return Err("--database has its password behind the question mark: put it before the \
                        host, as in postgres://USER:PASSWORD@HOST/DATABASE"
                .to_owned());
        }
        let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let Some((user, host)) = authority.rsplit_once('@') else {
            return Ok(Self { url: url.to_owned(), password: None });
        };
        let (user, password) = match user.split_once(':') {
            Some((user, password)) => (user, Some(decoded(password))),
            None => (user, None),
        };
        Ok(Self { url: format!("{scheme}://{user}@{host}{path}"), password })
    }
}

/// A percent-encoded text.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let pair = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let byte = pair.filter(|_| *first == b'%').and_then(|p| u8::from_str_radix(p, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs a program of Postgres on a database.
fn run<S: AsRef<OsStr>>(program: &str, url: &SecretText, args: &[S]) -> Result<(), String> {
    let Address { url, password } = Address::of(url)?;
    let mut command = Command::new(program);
    command.args(args).arg("--dbname").arg(url).arg("--no-password");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    if let Some(password) = password {
        command.env("PGPASSWORD", password);
    }
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "{program} is not here: install the client programs of Postgres (on Debian the package \
             postgresql-client), in the version of the server or a newer one"
        ),
        _ => format!("{program} does not run: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} failed: {}", said.trim()))
}

/// Dumps the database into a new file.
pub(super) fn dump(url: &SecretText, file: &Path) -> Result<(), String> {
    let file = file.as_os_str();
    let form = ["--format=custom", "--no-owner", "--no-privileges", "--no-unlogged-table-data"];
    let args: Vec<&OsStr> = form.iter().map(OsStr::new).chain(["--file".as_ref(), file]).collect();
    run("pg_dump", url, &args)
}

/// Fills an empty database from a dump: as a whole, or not at all.
pub(super) fn restore(url: &SecretText, file: &Path) -> Result<(), String> {
    let form = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"];
    let file = [file.as_os_str()];
    let args: Vec<&OsStr> = form.iter().map(OsStr::new).chain(file).collect();
    run("pg_restore", url, &args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_an_argument() {
        let of = |url: &str| {
            let Address { url, password } = Address::of(&SecretText::new(url)).unwrap();
            (url, password)
        };
        let with = |password: &str| Some(password.to_owned());
        for (url, shown, password) in [
            ("postgres://a:s%40c%2Fret@h:1/db?x=1", "postgres://a@h:1/db?x=1", with("s@c/ret")),
            ("postgresql://a@h,i/db", "postgresql://a@h,i/db", None),
            ("postgres:///db", "postgres:///db", None),
            ("postgres://h/db?application_name=a@b", "postgres://h/db?application_name=a@b", None),
            ("postgres://a:b:c@h", "postgres://a@h", with("b:c")),
        ] {
            assert_eq!(of(url), (shown.to_owned(), password), "{url}");
        }
        let query = SecretText::new("postgres://h/db?password=secret");
        assert!(Address::of(&query).is_err_and(|refused| !refused.contains("secret")));
    }
}
