//! How the status of a connection changed over the last day.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Connection, ConnectionStatus};
use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId};

/// The time for which the status of a connection is shown.
pub const STATUS_SHOWN: Duration = Duration::from_hours(24);
/// For how long a status is kept after it ended: longer than it is shown, because clocks differ.
const STATUS_KEPT: Duration = Duration::from_hours(25);
/// At most so many changes are kept of one connection.
const MAX_CHANGES: usize = 200;

/// A status that began at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusSince {
    /// Since when.
    pub at: Timestamp,
    /// The status.
    pub status: ConnectionStatus,
}

/// The statuses that a connection had lately. There is none of a connection whose status never
/// changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusHistory {
    /// The company.
    pub company: CompanyId,
    /// The connection.
    pub connection: ConnectionId,
    /// The statuses, the oldest first. Nothing is known of the time before the first.
    pub changes: Vec<StatusSince>,
}

impl StatusHistory {
    /// That of a connection without one. A change of the status is one of the connection, so its
    /// status is what it was when the connection last changed.
    pub(super) fn begun(connection: &Connection) -> Self {
        let since = StatusSince { at: connection.updated_at, status: connection.status };
        Self { company: connection.company, connection: connection.id, changes: vec![since] }
    }

    /// R428. The history with a status that begins. What ended too long ago is left out, and so is
    /// the oldest of too many.
    pub(super) fn and(mut self, began: StatusSince) -> Self {
        self.changes.push(began);
        let until = began.at.minus(STATUS_KEPT);
        let ended = self.changes.iter().skip(1).take_while(|next| next.at <= until).count();
        let surplus = self.changes.len().saturating_sub(MAX_CHANGES);
        self.changes.drain(..ended.max(surplus));
        self
    }

    /// The statuses since a time, the oldest first. The first begins at that time, or where
    /// something is known.
    pub(super) fn since(&self, from: Timestamp) -> Vec<StatusSince> {
        let before = self.changes.iter().rev().find(|change| change.at <= from);
        let first = before.map(|change| StatusSince { at: from, ..*change });
        let later = self.changes.iter().filter(|change| change.at > from).copied();
        first.into_iter().chain(later).collect()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const HOUR: i64 = 3_600_000;

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_millis(hour * HOUR)
    }

    fn began(hour: i64) -> StatusSince {
        let status = match hour % 2 {
            0 => ConnectionStatus::Connected,
            _ => ConnectionStatus::Disconnected,
        };
        StatusSince { at: at(hour), status }
    }

    fn history(hours: &[i64]) -> StatusHistory {
        StatusHistory {
            company: CompanyId::new(Uuid::from_u128(1)),
            connection: ConnectionId::new(Uuid::from_u128(2)),
            changes: hours.iter().copied().map(began).collect(),
        }
    }

    /// R428.
    #[test]
    fn what_ended_more_than_a_day_ago_is_left_out() {
        let kept = history(&[0, 1, 2, 3]).and(began(26));
        assert_eq!(kept.changes, [1, 2, 3, 26].map(began), "what began at 1 ended at 2");
        let kept = history(&[0, 1]).and(began(100));
        assert_eq!(kept.changes, [1, 100].map(began), "the last one is what the status was");
    }

    /// R428.
    #[test]
    fn the_oldest_of_too_many_changes_are_left_out() {
        let began_in = |minute| StatusSince {
            at: Timestamp::from_millis(minute * 60_000),
            status: ConnectionStatus::Connected,
        };
        let last = i64::try_from(MAX_CHANGES).expect("few") + 5;
        let kept = (0..last).map(began_in).fold(history(&[]), StatusHistory::and);
        assert_eq!(kept.changes.len(), MAX_CHANGES);
        assert_eq!(kept.changes.last(), Some(&began_in(last - 1)));
        assert_eq!(kept.changes.first(), Some(&began_in(5)));
    }

    /// R428.
    #[test]
    fn a_day_begins_with_the_status_that_was_then() {
        let of = history(&[0, 1, 30]);
        let first = StatusSince { at: at(10), ..began(1) };
        assert_eq!(of.since(at(10)), [first, began(30)]);
        assert_eq!(of.since(at(-5)), [0, 1, 30].map(began), "nothing is known before the first");
    }
}
