//! Who holds how much of a memory budget, and whose body gives way for another (R183).

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use recado_core::access::ClientNet;
use recado_core::ids::ConnectionId;

/// Who sends a body: to which connection, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BodySender {
    /// The connection whose address is called.
    pub(crate) connection: ConnectionId,
    /// The caller's client.
    pub(crate) client: ClientNet,
}

/// Keys with weights above 0, in the order of their weight.
#[derive(Debug)]
struct Ranking<K> {
    weights: HashMap<K, usize>,
    order: BTreeSet<(usize, K)>,
}

impl<K> Default for Ranking<K> {
    fn default() -> Self {
        Self { weights: HashMap::new(), order: BTreeSet::new() }
    }
}

impl<K: Copy + Ord + Hash> Ranking<K> {
    fn weight(&self, key: K) -> usize {
        self.weights.get(&key).copied().unwrap_or_default()
    }

    fn heaviest(&self) -> Option<(usize, K)> {
        self.order.last().copied()
    }

    /// Takes `from` off the weight of a key and adds `to`.
    fn change(&mut self, key: K, from: usize, to: usize) {
        let before = self.weight(key);
        self.order.remove(&(before, key));
        let after = before - from + to;
        if after == 0 {
            self.weights.remove(&key);
        } else {
            self.weights.insert(key, after);
            self.order.insert((after, key));
        }
    }
}

/// The weights of bodies, of their clients and of their connections. Each question and each change
/// takes logarithmic time, as strangers cause them.
#[derive(Debug, Default)]
pub(crate) struct FairShares {
    connections: Ranking<ConnectionId>,
    clients: HashMap<ConnectionId, Ranking<ClientNet>>,
    bodies: HashMap<BodySender, Ranking<u64>>,
}

impl FairShares {
    /// Changes the weight of a body.
    pub(crate) fn change(&mut self, sender: BodySender, body: u64, from: usize, to: usize) {
        let BodySender { connection, client } = sender;
        self.connections.change(connection, from, to);
        let clients = self.clients.entry(connection).or_default();
        clients.change(client, from, to);
        if clients.order.is_empty() {
            self.clients.remove(&connection);
        }
        let bodies = self.bodies.entry(sender).or_default();
        bodies.change(body, from, to);
        if bodies.order.is_empty() {
            self.bodies.remove(&sender);
        }
    }

    /// The body that gives way to a body of `sender` that needs `more`: of the heaviest connection
    /// if it is heavier than the sender's would be then, else of the heaviest client of the
    /// sender's connection if that is heavier than the sender would be (R183).
    pub(crate) fn heavier_than(&self, sender: BodySender, more: usize) -> Option<u64> {
        let (weight, heaviest) = self.connections.heaviest()?;
        if weight > self.connections.weight(sender.connection) + more {
            return self.heaviest_of(heaviest);
        }
        let clients = self.clients.get(&sender.connection)?;
        let (weight, _) = clients.heaviest()?;
        if weight > clients.weight(sender.client) + more {
            return self.heaviest_of(sender.connection);
        }
        None
    }

    /// The body that gives way first.
    pub(crate) fn heaviest(&self) -> Option<u64> {
        let (_, connection) = self.connections.heaviest()?;
        self.heaviest_of(connection)
    }

    fn heaviest_of(&self, connection: ConnectionId) -> Option<u64> {
        let (_, client) = self.clients.get(&connection)?.heaviest()?;
        let (_, body) = self.bodies.get(&BodySender { connection, client })?.heaviest()?;
        Some(body)
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.connections.order.is_empty() && self.clients.is_empty() && self.bodies.is_empty()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The sender from this client at this connection.
    pub(crate) fn sender(connection: u8, client: u8) -> BodySender {
        let id = format!("00000000-0000-7000-8000-0000000000{connection:02x}");
        BodySender {
            connection: ConnectionId::parse(&id).expect("an id"),
            client: ClientNet::of([203, 0, 113, client].into()),
        }
    }

    /// R183.
    #[test]
    fn the_heaviest_connection_gives_way_and_of_it_the_heaviest_client_and_its_heaviest_body() {
        let mut shares = FairShares::default();
        for (from, body, weight) in
            [((1, 1), 1, 4), ((2, 1), 2, 1), ((2, 2), 3, 2), ((2, 2), 4, 3), ((2, 3), 5, 4)]
        {
            shares.change(sender(from.0, from.1), body, 0, weight);
        }
        assert_eq!(shares.heaviest(), Some(4));
        assert_eq!(shares.heavier_than(sender(3, 1), 9), Some(4));
        assert_eq!(shares.heavier_than(sender(3, 1), 10), None, "it would be as heavy");
        assert_eq!(shares.heavier_than(sender(1, 1), 5), Some(4));
        assert_eq!(shares.heavier_than(sender(1, 1), 6), None);
        shares.change(sender(2, 2), 4, 3, 0);
        assert_eq!(shares.heaviest(), Some(5));
    }

    /// R183.
    #[test]
    fn within_its_connection_the_heaviest_client_gives_way() {
        let mut shares = FairShares::default();
        shares.change(sender(1, 1), 1, 0, 6);
        shares.change(sender(1, 2), 2, 0, 2);
        shares.change(sender(2, 1), 3, 0, 3);
        assert_eq!(shares.heavier_than(sender(1, 2), 3), Some(1));
        assert_eq!(shares.heavier_than(sender(1, 2), 4), None);
        assert_eq!(shares.heavier_than(sender(1, 1), 1), None, "it is the heaviest itself");
        shares.change(sender(1, 1), 1, 6, 0);
        assert_eq!(shares.heavier_than(sender(1, 2), 1), None);
        for (from, body, weight) in [((1, 2), 2, 2), ((2, 1), 3, 3)] {
            shares.change(sender(from.0, from.1), body, weight, 0);
        }
        assert!(shares.is_empty());
    }
}
