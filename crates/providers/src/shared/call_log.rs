//! The channel's notes of calls (X1).

use recado_core::messages::SystemKind;
use serde_json::Value;

use super::proto::whole;
use super::{boolean, text};

/// What the channel notes of a call.
pub(crate) fn call_log(log: &Value) -> SystemKind {
    let old = text(log, "subtype").unwrap_or_default();
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
        || text(log, "callOutcome").is_some_and(named)
}
