//! Verifying that a delivery comes from the sender that has the secret.

use axum::http::HeaderMap;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The signature with the webhook's secret.
pub const SIGNATURE: &str = "x-service-signature";
/// The signature with the secret before it, for 24 hours after a rotation.
pub const PREVIOUS: &str = "x-service-signature-previous";

/// Whether `signature` (`sha256=` and hexadecimal digits) is the HMAC-SHA256 of the raw body with
/// this secret. The key is the whole secret, `whsec_` included. Compares in constant time.
pub fn verify(secret: &str, body: &[u8], signature: &str) -> bool {
    let Some(signature) = signature.strip_prefix("sha256=").and_then(unhex) else {
        return false;
    };
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(body);
    mac.verify_slice(&signature).is_ok()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// The secrets that this receiver trusts: one, or two while one replaces the other.
///
/// The *secret* that a signature was made with decides, not the header it came in. After a
/// rotation, a receiver with the old secret finds its signature in `X-Service-Signature-Previous`,
/// one with the new secret in `X-Service-Signature`. So both headers are checked, with the secrets
/// held here only: once the old secret is removed, no signature made with it is accepted, in either
/// header.
#[derive(Clone)]
pub struct Secrets(Vec<String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(***)")
    }
}

impl Secrets {
    /// These secrets; empty ones are left out, as anyone could sign with them.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        Self(secrets.into_iter().filter(|secret| !secret.is_empty()).collect())
    }

    /// Whether there is a secret at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of the signatures of the body was made with one of the secrets.
    pub fn verify(&self, headers: &HeaderMap, body: &[u8]) -> bool {
        [SIGNATURE, PREVIOUS]
            .iter()
            .filter_map(|name| headers.get(*name)?.to_str().ok())
            .any(|signature| self.0.iter().any(|secret| verify(secret, body, signature)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // From RFC 4231, test case 2.
    const KEY: &str = "Jefe";
    const BODY: &[u8] = b"what do ya want for nothing?";
    const GOOD: &str = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn held(secrets: &[&str]) -> Secrets {
        Secrets::new(secrets.iter().map(|secret| (*secret).to_owned()))
    }

    #[test]
    fn a_published_vector_verifies() {
        assert!(verify(KEY, BODY, GOOD));
        assert!(verify(KEY, BODY, &GOOD.to_uppercase().replace("SHA", "sha")));
    }

    #[test]
    fn what_was_changed_does_not() {
        assert!(!verify("jefe", BODY, GOOD));
        assert!(!verify(KEY, b"what do ya want for nothing!", GOOD));
        assert!(!verify(KEY, BODY, &GOOD.replace("5b", "5c")));
    }

    #[test]
    fn what_is_no_signature_does_not() {
        let half = &GOOD[..GOOD.len() - 2];
        let odd = &GOOD[..GOOD.len() - 1];
        let (long, bare) = (format!("{GOOD}00"), GOOD.replace("sha256=", ""));
        for bad in ["", "sha256=", half, odd, &long, &bare, "sha1=00", "sha256=éé", "sha256=zz"] {
            assert!(!verify(KEY, BODY, bad), "{bad:?}");
        }
    }

    #[test]
    fn the_secret_decides_and_not_the_header() {
        let forged = "sha256=00";
        for name in [SIGNATURE, PREVIOUS] {
            assert!(held(&[KEY]).verify(&headers(&[(name, GOOD)]), BODY));
            assert!(held(&["new", KEY]).verify(&headers(&[(name, GOOD)]), BODY));
            assert!(!held(&["new"]).verify(&headers(&[(name, GOOD)]), BODY));
        }
        assert!(held(&[KEY]).verify(&headers(&[(SIGNATURE, forged), (PREVIOUS, GOOD)]), BODY));
        assert!(!held(&[KEY]).verify(&headers(&[]), BODY));
    }

    #[test]
    fn an_empty_secret_is_none() {
        assert!(held(&["", ""]).is_empty());
    }
}
