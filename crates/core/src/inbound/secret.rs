//! The secret of an inbound endpoint (4.9, 5.2).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

use crate::form::text_form;
use crate::keyed_hash::{HashKey, keyed_hash};
use crate::secret::SecretText;

/// The prefix of generated secrets.
const PREFIX: &str = "ies_";
const MIN_CHARS: usize = 16;
const MAX_CHARS: usize = 128;

/// The secret of an inbound endpoint, which callers send in `X-Service-Secret` (R83).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointSecret(SecretText);

impl EndpointSecret {
    /// A secret out of 32 random bytes.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(SecretText::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// A secret that was given: 16 to 128 printable ASCII characters without spaces, so that a
    /// header can carry it unchanged.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_visible = text.bytes().all(|byte| (0x21..0x7f).contains(&byte));
        if is_visible && (MIN_CHARS..=MAX_CHARS).contains(&text.len()) {
            Ok(Self(SecretText::new(text)))
        } else {
            Err(format!(
                "must be {MIN_CHARS} to {MAX_CHARS} printable ASCII characters without spaces"
            ))
        }
    }

    /// The secret itself, to be shown once.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The hash that the store keeps.
    pub fn hash(&self, key: &HashKey) -> EndpointSecretHash {
        EndpointSecretHash::of(key, self.expose().as_bytes())
    }
}

keyed_hash! {
    /// The keyed hash of an endpoint's secret: all that is stored of it (R222).
    EndpointSecretHash of "endpoint secret"
}

impl EndpointSecretHash {
    /// Whether the headers are exactly the secret of this hash, once. The comparison takes constant
    /// time (4.9, R84, 5.2).
    pub fn is_presented(&self, key: &HashKey, headers: &[&[u8]]) -> bool {
        match headers {
            [only] => Self::of(key, only).as_bytes().ct_eq(self.as_bytes()).into(),
            _ => false,
        }
    }
}

text_form!(EndpointSecret, EndpointSecret::parse, EndpointSecret::expose, |text| text
    .min_length(Some(MIN_CHARS))
    .max_length(Some(MAX_CHARS)));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::SecretBytes;

    /// R84, 5.2.
    #[test]
    fn only_the_secret_itself_presented_once_passes() {
        let secret = EndpointSecret::from_random([7; 32]);
        let right = secret.expose().as_bytes();
        let key = HashKey::new(SecretBytes::new([1; 32]));
        let hash = secret.hash(&key);
        assert!(hash.is_presented(&key, &[right]));
        for wrong in [&[][..], &[&b""[..]], &[&right[1..]], &[right, right], &[b"ies_"]] {
            assert!(!hash.is_presented(&key, wrong));
        }
    }

    /// R83.
    #[test]
    fn given_secrets_are_16_to_128_visible_characters() {
        for good in ["a".repeat(16), "~".repeat(128)] {
            assert!(EndpointSecret::parse(&good).is_ok(), "{good}");
        }
        for bad in ["a".repeat(15), "a".repeat(129), " with spaces inside".into(), "é".repeat(16)]
        {
            assert!(EndpointSecret::parse(&bad).is_err(), "{bad}");
        }
    }
}
