//! Group commit: the change sets that wait in this process share a transaction.
//!
//! A set that finds a free lane is committed at once. Those that come while all lanes commit wait,
//! and are the next transaction of the lane that ends first: as one change set, with one flush of
//! the log and one statement for rows of a kind. No set waits for a timer. If such a transaction
//! fails, each of its sets gets one of its own, so that the conflict of one is that of no other.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recado_core::store::{ChangeSet, CommitError, StoreError};
use tokio::sync::oneshot;

use crate::PostgresStore;
use crate::commit::Brief;
use crate::commit_merge::Footprint;

/// How many transactions are under way at once. While one waits for the disk, another one computes.
const LANES: usize = 2;

/// The most changes in one transaction, unless a single set has more.
const BATCH: usize = 512;

/// How many waiting sets are looked at for the next transaction.
const LOOKED_AT: usize = 128;

/// A set that waits, and who waits for it.
struct Waiting {
    changes: ChangeSet,
    footprint: Footprint,
    answer: oneshot::Sender<Result<(), CommitError>>,
}

impl Waiting {
    fn answer(self, outcome: Result<(), CommitError>) {
        // The caller may have stopped waiting.
        drop(self.answer.send(outcome));
    }
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// How many lanes are busy.
    busy: usize,
}

/// The waiting change sets of a process, and the lanes that commit them.
#[derive(Default)]
pub(crate) struct GroupCommit {
    queue: Mutex<Queue>,
    transactions: AtomicU64,
    sets: AtomicU64,
}

impl GroupCommit {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many transactions were shared, and by how many sets.
    pub(crate) fn shared(&self) -> (u64, u64) {
        (self.transactions.load(Ordering::Relaxed), self.sets.load(Ordering::Relaxed))
    }

    /// Commits a set, with others if some wait. A caller that stops waiting leaves its set in the
    /// queue: its outcome is unknown to it.
    pub(crate) async fn commit(
        &self,
        store: &PostgresStore,
        changes: ChangeSet,
        footprint: Footprint,
    ) -> Result<(), CommitError> {
        let (answer, answered) = oneshot::channel();
        let is_free = {
            let mut queue = self.queue();
            queue.waiting.push_back(Waiting { changes, footprint, answer });
            let is_free = queue.busy < LANES;
            queue.busy += usize::from(is_free);
            is_free
        };
        if is_free {
            tokio::spawn(Lane { store: store.clone(), has_ended: false }.run());
        }
        answered.await.map_err(|_| StoreError::OutcomeUnknown(None))?
    }
}

/// Commits until nothing waits.
struct Lane {
    store: PostgresStore,
    has_ended: bool,
}

impl Lane {
    async fn run(mut self) {
        while let Some(batch) = self.next() {
            commit_batch(&self.store, batch).await;
        }
    }

    /// The sets of the next transaction: the first one that waits, and those after it that are
    /// apart from all before.
    fn next(&mut self) -> Option<Vec<Waiting>> {
        let mut queue = self.store.group.queue();
        let Some(mut first) = queue.waiting.pop_front() else {
            queue.busy -= 1;
            self.has_ended = true;
            return None;
        };
        let mut taken = std::mem::take(&mut first.footprint);
        let mut batch = vec![first];
        let mut at = 0;
        for _ in 0..LOOKED_AT {
            let Some(next) = queue.waiting.get(at) else { break };
            if taken.changes() + next.footprint.changes() > BATCH {
                break;
            }
            // A set that shares a row with an earlier one has to come after it.
            if !next.footprint.is_apart_from(&taken) {
                at += 1;
                continue;
            }
            if let Some(mut next) = queue.waiting.remove(at) {
                taken.add(std::mem::take(&mut next.footprint));
                batch.push(next);
            }
        }
        Some(batch)
    }
}

impl Drop for Lane {
    /// A lane that did not end by itself has panicked, or its runtime has ended. Nobody is left
    /// waiting for it.
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let mut queue = self.store.group.queue();
        queue.busy -= 1;
        if queue.busy == 0 {
            queue.waiting.clear();
        }
    }
}

async fn commit_batch(store: &PostgresStore, batch: Vec<Waiting>) {
    let sets: Vec<ChangeSet> = batch.iter().map(|waiting| waiting.changes.clone()).collect();
    let count = sets.len() as u64;
    match store.commit_briefly(sets).await {
        Brief::Committed => {
            store.group.transactions.fetch_add(1, Ordering::Relaxed);
            store.group.sets.fetch_add(count, Ordering::Relaxed);
            for waiting in batch {
                waiting.answer(Ok(()));
            }
        }
        // The lane does not wait for them: one of them may have to wait for a lock.
        Brief::Separately => {
            for waiting in batch {
                let store = store.clone();
                tokio::spawn(async move {
                    let outcome = store.commit_alone(waiting.changes.clone()).await;
                    waiting.answer(outcome);
                });
            }
        }
        Brief::Failed(error) => match <[Waiting; 1]>::try_from(batch) {
            Ok([waiting]) => waiting.answer(Err(error)),
            Err(batch) => fail_all(batch, error),
        },
    }
}

/// Answers the failure of a shared transaction to all who wait for it.
fn fail_all(batch: Vec<Waiting>, error: CommitError) {
    let is_unknown = matches!(error, CommitError::Store(StoreError::OutcomeUnknown(_)));
    let error = Arc::new(error);
    for waiting in batch {
        let cause = Arc::clone(&error);
        let each = match is_unknown {
            true => StoreError::outcome_unknown(cause),
            false => StoreError::unavailable(cause),
        };
        waiting.answer(Err(each.into()));
    }
}
