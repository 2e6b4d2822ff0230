//! Whose login a verified identity opens (R433).

use std::ops::Deref;

use super::Login;
use super::id_token::ProviderIdentity;

/// R433. The login that an identity opens: the one that is bound to its subject, whatever address
/// it has by now; else the one with its verified address, unless that is bound to another subject.
/// A disabled one is never opened, and none is made.
pub(super) fn opened<L: Deref<Target = Login>>(
    identity: &ProviderIdentity,
    by_subject: Option<L>,
    by_email: Option<L>,
) -> Option<L> {
    let is_free =
        |login: &L| login.subject.is_none() && identity.email.as_ref() == Some(&login.email);
    let found = by_subject.or_else(|| by_email.filter(is_free));
    found.filter(|login| login.disabled_at.is_none())
}

#[cfg(test)]
mod tests {
    use super::super::LoginSubjectHash;
    use super::super::login::tests::login;
    use super::*;
    use crate::Timestamp;
    use crate::contacts::Email;

    /// R433.
    #[test]
    fn an_identity_opens_the_login_of_its_subject_or_else_a_free_one_with_its_address() {
        let email = |text: &str| Email::parse(text).expect("an address");
        let identity = |verified: Option<&str>| ProviderIdentity {
            subject: "1".to_owned(),
            email: verified.map(email),
        };
        let ana = Some("ana@example.org");
        let free = login();
        let invited = Login { password: None, ..login() };
        let bound = Login { subject: Some(LoginSubjectHash::from_bytes([1; 32])), ..login() };
        let disabled =
            |login: &Login| Login { disabled_at: Some(Timestamp::from_millis(1)), ..login.clone() };
        let (no_longer, never) = (disabled(&bound), disabled(&free));
        for (verified, by_subject, by_email, expected) in [
            (ana, None, Some(&free), Some(&free)),
            (ana, None, Some(&invited), Some(&invited)),
            // The address was not verified, or is that of nobody.
            (None, None, Some(&free), None),
            (ana, None, None, None),
            (Some("eva@example.org"), None, Some(&free), None),
            // The login with the address belongs to somebody else there.
            (ana, None, Some(&bound), None),
            // The subject counts, whatever the address is by now.
            (None, Some(&bound), None, Some(&bound)),
            (Some("eva@example.org"), Some(&bound), None, Some(&bound)),
            (ana, Some(&bound), Some(&free), Some(&bound)),
            (ana, Some(&no_longer), Some(&free), None),
            (ana, None, Some(&never), None),
        ] {
            let opened = opened(&identity(verified), by_subject, by_email);
            assert_eq!(opened, expected, "{verified:?}");
        }
    }
}
