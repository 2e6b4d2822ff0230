//! The keys that seal secrets at rest: where they come from (R217).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use recado_core::secret::SecretText;
use recado_store_sqlite::Sealer;

use super::{ConfigError, Options};

/// The environment variable with the keys themselves. There is no flag: what is in one is seen by
/// all users of the machine.
const KEY_ENV: &str = "RECADO_SECRET_KEY";
/// The folder of the credentials that systemd gives a service.
const CREDENTIALS_ENV: &str = "CREDENTIALS_DIRECTORY";
/// The name of the credential.
const CREDENTIAL: &str = "recado-secret-key";

/// Adds what is not in the table of options: the keys of the environment, and of systemd.
///
/// R217.
pub(super) fn find(
    options: &mut Options,
    env: impl Fn(&str) -> Option<OsString>,
) -> Result<(), String> {
    if let Some(text) = env(KEY_ENV).filter(|text| !text.is_empty()) {
        let text = text.into_string().map_err(|_| format!("{KEY_ENV} is not UTF-8"))?;
        if options.secret_key_file.is_some() {
            return Err(format!("{KEY_ENV} and --secret-key-file are both given: give one"));
        }
        options.secret_key = Some(SecretText::new(text));
    }
    if options.secret_key.is_none() && options.secret_key_file.is_none() {
        let credential = env(CREDENTIALS_ENV).map(|folder| PathBuf::from(folder).join(CREDENTIAL));
        options.secret_key_credential = credential.filter(|path| path.exists());
    }
    Ok(())
}

impl Options {
    /// The keys that seal secrets at rest.
    ///
    /// R217.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn sealer(&self) -> Result<Sealer, ConfigError> {
        if let Some(text) = &self.secret_key {
            return parsed(KEY_ENV, text.expose());
        }
        match self.secret_key_file.as_ref().or(self.secret_key_credential.as_ref()) {
            Some(path) => read(path),
            None => Ok(Sealer::default()),
        }
    }
}

fn read(path: &Path) -> Result<Sealer, ConfigError> {
    let shown = format!("the key file {}", path.display());
    let text = fs::read_to_string(path)
        .map_err(|error| ConfigError::one(format!("{shown} cannot be read: {error}")))?;
    parsed(&shown, &text)
}

fn parsed(origin: &str, text: &str) -> Result<Sealer, ConfigError> {
    Sealer::parse(text).map_err(|error| ConfigError::one(format!("{origin} {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(options: Options, vars: &[(&str, OsString)]) -> Result<Options, String> {
        let mut options = options;
        let env = |name: &str| {
            let var = vars.iter().find(|(given, _)| *given == name);
            var.map(|(_, value)| value.clone())
        };
        find(&mut options, env).map(|()| options)
    }

    /// R217.
    #[test]
    fn keys_come_from_a_file_the_environment_or_systemd() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (file, credential) = (folder.path().join("keys"), folder.path().join(CREDENTIAL));
        let [of_file, of_env, of_systemd] = [(); 3].map(|()| Sealer::new_key_file());
        fs::write(&file, &of_file).expect("written");
        let given = || Options { secret_key_file: Some(file.clone()), ..Options::default() };
        let systemd = (CREDENTIALS_ENV, folder.path().into());
        let of_folder = std::slice::from_ref(&systemd);
        let env = (KEY_ENV, OsString::from(of_env.as_str()));
        let sealer = |options, vars: &[(&str, OsString)]| {
            found(options, vars).expect("valid").sealer().expect("readable").current()
        };
        let key = |text: &str| Sealer::parse(text).expect("a key").current();

        assert_eq!(sealer(Options::default(), &[]), None);
        assert_eq!(sealer(Options::default(), of_folder), None, "there is no file yet");
        fs::write(&credential, &of_systemd).expect("written");
        assert_eq!(sealer(Options::default(), of_folder), key(&of_systemd));
        assert_eq!(sealer(given(), of_folder), key(&of_file));
        assert_eq!(sealer(Options::default(), &[systemd.clone(), env.clone()]), key(&of_env));
        assert_eq!(sealer(given(), &[(KEY_ENV, OsString::new())]), key(&of_file));
        let error = found(given(), &[env]).expect_err("two sources");
        assert!(error.contains(KEY_ENV) && error.contains("--secret-key-file"), "{error}");
    }

    /// R217.
    #[test]
    fn what_is_no_key_is_not_shown() {
        let text = OsString::from("hunter2");
        let options = found(Options::default(), &[(KEY_ENV, text)]).expect("read later");
        let error = options.sealer().expect_err("no key").to_string();
        assert!(error.contains(KEY_ENV) && error.contains("line 1"), "{error}");
        assert!(!error.contains("hunter2") && !format!("{options:?}").contains("hunter2"));
        let missing = Options { secret_key_file: Some("/no/such".into()), ..Options::default() };
        assert!(missing.sealer().expect_err("no file").to_string().contains("/no/such"));
    }
}
