//! The operator's token in a file of its own, so that no configuration holds it (R267).

use std::fs::File;
use std::io::Read;

use recado_core::secret::SecretText;

use super::settings::read_token;
use super::{ConfigError, Options};

/// The most bytes of the file.
const MOST: u64 = 4096;

/// Settles which of the two ways to give the token counts: that of the stronger source, a flag
/// before the environment before the file. `token` and `file` say where each came from, the
/// strongest first.
///
/// R267.
pub(super) fn settle<S: Ord>(
    options: &mut Options,
    token: Option<S>,
    file: Option<S>,
) -> Result<(), String> {
    let Some(file) = file else {
        if token.is_some() {
            options.operator_token_file = None;
        }
        return Ok(());
    };
    match token {
        Some(token) if token < file => options.operator_token_file = None,
        Some(token) if token == file => {
            if options.operator_token.is_some() && options.operator_token_file.is_some() {
                return Err("--operator-token and --operator-token-file are both given: give one"
                    .to_owned());
            }
        }
        _ => options.operator_token = None,
    }
    Ok(())
}

impl Options {
    /// The operator's token, from its file if it is there.
    ///
    /// R267.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or holds no token of 32 characters or more (R177).
    pub fn read_operator_token(&self) -> Result<Option<SecretText>, ConfigError> {
        let (None, Some(path)) = (&self.operator_token, &self.operator_token_file) else {
            return Ok(self.operator_token.clone());
        };
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MOST).read_to_string(&mut text));
        let shown = format!("--operator-token-file {}", path.display());
        read.map_err(|error| ConfigError::one(format!("{shown} cannot be read: {error}")))?;
        let token = read_token(text.trim());
        token.map(Some).map_err(|problem| ConfigError::one(format!("{shown} {problem}")))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const TOKEN: &str = "operator-token-of-the-tests-0123456789";

    fn options(token: Option<&str>, file: Option<PathBuf>) -> Options {
        Options {
            operator_token: token.map(SecretText::new),
            operator_token_file: file,
            ..Options::default()
        }
    }

    /// R267.
    #[test]
    fn the_stronger_source_counts_and_two_of_one_source_are_a_mistake() {
        let settled = |token: Option<u8>, file: Option<u8>| {
            let mut options = options(token.map(|_| TOKEN), file.map(|_| "file".into()));
            settle(&mut options, token, file)?;
            Ok((options.operator_token.is_some(), options.operator_token_file.is_some()))
        };
        assert_eq!(settled(None, None), Ok((false, false)));
        assert_eq!(settled(Some(2), None), Ok((true, false)));
        assert_eq!(settled(None, Some(2)), Ok((false, true)));
        assert_eq!(settled(Some(0), Some(2)), Ok((true, false)));
        assert_eq!(settled(Some(1), Some(0)), Ok((false, true)));
        let both: String = settled(Some(1), Some(1)).expect_err("two");
        assert!(both.contains("--operator-token-file"), "{both}");
    }

    /// R267, R177.
    #[test]
    fn a_token_is_read_from_its_file_and_must_be_long() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("operator-token");
        std::fs::write(&path, format!("{TOKEN}\n")).expect("written");
        let read = |path: &PathBuf| options(None, Some(path.clone())).read_operator_token();
        assert_eq!(read(&path).expect("readable").expect("there").expose(), TOKEN);
        std::fs::write(&path, "hunter2\n").expect("written");
        let error = read(&path).expect_err("too short").to_string();
        assert!(error.contains("operator-token") && error.contains("32"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
        assert!(read(&folder.path().join("none")).expect_err("none").to_string().contains("none"));
    }
}
