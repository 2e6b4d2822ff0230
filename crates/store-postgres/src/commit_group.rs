//! Group commit: the change sets that wait in this process share a transaction.
//!
//! The sets that come while earlier ones are committed are the next transaction: as one change set,
//! with one flush of the log and few statements for rows of a kind. If such a transaction fails,
//! the sets that rely on a row which has changed get one of their own, and the others share another
//! one; if that is not the reason, each gets one of its own. So the conflict of one is that of no
//! other (R439).

use std::collections::VecDeque;
use std::sync::Arc;

use recado_core::store::{ChangeSet, CommitError, StoreError};
use tokio::sync::oneshot;

use crate::PostgresStore;
use crate::commit::Brief;
use crate::commit_merge::Footprint;
use crate::error::shared_failure;
use crate::lanes::{Lanes, Work};

/// The most changes in one transaction, unless a single set has more.
const BATCH: usize = 512;

/// How many waiting sets are looked at for the next transaction.
const LOOKED_AT: usize = 128;

/// How many shared transactions a batch gets at most: after the first one, without the sets that
/// rely on rows which have changed.
const ROUNDS: usize = 4;

/// A set that waits, and who waits for it.
pub(crate) struct Waiting {
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

/// The change sets that wait in this process.
pub(crate) type GroupCommit = Lanes<PostgresStore>;

impl GroupCommit {
    /// Commits a set, with others if some wait. A set whose caller stops waiting is committed or
    /// not.
    pub(crate) async fn commit(
        self: &Arc<Self>,
        store: &PostgresStore,
        changes: ChangeSet,
        footprint: Footprint,
    ) -> Result<(), CommitError> {
        let (answer, answered) = oneshot::channel();
        self.push(store, Waiting { changes, footprint, answer });
        answered.await.map_err(|_| StoreError::OutcomeUnknown(None))?
    }
}

impl Work for PostgresStore {
    type Task = Waiting;

    /// While a crowd waits, one transaction computes while another one waits for the disk.
    const LANES: usize = 2;

    /// The first set that waits, and those after it that are apart from all before.
    fn take(waiting: &mut VecDeque<Waiting>) -> Vec<Waiting> {
        let mut before = Footprint::default();
        let mut batch = Vec::new();
        let mut at = 0;
        for _ in 0..LOOKED_AT {
            let Some(next) = waiting.get(at) else { break };
            if !batch.is_empty() && before.changes() + next.footprint.changes() > BATCH {
                break;
            }
            // A set that shares a row with an earlier one has to come after it.
            let is_apart = next.footprint.is_apart_from(&before);
            before.add(&next.footprint);
            match waiting.remove(at) {
                Some(next) if is_apart => batch.push(next),
                Some(next) => {
                    waiting.insert(at, next);
                    at += 1;
                }
                None => break,
            }
        }
        batch
    }

    async fn run(&self, mut batch: Vec<Waiting>) {
        for _ in 0..ROUNDS {
            if batch.is_empty() {
                return;
            }
            let sets: Vec<ChangeSet> =
                batch.iter().map(|waiting| waiting.changes.clone()).collect();
            match self.commit_briefly(sets).await {
                Brief::Committed => {
                    return batch.into_iter().for_each(|waiting| waiting.answer(Ok(())));
                }
                Brief::Separately => break,
                Brief::Stale(key) => {
                    let stale = |waiting: &Waiting| waiting.footprint.has(&key);
                    let (stale, others): (Vec<_>, Vec<_>) = batch.into_iter().partition(stale);
                    commit_each(self, stale);
                    batch = others;
                }
                Brief::Failed(error) => {
                    return match <[Waiting; 1]>::try_from(batch) {
                        Ok([waiting]) => waiting.answer(Err(error)),
                        Err(batch) => fail_all(batch, error),
                    };
                }
            }
        }
        commit_each(self, batch);
    }
}

/// Applies each set in a transaction of its own. The lane does not wait for them: one of them may
/// have to wait for a lock.
fn commit_each(store: &PostgresStore, batch: Vec<Waiting>) {
    for waiting in batch {
        let store = store.clone();
        tokio::spawn(async move {
            let outcome = store.commit_alone(waiting.changes.clone()).await;
            waiting.answer(outcome);
        });
    }
}

/// Answers the failure of a shared transaction to all who wait for it.
fn fail_all(batch: Vec<Waiting>, error: CommitError) {
    match error {
        CommitError::Conflict(conflict) => {
            for waiting in batch {
                waiting.answer(Err(conflict.clone().into()));
            }
        }
        CommitError::Store(error) => {
            let error = Arc::new(error);
            for waiting in batch {
                waiting.answer(Err(shared_failure(&error).into()));
            }
        }
    }
}
