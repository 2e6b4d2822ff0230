//! Who a login belongs to at the provider that members sign in with (R433).

use crate::keyed_hash::{HashKey, keyed_hash};

keyed_hash! {
    /// The hash of the issuer and the subject of a member at the provider that members sign in
    /// with. The subject itself is not kept (R433).
    LoginSubjectHash of "login subject"
}

impl LoginSubjectHash {
    /// R433. The hash of a subject of this issuer. An issuer is a URL, which has no zero byte.
    pub(crate) fn of_subject(key: &HashKey, issuer: &str, subject: &str) -> Self {
        Self::of(key, format!("{issuer}\0{subject}").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::SecretBytes;

    /// R433.
    #[test]
    fn a_subject_is_one_of_its_issuer() {
        let key = HashKey::new(SecretBytes::new([7; 32]));
        let hash = |issuer, subject| LoginSubjectHash::of_subject(&key, issuer, subject);
        assert_eq!(hash("https://a.example", "1"), hash("https://a.example", "1"));
        assert_ne!(hash("https://a.example", "1"), hash("https://b.example", "1"));
        assert_ne!(hash("https://a.example", "1"), hash("https://a.example", "2"));
        assert_ne!(hash("https://a.example/1", "2"), hash("https://a.example/", "12"));
    }
}
