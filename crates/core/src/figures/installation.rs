//! The figures of an installation.

use std::time::Duration;

use crate::Timestamp;
use crate::connections::{ConnectionKind, ConnectionStatus, GatewayName};
use crate::events::JournalPosition;
use crate::gateway::Providers;
use crate::messages::left_sent_between;

/// How many deliveries and how many jobs are counted (R280).
pub const MOST: u32 = 100_000;

/// What to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureQuery {
    /// The current time.
    pub now: Timestamp,
    /// The times of messages that count as left at `sent`, both inclusive (R123).
    pub left_sent: (Timestamp, Timestamp),
    /// How many deliveries and how many jobs are counted at most.
    pub most: u32,
}

impl FigureQuery {
    /// What is counted at `now`.
    pub fn at(now: Timestamp) -> Self {
        Self { now, left_sent: left_sent_between(now), most: MOST }
    }
}

/// Connections that are alike in what metrics tell apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionFigures {
    /// The gateway.
    pub gateway: GatewayName,
    /// The provider kind.
    pub kind: ConnectionKind,
    /// Whether the operator lets them be used.
    pub is_active: bool,
    /// Whether their gateway reaches the channel.
    pub status: ConnectionStatus,
    /// How many they are.
    pub count: u64,
    /// When the one was changed that has not been for the longest time.
    pub changed_at: Timestamp,
    /// When the one was heard that has not been for the longest time; one that was never heard
    /// counts from its last change.
    pub heard_at: Timestamp,
}

/// The state of a connection, as metrics name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionState {
    /// Messages can go out.
    Connected,
    /// Its gateway does not reach the channel.
    Disconnected,
    /// The operator does not let it be used.
    Inactive,
    /// Its gateway is not among those of this program (R150).
    Unavailable,
}

impl ConnectionState {
    /// All states.
    pub const ALL: [Self; 4] =
        [Self::Connected, Self::Disconnected, Self::Inactive, Self::Unavailable];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Disconnected => "disconnected",
            Self::Inactive => "inactive",
            Self::Unavailable => "unavailable",
        }
    }
}

impl ConnectionFigures {
    /// Their state in a program with these gateways (R280). What the operator has switched off is
    /// inactive, whatever its gateway says.
    pub fn state(&self, providers: &Providers) -> ConnectionState {
        if !self.is_active {
            return ConnectionState::Inactive;
        }
        if providers.description(&self.gateway).is_none() {
            return ConnectionState::Unavailable;
        }
        match self.status {
            ConnectionStatus::Connected => ConnectionState::Connected,
            ConnectionStatus::Disconnected => ConnectionState::Disconnected,
        }
    }
}

/// What waits to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DueFigures {
    /// How many wait, due or not.
    pub pending: u64,
    /// How many of them are due.
    pub due: u64,
    /// Since when the oldest one is due.
    pub oldest: Option<Timestamp>,
}

impl DueFigures {
    /// For how long the oldest one has been due at `now`; nothing due is 0.
    pub fn age(&self, now: Timestamp) -> Duration {
        self.oldest.map_or(Duration::ZERO, |oldest| now.since(oldest))
    }
}

/// The figures of an installation, over all companies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// The connections.
    pub connections: Vec<ConnectionFigures>,
    /// Deliveries to active webhooks.
    pub deliveries: DueFigures,
    /// Jobs; all that are counted are due.
    pub jobs: DueFigures,
    /// How many campaigns are running.
    pub campaigns: u64,
    /// How many messages are left at `sent` (R123).
    pub left_sent: u64,
    /// The newest position in the journal.
    pub journal: JournalPosition,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::samples;

    fn figures(is_active: bool, gateway: &str, status: ConnectionStatus) -> ConnectionFigures {
        ConnectionFigures {
            gateway: GatewayName::new(gateway),
            kind: ConnectionKind::Qr,
            is_active,
            status,
            count: 1,
            changed_at: Timestamp::from_millis(0),
            heard_at: Timestamp::from_millis(0),
        }
    }

    /// R280.
    #[test]
    fn the_state_of_a_connection_is_what_keeps_it_from_being_used() {
        use ConnectionStatus::{Connected, Disconnected};
        let providers = samples::providers();
        for (figures, state) in [
            (figures(true, "waha", Connected), ConnectionState::Connected),
            (figures(true, "waha", Disconnected), ConnectionState::Disconnected),
            (figures(true, "gone", Connected), ConnectionState::Unavailable),
            (figures(false, "waha", Connected), ConnectionState::Inactive),
            (figures(false, "gone", Disconnected), ConnectionState::Inactive),
        ] {
            assert_eq!(figures.state(&providers), state, "{figures:?}");
        }
    }

    /// R280.
    #[test]
    fn nothing_due_has_no_age_and_a_clock_that_was_set_back_makes_none() {
        let at = Timestamp::from_millis;
        let due = |oldest| DueFigures { pending: 1, due: 1, oldest };
        assert_eq!(due(None).age(at(9_000)), Duration::ZERO);
        assert_eq!(due(Some(at(2_000))).age(at(9_000)), Duration::from_secs(7));
        assert_eq!(due(Some(at(9_000))).age(at(2_000)), Duration::ZERO);
    }
}
