//! Entries without a change: reads that are logged, and refusals (R386, R387).

use super::{Actor, Audit, AuditEntry, RecordRef, RecordRefs};
use crate::accounts::Login;
use crate::code::Code;
use crate::ids::{AuditEntryId, CompanyId};
use crate::store::{ChangeSet, CommitError, StoreError};

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

    /// Logs that somebody who signs in was refused the login of a member (R387), once a minute for
    /// each login in a process. It has neither the address nor the password that were shown. It is
    /// written by the next upkeep, so that the answer takes no longer than that for an unknown
    /// address (R396).
    pub(crate) fn note_refused_sign_in(&self, login: &Login) {
        let (app, now) = (self.app, self.app.now());
        let member = Actor::Member(login.company, login.member);
        if app.recent_denials().is_first(member, app.acting().operation(), now) {
            let records = [RecordRef::new("member", login.member)].into_iter().collect();
            app.recent_denials().keep(self.entry(
                Some(login.company),
                records,
                Some(Code::Unauthorized),
            ));
        }
    }

    /// Writes the entries that wait (R387).
    ///
    /// # Errors
    ///
    /// When the store fails: the next call writes those that are left.
    pub(crate) async fn record_denials(&self) -> Result<(), StoreError> {
        let denials = self.app.recent_denials();
        let mut entries = denials.take().into_iter();
        while let Some(entry) = entries.next() {
            if let Err(error) = self.write(entry.clone()).await {
                denials.put_back(std::iter::once(entry).chain(entries));
                return Err(error);
            }
        }
        Ok(())
    }

    async fn note(
        &self,
        company: Option<CompanyId>,
        records: RecordRefs,
        denied: Option<Code>,
    ) -> Result<(), StoreError> {
        self.write(self.entry(company, records, denied)).await
    }

    /// An entry of now.
    fn entry(
        &self,
        company: Option<CompanyId>,
        records: RecordRefs,
        denied: Option<Code>,
    ) -> AuditEntry {
        let (app, now) = (self.app, self.app.now());
        let id = AuditEntryId::new(app.uuid(now));
        AuditEntry { denied, ..AuditEntry::new(id, now, app.acting(), company, records) }
    }

    async fn write(&self, entry: AuditEntry) -> Result<(), StoreError> {
        match self.app.commit(ChangeSet::new().insert(entry)).await {
            Ok(()) | Err(CommitError::Store(StoreError::Closed) | CommitError::Conflict(_)) => {
                Ok(())
            }
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}
