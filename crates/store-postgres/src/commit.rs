//! Commits: each is one transaction, sent at once, or a part of one that several share.
//!
//! The statements of a transaction have this order:
//!
//! 1. the check that nothing is closed, the locks of rows that many commits rely on, the locks of
//!    companies, and the checks that need the latter;
//! 2. the locks of existing rows, in the order of their keys, so that two transactions cannot wait
//!    for each other; in a shared transaction only of those that it relies on (R439);
//! 3. the changes;
//! 4. the events with their deliveries.
//!
//! Changes that lock rows in the order of their keys by themselves need no locks before.

use std::borrow::Cow;

use async_trait::async_trait;
use recado_core::ids::CompanyId;
use recado_core::store::{
    ChangeSet, Commit, CommitError, Conflict, Precondition, RowKey, StoreError,
};
use recado_store_sql::{Sealer, signed};

use crate::PostgresStore;
use crate::commit_changes::apply_changes;
use crate::commit_entry::enter;
use crate::commit_locks::lock_rows;
use crate::commit_merge::{Footprint, merge};
use crate::commit_stale::ExpectedRow;
use crate::deliveries_batch::sort_updates;
use crate::error::{Refused, refused};
use crate::param::{Param, params};
use crate::records::counted_of;
use crate::session::{Session, Statement, TransactionMode};

/// The advisory lock that commits which create contacts take shared and exports take exclusively.
pub(crate) fn company_lock(company: CompanyId) -> i64 {
    let (high, low) = company.uuid().as_u64_pair();
    // Ids made in the same millisecond differ in the low half. If two companies get the same lock,
    // commits of one may wait for the other; nothing else happens.
    (high.rotate_left(17) ^ low).cast_signed()
}

/// How many change sets a transaction has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// One. A step that fails says which conflict that is.
    #[default]
    Alone,
    /// Several, on different rows. If it fails, its sets get other transactions.
    Shared,
}

/// A statement, and the conflict to report if it fails because it found no row.
pub(crate) struct CommitStep {
    statement: Statement,
    about: Option<Conflict>,
    /// The rows of a statement on several, if it fails because one is not as expected.
    rows: Vec<ExpectedRow>,
}

impl CommitStep {
    pub(crate) fn new(sql: &'static str, params: Vec<Param>, about: Option<RowKey>) -> Self {
        let about = about.map(Conflict::Stale);
        Self { statement: Statement::new(sql, params), about, rows: Vec::new() }
    }

    /// A step that is never asked for its conflict.
    pub(crate) const fn plain(statement: Statement) -> Self {
        Self { statement, about: None, rows: Vec::new() }
    }

    /// A step that fails when an export has passed the position of a new contact of the company.
    pub(crate) fn not_exported(sql: &'static str, params: Vec<Param>, company: CompanyId) -> Self {
        let about = Some(Conflict::Exported(company));
        Self { statement: Statement::new(sql, params), about, rows: Vec::new() }
    }

    /// A step that fails when something is closed that the commit writes.
    pub(crate) fn open(sql: &'static str, params: Vec<Param>) -> Self {
        let about = Some(Conflict::Closed);
        Self { statement: Statement::new(sql, params), about, rows: Vec::new() }
    }

    /// A step that fails when another number of rows refers to a contact.
    fn counted(sql: String, params: Vec<Param>, contact: RowKey) -> Self {
        let about = Some(Conflict::Stale(contact));
        Self { statement: Statement::new(sql, params), about, rows: Vec::new() }
    }

    /// A step that fails unless all of these rows, which are of one table, are as expected.
    pub(crate) fn of_rows(
        sql: impl Into<Cow<'static, str>>,
        params: Vec<Param>,
        rows: Vec<ExpectedRow>,
    ) -> Self {
        let about = rows.first().map(|(key, _)| Conflict::Stale(key.clone()));
        Self { statement: Statement::new(sql, params), about, rows }
    }
}

/// Makes a change set into the steps of one transaction.
fn steps(
    mut changes: ChangeSet,
    sealer: &Sealer,
    sharing: Sharing,
) -> Result<Vec<CommitStep>, Conflict> {
    let mut steps = Vec::new();
    sort_updates(&mut changes.changes);
    enter(&mut steps, &changes);
    lock_rows(&mut steps, &changes, sharing);
    check_counts(&mut steps, &changes);
    apply_changes(&mut steps, changes.changes, changes.events, sealer, sharing)?;
    Ok(steps)
}

