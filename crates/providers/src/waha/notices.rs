//! Calls, as the channel notes them in a chat (X1).

use recado_core::messages::{SystemKind, SystemNotice};
use serde_json::Value;

use super::proto::whole;
use crate::shared::{at, boolean, text as text_of};

/// Notes of missed calls on NOWEB, by number and by name, and whether it was a video call.
const STUBS: [(i64, &str, bool); 4] = [
    (40, "CALL_MISSED_VOICE", false),
    (41, "CALL_MISSED_VIDEO", true),
    (45, "CALL_MISSED_GROUP_VOICE", false),
    (46, "CALL_MISSED_GROUP_VIDEO", true),
];

/// The note of a call.
pub(super) fn call(payload: &Value, proto: Option<&Value>) -> Option<SystemNotice> {
    let data = payload.get("_data")?;
    let of_channel = proto.and_then(|proto| at(proto, &["callLogMesssage"]));
    let in_browser = || (text_of(data, "type") == Some("call_log")).then_some(data);
    if let Some(log) = of_channel.or_else(in_browser) {
        return Some(SystemNotice::new(kind(log)));
    }
    let stub = data.get("messageStubType")?;
    let is = |(number, name, _): &&(i64, &str, bool)| {
        stub.as_i64() == Some(*number) || stub.as_str() == Some(name)
    };
    let (_, _, video) = STUBS.iter().find(is)?;
    Some(SystemNotice::new(SystemKind::MissedCall { video: *video }))
}

fn kind(log: &Value) -> SystemKind {
    let old = text_of(log, "subtype").unwrap_or_default();
    let video = ["isVideo", "isVideoCall"].iter().any(|name| boolean(log, name) == Some(true))
        || old.contains("video");
    let seconds = ["durationSecs", "callDuration"].iter().find_map(|name| whole(log, name));
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok()).filter(|it| *it > 0);
    let is_missed = seconds.is_none() && (was_missed(log) || old.starts_with("miss"));
    if is_missed { SystemKind::MissedCall { video } } else { SystemKind::Call { video, seconds } }
}

/// Whether nobody took the call: it was missed (1), failed (2), declined (3), or silenced (6, 7).
fn was_missed(log: &Value) -> bool {
    const WORDS: [&str; 5] =
        ["MISSED", "FAILED", "REJECTED", "SILENCED_BY_DND", "SILENCED_UNKNOWN_CALLER"];
    let named = |name: &str| WORDS.iter().any(|word| name.eq_ignore_ascii_case(word));
    whole(log, "callOutcome").is_some_and(|outcome| matches!(outcome, 1..=3 | 6..=7))
        || text_of(log, "callOutcome").is_some_and(named)
}
