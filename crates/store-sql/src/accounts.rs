//! Logins of members, their one-time links and sessions.

use recado_core::accounts::{
    LinkPurpose, Login, LoginLink, LoginSubjectHash, PasswordHash, RecoveryHashes, Session,
};

use crate::field::{bytes, texts, words};
use crate::record::record;

record! {
    Login in "logins" key(company_id, member_id) {
        company("company_id"),
        member("member_id"),
        email,
        role,
        password,
        disabled_at,
        totp_secret,
        totp_confirmed_at,
        totp_step,
        recovery,
        password_set_at,
        subject,
        created_at,
    }
    sealed Bytes { "totp_secret" }
}

record! {
    LoginLink in "login_links" key(company_id, member_id) {
        company("company_id"),
        member("member_id"),
        hash,
        purpose,
        expires_at,
        created_at,
    }
}

record! {
    Session in "sessions" key(company_id, id) {
        company("company_id"),
        id,
        member("member_id"),
        hash,
        last_seen_at,
        created_at,
    }
}

words! { LinkPurpose }

texts! {
    PasswordHash: PasswordHash::expose, |text| Some(PasswordHash::from_stored(text.to_owned()));
}

bytes! {
    RecoveryHashes: |hashes| hashes.as_bytes(), RecoveryHashes::from_bytes;
    LoginSubjectHash: |hash| hash.as_bytes(),
        |bytes| bytes.try_into().ok().map(LoginSubjectHash::from_bytes);
}
