//! What a browser keeps while its member signs in at the provider (R432, R434).
//!
//! Nothing is kept here meanwhile, so that any process of an installation may answer: state, nonce
//! and verifier are keyed hashes of what the browser keeps.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::{LoginSubjectHash, SignInStateHash};
use crate::Timestamp;
use crate::ids::{CompanyId, MemberId};
use crate::keyed_hash::HashKey;
use crate::secret::SecretText;

/// How long a member may take at the provider.
const AT_PROVIDER: Duration = Duration::from_secs(10 * 60);
/// How long a member may take to find a code of the second factor.
const FOR_CODE: Duration = Duration::from_secs(5 * 60);
/// The longest path to lead to afterwards.
const MOST_PATH: usize = 1024;

/// A sign-in that was begun, as the browser keeps it: 256 random bits, when it was begun, and where
/// to lead afterwards. Another time or path is another state.
pub(super) struct ProviderAttempt {
    text: String,
    begun_at: Timestamp,
    pub(super) next: String,
}

impl ProviderAttempt {
    /// One that begins now.
    pub(super) fn begin(random: [u8; 32], now: Timestamp, next: &str) -> Self {
        let next = if next.len() > MOST_PATH { "" } else { next };
        let encoded = URL_SAFE_NO_PAD.encode(next);
        let text = format!("{}.{}.{encoded}", URL_SAFE_NO_PAD.encode(random), now.millis());
        Self { text, begun_at: now, next: next.to_owned() }
    }

    /// What the browser shows; `None` for a text that is none.
    pub(super) fn read(shown: &str) -> Option<Self> {
        let mut parts = shown.split('.');
        let (random, begun_at, next) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || random.len() != 43 {
            return None;
        }
        Some(Self {
            text: shown.to_owned(),
            begun_at: Timestamp::from_millis(begun_at.parse().ok()?),
            next: read_path(next)?,
        })
    }

    /// The text that the browser keeps.
    pub(super) fn kept(&self) -> SecretText {
        SecretText::new(self.text.clone())
    }

    /// Whether it is not too long ago that it was begun.
    pub(super) fn is_open(&self, now: Timestamp) -> bool {
        now < self.begun_at.plus(AT_PROVIDER)
    }

    pub(super) fn state(&self, key: &HashKey) -> SignInStateHash {
        SignInStateHash::of(key, self.text.as_bytes())
    }

    pub(super) fn nonce(&self, key: &HashKey) -> String {
        URL_SAFE_NO_PAD.encode(key.hash("sign-in nonce", self.text.as_bytes()))
    }

    pub(super) fn verifier(&self, key: &HashKey) -> SecretText {
        let verifier = key.hash("sign-in verifier", self.text.as_bytes());
        SecretText::new(URL_SAFE_NO_PAD.encode(verifier))
    }

    /// The challenge of the verifier (S256).
    pub(super) fn challenge(&self, key: &HashKey) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier(key).expose()))
    }
}

fn read_path(encoded: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()
}

/// R434. Somebody whom the provider knows as the owner of a login, and whose code of the second
/// factor is missing, as the browser keeps it. It ends with the address that the login had.
pub(super) struct PendingSignIn {
    pub(super) company: CompanyId,
    pub(super) member: MemberId,
    pub(super) subject: LoginSubjectHash,
    begun_at: Timestamp,
    pub(super) next: String,
    signed: String,
    signature: Option<[u8; 32]>,
}

impl PendingSignIn {
    /// One that begins now.
    pub(super) fn begin(
        login: (CompanyId, MemberId),
        subject: LoginSubjectHash,
        now: Timestamp,
        next: &str,
    ) -> Self {
        let (company, member) = login;
        let signed = format!(
            "{}.{}.{}.{}.{}",
            company.uuid().simple(),
            member.uuid().simple(),
            subject.to_text(),
            now.millis(),
            URL_SAFE_NO_PAD.encode(next)
        );
        let next = next.to_owned();
        Self { company, member, subject, begun_at: now, next, signed, signature: None }
    }

    /// What the browser shows; `None` for a text that is none.
    pub(super) fn read(shown: &str) -> Option<Self> {
        let (signed, signature) = shown.rsplit_once('.')?;
        let parts: Vec<&str> = signed.split('.').collect();
        let [company, member, subject, begun_at, next] = parts[..] else { return None };
        let id = |text: &str| Uuid::try_parse(text).ok();
        Some(Self {
            company: CompanyId::new(id(company)?),
            member: MemberId::new(id(member)?),
            subject: LoginSubjectHash::from_text(subject)?,
            begun_at: Timestamp::from_millis(begun_at.parse().ok()?),
            next: read_path(next)?,
            signed: signed.to_owned(),
            signature: Some(URL_SAFE_NO_PAD.decode(signature).ok()?.try_into().ok()?),
        })
    }

