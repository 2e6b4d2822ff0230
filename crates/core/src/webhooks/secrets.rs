//! The signing secrets of deliveries and their rotation (6.2, D56).

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::Timestamp;
use crate::form::text_form;
use crate::secret::SecretText;

/// How long the old secret signs beside the new one (D56).
pub const ROTATION: Duration = Duration::from_secs(24 * 60 * 60);
/// The prefix of generated secrets.
const PREFIX: &str = "whsec_";
const MIN_CHARS: usize = 16;
const MAX_CHARS: usize = 128;

/// A signing secret. Its UTF-8 is the HMAC key (D56).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret(SecretText);

impl SigningSecret {
    /// A secret out of 32 random bytes.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(SecretText::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// A secret that was given: 16 to 128 printable ASCII characters (D56).
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_printable = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if is_printable && (MIN_CHARS..=MAX_CHARS).contains(&text.len()) {
            Ok(Self(SecretText::new(text)))
        } else {
            Err(format!("must be {MIN_CHARS} to {MAX_CHARS} printable ASCII characters"))
        }
    }

    /// A secret as a store keeps it.
    pub fn stored(text: String) -> Self {
        Self(SecretText::new(text))
    }

    /// The secret itself: to be shown once, stored or signed with.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The bytes that the text after `whsec_` encodes in base64. Verifiers of Standard Webhooks use
    /// these as the key if they get the secret as text. `None` if the text is not base64.
    pub fn decoded(&self) -> Option<Vec<u8>> {
        let text = self.expose().strip_prefix(PREFIX)?;
        let url_safe: String = text
            .trim_end_matches('=')
            .chars()
            .map(|c| match c {
                '+' => '-',
                '/' => '_',
                c => c,
            })
            .collect();
        URL_SAFE_NO_PAD.decode(url_safe).ok()
    }
}

/// A secret that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotatedSecret {
    /// The old secret.
    pub secret: SigningSecret,
    /// Until when it signs too.
    pub until: Timestamp,
}

/// The secrets of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecrets {
    /// The secret that signs.
    pub current: SigningSecret,
    /// The secret that was replaced last.
    pub previous: Option<RotatedSecret>,
}

impl SigningSecrets {
    /// A first secret.
    pub const fn new(current: SigningSecret) -> Self {
        Self { current, previous: None }
    }

    /// The secrets after a rotation: the replaced one signs for 24 hours more; an even older one
    /// stops signing at once (D56, R76).
    #[must_use]
    pub fn rotated(&self, new: SigningSecret, now: Timestamp) -> Self {
        let until = now.plus(ROTATION);
        let previous = RotatedSecret { secret: self.current.clone(), until };
        Self { current: new, previous: Some(previous) }
    }

    /// The old secret while it signs (D56).
    pub fn previous_at(&self, now: Timestamp) -> Option<&SigningSecret> {
        let previous = self.previous.as_ref()?;
        (now < previous.until).then_some(&previous.secret)
    }
}

text_form!(SigningSecret, SigningSecret::parse, SigningSecret::expose, |text| text
    .min_length(Some(MIN_CHARS))
    .max_length(Some(MAX_CHARS)));

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(n: u8) -> SigningSecret {
        SigningSecret::from_random([n; 32])
    }

    #[test]
    fn a_made_secret_is_a_prefix_and_43_characters() {
        let secret = secret(0xff);
        assert_eq!(secret.expose(), format!("whsec_{}8", "_".repeat(42)));
        assert_eq!(secret.decoded(), Some(vec![0xff; 32]));
    }

    #[test]
    fn the_old_secret_signs_for_24_hours() {
        let rotated_at = Timestamp::from_millis(1_763_000_000_000);
        let secrets = SigningSecrets::new(secret(1)).rotated(secret(2), rotated_at);
        let end = rotated_at.plus(ROTATION);
        assert_eq!(secrets.current, secret(2));
        assert_eq!(secrets.previous_at(rotated_at), Some(&secret(1)));
        let last = Timestamp::from_millis(end.millis() - 1);
        assert_eq!(secrets.previous_at(last), Some(&secret(1)));
        assert_eq!(secrets.previous_at(end), None);
    }

    #[test]
    fn a_second_rotation_drops_the_oldest() {
        let now = Timestamp::from_millis(1_763_000_000_000);
        let secrets =
            SigningSecrets::new(secret(1)).rotated(secret(2), now).rotated(secret(3), now);
        assert_eq!((&secrets.current, secrets.previous_at(now)), (&secret(3), Some(&secret(2))));
    }

    #[test]
    fn given_secrets_are_16_to_128_printable_characters() {
        let text = |n| "a".repeat(n);
        for good in [text(16), text(128), "with spaces and ~!\"'".to_owned()] {
            assert!(SigningSecret::parse(&good).is_ok(), "{good}");
        }
        for bad in
            [text(15), text(129), "sixteen chars é!".to_owned(), "tab\tinside a secret".into()]
        {
            assert!(SigningSecret::parse(&bad).is_err(), "{bad}");
        }
    }
}
