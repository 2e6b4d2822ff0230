//! The provider that members may sign in with (R432).

use std::fs::File;
use std::io::Read;

use recado_core::secret::SecretText;

use super::{ConfigError, Options};

/// The most bytes of the file with the secret.
const MOST: u64 = 4096;

/// A word; nothing means none.
pub(super) fn read_word(text: &str) -> Option<String> {
    Some(text.trim()).filter(|word| !word.is_empty()).map(str::to_owned)
}

/// The issuer, exactly as its tokens name it; nothing means none. A build that knows no provider
/// refuses any.
///
/// R435.
pub(super) fn read_issuer(text: &str) -> Result<Option<String>, String> {
    let Some(issuer) = read_word(text) else { return Ok(None) };
    #[cfg(feature = "oidc")]
    {
        let checked = recado_runtime::oidc::destinations_of(&issuer);
        checked.map(|_| Some(issuer)).map_err(|error| error.to_string())
    }
    #[cfg(not(feature = "oidc"))]
    {
        let _ = issuer;
        Err("names a provider, and this build has none; build with --features oidc".to_owned())
    }
}

/// What the options say together.
pub(super) fn check(options: &Options) -> Result<(), String> {
    if options.oidc_client_secret.is_some() && options.oidc_client_secret_file.is_some() {
        return Err("--oidc-client-secret and --oidc-client-secret-file are both given: give one"
            .to_owned());
    }
    if options.oidc_issuer.is_some() && options.oidc_client_id.is_none() {
        return Err("--oidc-issuer needs --oidc-client-id".to_owned());
    }
    Ok(())
}

impl Options {
    /// The secret of the client at the provider, from its file if it is there.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is empty.
    pub fn read_oidc_client_secret(&self) -> Result<Option<SecretText>, ConfigError> {
        let Some(path) = &self.oidc_client_secret_file else {
            return Ok(self.oidc_client_secret.clone());
        };
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MOST).read_to_string(&mut text));
        let shown = format!("--oidc-client-secret-file {}", path.display());
        read.map_err(|error| ConfigError::one(format!("{shown} cannot be read: {error}")))?;
        let secret = read_word(&text).map(SecretText::new);
        secret.map(Some).ok_or_else(|| ConfigError::one(format!("{shown} is empty")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layer, resolve};
    use super::*;

    fn read(pairs: &[(&'static str, &str)]) -> Result<Options, String> {
        let flags: Layer = pairs.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        resolve(Options::default(), &flags, None, |_| None).map_err(|error| error.to_string())
    }

    /// R435.
    #[cfg(not(feature = "oidc"))]
    #[test]
    fn a_build_without_providers_refuses_one_by_name() {
        let refusal = read(&[("oidc-issuer", "https://id.example")]).expect_err("not here");
        assert!(refusal.contains("--oidc-issuer"), "{refusal}");
        assert!(refusal.contains("--features oidc"), "{refusal}");
        assert_eq!(read(&[("oidc-issuer", " ")]).expect("none").oidc_issuer, None);
    }

    /// R435.
    #[cfg(feature = "oidc")]
    #[test]
    fn a_provider_needs_a_client_and_an_issuer_of_https() {
        let issuer = ("oidc-issuer", "https://id.example/realms/a/");
        let client = ("oidc-client-id", "recado");
        let options = read(&[issuer, client]).expect("valid");
        assert_eq!(options.oidc_issuer.as_deref(), Some("https://id.example/realms/a/"));
        assert!(read(&[issuer]).expect_err("no client").contains("--oidc-client-id"));
        let clear = read(&[("oidc-issuer", "http://id.example"), client]).expect_err("in clear");
        assert!(clear.contains("--oidc-issuer") && clear.contains("https://"), "{clear}");
    }

    #[test]
    fn the_secret_is_given_in_one_way_and_never_printed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("secret");
        std::fs::write(&path, "hunter2\n").expect("written");
        let file = path.display().to_string();
        let (given, of_file) =
            (("oidc-client-secret", "hunter2"), ("oidc-client-secret-file", file.as_str()));
        for pairs in [[given], [of_file]] {
            let options = read(&pairs).expect("valid");
            let secret = options.read_oidc_client_secret().expect("readable").expect("there");
            assert_eq!(secret.expose(), "hunter2");
            assert!(!format!("{options:?}").contains("hunter2"));
        }
        let both = read(&[given, of_file]).expect_err("two");
        assert!(both.contains("both given") && !both.contains("hunter2"), "{both}");
        std::fs::write(&path, " \n").expect("written");
        let empty = read(&[of_file]).expect("valid").read_oidc_client_secret().expect_err("empty");
        assert!(empty.to_string().contains("--oidc-client-secret-file"), "{empty}");
        assert!(read(&[]).expect("valid").read_oidc_client_secret().expect("none").is_none());
    }
}
