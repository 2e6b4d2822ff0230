//! The runner: it reads the clock, decides again after a conflict, and bounds how often.

use crate::clock::Timestamp;
use crate::error::Error;
use crate::store::{ChangeSet, CommitError, Conflict, Decided, StoreError};
use crate::{Recado, UseCase};

/// How often a decision is made again after a conflict before the caller gets [`Error::Busy`]
/// (R17).
const MAX_ATTEMPTS: u32 = 64;

/// How often a use case that must be recorded is run while the store fails.
const MAX_FAILURES: u32 = 3;

impl Recado {
    /// Runs a use case: load, decide, commit; again after a conflict, a bounded number of times.
    ///
    /// # Errors
    ///
    /// The use case's refusal, [`Error::Busy`] after too many conflicts, or the store's failure.
    pub async fn run<U: UseCase>(&self, use_case: &U) -> Result<U::Output, Error<U::Error>> {
        self.decide(|now| async move {
            let loaded = use_case.load(self.store()).await?;
            use_case.decide(loaded, now).map_err(Error::Rejected)
        })
        .await
    }

    /// Runs a use case that records what has happened outside: it is also run again while the store
    /// fails, a bounded number of times, as the result of what happened cannot be obtained a second
    /// time.
    pub(crate) async fn record<U: UseCase>(
        &self,
        use_case: &U,
    ) -> Result<U::Output, Error<U::Error>> {
        for _ in 1..MAX_FAILURES {
            match self.run(use_case).await {
                Err(Error::Busy | Error::Store(_)) => {}
                answer => return answer,
            }
        }
        self.run(use_case).await
    }

    /// Commits what `decide` reads and decides; again after a conflict, a bounded number of times.
    pub(crate) async fn decide<T, E, F>(
        &self,
        mut decide: impl FnMut(Timestamp) -> F,
    ) -> Result<T, Error<E>>
    where
        F: Future<Output = Result<Decided<T>, Error<E>>>,
    {
        self.decide_after(|now, _| decide(now)).await
    }

    /// As [`Recado::decide`], for a decision that depends on the conflict of the previous attempt.
    pub(crate) async fn decide_after<T, E, F>(
        &self,
        mut decide: impl FnMut(Timestamp, Option<Conflict>) -> F,
    ) -> Result<T, Error<E>>
    where
        F: Future<Output = Result<Decided<T>, Error<E>>>,
    {
        let mut conflict = None;
        for _ in 0..MAX_ATTEMPTS {
            let decided = decide(self.now(), conflict.take()).await?;
            if decided.changes.is_empty() {
                return Ok(decided.output);
            }
            match self.commit(decided.changes).await {
                Ok(()) => return Ok(decided.output),
                Err(CommitError::Conflict(found)) => conflict = Some(found),
                Err(CommitError::Store(error)) => return Err(Error::Store(error)),
            }
        }
        Err(Error::Busy)
    }

    /// Commits a change set (D52). All use cases write through this.
    ///
    /// # Errors
    ///
    /// As [`Commit::commit`](crate::store::Commit::commit).
    pub(crate) async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        let changes = self.heed_opt_outs(changes).await?;
        self.database().commit(changes, self.acting(), self.now()).await
    }

    /// Commits once, without deciding again; returns false on a conflict.
    pub(crate) async fn commit_once(&self, changes: ChangeSet) -> Result<bool, StoreError> {
        match self.commit(changes).await {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict(_)) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}
