//! The keys of a provider, and the signatures of its tokens.

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use recado_core::accounts::IdToken;
use serde::Deserialize;

/// The most characters of a token.
const MOST_CHARS: usize = 32 * 1024;

/// Why the signature of a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unverified {
    #[error("it is no signed token")]
    Unreadable,
    #[error("it is not signed by RS256 or ES256")]
    Algorithm,
    #[error("it is signed by a key that the provider does not publish")]
    UnknownKey,
    #[error("its signature is wrong, or its claims are none")]
    Signature,
}

/// Names the implementation of the algorithms, unless the program has chosen another one.
pub(super) fn choose_cryptography() {
    // An error means that there is one.
    let _ = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
}

/// The keys that a provider publishes.
#[derive(Debug)]
pub(super) struct KeySet(Vec<Jwk>);

impl KeySet {
    /// Reads the document of the keys. Keys of unknown kinds are left out.
    pub(super) fn read(body: &[u8]) -> Result<Self, &'static str> {
        #[derive(Deserialize)]
        struct Document {
            keys: Vec<serde_json::Value>,
        }
        let document: Document =
            serde_json::from_slice(body).map_err(|_| "the document of its keys is none")?;
        let keys = document.keys.into_iter();
        Ok(Self(keys.filter_map(|key| serde_json::from_value(key).ok()).collect()))
    }

    /// R432. The claims of a token that a key of the set has signed, by RS256 or ES256 as the kind
    /// of the key has it. What the claims say is not looked at.
    pub(super) fn verify(&self, token: &str) -> Result<IdToken, Unverified> {
        if token.len() > MOST_CHARS {
            return Err(Unverified::Unreadable);
        }
        // An algorithm that the library does not know, such as none, is an error here already.
        let header = jsonwebtoken::decode_header(token).map_err(|_| Unverified::Unreadable)?;
        let algorithm = match header.alg {
            allowed @ (Algorithm::RS256 | Algorithm::ES256) => allowed,
            _ => return Err(Unverified::Algorithm),
        };
        if header.crit.is_some() {
            return Err(Unverified::Unreadable);
        }
        let key = self.key(header.kid.as_deref(), algorithm).ok_or(Unverified::UnknownKey)?;
        let key = DecodingKey::from_jwk(key).map_err(|_| Unverified::UnknownKey)?;
        let mut validation = Validation::new(algorithm);
        // The core looks at the claims, by its own clock.
        validation.required_spec_claims.clear();
        (validation.validate_exp, validation.validate_nbf) = (false, false);
        validation.validate_aud = false;
        let decoded = jsonwebtoken::decode::<IdToken>(token, &key, &validation);
        decoded.map(|decoded| decoded.claims).map_err(|_| Unverified::Signature)
    }

    /// The key for signatures with this name; without a name, the only one of the kind.
    fn key(&self, kid: Option<&str>, algorithm: Algorithm) -> Option<&Jwk> {
        let mut fitting = self.0.iter().filter(|key| fits(key, algorithm));
        match kid {
            Some(kid) => fitting.find(|key| key.common.key_id.as_deref() == Some(kid)),
            None => fitting.next().filter(|_| fitting.next().is_none()),
        }
    }
}

/// Whether a key is one for signatures by this algorithm.
fn fits(key: &Jwk, algorithm: Algorithm) -> bool {
    let is_for_signatures =
        key.common.public_key_use.as_ref().is_none_or(|wanted| *wanted == PublicKeyUse::Signature);
    let named = key.common.key_algorithm.as_ref();
    let is_named = named.is_none_or(|named| *named == KeyAlgorithm::from(algorithm));
    let is_kind = match &key.algorithm {
        AlgorithmParameters::RSA(_) => algorithm == Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(parameters) => {
            algorithm == Algorithm::ES256 && parameters.curve == EllipticCurve::P256
        }
        _ => false,
    };
    is_for_signatures && is_named && is_kind
}
