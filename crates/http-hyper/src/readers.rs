//! How many may read files by links at the same time (R191).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recado_core::access::ClientNet;
use recado_core::ids::{CompanyId, MessageId};

/// How many may read the file of one message by its links (R191).
const PER_LINK: u32 = 4;
/// How many files one client may read (R191).
const PER_CLIENT: u32 = 16;

type Link = (CompanyId, MessageId);

/// Everybody who is reading a file by a link. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readers(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    links: HashMap<Link, u32>,
    clients: HashMap<ClientNet, u32>,
}

/// The place of one reader, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ReaderSlot {
    readers: Readers,
    link: Link,
    client: ClientNet,
}

impl Readers {
    /// A place for one more reader of this link; `None` if the link or the client has as many as
    /// are allowed.
    ///
    /// R191.
    pub(crate) fn admit(&self, link: Link, client: ClientNet) -> Option<ReaderSlot> {
        let mut counts = self.counts();
        let is_full = |count: Option<&u32>, most| count.is_some_and(|count| *count >= most);
        if is_full(counts.links.get(&link), PER_LINK)
            || is_full(counts.clients.get(&client), PER_CLIENT)
        {
            return None;
        }
        *counts.links.entry(link).or_default() += 1;
        *counts.clients.entry(client).or_default() += 1;
        Some(ReaderSlot { readers: self.clone(), link, client })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ReaderSlot {
    fn drop(&mut self) {
        let mut counts = self.readers.counts();
        one_less(&mut counts.links, self.link);
        one_less(&mut counts.clients, self.client);
    }
}

/// Counts one less; what nobody reads is not kept.
fn one_less<K: Eq + Hash>(counts: &mut HashMap<K, u32>, key: K) {
    if let Entry::Occupied(mut count) = counts.entry(key) {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn link(n: u8) -> Link {
        let id = format!("00000000-0000-0000-0000-0000000000{n:02x}");
        let company = CompanyId::parse(&id).expect("an id");
        (company, MessageId::parse(&id).expect("an id"))
    }

    fn client(n: u8) -> ClientNet {
        ClientNet::of(Ipv4Addr::new(192, 0, 2, n).into())
    }

    /// R191.
    #[test]
    fn a_link_has_four_readers_whoever_they_are() {
        let readers = Readers::default();
        let mut reading: Vec<_> = (0..4).map(|n| readers.admit(link(1), client(n))).collect();
        assert!(reading.iter().all(Option::is_some));
        assert!(readers.admit(link(1), client(9)).is_none());
        assert!(readers.admit(link(2), client(9)).is_some());
        reading.pop();
        assert!(readers.admit(link(1), client(9)).is_some());
    }

    /// R191.
    #[test]
    fn a_client_reads_sixteen_files_at_once_and_nothing_is_kept_of_who_has_finished() {
        let readers = Readers::default();
        let mut reading: Vec<_> = (0..16).map(|n| readers.admit(link(n), client(1))).collect();
        assert!(reading.iter().all(Option::is_some));
        assert!(readers.admit(link(99), client(1)).is_none());
        assert!(readers.admit(link(99), client(2)).is_some());
        reading.pop();
        assert!(readers.admit(link(99), client(1)).is_some());
        drop(reading);
        let counts = readers.counts();
        assert!(counts.links.is_empty() && counts.clients.is_empty());
    }
}
