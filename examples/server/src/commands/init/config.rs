//! The text of the configuration file: every option with what it is for, most of them commented
//! out. It holds no secret (R268).

use std::fmt::Write;
use std::path::Path;

use crate::options::{DatabaseLocation, Layer, Options, Setting, settings};

const HEAD: &str = "\
# The configuration of Recado: `recado serve --config recado.toml`.
#
# Each key is an option: a flag of the command line counts before an environment variable, and that
# before this file. Relative paths are relative to the folder of this file. No secret belongs here:
# the operator's token is in a file of its own, the password of a database is given otherwise.
";

/// The registry that completes organizations, as far as nobody names another one.
const REGISTRY: &str = "https://brasilapi.com.br";
/// What is not written: these secrets have a file each.
const LEFT_OUT: [&str; 2] = ["operator-token", "oidc-client-secret"];

/// The text for a server with these options; `given` are the flags.
///
/// R268.
pub(super) fn text(given: &Layer, options: &Options, dir: &Path) -> String {
    let mut text = HEAD.to_owned();
    for setting in settings().iter().filter(|setting| !LEFT_OUT.contains(&setting.name)) {
        let flag = given.get(setting.name).map(|value| setting.in_folder(value, dir));
        let value = match setting.name {
            "database" => Some(address(&options.database, dir)),
            "documents" => flag.or_else(|| setting.default.map(str::to_owned)),
            "operator-token-file" => Some(super::TOKEN.to_owned()),
            "cnpj-registry" => flag.or_else(|| Some(REGISTRY.to_owned())),
            _ => flag,
        };
        let _ = write!(text, "\n# {}\n{}\n", setting.help, line(setting, value.as_deref()));
        if setting.name == "database" && has_password(&options.database) {
            text.push_str(
                "# Its password is not here: RECADO_DATABASE may have the whole address.\n",
            );
        }
    }
    text
}

/// A line of the file; commented out without a value.
fn line(setting: &Setting, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("{} = {}", setting.name, setting.in_toml(value)),
        None => format!("# {} = {}", setting.name, setting.in_toml(setting.default.unwrap_or(""))),
    }
}

/// The address of the database as the file in `dir` has it: a path inside is relative, and a
/// password is left out.
pub(super) fn address(database: &DatabaseLocation, dir: &Path) -> String {
    match database {
        DatabaseLocation::Sqlite(path) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            format!("sqlite:{}", path.strip_prefix(dir).unwrap_or(&path).display())
        }
        DatabaseLocation::Postgres(url) => without_password(url.expose()),
    }
}

fn has_password(database: &DatabaseLocation) -> bool {
    match database {
        DatabaseLocation::Sqlite(_) => false,
        DatabaseLocation::Postgres(url) => without_password(url.expose()) != url.expose(),
    }
}

/// What somebody has to know whose database has a password.
pub(super) fn password_hint(database: &DatabaseLocation) -> Option<&'static str> {
    has_password(database).then_some(
        "The password of the database is not in the configuration: set RECADO_DATABASE to its \
         whole address.",
    )
}

/// The address without its password, wherever that stands.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (place, query) = rest.split_once('?').map_or((rest, None), |(a, b)| (a, Some(b)));
    let (authority, path) = place.split_once('/').map_or((place, None), |(a, b)| (a, Some(b)));
    let authority = match authority.rsplit_once('@') {
        Some((user, hosts)) => {
            format!("{}@{hosts}", user.split_once(':').map_or(user, |(user, _)| user))
        }
        None => authority.to_owned(),
    };
    let mut text = format!("{scheme}://{authority}");
    if let Some(path) = path {
        let _ = write!(text, "/{path}");
    }
    let is_open = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default();
        !matches!(name, "password" | "sslpassword")
    };
    let query: Vec<&str> =
        query.iter().flat_map(|query| query.split('&')).filter(is_open).collect();
    if !query.is_empty() {
        let _ = write!(text, "?{}", query.join("&"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R268.
    #[test]
    fn no_password_is_written() {
        for (url, written) in [
            ("postgres://a:hunter2@h/d", "postgres://a@h/d"),
            ("postgres://a@h:5432,i/d?sslmode=require", "postgres://a@h:5432,i/d?sslmode=require"),
            ("postgres://a:hun%2Fter2@h", "postgres://a@h"),
            ("postgresql:///d?host=/run&password=hunter2", "postgresql:///d?host=/run"),
            ("postgres://h/d?password=hunter2", "postgres://h/d"),
        ] {
            assert_eq!(without_password(url), written);
        }
    }

    /// R268.
    #[test]
    fn the_file_says_all_options_and_reads_as_it_was_meant() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let dir = folder.path();
        let given = Layer::from([
            ("listen", "127.0.0.1:9000".to_owned()),
            ("trusted-proxies", "10.0.0.0/8,::1".to_owned()),
            ("no-migrate", "true".to_owned()),
        ]);
        let options = Options {
            database: DatabaseLocation::Sqlite(dir.join("data/recado.db")),
            ..Options::default()
        };
        let text = text(&given, &options, dir);
        for setting in settings().iter().filter(|setting| !LEFT_OUT.contains(&setting.name)) {
            assert!(text.contains(&format!("{} = ", setting.name)), "{}", setting.name);
        }
        let path = dir.join("recado.toml");
        std::fs::write(&path, &text).expect("written");
        let read = Options::of_file(Options::default(), &path).expect("valid");
        assert_eq!(format!("{:?}", read.database), format!("{:?}", options.database));
        assert_eq!(read.listen.port(), 9000);
        assert_eq!((read.trusted_proxies.len(), read.no_migrate), (2, true));
        assert_eq!(read.operator_token_file, Some(dir.join("operator-token")));
        assert_eq!(read.cnpj_registry.as_deref(), Some("https://brasilapi.com.br"));
    }
}
