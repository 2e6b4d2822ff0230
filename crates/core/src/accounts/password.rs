//! Passwords and their hashes (R395).

use async_trait::async_trait;
use unicode_normalization::UnicodeNormalization;

use super::PasswordProblem;
use super::password_rule::{MOST_CHARS, check};
use crate::contacts::Email;
use crate::secret::SecretText;
use crate::store::StoreError;

/// A password in the form that is hashed. Prints as `***`.
#[derive(Clone, Debug)]
pub struct Password(SecretText);

impl Password {
    /// A password that somebody chooses for a login (R395).
    ///
    /// # Errors
    ///
    /// Why it is not acceptable.
    pub fn choose(text: &str, email: &Email) -> Result<Self, PasswordProblem> {
        let password = normal(text);
        check(&password, email)?;
        Ok(Self(SecretText::new(password)))
    }

    /// A password that somebody shows; `None` when no login can have it.
    pub(super) fn shown(text: &str) -> Option<Self> {
        // Checked first, so that nobody makes the server work on a long text.
        let is_short = text.len() <= 4 * MOST_CHARS && !text.is_empty();
        is_short.then(|| Self(SecretText::new(normal(text))))
    }

    /// Its text, for hashing.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

/// The same password for every way to type it: Unicode normalization form C.
fn normal(text: &str) -> String {
    text.nfc().collect()
}

/// The hash of a password, with its algorithm and parameters: a PHC string. Prints as `***`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordHash(SecretText);

impl PasswordHash {
    /// Takes a stored hash back, or one that was just made.
    pub fn from_stored(phc: String) -> Self {
        Self(SecretText::new(phc))
    }

    /// The PHC string, for stores.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

/// What comparing a password with a hash came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordVerdict {
    /// Another password, or no hash to compare with.
    Wrong,
    /// The password.
    Right,
    /// The password, and the hash has weaker parameters than new ones get: make it anew.
    RightAndWeak,
}

/// Hashes passwords with argon2id.
///
/// # Contract
///
/// - A hash is a PHC string with its algorithm, version, parameters and salt.
/// - A call neither blocks the task it is awaited in, nor runs beside more than a fixed number of
///   others; those beyond that wait.
/// - Comparing without a hash takes as much work as with one of new parameters (R396).
#[async_trait]
pub trait Passwords: Send + Sync {
    /// The hash of a password with the parameters of this installation.
    ///
    /// # Errors
    ///
    /// When it could not be computed.
    async fn hash(&self, password: &Password, salt: [u8; 16]) -> Result<PasswordHash, StoreError>;

    /// Compares a password with a hash.
    ///
    /// # Errors
    ///
    /// When it could not be computed, or the hash is none.
    async fn compare(
        &self,
        password: &Password,
        hash: Option<&PasswordHash>,
    ) -> Result<PasswordVerdict, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R395.
    #[test]
    fn a_password_is_the_same_however_its_accents_are_typed() {
        let shown = |text| Password::shown(text).unwrap().expose().to_owned();
        assert_eq!(shown("cafe\u{301} da manha"), shown("café da manha"));
        assert!(Password::shown("").is_none());
        assert!(Password::shown(&"a".repeat(801)).is_none());
        assert_eq!(format!("{:?}", Password::shown("x")), "Some(Password(***))");
    }
}
