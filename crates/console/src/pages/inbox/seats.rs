//! The pages that listen, the readers that they share, and their bounds (R423).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recado_core::Recado;
use recado_core::events::Change;
use recado_core::ids::{CompanyId, MemberId};
use tokio::sync::{broadcast, watch};

use crate::options::ConsoleOptions;

/// How often the journal of a company is read while a page listens. With what follows, the request
/// for the new rows, others see an answer within a second.
const EVERY: Duration = Duration::from_millis(250);
/// How many events are read at once.
pub(super) const AT_ONCE: u32 = 100;
/// How many events a page may be behind before it reads the journal itself.
const WAITING: usize = 1024;

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    members: HashMap<Option<MemberId>, usize>,
    readers: HashMap<CompanyId, broadcast::Sender<Change>>,
}

/// The pages of this process that listen.
#[derive(Clone, Debug)]
pub(crate) struct Listening {
    taken: Arc<Mutex<Taken>>,
    ended: watch::Sender<bool>,
}

impl Default for Listening {
    fn default() -> Self {
        Self { taken: Arc::default(), ended: watch::Sender::new(false) }
    }
}

/// Waits for the end.
pub(super) async fn true_in(ended: &mut watch::Receiver<bool>) {
    // Without a sender nothing listens any more.
    let _ = ended.wait_for(|ended| *ended).await.is_ok();
}

/// The place of one page. It is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    listening: Listening,
    member: Option<MemberId>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.listening.taken();
        taken.all -= 1;
        if let Some(own) = taken.members.get_mut(&self.member) {
            *own -= 1;
            if *own == 0 {
                taken.members.remove(&self.member);
            }
        }
    }
}

impl Listening {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends every page that listens, and lets no other begin.
    pub(crate) fn end(&self) {
        self.ended.send_replace(true);
    }

    /// Becomes true at the end.
    pub(super) fn ended(&self) -> watch::Receiver<bool> {
        self.ended.subscribe()
    }

    /// R423. A place within the bounds of the member and of the process; `None` if there is none.
    pub(super) fn sit(&self, member: Option<MemberId>, options: &ConsoleOptions) -> Option<Seat> {
        let mut taken = self.taken();
        let own = taken.members.get(&member).copied().unwrap_or_default();
        let is_free = taken.all < options.live_pages && own < options.live_pages_per_member;
        if !is_free || *self.ended.borrow() {
            return None;
        }
        taken.all += 1;
        taken.members.insert(member, own + 1);
        Some(Seat { listening: self.clone(), member })
    }

    /// R423. What happens in a company from now on. All pages share one reader of its journal; a
    /// new one begins after this position. Read once more after this from where you are: a reader
    /// that was there already may be further.
    pub(super) fn hear(
        &self,
        recado: &Recado,
        company: CompanyId,
        after: &str,
    ) -> broadcast::Receiver<Change> {
        let mut taken = self.taken();
        if let Some(reader) = taken.readers.get(&company) {
            return reader.subscribe();
        }
        let (reader, heard) = broadcast::channel(WAITING);
        taken.readers.insert(company, reader.clone());
        drop(taken);
        let (listening, recado, after) = (self.clone(), recado.as_system(), after.to_owned());
        tokio::spawn(listening.read(recado, company, after, reader));
        heard
    }

    async fn read(
        self,
        recado: Recado,
        company: CompanyId,
        mut after: String,
        reader: broadcast::Sender<Change>,
    ) {
        let mut ended = self.ended();
        loop {
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = true_in(&mut ended) => {}
            }
            {
                let mut taken = self.taken();
                if reader.receiver_count() == 0 || *self.ended.borrow() {
                    taken.readers.remove(&company);
                    return;
                }
            }
            // A store that fails is asked again a second later.
            while let Ok(changes) = recado.events().changes(company, &after, AT_ONCE).await {
                let Some(last) = changes.last() else { break };
                after = last.position.clone();
                let is_all = changes.len() < usize::try_from(AT_ONCE).unwrap_or(usize::MAX);
                for change in changes {
                    // Nobody hears it any more: the next round ends.
                    let _ = reader.send(change);
                }
                if is_all {
                    break;
                }
            }
        }
    }
}
