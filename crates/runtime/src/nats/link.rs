//! Whether NATS can be used, for the log.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use async_nats::Event;

/// What keeps NATS from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    /// It cannot be reached.
    Away,
    /// It refuses.
    Refusal,
}

impl Trouble {
    /// The trouble that the library tells of, with its words: they have no addresses and no
    /// secrets.
    pub(super) fn of(event: &Event) -> Option<(Self, String)> {
        match event {
            Event::Disconnected => Some((Self::Away, "the connection is lost".to_owned())),
            Event::ServerError(error) => Some((Self::Refusal, error.to_string())),
            Event::ClientError(error) => {
                let problem = error.to_string();
                let is_refusal = problem.contains("authorization");
                Some((if is_refusal { Self::Refusal } else { Self::Away }, problem))
            }
            _ => None,
        }
    }
}

/// What the log has said since NATS could be used last.
#[derive(Debug, Default)]
pub(super) struct Link(Mutex<BTreeSet<Trouble>>);

impl Link {
    /// Says what is wrong: each kind of trouble once, however often it is tried again.
    pub(super) fn is_in_trouble(&self, trouble: Trouble, problem: &str) {
        if self.is_new(trouble) {
            let effect = "other processes notice new deliveries up to a second later";
            match trouble {
                Trouble::Away => tracing::warn!(problem, effect, "NATS cannot be reached"),
                Trouble::Refusal => tracing::warn!(problem, effect, "NATS refuses"),
            }
        }
    }

    /// Says that notifications arrive.
    pub(super) fn works(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
        tracing::info!("connected to NATS: it notifies other processes of new deliveries");
    }

    fn is_new(&self, trouble: Trouble) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(trouble)
    }
}

#[cfg(test)]
mod tests {
    use async_nats::{ClientError, ServerError};

    use super::*;

    /// R463.
    #[test]
    fn each_kind_of_trouble_is_said_once_until_nats_can_be_used_again() {
        let (link, io) = (Link::default(), ClientError::Other("IO error".to_owned()));
        let events = [
            Event::Connected,
            Event::Disconnected,
            Event::ClientError(io.clone()),
            Event::ClientError(ClientError::Other("authorization violation".to_owned())),
            Event::ServerError(ServerError::AuthorizationViolation),
            Event::ClientError(io),
        ];
        let said = |event| Trouble::of(event).is_some_and(|(trouble, _)| link.is_new(trouble));
        let all = || events.iter().map(said).collect::<Vec<bool>>();
        assert_eq!(all(), [false, true, false, true, false, false]);
        assert_eq!(all(), [false; 6]);
        link.works();
        assert_eq!(all(), [false, true, false, true, false, false]);
    }
}