    fn sign(&self, key: &HashKey, email: &str) -> [u8; 32] {
        key.hash("sign-in pending", format!("{}\0{email}", self.signed).as_bytes())
    }

    /// The text that the browser keeps, for the login with this address.
    pub(super) fn kept(&self, key: &HashKey, email: &str) -> SecretText {
        let signature = URL_SAFE_NO_PAD.encode(self.sign(key, email));
        SecretText::new(format!("{}.{signature}", self.signed))
    }

    /// Whether it was made here, for the login with this address, and not too long ago. The
    /// comparison takes the same time for every text.
    pub(super) fn holds(&self, key: &HashKey, email: &str, now: Timestamp) -> bool {
        let Some(shown) = self.signature else { return false };
        let is_own: bool = shown.ct_eq(&self.sign(key, email)).into();
        is_own && now < self.begun_at.plus(FOR_CODE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::SecretBytes;

    fn key(byte: u8) -> HashKey {
        HashKey::new(SecretBytes::new([byte; 32]))
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    /// R432.
    #[test]
    fn what_the_browser_keeps_says_the_state_and_not_the_verifier() {
        let attempt = ProviderAttempt::begin([3; 32], at(100), "/console/inbox?q=a");
        let kept = attempt.kept();
        let read = ProviderAttempt::read(kept.expose()).expect("its own text");
        assert_eq!(read.next, "/console/inbox?q=a");
        assert_eq!(read.state(&key(1)), attempt.state(&key(1)));
        assert_eq!(read.nonce(&key(1)), attempt.nonce(&key(1)));
        let said = [
            attempt.state(&key(1)).to_text(),
            attempt.nonce(&key(1)),
            attempt.verifier(&key(1)).expose().to_owned(),
            attempt.challenge(&key(1)),
        ];
        for (n, one) in said.iter().enumerate() {
            assert_eq!(one.len(), 43);
            assert!(!kept.expose().contains(one.as_str()));
            assert!(!said[..n].contains(one));
        }
        assert_ne!(attempt.verifier(&key(1)).expose(), attempt.verifier(&key(2)).expose());
    }

    /// R432.
    #[test]
    fn an_attempt_with_another_time_or_path_has_another_state() {
        let attempt = ProviderAttempt::begin([3; 32], at(100), "/console");
        let kept = attempt.kept();
        let later = kept.expose().replace(".100000.", ".200000.");
        let (begin, _) = kept.expose().rsplit_once('.').expect("parts");
        for other in [later, format!("{begin}.{}", URL_SAFE_NO_PAD.encode("/console/inbox"))] {
            let other = ProviderAttempt::read(&other).expect("parts");
            assert_ne!(other.state(&key(1)), attempt.state(&key(1)));
        }
        assert!(attempt.is_open(at(699)) && !attempt.is_open(at(700)));
        for none in ["", "a.b.c", &format!("{}.1.", "a".repeat(42)), &format!("{}.", begin)] {
            assert!(ProviderAttempt::read(none).is_none() || none.starts_with(begin), "{none}");
        }
        let long = ProviderAttempt::begin([3; 32], at(1), &"a".repeat(MOST_PATH + 1));
        assert_eq!(long.next, "");
    }

    /// R434.
    #[test]
    fn a_pending_sign_in_is_of_this_installation_one_address_and_five_minutes() {
        let login = (CompanyId::new(Uuid::from_u128(1)), MemberId::new(Uuid::from_u128(2)));
        let subject = LoginSubjectHash::from_bytes([4; 32]);
        let kept = PendingSignIn::begin(login, subject, at(100), "/console").kept(&key(1), "a@b.c");
        let read = PendingSignIn::read(kept.expose()).expect("its own text");
        assert_eq!((read.company, read.member, read.subject), (login.0, login.1, subject));
        assert_eq!(read.next, "/console");
        assert!(read.holds(&key(1), "a@b.c", at(399)));
        assert!(!read.holds(&key(1), "a@b.c", at(400)));
        assert!(!read.holds(&key(1), "x@b.c", at(101)));
        assert!(!read.holds(&key(2), "a@b.c", at(101)));
        let later = kept.expose().replace(".100000.", ".200000.");
        let later = PendingSignIn::read(&later).expect("parts");
        assert!(!later.holds(&key(1), "a@b.c", at(201)));
        assert!(PendingSignIn::read("a.b.c.d.e.f").is_none());
        // What was never signed holds nothing.
        assert!(!PendingSignIn::begin(login, subject, at(1), "").holds(&key(1), "a@b.c", at(2)));
    }
}