/// Checks how many rows refer to contacts. The contact is locked by now if the set deletes it, so
/// that no reference to it can be inserted any more.
fn check_counts(steps: &mut Vec<CommitStep>, changes: &ChangeSet) {
    for precondition in &changes.requires {
        if let Precondition::Counted { company, kind, contact, count } = precondition
            && kind.is_about_a_contact()
        {
            let params = params![company.uuid(), contact.uuid(), signed(*count)];
            let about = RowKey::Contact { company: *company, id: *contact };
            steps.push(CommitStep::counted(counted_of(*kind), params, about));
        }
    }
}

/// Why a transaction failed, with what its failed step says.
struct FailedStep {
    refused: Refused,
    rows: Vec<ExpectedRow>,
}

/// What became of a transaction that waits for no lock for long.
pub(crate) enum Brief {
    /// It was committed.
    Committed,
    /// Nothing has taken effect: it had to wait for a lock, or it was shared. Each of its sets is
    /// to be applied alone.
    Separately,
    /// Nothing has taken effect, as this row was not as the sets that rely on it expect. The others
    /// may share another one.
    Stale(RowKey),
    /// It failed; it may have been committed only if the error says so.
    Failed(CommitError),
}

impl PostgresStore {
    /// Sends the steps of one transaction. Answers the step that failed, if one did; nothing has
    /// taken effect then, unless the connection failed.
    async fn run_steps(
        &self,
        mode: TransactionMode,
        steps: Vec<CommitStep>,
    ) -> Result<Option<FailedStep>, StoreError> {
        let around = match (steps.len(), mode) {
            (0, _) => return Ok(None),
            (1, TransactionMode::Transaction) => TransactionMode::Nothing,
            (_, mode) => mode,
        };
        let mut subjects: Vec<(Option<Conflict>, Vec<ExpectedRow>)> =
            Vec::with_capacity(steps.len());
        let mut statements = Vec::with_capacity(steps.len());
        for step in steps {
            subjects.push((step.about, step.rows));
            statements.push(step.statement);
        }
        let session = Session::take(&self.pool).await?;
        let outcome = session.run(around, statements).await?;
        drop(session);
        let Err((at, error)) = outcome.into_rows() else { return Ok(None) };
        let (about, rows) = subjects.into_iter().nth(at).unwrap_or_default();
        Ok(Some(FailedStep { refused: refused(error, about), rows }))
    }

    /// The conflict of a failed step.
    async fn conflict_of(&self, failed: FailedStep) -> CommitError {
        // If it cannot be told which one, the conflict is about the first.
        if let CommitError::Conflict(Conflict::Stale(_)) = &failed.refused.error
            && let Ok(Some(key)) = self.first_stale(&failed.rows).await
        {
            return Conflict::Stale(key).into();
        }
        failed.refused.error
    }

    /// Applies a change set in a transaction of its own.
    pub(crate) async fn commit_alone(&self, changes: ChangeSet) -> Result<(), CommitError> {
        let steps = steps(changes, self.pool.sealer(), Sharing::Alone)?;
        match self.run_steps(TransactionMode::Transaction, steps).await? {
            None => Ok(()),
            Some(failed) => Err(self.conflict_of(failed).await),
        }
    }

    /// Applies change sets that are apart from each other in one transaction.
    pub(crate) async fn commit_briefly(&self, mut sets: Vec<ChangeSet>) -> Brief {
        let (changes, sharing) = match sets.len() {
            1 => (sets.pop().unwrap_or_default(), Sharing::Alone),
            _ => (merge(sets), Sharing::Shared),
        };
        let steps = match steps(changes, self.pool.sealer(), sharing) {
            Ok(steps) => steps,
            Err(conflict) => return Brief::Failed(conflict.into()),
        };
        let failed = match self.run_steps(TransactionMode::Brief, steps).await {
            Ok(None) => return Brief::Committed,
            Ok(Some(failed)) => failed,
            Err(error) => return Brief::Failed(error.into()),
        };
        let is_contended =
            matches!(failed.refused.error, CommitError::Conflict(Conflict::Contended));
        let Refused { rolled_back, .. } = failed.refused;
        if rolled_back && is_contended {
            return Brief::Separately;
        }
        match (self.conflict_of(failed).await, sharing) {
            (CommitError::Conflict(Conflict::Stale(key)), Sharing::Shared) => Brief::Stale(key),
            (_, Sharing::Shared) if rolled_back => Brief::Separately,
            (error, _) => Brief::Failed(error),
        }
    }
}

#[async_trait]
impl Commit for PostgresStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        match Footprint::of(&changes) {
            Some(footprint) => self.group.commit(self, changes, footprint).await,
            None => self.commit_alone(changes).await,
        }
    }
}
