//! What a token of the provider must say, and whom it is about (R432).

use serde::Deserialize;

use crate::Timestamp;
use crate::contacts::Email;

/// How far the clock of the provider may be from the own one.
const LEEWAY_SECONDS: i64 = 60;
/// The most characters of a subject (OpenID Connect Core, 2).
const MOST_SUBJECT_CHARS: usize = 255;

/// The claims of a token whose signature was verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct IdToken {
    /// Who issued it.
    pub iss: String,
    /// Who it is about, at the issuer.
    pub sub: String,
    /// The clients it is for.
    pub aud: Audience,
    /// The client it was issued to.
    pub azp: Option<String>,
    /// Until when it counts, in seconds.
    pub exp: Option<i64>,
    /// When it was issued, in seconds.
    pub iat: Option<i64>,
    /// The nonce of the request.
    pub nonce: Option<String>,
    /// The e-mail address.
    pub email: Option<String>,
    /// Whether the issuer has verified the address.
    pub email_verified: IsVerified,
}

/// The clients that a token is for: one, or a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Audience {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Default for Audience {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Audience {
    fn clients(&self) -> &[String] {
        match self {
            Self::One(client) => std::slice::from_ref(client),
            Self::Several(clients) => clients,
        }
    }
}

/// Whether the issuer has verified an address. Some write the boolean as a text; what is neither
/// counts as no.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum IsVerified {
    /// A boolean, as the standard has it.
    Flag(bool),
    /// A text.
    Text(String),
    /// Something else.
    Other(serde_json::Value),
}

impl Default for IsVerified {
    fn default() -> Self {
        Self::Flag(false)
    }
}

impl IsVerified {
    fn is_so(&self) -> bool {
        match self {
            Self::Flag(is_so) => *is_so,
            Self::Text(text) => text == "true",
            Self::Other(_) => false,
        }
    }
}

/// What the token has to say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) nonce: &'a str,
}

/// Whom a token is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProviderIdentity {
    pub(super) subject: String,
    /// The address, if the issuer has verified it and it is that of one account only.
    pub(super) email: Option<Email>,
}

/// Why a token with a good signature is refused (R432).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenProblem {
    /// Another issuer.
    #[error("it has another issuer")]
    Issuer,
    /// It is not for this client.
    #[error("it is for another client")]
    Audience,
    /// It was issued to another client.
    #[error("it was issued to another client")]
    AuthorizedParty,
    /// It does not count any more, or says no time.
    #[error("it has expired, or says not until when it counts")]
    Expired,
    /// It was issued in the future, or says no time.
    #[error("it was issued in the future, or says not when")]
    IssuedAt,
    /// It is not the answer to this request.
    #[error("it answers another request")]
    Nonce,
    /// It is about nobody.
    #[error("it has no subject, or one that is too long")]
    Subject,
}

/// R433. Whether an address in lower case is still that of the same account. Addresses are compared
/// in lower case, and that turns some signs beyond ASCII into ASCII letters, such as the sign of
/// kelvin into `k`: two accounts at the provider would be one here.
fn keeps_its_owner(email: &str) -> bool {
    email.chars().all(|c| c.is_ascii() || c.to_lowercase().eq([c]))
}

