//! Bounded look-ups of names: one at a time for each name, and a limited number in all.
//!
//! The system's resolver occupies a thread until the look-up ends, even if its callers stop
//! waiting, and all blocking work of the program shares these threads. Others can choose names that
//! resolve slowly, so the number of threads must not depend on the number of names or callers.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::network::Network;

/// How many look-ups are under way at most: a fraction of the threads for blocking work, of which
/// a runtime has 512 unless configured otherwise.
const UNDER_WAY: usize = 64;

/// What is looked up.
type HostAndPort = (String, u16);

/// The result of a look-up, once it has ended; no addresses if it failed.
type Answer = Option<Vec<SocketAddr>>;

/// The look-ups of a client.
pub(crate) struct LookUps {
    network: Arc<dyn Network>,
    permits: Arc<Semaphore>,
    /// The look-ups under way; results are not kept.
    open: Mutex<HashMap<HostAndPort, watch::Sender<Answer>>>,
}

impl LookUps {
    pub(crate) fn new(network: Arc<dyn Network>) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(UNDER_WAY));
        Arc::new(Self { network, permits, open: Mutex::default() })
    }

    /// The addresses of a name, none if it has none. Joins the look-up of the name that is under
    /// way, or begins one. A caller that stops waiting does not end it for others.
    pub(crate) async fn addresses(self: &Arc<Self>, name: &str, port: u16) -> Vec<SocketAddr> {
        let mut answer = self.join((name.to_owned(), port));
        // An error says that the resolver panicked.
        let answered = answer.wait_for(Option::is_some).await;
        answered.ok().and_then(|answer| answer.clone()).unwrap_or_default()
    }

    fn join(self: &Arc<Self>, name: HostAndPort) -> watch::Receiver<Answer> {
        let (look_up, receiver) = {
            let mut open = self.open();
            if let Some(answer) = open.get(&name) {
                return answer.subscribe();
            }
            let (answer, receiver) = watch::channel(None);
            open.insert(name.clone(), answer.clone());
            (LookUp { all: Arc::clone(self), name, answer, is_open: true }, receiver)
        };
        // Not under the lock: a runtime that is shutting down drops the task here, and dropping it
        // takes the lock.
        tokio::spawn(look_up.run());
        receiver
    }

    fn open(&self) -> MutexGuard<'_, HashMap<HostAndPort, watch::Sender<Answer>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One look-up. Its entry in `open` is removed when it ends in any way.
struct LookUp {
    all: Arc<LookUps>,
    name: HostAndPort,
    answer: watch::Sender<Answer>,
    is_open: bool,
}

impl LookUp {
    async fn run(mut self) {
        let Some(_permit) = self.permit().await else { return };
        let (name, port) = &self.name;
        let addresses = self.all.network.resolve(name, *port).await.unwrap_or_default();
        // Closed first, so that a caller with this answer that asks again starts a new look-up.
        self.close();
        self.answer.send_replace(Some(addresses));
    }

    /// A permit to begin; none if no caller waits any more. So there are never more look-ups
    /// without a permit than callers.
    async fn permit(&mut self) -> Option<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.all.permits).acquire_owned();
        tokio::pin!(permit);
        loop {
            tokio::select! {
                biased;
                permit = &mut permit => return permit.ok(),
                () = self.answer.closed() => {}
            }
            if self.close_unless_awaited() {
                return None;
            }
        }
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.all.open().remove(&self.name);
        }
    }

    /// Closes it unless a caller waits. A caller may have joined since the last one left; under the
    /// lock none can.
    fn close_unless_awaited(&mut self) -> bool {
        let mut open = self.all.open();
        if self.answer.receiver_count() > 0 {
            return false;
        }
        open.remove(&self.name);
        self.is_open = false;
        true
    }
}

impl Drop for LookUp {
    fn drop(&mut self) {
        self.close();
    }
}
