//! Signatures of gateways' webhooks.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha512};

/// The HMAC-SHA256 of a body in lower-case hexadecimal.
///
/// # Panics
///
/// Never: keys of any length are valid.
pub fn hex_hmac_sha256(key: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("any length is a key");
    mac.update(body);
    hex(&mac.finalize().into_bytes())
}

/// The HMAC-SHA512 of a body in lower-case hexadecimal.
///
/// # Panics
///
/// Never: keys of any length are valid.
pub fn hex_hmac_sha512(key: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha512>::new_from_slice(key.as_bytes()).expect("any length is a key");
    mac.update(body);
    hex(&mac.finalize().into_bytes())
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Examples published by WAHA and GitHub for their webhooks.
    #[test]
    fn published_examples_are_signed_as_published() {
        let body = br#"{"event":"message","session":"default","engine":"WEBJS"}"#;
        assert_eq!(
            hex_hmac_sha512("my-secret-key", body),
            concat!(
                "208f8a55dde9e05519e898b10b89bf0d0b3b0fdf11fdbf09b6b90476301b98d8",
                "097c462b2b17a6ce93b6b47a136cf2e78a33a63f6752c2c1631777076153fa89",
            )
        );
        assert_eq!(
            hex_hmac_sha256("It's a Secret to Everybody", b"Hello, World!"),
            "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        );
    }
}
