//! How many sign-ins of one client are examined at the same time (R398).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::access::ClientNet;

/// How many attempts of one client are examined at once. Wrong ones are charged only after they
/// were examined, so that without this bound any number of guesses could be made at once.
const AT_ONCE: u32 = 4;

/// How long a further attempt waits before it is looked at: longer than one takes.
const WAIT: Duration = Duration::from_secs(1);

/// The attempts that are under way in this process, by client.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<ClientNet, u32>>);

/// An attempt under way; its end makes room for another one.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    client: ClientNet,
}

impl Turns {
    fn under_way(&self) -> MutexGuard<'_, HashMap<ClientNet, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn of who asks from this address, to be held until the attempt was charged; without an
    /// address there is no bound.
    ///
    /// R398.
    ///
    /// # Errors
    ///
    /// How long to wait, while the client has as many turns as it may have.
    pub(super) fn take_at(&self, client: Option<IpAddr>) -> Result<Option<Turn<'_>>, Duration> {
        client.map(|client| self.take(ClientNet::of(client)).ok_or(WAIT)).transpose()
    }

    /// A turn of a client; `None` while it has as many as it may have.
    fn take(&self, client: ClientNet) -> Option<Turn<'_>> {
        let mut under_way = self.under_way();
        let of_client = under_way.entry(client).or_default();
        if *of_client >= AT_ONCE {
            return None;
        }
        *of_client += 1;
        Some(Turn { turns: self, client })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut under_way = self.turns.under_way();
        if let Some(of_client) = under_way.get_mut(&self.client) {
            *of_client -= 1;
            if *of_client == 0 {
                under_way.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn client(n: u8) -> Option<IpAddr> {
        Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, n)))
    }

    /// R398.
    #[test]
    fn a_client_has_four_turns_at_once_and_an_end_makes_room() {
        let turns = Turns::default();
        let mut held: Vec<_> = (0..4).map(|_| turns.take_at(client(1)).unwrap()).collect();
        assert!(held.iter().all(Option::is_some));
        assert_eq!(turns.take_at(client(1)).unwrap_err(), WAIT);
        assert!(turns.take_at(client(2)).is_ok(), "another client has its own");
        assert!(turns.take_at(None).unwrap().is_none(), "nobody's are not counted");
        held.pop();
        assert!(turns.take_at(client(1)).is_ok());
        drop(held);
        assert!(turns.under_way().is_empty(), "nothing is kept of who has no attempt under way");
    }
}
