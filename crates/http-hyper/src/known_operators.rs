//! Clients that have shown the operator's token (R181).

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recado_core::Timestamp;
use recado_core::access::ClientNet;

/// For how long a client is known after it showed the right token.
const KNOWN_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// How many clients are known at once, the last ones.
const MOST_KNOWN: usize = 64;

/// The clients that have shown the operator's token, the last one at the end. Only the holder of
/// the token is added, so nobody else can displace anyone.
#[derive(Debug, Default)]
pub(crate) struct KnownOperators(Mutex<VecDeque<(ClientNet, Timestamp)>>);

impl KnownOperators {
    pub(crate) fn knows(&self, client: ClientNet, now: Timestamp) -> bool {
        self.list().iter().any(|(known, at)| *known == client && now < at.plus(KNOWN_FOR))
    }

    pub(crate) fn saw(&self, client: ClientNet, now: Timestamp) {
        let mut list = self.list();
        list.retain(|(known, _)| *known != client);
        if list.len() >= MOST_KNOWN {
            list.pop_front();
        }
        list.push_back((client, now));
    }

    fn list(&self) -> MutexGuard<'_, VecDeque<(ClientNet, Timestamp)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(n: usize) -> ClientNet {
        let [_, _, high, low] = u32::try_from(n).expect("few").to_be_bytes();
        ClientNet::of([203, 0, high, low].into())
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// R181.
    #[test]
    fn the_last_clients_with_the_token_are_known_for_a_day() {
        let operators = KnownOperators::default();
        let day = i64::try_from(KNOWN_FOR.as_millis()).expect("small");
        operators.saw(client(0), at(0));
        assert!(operators.knows(client(0), at(day - 1)) && !operators.knows(client(1), at(0)));
        assert!(!operators.knows(client(0), at(day)));
        for n in 1..MOST_KNOWN {
            operators.saw(client(n), at(1));
        }
        operators.saw(client(0), at(2));
        operators.saw(client(MOST_KNOWN), at(3));
        assert!(operators.knows(client(0), at(3)), "seen again since");
        assert!(!operators.knows(client(1), at(3)));
        assert_eq!(operators.list().len(), MOST_KNOWN);
    }
}
