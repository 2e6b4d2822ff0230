//! The credentials of the demonstration, kept in a file next to its database, so that the printed
//! lines still work after the next start. A store keeps only hashes of them.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use recado_core::Ids;
use recado_core::secret::SecretText;
use serde::{Deserialize, Serialize};

use crate::options::{DatabaseLocation, MIN_TOKEN_CHARS};
use recado_runtime::RandomIds;

/// The contents of the file.
#[derive(Default, Serialize, Deserialize)]
struct StoredCredentials {
    key: Option<String>,
    operator_token: Option<String>,
    endpoint_secret: Option<String>,
    template_token: Option<String>,
    password: Option<String>,
}

/// The credentials, and the file they are kept in: readable by its owner alone.
#[derive(Debug)]
pub(super) struct Credentials {
    path: PathBuf,
    pub(super) key: Option<SecretText>,
    pub(super) operator_token: SecretText,
    /// The secret of its inbound endpoint.
    pub(super) endpoint_secret: Option<SecretText>,
    /// The token of its template.
    pub(super) template_token: Option<SecretText>,
    /// The password of the owner in the console.
    pub(super) password: Option<SecretText>,
}

impl Credentials {
    /// The credentials of an earlier start of this database, or fresh ones; `token` is that of the
    /// options, if there is one.
    pub(super) fn load(database: &DatabaseLocation, token: Option<&SecretText>) -> Self {
        let path = path(database);
        let kept: StoredCredentials = fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let operator_token = match (token, kept.operator_token) {
            (Some(token), _) => token.clone(),
            // R177: an earlier version took short ones.
            (None, Some(token)) if token.chars().count() >= MIN_TOKEN_CHARS => {
                SecretText::new(token)
            }
            (None, _) => SecretText::new(random_token()),
        };
        Self {
            path,
            key: kept.key.map(SecretText::new),
            operator_token,
            endpoint_secret: kept.endpoint_secret.map(SecretText::new),
            template_token: kept.template_token.map(SecretText::new),
            password: kept.password.map(SecretText::new),
        }
    }

    /// Stores them for the next start.
    pub(super) fn save(&self) -> io::Result<()> {
        let text =
            |secret: &Option<SecretText>| secret.as_ref().map(|secret| secret.expose().to_owned());
        let kept = StoredCredentials {
            key: text(&self.key),
            operator_token: Some(self.operator_token.expose().to_owned()),
            endpoint_secret: text(&self.endpoint_secret),
            template_token: text(&self.template_token),
            password: text(&self.password),
        };
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path)?;
        file.write_all(serde_json::to_string_pretty(&kept)?.as_bytes())?;
        file.write_all(b"\n")
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn path(database: &DatabaseLocation) -> PathBuf {
    match database {
        DatabaseLocation::Sqlite(path) => {
            let mut name = OsString::from(path);
            name.push(".credentials.json");
            PathBuf::from(name)
        }
        DatabaseLocation::Postgres(_) => PathBuf::from("recado-demo.credentials.json"),
    }
}

fn random_token() -> String {
    let mut bytes = [0; 24];
    RandomIds::new().fill(&mut bytes);
    bytes.iter().fold("op_".to_owned(), |token, byte| format!("{token}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_kept_for_the_owner_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = DatabaseLocation::Sqlite(folder.path().join("demo.db"));
        let mut first = Credentials::load(&database, None);
        assert!(first.key.is_none());
        first.key = Some(SecretText::new("rk_secret"));
        first.endpoint_secret = Some(SecretText::new("ies_secret"));
        first.save().expect("saved");
        let second = Credentials::load(&database, None);
        assert_eq!(second.key.expect("kept").expose(), "rk_secret");
        assert_eq!(second.endpoint_secret.expect("kept").expose(), "ies_secret");
        assert!(second.template_token.is_none());
        assert_eq!(second.operator_token.expose(), first.operator_token.expose());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(first.path()).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    /// R177.
    #[test]
    fn a_token_made_here_is_long_and_a_short_one_is_replaced() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = DatabaseLocation::Sqlite(folder.path().join("demo.db"));
        let made = Credentials::load(&database, None).operator_token;
        assert!(made.expose().len() >= MIN_TOKEN_CHARS);
        fs::write(path(&database), r#"{"operator_token":"short"}"#).expect("written");
        assert!(
            Credentials::load(&database, None).operator_token.expose().len() >= MIN_TOKEN_CHARS
        );
    }

    #[test]
    fn a_token_of_the_options_wins() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = DatabaseLocation::Sqlite(folder.path().join("demo.db"));
        Credentials::load(&database, None).save().expect("saved");
        let given = SecretText::new("chosen");
        let loaded = Credentials::load(&database, Some(&given));
        assert_eq!(loaded.operator_token.expose(), "chosen");
    }
}
