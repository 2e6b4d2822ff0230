//! The windows in which a template is not dispatched to a contact a second time (8, D50): the pure
//! rules.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::Timestamp;
use crate::ids::{CompanyId, ContactId, MessageId};
use crate::templates::TemplateCategory;
use crate::words::words;

/// How long a dispatch without a recorded outcome blocks others: longer than any call of a gateway,
/// so that only a crash leaves one behind (D50, R88).
pub const RESERVATION: Duration = Duration::from_secs(60);

/// The key of a window: two dispatches to one contact with the same key are duplicates. It is a
/// truncated digest, so that no content is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowKey([u8; 32]);

impl WindowKey {
    /// The bytes, for stores.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A key as a store keeps it.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for WindowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WindowKey({:02x}{:02x}…)", self.0[0], self.0[1])
    }
}

words! {
    /// The state of a dispatch.
    WindowState {
        /// It is under way.
        Reserved = "reserved",
        /// It was sent, or may have been.
        Sent = "sent",
    }
}

/// The last dispatch of its kind to a contact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchWindow {
    /// The company.
    pub company: CompanyId,
    /// The contact; the window is deleted with it.
    pub contact: ContactId,
    /// The key that a duplicate has too.
    pub key: WindowKey,
    /// Its message.
    pub message: MessageId,
    /// When its message was stored: `sent_at` (R87).
    pub sent_at: Timestamp,
    /// Its state.
    pub state: WindowState,
    /// When it can be removed.
    pub ends_at: Timestamp,
}

/// The window of a template dispatch: its length and its key (8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRule {
    /// The key that duplicates have.
    pub key: WindowKey,
    /// How long it lasts.
    pub lasts: Duration,
}

/// The window that a category has: advertising once a day and template name, everything else once
/// in ten minutes and content, which is name, language and rendered text (8, D50).
pub fn window_rule(
    category: TemplateCategory,
    name: &str,
    language: &str,
    rendered: &str,
) -> WindowRule {
    let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
    match category {
        TemplateCategory::Marketing => {
            WindowRule { key: digest("name", &[name]), lasts: minutes(24 * 60) }
        }
        TemplateCategory::Utility | TemplateCategory::Authentication => {
            let key = digest("content", &[name, language, rendered]);
            WindowRule { key, lasts: minutes(10) }
        }
    }
}

/// Each part is hashed with its length, so that two different lists of parts never have the same
/// input.
fn digest(kind: &str, parts: &[&str]) -> WindowKey {
    let mut hash = Sha256::new();
    for part in std::iter::once(&kind).chain(parts) {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part.as_bytes());
    }
    WindowKey(hash.finalize().into())
}

/// The dispatch that a refused one repeats (7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExistingSend {
    /// Its message.
    pub message_id: MessageId,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// When another one is accepted again.
    pub next_eligible_at: Timestamp,
}

/// Whether a dispatch may go on at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligibility {
    /// It may.
    Free,
    /// Another one is under way.
    InFlight,
    /// Another one was sent inside the window.
    Sent(ExistingSend),
}

impl DispatchWindow {
    /// Whether another dispatch may go on at `now`. Both bounds are exclusive: at
    /// `next_eligible_at` itself, and 60 seconds after a reservation without a recorded outcome,
    /// one may (D50).
    pub fn eligibility(&self, lasts: Duration, now: Timestamp) -> Eligibility {
        match self.state {
            WindowState::Reserved if self.is_under_way(now) => Eligibility::InFlight,
            WindowState::Sent if now < self.sent_at.plus(lasts) => {
                Eligibility::Sent(ExistingSend {
                    message_id: self.message,
                    sent_at: self.sent_at,
                    next_eligible_at: self.sent_at.plus(lasts),
                })
            }
            WindowState::Reserved | WindowState::Sent => Eligibility::Free,
        }
    }

