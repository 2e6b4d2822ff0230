//! What was done, and what went wrong.

use std::fmt;
use std::ops::AddAssign;

/// Counts of one era, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Kills while the server migrated its database or started.
    pub(crate) early_kills: usize,
    /// Kills under load.
    pub(crate) kills: usize,
    /// Contacts, sends and messages of gateways that were answered with 2xx.
    pub(crate) acknowledged: usize,
    /// Calls that the gateway got.
    pub(crate) calls: usize,
    /// Events that the receiver got, each once.
    pub(crate) events: usize,
    /// Acknowledged, and gone.
    pub(crate) lost: usize,
    /// Calls that the gateway got again.
    pub(crate) twice: usize,
    /// Events of what was acknowledged that the receiver never got.
    pub(crate) untold: usize,
    /// Events of what is not there, or of the same thing again.
    pub(crate) untrue: usize,
    /// Events that came after later ones of the same contact.
    pub(crate) late: usize,
}

impl Tally {
    /// Whether nothing went wrong.
    pub(crate) fn is_clean(&self) -> bool {
        self.lost + self.twice + self.untold + self.untrue + self.late == 0
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.early_kills += other.early_kills;
        self.kills += other.kills;
        self.acknowledged += other.acknowledged;
        self.calls += other.calls;
        self.events += other.events;
        self.lost += other.lost;
        self.twice += other.twice;
        self.untold += other.untold;
        self.untrue += other.untrue;
        self.late += other.late;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kills + self.early_kills > 0 {
            let (all, early) = (self.kills + self.early_kills, self.early_kills);
            write!(f, "{all} kills ({early} of them while it migrated or started), ")?;
        }
        write!(
            f,
            "{} operations acknowledged, {} calls of gateways, {} events; lost: {}, calls made twice: {}, events not delivered: \
             {}, events of nothing: {}, out of order: {}",
            self.acknowledged,
            self.calls,
            self.events,
            self.lost,
            self.twice,
            self.untold,
            self.untrue,
            self.late,
        )
    }
}
