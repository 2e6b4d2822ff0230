//! Which rows housekeeping removes, and when.

use std::time::Duration;

use crate::Timestamp;

/// How long a worker is remembered after its lease lapsed (D36): by then other processes have
/// recorded the sends that it left.
const WORKERS_KEPT: Duration = Duration::from_hours(1);
/// How long an event that was not understood is kept (X9, R105).
const UNKNOWN_EVENTS_KEPT: Duration = Duration::from_hours(30 * 24);

/// The moments up to which [`Upkeep::upkeep`](super::Upkeep::upkeep) removes rows: a row is removed
/// when its time is at or before the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutoffs {
    /// For rows with an expiry time of their own: status reports and traces of forgotten messages
    /// (D28, R145), remembered calls (D37), dispatch windows (D50).
    pub ended: Timestamp,
    /// For workers, by the end of their lease.
    pub workers: Timestamp,
    /// For events that were not understood, by when they came.
    pub unknown_events: Timestamp,
}

impl Cutoffs {
    /// Those of housekeeping at `now`.
    pub fn at(now: Timestamp) -> Self {
        Self {
            ended: now,
            workers: now.minus(WORKERS_KEPT),
            unknown_events: now.minus(UNKNOWN_EVENTS_KEPT),
        }
    }
}
