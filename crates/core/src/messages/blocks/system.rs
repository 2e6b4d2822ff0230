//! What the channel says about a conversation (X1, X2).

use serde::{Deserialize, Serialize};

/// A notice of the channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SystemNotice {
    /// What it is about.
    #[serde(flatten)]
    pub kind: SystemKind,
    /// The text that the gateway wrote.
    #[serde(default)]
    pub text: Option<String>,
}

impl SystemNotice {
    /// A notice without a text of the gateway.
    pub const fn new(kind: SystemKind) -> Self {
        Self { kind, text: None }
    }
}

/// What a notice is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SystemKind {
    /// The person has a new number.
    NumberChanged {
        /// The number before, if it is reported.
        #[serde(default)]
        from: Option<String>,
        /// The new number, if it is reported.
        #[serde(default)]
        to: Option<String>,
    },
    /// The person has a new device or new keys.
    IdentityChanged,
    /// A call that nobody took.
    MissedCall {
        /// Whether it was a video call.
        #[serde(default)]
        video: bool,
    },
    /// A call.
    Call {
        /// Whether it was a video call.
        #[serde(default)]
        video: bool,
        /// How long it took, if it is reported.
        #[serde(default)]
        seconds: Option<u64>,
    },
    /// The group's name, picture or members have changed.
    GroupChanged,
    /// A file was here that the gateway does not have.
    FileMissing,
    /// Anything else.
    Other,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// X2.
    #[test]
    fn a_notice_has_its_kind_its_text_and_what_belongs_to_the_kind() {
        let notice = SystemNotice {
            kind: SystemKind::Call { video: true, seconds: Some(12) },
            text: Some("Video call".to_owned()),
        };
        let shown = json!({"kind": "call", "video": true, "seconds": 12, "text": "Video call"});
        assert_eq!(serde_json::to_value(&notice).expect("JSON"), shown);
        assert_eq!(serde_json::from_value::<SystemNotice>(shown).ok(), Some(notice));
        let brief: SystemNotice =
            serde_json::from_value(json!({"kind": "missed_call"})).expect("a notice");
        assert_eq!(brief, SystemNotice::new(SystemKind::MissedCall { video: false }));
    }
}
