//! Notices of the channel that stand in a chat in place of a message ("stubs").

use recado_core::messages::{SystemKind, SystemNotice};
use serde_json::Value;

use super::array;

/// The highest number of a notice when this was written.
const NEWEST: i64 = 255;
/// How the names of known notices start, which are about groups, settings and payments.
const KNOWN: [&str; 12] = [
    "GROUP_",
    "COMMUNITY_",
    "SUB_GROUP_",
    "BROADCAST_",
    "BIZ_",
    "VERIFIED_",
    "UNVERIFIED_",
    "NON_VERIFIED_",
    "PAYMENT_",
    "E2E_",
    "CHANGE_",
    "DISAPPEARING_",
];

/// What a notice says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stub {
    /// The message was deleted for everybody.
    Revoked,
    /// The message cannot be decrypted yet: it comes again under the same id.
    Waiting,
    /// A message of a kind that the gateway does not know.
    Unreadable,
    /// A notice that belongs in the chat.
    Notice(SystemNotice),
    /// The person of the chat has a new number, in the channel's form.
    NumberChanged(Option<String>),
    /// A member of the group has a new number, in the channel's form.
    MemberNumberChanged(Option<String>),
    /// Nothing that a person wrote.
    Known,
    /// A notice that is not known, by its name.
    Unknown(String),
}

/// The notice of a record; `None` if it is none.
pub(crate) fn stub(record: &Value) -> Option<Stub> {
    let kind = record.get("messageStubType").filter(|kind| !kind.is_null())?;
    let name = kind.as_str().map(str::to_ascii_uppercase).unwrap_or_default();
    let notice = |kind| Stub::Notice(SystemNotice::new(kind));
    let new = || array(record, "messageStubParameters").first()?.as_str().map(str::to_owned);
    Some(match (kind.as_i64(), name.as_str()) {
        (Some(0), _) | (_, "UNKNOWN" | "") if kind.as_i64().unwrap_or(0) == 0 => return None,
        (Some(1), _) | (_, "REVOKE") => Stub::Revoked,
        (Some(2), _) | (_, "CIPHERTEXT") => Stub::Waiting,
        (Some(3), _) | (_, "FUTUREPROOF") => Stub::Unreadable,
        (Some(33), _) | (_, "GROUP_PARTICIPANT_CHANGE_NUMBER") => Stub::MemberNumberChanged(new()),
        (Some(38), _) | (_, "E2E_IDENTITY_CHANGED") => notice(SystemKind::IdentityChanged),
        (Some(40 | 45), _) | (_, "CALL_MISSED_VOICE" | "CALL_MISSED_GROUP_VOICE") => {
            notice(SystemKind::MissedCall { video: false })
        }
        (Some(41 | 46), _) | (_, "CALL_MISSED_VIDEO" | "CALL_MISSED_GROUP_VIDEO") => {
            notice(SystemKind::MissedCall { video: true })
        }
        (Some(42), _) | (_, "INDIVIDUAL_CHANGE_NUMBER") => Stub::NumberChanged(new()),
        (Some(number), _) if (4..=NEWEST).contains(&number) => Stub::Known,
        (None, name) if KNOWN.iter().any(|known| name.starts_with(known)) => Stub::Known,
        (Some(number), _) => Stub::Unknown(format!("notice.{number}")),
        (None, "") => Stub::Unknown("notice".to_owned()),
        (None, name) => Stub::Unknown(format!("notice.{name}")),
    })
}

/// Why the channel shows a notice in place of a message, if it tells.
pub(crate) fn reason(record: &Value) -> Option<&str> {
    let is_in_place = matches!(stub(record), Some(Stub::Waiting | Stub::Unreadable));
    array(record, "messageStubParameters").first().filter(|_| is_in_place)?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn notices_are_known_by_number_and_by_name() {
        let missed = |video| Stub::Notice(SystemNotice::new(SystemKind::MissedCall { video }));
        for (kind, expected) in [
            (json!(null), None),
            (json!(0), None),
            (json!("UNKNOWN"), None),
            (json!(1), Some(Stub::Revoked)),
            (json!("REVOKE"), Some(Stub::Revoked)),
            (json!(2), Some(Stub::Waiting)),
            (json!("CIPHERTEXT"), Some(Stub::Waiting)),
            (json!(3), Some(Stub::Unreadable)),
            (json!(40), Some(missed(false))),
            (json!("CALL_MISSED_GROUP_VIDEO"), Some(missed(true))),
            (json!(42), Some(Stub::NumberChanged(Some("5534@s.whatsapp.net".to_owned())))),
            (json!(21), Some(Stub::Known)),
            (json!("GROUP_CHANGE_SUBJECT"), Some(Stub::Known)),
            (json!(900), Some(Stub::Unknown("notice.900".to_owned()))),
            (json!("NEW_THING"), Some(Stub::Unknown("notice.NEW_THING".to_owned()))),
            (json!({}), None),
        ] {
            let record = json!({"messageStubType": kind,
                "messageStubParameters": ["5534@s.whatsapp.net"]});
            assert_eq!(stub(&record), expected, "{kind}");
        }
    }
}
