//! Whether NATS can be used, for the log.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use async_nats::Event;
use metrics::gauge;

/// Whether notifications arrive: 1, or 0 since the connection was lost or refused.
const CONNECTED: &str = "recado_nats_connected";

/// What keeps NATS from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Problem {
    /// It cannot be reached.
    Unreachable,
    /// It refuses.
    Refused,
}

impl Problem {
    /// The problem that the library tells of, with its words: they have no addresses and no
    /// secrets.
    pub(super) fn of(event: &Event) -> Option<(Self, String)> {
        match event {
            Event::Disconnected => Some((Self::Unreachable, "the connection is lost".to_owned())),
            Event::ServerError(error) => Some((Self::Refused, error.to_string())),
            Event::ClientError(error) => {
                let problem = error.to_string();
                let is_refusal = problem.contains("authorization");
                Some((if is_refusal { Self::Refused } else { Self::Unreachable }, problem))
            }
            _ => None,
        }
    }
}

/// What the log has said since NATS could be used last.
#[derive(Debug, Default)]
pub(super) struct ConnectionLog(Mutex<BTreeSet<Problem>>);

impl ConnectionLog {
    /// Says what is wrong: each kind of problem once, however often it is tried again.
    pub(super) fn report(&self, kind: Problem, problem: &str) {
        gauge!(CONNECTED).set(0.0);
        if self.is_new(kind) {
            let effect = "other processes notice new deliveries up to a second later";
            match kind {
                Problem::Unreachable => tracing::warn!(problem, effect, "NATS cannot be reached"),
                Problem::Refused => tracing::warn!(problem, effect, "NATS refuses"),
            }
        }
    }

    /// Says that notifications arrive.
    pub(super) fn works(&self) {
        gauge!(CONNECTED).set(1.0);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
        tracing::info!("connected to NATS: it notifies other processes of new deliveries");
    }

    fn is_new(&self, kind: Problem) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(kind)
    }
}

#[cfg(test)]
mod tests {
    use async_nats::{ClientError, ServerError};

    use super::*;

    /// R463.
    #[test]
    fn each_kind_of_problem_is_said_once_until_nats_can_be_used_again() {
        let (link, io) = (ConnectionLog::default(), ClientError::Other("IO error".to_owned()));
        let events = [
            Event::Connected,
            Event::Disconnected,
            Event::ClientError(io.clone()),
            Event::ClientError(ClientError::Other("authorization violation".to_owned())),
            Event::ServerError(ServerError::AuthorizationViolation),
            Event::ClientError(io),
        ];
        let said = |event| Problem::of(event).is_some_and(|(kind, _)| link.is_new(kind));
        let all = || events.iter().map(said).collect::<Vec<bool>>();
        assert_eq!(all(), [false, true, false, true, false, false]);
        assert_eq!(all(), [false; 6]);
        link.works();
        assert_eq!(all(), [false, true, false, true, false, false]);
    }
}
