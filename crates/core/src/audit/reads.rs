//! Entries without a change: reads that are logged, and refusals (R386, R387).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Actor, Audit, AuditEntry, OperationName, RecordRef, RecordRefs};
use crate::Timestamp;
use crate::code::Code;
use crate::ids::{AuditEntryId, CompanyId};
use crate::store::{ChangeSet, CommitError, StoreError};

/// How long one refusal stands for those like it (R387).
const ONCE_IN: Duration = Duration::from_secs(60);
/// How many refusals a process remembers at most. While it remembers as many, others are not
/// logged.
const REMEMBERED: usize = 10_000;

/// The refusals of the last minute, by who was refused what.
#[derive(Debug, Default)]
pub(crate) struct RecentDenials(Mutex<HashMap<(Actor, OperationName), Timestamp>>);

impl RecentDenials {
    /// Whether a refusal gets an entry: one per actor, operation and minute does, and no more than
    /// this process remembers (R387).
    fn is_first(&self, actor: Actor, operation: &OperationName, now: Timestamp) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let began = now.minus(ONCE_IN);
        if known.len() >= REMEMBERED {
            known.retain(|_, at| *at > began);
        }
        let key = (actor, operation.clone());
        let is_recent = known.get(&key).is_some_and(|at| *at > began);
        if is_recent || known.len() >= REMEMBERED {
            return false;
        }
        known.insert(key, now);
        true
    }
}

impl Audit<'_> {
    /// Logs a read, before its answer goes out (R386): of lead memory, secrets and exports. While
    /// a move has closed the installation, reads go on, and are not logged.
    ///
    /// # Errors
    ///
    /// When the store fails: then what was read is not to be shown.
    pub(crate) async fn note_read(
        &self,
        company: CompanyId,
        records: impl IntoIterator<Item = RecordRef> + Send,
    ) -> Result<(), StoreError> {
        let records: RecordRefs = records.into_iter().collect();
        match self.app.acting().actor() {
            Actor::Outside | Actor::System => Ok(()),
            _ => self.note(Some(company), records, None).await,
        }
    }

    /// Logs that one was refused for want of a right (R387): once per actor, operation and minute
    /// in a process, so that nobody fills the log. Should the store fail, it is not logged.
    pub async fn note_denial(&self, company: Option<CompanyId>, code: Code) {
        let acting = self.app.acting();
        let denials = self.app.recent_denials();
        if denials.is_first(acting.actor(), acting.operation(), self.app.now()) {
            // The refusal is answered all the same.
            let _ = self.note(company, RecordRefs::default(), Some(code)).await;
        }
    }

    async fn note(
        &self,
        company: Option<CompanyId>,
        records: RecordRefs,
        denied: Option<Code>,
    ) -> Result<(), StoreError> {
        let (app, now) = (self.app, self.app.now());
        let id = AuditEntryId::new(app.uuid(now));
        let entry = AuditEntry::new(id, now, app.acting(), company, records);
        let entry = AuditEntry { denied, ..entry };
        match app.commit(ChangeSet::new().insert(entry)).await {
            Ok(()) | Err(CommitError::Store(StoreError::Closed) | CommitError::Conflict(_)) => {
                Ok(())
            }
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R387.
    #[test]
    fn a_refusal_is_logged_once_a_minute_for_each_actor_and_operation() {
        let recent = RecentDenials::default();
        let [one, other] = ["createContact", "listContacts"].map(OperationName::of);
        let at = Timestamp::from_millis;
        assert!(recent.is_first(Actor::Root, &one, at(0)));
        assert!(!recent.is_first(Actor::Root, &one, at(59_999)));
        assert!(recent.is_first(Actor::Root, &other, at(59_999)));
        assert!(recent.is_first(Actor::Program, &one, at(59_999)));
        assert!(recent.is_first(Actor::Root, &one, at(60_000)));
    }

    /// R387.
    #[test]
    fn a_process_remembers_so_many_refusals_and_logs_no_others() {
        let recent = RecentDenials::default();
        let name = |n: usize| OperationName::new(&n.to_string());
        let at = Timestamp::from_millis;
        assert!((0..REMEMBERED).all(|n| recent.is_first(Actor::Root, &name(n), at(0))));
        assert!(!recent.is_first(Actor::Root, &name(REMEMBERED), at(1)));
        assert!(recent.is_first(Actor::Root, &name(REMEMBERED), at(60_000)));
    }
}
