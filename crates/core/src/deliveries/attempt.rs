//! One attempt at a delivery, and its log entry (D53).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::transport::{OutboundResponse, TransportError};

/// How much of an answer is kept, in bytes (D56a, R65).
const RESPONSE_BYTES: usize = 1_024;

/// An attempt as it is stored in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Its number, from 1, over all series.
    pub attempt: u32,
    /// When it began, in milliseconds since the epoch.
    pub started_at: i64,
    /// How long it took.
    pub duration_ms: u32,
    /// The status of the answer, if there was one.
    pub status_code: Option<u16>,
    /// The reason if there was no answer.
    pub error: Option<String>,
    /// The beginning of the answer's body.
    pub response: Option<String>,
}

impl Attempt {
    /// The attempt without what the receiver answered, which may repeat what it was sent (R195).
    /// The reason for having no answer is a text of ours and stays.
    #[must_use]
    pub fn without_answer(self) -> Self {
        Self { response: None, ..self }
    }

    /// When it ended.
    pub(super) fn ended_at(&self) -> Timestamp {
        let took = Duration::from_millis(u64::from(self.duration_ms));
        Timestamp::from_millis(self.started_at).plus(took)
    }
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptOutcome {
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended: waits count from here (D53).
    pub ended_at: Timestamp,
    /// The answer, or why there was none.
    pub answer: Result<OutboundResponse, TransportError>,
}

impl AttemptOutcome {
    /// Whether the receiver accepted it: only the status line decides (6.3, D53).
    pub fn is_delivered(&self) -> bool {
        matches!(&self.answer, Ok(response) if (200..300).contains(&response.status))
    }

    /// Whether the request may have reached the receiver.
    pub fn may_have_arrived(&self) -> bool {
        self.answer.as_ref().map_or_else(TransportError::may_have_arrived, |_| true)
    }

    /// The entry of the log.
    pub(super) fn entry(&self, attempt: u32) -> Attempt {
        let duration: Duration = self.ended_at.since(self.started_at);
        let (status_code, error, response) = match &self.answer {
            Ok(response) => (Some(response.status), None, Some(text(&response.body))),
            Err(error) => (None, Some(error.to_string()), None),
        };
        Attempt {
            attempt,
            started_at: self.started_at.millis(),
            duration_ms: u32::try_from(duration.as_millis()).unwrap_or(u32::MAX),
            status_code,
            error,
            response,
        }
    }
}

/// The beginning of a body as text: at most 1,024 bytes, bytes that are not UTF-8 replaced (D56a).
/// NUL cannot be kept by every database and is replaced too.
fn text(body: &[u8]) -> String {
    let start = &body[..body.len().min(RESPONSE_BYTES)];
    let mut text = String::with_capacity(start.len());
    for character in String::from_utf8_lossy(start).chars() {
        let character = if character == '\0' { char::REPLACEMENT_CHARACTER } else { character };
        if text.len() + character.len_utf8() > RESPONSE_BYTES {
            break;
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R65.
    #[test]
    fn a_kept_response_is_bounded_text() {
        assert_eq!(text(b"ok"), "ok");
        assert_eq!(text("é".repeat(600).as_bytes()).len(), 1_024);
        assert!(text(&[0xff; 2_000]).len() <= 1_024);
        assert_eq!(text(b"a\0b"), "a\u{fffd}b");
    }
}