    /// Whether its dispatch may still be under way: 60 seconds after a reservation without a
    /// recorded outcome it is not (D50).
    pub fn is_under_way(&self, now: Timestamp) -> bool {
        self.state == WindowState::Reserved && now < self.sent_at.plus(RESERVATION)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    const CATEGORIES: &[TemplateCategory] = TemplateCategory::ALL;

    fn window(state: WindowState, at: i64) -> DispatchWindow {
        let sent_at = Timestamp::from_millis(at);
        DispatchWindow {
            company: CompanyId::new(Uuid::from_u128(1)),
            contact: ContactId::new(Uuid::from_u128(2)),
            key: WindowKey([0; 32]),
            message: MessageId::new(Uuid::from_u128(3)),
            sent_at,
            state,
            ends_at: sent_at,
        }
    }

    fn rule(category: TemplateCategory) -> WindowRule {
        window_rule(category, "welcome", "pt_BR", "Olá Ana")
    }

    fn later(at: Timestamp, millis: i64) -> Timestamp {
        Timestamp::from_millis(at.millis() + millis)
    }

    #[test]
    fn advertising_waits_a_day_and_everything_else_ten_minutes() {
        let minutes = |category| rule(category).lasts.as_secs() / 60;
        assert_eq!(minutes(TemplateCategory::Marketing), 24 * 60);
        assert_eq!(minutes(TemplateCategory::Utility), 10);
        assert_eq!(minutes(TemplateCategory::Authentication), 10);
    }

    #[test]
    fn advertising_is_reported_by_its_name_alone() {
        let key = |name, language, rendered| {
            window_rule(TemplateCategory::Marketing, name, language, rendered).key
        };
        assert_eq!(key("a", "pt_BR", "Olá Ana"), key("a", "en", "Hi Rex"));
        assert_ne!(key("a", "pt_BR", "Olá Ana"), key("b", "pt_BR", "Olá Ana"));
    }

    #[test]
    fn everything_else_is_reported_by_name_language_and_text() {
        for category in [TemplateCategory::Utility, TemplateCategory::Authentication] {
            let key = |name, language, text| window_rule(category, name, language, text).key;
            let one = key("a", "pt_BR", "Olá Ana");
            assert_eq!(one, key("a", "pt_BR", "Olá Ana"));
            for other in [
                key("b", "pt_BR", "Olá Ana"),
                key("a", "en", "Olá Ana"),
                key("a", "pt_BR", "Olá ana"),
                key("ap", "t_BR", "Olá Ana"),
            ] {
                assert_ne!(one, other);
            }
        }
    }

    proptest! {
        #[test]
        fn a_window_lasts_to_the_millisecond(
            at in 0_i64..4_000_000_000_000,
            category in prop::sample::select(CATEGORIES),
            offset in 0_i64..100_000_000,
        ) {
            let (rule, sent) = (rule(category), window(WindowState::Sent, at));
            let lasts = rule.lasts.as_millis() as i64;
            let at_offset = |millis| sent.eligibility(rule.lasts, later(sent.sent_at, millis));
            let existing = ExistingSend {
                message_id: sent.message,
                sent_at: sent.sent_at,
                next_eligible_at: later(sent.sent_at, lasts),
            };
            for inside in [0, 1, lasts - 1, offset % lasts] {
                prop_assert_eq!(at_offset(inside), Eligibility::Sent(existing));
            }
            for outside in [lasts, lasts + 1, lasts + offset] {
                prop_assert_eq!(at_offset(outside), Eligibility::Free);
            }
            // A clock that was set back does not end a window.
            prop_assert_eq!(at_offset(-offset), Eligibility::Sent(existing));
        }

        #[test]
        fn a_reservation_lapses_after_60_seconds_to_the_millisecond(
            at in 0_i64..4_000_000_000_000,
            category in prop::sample::select(CATEGORIES),
            offset in 0_i64..100_000_000,
        ) {
            let (rule, held) = (rule(category), window(WindowState::Reserved, at));
            let at_offset = |millis| held.eligibility(rule.lasts, later(held.sent_at, millis));
            for inside in [0, 59_999, offset % 60_000, -offset] {
                prop_assert_eq!(at_offset(inside), Eligibility::InFlight);
            }
            for outside in [60_000, 60_001, 60_000 + offset] {
                prop_assert_eq!(at_offset(outside), Eligibility::Free);
            }
        }
    }
}