impl IdToken {
    /// R432. Whom the token is about, if it says what it has to.
    pub(super) fn check(
        &self,
        expected: Expected<'_>,
        now: Timestamp,
    ) -> Result<ProviderIdentity, TokenProblem> {
        let clients = self.aud.clients();
        if self.iss != expected.issuer {
            return Err(TokenProblem::Issuer);
        }
        if !clients.iter().any(|client| client == expected.client_id) {
            return Err(TokenProblem::Audience);
        }
        let is_issued_to_us = match &self.azp {
            Some(azp) => azp == expected.client_id,
            // With several clients it has to say to which one.
            None => clients.len() == 1,
        };
        if !is_issued_to_us {
            return Err(TokenProblem::AuthorizedParty);
        }
        let now = now.millis() / 1000;
        if self.exp.is_none_or(|exp| exp.saturating_add(LEEWAY_SECONDS) <= now) {
            return Err(TokenProblem::Expired);
        }
        if self.iat.is_none_or(|iat| iat > now + LEEWAY_SECONDS) {
            return Err(TokenProblem::IssuedAt);
        }
        if self.nonce.as_deref() != Some(expected.nonce) {
            return Err(TokenProblem::Nonce);
        }
        if self.sub.is_empty() || self.sub.chars().count() > MOST_SUBJECT_CHARS {
            return Err(TokenProblem::Subject);
        }
        let verified = self.email.as_deref().filter(|_| self.email_verified.is_so());
        let email = verified.filter(|email| keeps_its_owner(email));
        let email = email.and_then(|email| Email::parse(email).ok());
        Ok(ProviderIdentity { subject: self.sub.clone(), email })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: i64 = 1_000_000;
    const EXPECTED: Expected<'_> =
        Expected { issuer: "https://id.example", client_id: "recado", nonce: "n" };

    fn good() -> Value {
        json!({
            "iss": "https://id.example",
            "sub": "1",
            "aud": "recado",
            "exp": NOW + 300,
            "iat": NOW,
            "nonce": "n",
            "email": "Ana@Example.org",
            "email_verified": true,
        })
    }

    /// What comes of the good token with other claims; null leaves one out.
    fn checked(claims: &Value) -> Result<ProviderIdentity, TokenProblem> {
        let mut token = good();
        for (name, value) in claims.as_object().expect("claims") {
            match value {
                Value::Null => token.as_object_mut().expect("claims").remove(name),
                value => token.as_object_mut().expect("claims").insert(name.clone(), value.clone()),
            };
        }
        let token: IdToken = serde_json::from_value(token).expect("claims");
        token.check(EXPECTED, Timestamp::from_millis(NOW * 1000))
    }

    /// R432.
    #[test]
    fn a_token_has_to_be_of_the_issuer_for_this_client_and_this_request_and_now() {
        assert_eq!(checked(&json!({})).map(|identity| identity.subject).as_deref(), Ok("1"));
        for (claims, problem) in [
            (json!({"iss": "https://id.example/"}), TokenProblem::Issuer),
            (json!({"iss": null}), TokenProblem::Issuer),
            (json!({"aud": "other"}), TokenProblem::Audience),
            (json!({"aud": []}), TokenProblem::Audience),
            (json!({"aud": null}), TokenProblem::Audience),
            (json!({"aud": ["recado", "other"]}), TokenProblem::AuthorizedParty),
            (json!({"azp": "other"}), TokenProblem::AuthorizedParty),
            (json!({"aud": ["recado", "o"], "azp": "o"}), TokenProblem::AuthorizedParty),
            (json!({"exp": NOW - 60}), TokenProblem::Expired),
            (json!({"exp": null}), TokenProblem::Expired),
            (json!({"iat": NOW + 61}), TokenProblem::IssuedAt),
            (json!({"iat": null}), TokenProblem::IssuedAt),
            (json!({"nonce": "m"}), TokenProblem::Nonce),
            (json!({"nonce": null}), TokenProblem::Nonce),
            (json!({"sub": ""}), TokenProblem::Subject),
            (json!({"sub": null}), TokenProblem::Subject),
            (json!({"sub": "s".repeat(256)}), TokenProblem::Subject),
        ] {
            assert_eq!(checked(&claims), Err(problem), "{claims}");
        }
        for claims in [
            json!({"aud": ["recado"]}),
            json!({"aud": ["recado", "other"], "azp": "recado"}),
            json!({"exp": NOW - 59}),
            json!({"iat": NOW + 60}),
            json!({"sub": "s".repeat(255)}),
        ] {
            assert!(checked(&claims).is_ok(), "{claims}");
        }
    }

    /// R433.
    #[test]
    fn only_an_address_that_the_issuer_verified_counts() {
        let email = |claims: Value| {
            let identity = checked(&claims).expect("a good token");
            identity.email.map(|email| email.as_str().to_owned())
        };
        assert_eq!(email(json!({})).as_deref(), Some("ana@example.org"));
        assert_eq!(email(json!({"email_verified": "true"})).as_deref(), Some("ana@example.org"));
        for no in [json!(false), json!("false"), json!(1), json!(null), json!(["true"])] {
            assert_eq!(email(json!({"email_verified": no})), None, "{no}");
        }
        assert_eq!(email(json!({"email": null})), None);
        // In lower case it would be the address of another account.
        for other in ["\u{212a}im@example.org", "\u{130}da@example.org", "Ána@example.org"] {
            assert_eq!(email(json!({"email": other})), None, "{other}");
        }
        assert_eq!(email(json!({"email": "ána@example.org"})).as_deref(), Some("ána@example.org"));
        assert_eq!(email(json!({"email": "no address"})), None);
    }
}
