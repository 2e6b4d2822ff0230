//! Verifying signatures of gateways: HMAC over the raw bytes, compared in constant time.

#[cfg(any(feature = "cloud-api", feature = "waha"))]
use hmac::{Hmac, KeyInit, Mac};
#[cfg(any(feature = "cloud-api", feature = "waha"))]
use recado_core::gateway::ProviderWebhook;
#[cfg(feature = "cloud-api")]
use sha2::Sha256;
#[cfg(feature = "waha")]
use sha2::Sha512;
#[cfg(any(feature = "cloud-api", feature = "evolution"))]
use subtle::ConstantTimeEq;

/// The value of the one header of this name (lower case); `None` if there is none, or more than
/// one: of two signatures, another program might read the other one.
#[cfg(any(feature = "cloud-api", feature = "waha"))]
pub(crate) fn sole_header<'a>(webhook: &'a ProviderWebhook, name: &str) -> Option<&'a str> {
    let mut values = webhook.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    let (_, value) = values.next()?;
    values.next().is_none().then_some(value.as_str())
}

/// Whether a text is the hexadecimal form of so many bytes, in either case.
#[cfg(any(feature = "cloud-api", feature = "waha"))]
pub(crate) fn has_hex_digest(text: &str, bytes: usize) -> bool {
    text.len() == bytes * 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether `hex` is the HMAC-SHA256 of `body`.
#[cfg(feature = "cloud-api")]
pub(crate) fn verify_hex_sha256(key: &str, body: &[u8], hex: &str) -> bool {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("any length is a key");
    mac.update(body);
    decoded(hex, 32).is_some_and(|given| mac.verify_slice(&given).is_ok())
}

/// Whether `hex` is the HMAC-SHA512 of `body`.
#[cfg(feature = "waha")]
pub(crate) fn verify_hex_sha512(key: &str, body: &[u8], hex: &str) -> bool {
    let mut mac = Hmac::<Sha512>::new_from_slice(key.as_bytes()).expect("any length is a key");
    mac.update(body);
    decoded(hex, 64).is_some_and(|given| mac.verify_slice(&given).is_ok())
}

/// Whether a given token is the expected one, compared in constant time.
#[cfg(any(feature = "cloud-api", feature = "evolution"))]
pub(crate) fn same(given: &str, expected: &str) -> bool {
    given.as_bytes().ct_eq(expected.as_bytes()).into()
}

#[cfg(any(feature = "cloud-api", feature = "waha"))]
fn decoded(hex: &str, bytes: usize) -> Option<Vec<u8>> {
    if !has_hex_digest(hex, bytes) {
        return None;
    }
    let nibble =
        |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    hex.as_bytes()
        .chunks_exact(2)
        .map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?))
        .collect()
}

#[cfg(all(test, feature = "cloud-api", feature = "waha", feature = "evolution"))]
mod tests {
    use super::*;

    // The example that WAHA publishes.
    const BODY: &[u8] = br#"{"event":"message","session":"default","engine":"WEBJS"}"#;
    const SHA512: &str = "208f8a55dde9e05519e898b10b89bf0d0b3b0fdf11fdbf09b6b90476301b98d8097c462b2b17a6ce93b6b47a136cf2e78a33a63f6752c2c1631777076153fa89";
    // The example that GitHub publishes for its webhooks, which are signed in the same way.
    const SHA256: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    #[test]
    fn published_examples_verify_in_either_case() {
        assert!(verify_hex_sha512("my-secret-key", BODY, SHA512));
        assert!(verify_hex_sha512("my-secret-key", BODY, &SHA512.to_uppercase()));
        assert!(verify_hex_sha256("It's a Secret to Everybody", b"Hello, World!", SHA256));
    }

    #[test]
    fn anything_else_does_not() {
        assert!(!verify_hex_sha256("It's a Secret to Everybody", b"Hello, World?", SHA256));
        assert!(!verify_hex_sha256("another", b"Hello, World!", SHA256));
        let key = "It's a Secret to Everybody";
        for wrong in ["", "75", &SHA256[..62], &format!("{SHA256}00"), &SHA256.replace('7', "g")] {
            assert!(!verify_hex_sha256(key, b"Hello, World!", wrong), "{wrong}");
        }
        assert!(!verify_hex_sha256(key, b"Hello, World!", &SHA256.replace('7', "é")));
    }

    #[test]
    fn a_header_that_comes_twice_is_none() {
        let webhook = |names: &[&str]| ProviderWebhook {
            headers: names.iter().map(|name| ((*name).to_owned(), "v".to_owned())).collect(),
            query: Vec::new(),
            body: Vec::new(),
        };
        assert_eq!(sole_header(&webhook(&["a", "b"]), "a"), Some("v"));
        assert_eq!(sole_header(&webhook(&["a", "b", "a"]), "a"), None);
        assert_eq!(sole_header(&webhook(&["A", "a"]), "a"), None);
        assert_eq!(sole_header(&webhook(&["b"]), "a"), None);
    }

    #[test]
    fn only_the_whole_token_is_the_same() {
        assert!(same("abc", "abc"));
        for other in ["", "ab", "abcd", "abd"] {
            assert!(!same(other, "abc"), "{other}");
        }
    }
}
