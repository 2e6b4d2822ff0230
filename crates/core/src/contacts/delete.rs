//! Deleting a contact with its documents (4.5, D26).
//!
//! Files cannot be part of a database transaction, so the order is: a durable record of the purge
//! (a job); a copy of every file; the removal of every file; the commit that deletes the contact;
//! the removal of the copies. Whatever fails before the commit is undone from the copies, so that
//! a refusal leaves every document readable. A crash is found through the job and undone, or, after
//! the commit, finished.

use std::time::Duration;

use super::kept_events::kept_of;
use super::receipt::count;
use super::{Contact, Contacts, Receipt};
use crate::access::{Caller, Scope};
use crate::code::Code;
use crate::documents::{Document, DocumentState, FileError, Files, file_key, undo_key};
use crate::error::{Error, NotFound, Rejection};
use crate::gateway::UnknownEvent;
use crate::ids::{CompanyId, ContactId, DocumentId, JobId};
use crate::jobs::{Job, JobKind, PurgeStage};
use crate::keyed_hash::HashKey;
use crate::messages::FORGOTTEN_KEPT;
use crate::remembered_opt_outs::kept_on_deletion;
use crate::store::{Change, ChangeSet, Decided, RecordsExt, StoreError, Stored};
use crate::uploads::{carried_by, free_uploads_job};
use crate::{Recado, Timestamp};

/// How long the lease of a purge lasts before the purge counts as interrupted by a crash.
const LEASE: Duration = Duration::from_secs(120);
/// The lease is renewed when less than this is left of it, so that no file operation can outlast
/// it.
const MARGIN: Duration = Duration::from_secs(60);
/// The most commits in which the caller waits for deliveries that are cancelled.
const WITHDRAWALS: u32 = 10;
/// When undoing or erasing that failed is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// Why a contact was not deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeleteContactError {
    /// There is no such contact in the company.
    #[error("no such contact")]
    NotFound,
    /// The contact's documents could not be deleted; the contact and every document are unchanged.
    /// Try again when the document store works.
    #[error("the contact's documents could not be deleted; nothing was deleted")]
    PurgeFailed,
}

impl Rejection for DeleteContactError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound => Code::NotFound,
            Self::PurgeFailed => Code::PurgeFailed,
        }
    }
}

/// A purge that was recorded, at the version it was recorded at.
struct Purge {
    job: Stored<Job>,
    documents: Vec<DocumentId>,
}

/// What the first commit of a deletion did.
enum Begun {
    /// Everything: there were no documents.
    Deleted(Option<Receipt>),
    /// The purge was recorded.
    Purging(Purge),
}

impl Contacts<'_> {
    /// Deletes a contact, its messages, memberships, deals and documents (4.5).
    ///
    /// # Errors
    ///
    /// [`DeleteContactError`]; then the contact is unchanged and every document can be read.
    /// [`Error::Busy`] while another call is deleting the same contact.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: ContactId,
    ) -> Result<(), Error<DeleteContactError>> {
        caller.require(Scope::ContactsWrite)?;
        self.delete_of(caller.company(), id).await
    }

    /// [`Contacts::delete`], answered with what was removed (R412).
    ///
    /// # Errors
    ///
    /// As [`Contacts::delete`].
    pub async fn delete_for_receipt(
        &self,
        caller: &Caller,
        id: ContactId,
    ) -> Result<Receipt, Error<DeleteContactError>> {
        caller.require(Scope::ContactsWrite)?;
        self.delete_of_for_receipt(caller.company(), id).await
    }

    /// [`Contacts::delete`] for the operator.
    ///
    /// # Errors
    ///
    /// As [`Contacts::delete`].
    pub async fn delete_of(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<(), Error<DeleteContactError>> {
        self.delete_counted(company, id, false).await.map(|_| ())
    }

    /// [`Contacts::delete_of`], answered with what was removed (R412).
    ///
    /// # Errors
    ///
    /// As [`Contacts::delete`].
    pub async fn delete_of_for_receipt(
        &self,
        company: CompanyId,
        id: ContactId,
    ) -> Result<Receipt, Error<DeleteContactError>> {
        // A deletion that was asked to count has counted.
        self.delete_counted(company, id, true).await?.ok_or(Error::Busy)
    }

    async fn delete_counted(
        &self,
        company: CompanyId,
        id: ContactId,
        counts: bool,
    ) -> Result<Option<Receipt>, Error<DeleteContactError>> {
        let purge = match self.begin(company, id, counts).await? {
            Begun::Deleted(receipt) => {
                self.withdraw_deliveries(company, id).await;
                self.free_sent(company, id).await;
                return Ok(receipt);
            }
            Begun::Purging(purge) => purge,
        };
        let mut purge = purge;
        if let Err(failed) = remove_files(self.app, company, &mut purge).await {
            undo(self.app, company, &purge.job, &purge.documents).await?;
            return Err(failed);
        }
        let Some((erasing, receipt)) = self.commit(company, id, &purge, counts).await? else {
            undo(self.app, company, &purge.job, &purge.documents).await?;
            return Err(Error::Busy);
        };
        // The contact is deleted for good. If the rest fails, the job does it.
        self.withdraw_deliveries(company, id).await;
        self.free_sent(company, id).await;
        let _: Result<bool, Error<DeleteContactError>> =
            finish(self.app, company, &erasing, &purge.documents).await;
        Ok(receipt)
    }

    /// The receipt of a deletion that is decided now, if one is wanted. The contact has the version
    /// that the commit demands, and what is stored for it changes its version, too.
    ///
    /// R412.
    async fn receipt(
        &self,
        contact: &Contact,
        kept: usize,
        counts: bool,
        now: Timestamp,
    ) -> Result<Option<Receipt>, StoreError> {
        if !counts {
            return Ok(None);
        }
        let (company, id) = (contact.company, contact.id);
        let mut removed = count(self.app.store(), company, id).await?;
        let sent = carried_by(self.app, company, id).await?.len();
        removed.insert("sent_files", u64::try_from(sent).unwrap_or(u64::MAX));
        removed.insert("kept_events", u64::try_from(kept).unwrap_or(u64::MAX));
        let receipt = Receipt { id: self.app.uuid(now), contact_id: id, deleted_at: now, removed };
        Ok(Some(receipt))
    }

    /// The key of remembered opt-outs, made if it is missing; `None` if none are remembered (R414).
    async fn remembering_key(&self) -> Result<Option<&HashKey>, StoreError> {
        match self.app.settings().remember_opt_outs {
            true => self.app.hash_key().await.map(Some),
            false => Ok(None),
        }
    }

    /// Cancels the deliveries that are not handed out any more, before the deletion is answered
    /// (D74). What fails or is left, the job that erases the events does.
    async fn withdraw_deliveries(&self, company: CompanyId, contact: ContactId) {
        let _: Result<(), StoreError> =
            self.app.deliveries().withdraw(company, contact, WITHDRAWALS).await;
    }

    /// Removes the files that were sent to it, before the deletion is answered (R351). What fails,
    /// the job does later.
    async fn free_sent(&self, company: CompanyId, contact: ContactId) {
        let kind = JobKind::FreeUploads { contact, uploads: Vec::new() };
        if let Ok(Some(job)) = self.app.store().job_like(company, &kind).await
            && let JobKind::FreeUploads { uploads, .. } = &job.kind
        {
            let _: Result<(), StoreError> = free_uploads_job(self.app, &job, uploads).await;
        }
    }

    /// Deletes a contact without documents at once; else records the purge (R11).
    async fn begin(
        &self,
        company: CompanyId,
        id: ContactId,
        counts: bool,
    ) -> Result<Begun, Error<DeleteContactError>> {
        let store = self.app.store();
        let key = self.remembering_key().await?;
        let job_id = JobId::new(self.app.uuid(self.app.now()));
        let begin = |now: Timestamp| async move {
            let gone = Error::Rejected(DeleteContactError::NotFound);
            let Some(mut contact) = store.get::<Contact>((company, id)).await? else {
                return Err(gone);
            };
            if let Some(left) = store.job_like(company, &JobKind::purge_of(id)).await? {
                // Another call is deleting it, or was when its process died.
                if left.leased_until.is_some_and(|until| until > now) {
                    return Err(Error::Busy);
                }
                if !finish_purge(self.app, &left).await? {
                    // The document store still fails: so would this call.
                    return Err(Error::Rejected(DeleteContactError::PurgeFailed));
                }
                let Some(again) = store.get::<Contact>((company, id)).await? else {
                    return Err(gone);
                };
                contact = again;
            }
            let documents = store.documents(company, id).await?;
            let kept = kept_of(store, &contact).await?;
            let after = self.afterwards(company, id).await?;
            let begun = begin_purge(&contact, &documents, &kept, job_id, after, now);
            if let Some(purge) = begun.output {
                return Ok(Decided::new(begun.changes, Begun::Purging(purge)));
            }
            let receipt = self.receipt(&contact, kept.len(), counts, now).await?;
            let changes = kept_on_deletion(store, key, &contact, begun.changes).await?;
            Ok(Decided::new(changes, Begun::Deleted(receipt)))
        };
        self.app.decide(begin).await
    }

    /// The jobs that are made with the contact's deletion: one erases its data from events (D26),
    /// one removes the files that were sent to it, if there are any (R351).
    async fn afterwards(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Job>, StoreError> {
        let uploads = carried_by(self.app, company, contact).await?;
        let free = (!uploads.is_empty()).then_some(JobKind::FreeUploads { contact, uploads });
        let kinds = [JobKind::EraseEvents { contact }].into_iter().chain(free);
        let now = self.app.now();
        let job = |kind| Job::due_now(JobId::new(self.app.uuid(now)), company, kind, now);
        Ok(kinds.map(job).collect())
    }

    /// Deletes the contact and its documents' rows; `None` when another process has taken over the
    /// purge.
    async fn commit(
        &self,
        company: CompanyId,
        id: ContactId,
        purge: &Purge,
        counts: bool,
    ) -> Result<Option<(Stored<Job>, Option<Receipt>)>, Error<DeleteContactError>> {
        let store = self.app.store();
        let key = self.remembering_key().await?;
        let lost = || Ok(Decided::unchanged(None));
        let commit = |now| async move {
            let Some(contact) = store.get::<Contact>((company, id)).await? else { return lost() };
            let documents = store.documents(company, id).await?;
            let ours = store.job_like(company, &JobKind::purge_of(id)).await?;
            if ours.is_none_or(|job| job.version() != purge.job.version()) {
                return lost();
            }
            // The file of a document that was added since was not removed.
            let has_file = |document: &Document| document.state == DocumentState::Stored;
            if documents.iter().any(|own| has_file(own) && !purge.documents.contains(&own.id)) {
                return lost();
            }
            let erasing = erasing(&purge.job);
            let mut changes = ChangeSet::new().with(purge.job.update(erasing.clone()));
            for document in &documents {
                changes = changes.with(document.delete());
            }
            let kept = kept_of(store, &contact).await?;
            let after = self.afterwards(company, id).await?;
            let receipt = self.receipt(&contact, kept.len(), counts, now).await?;
            changes = gone(changes, &contact, &kept, after, now);
            changes = kept_on_deletion(store, key, &contact, changes).await?;
            let erasing = Stored::new(erasing, purge.job.version().next());
            Ok(Decided::new(changes, Some((erasing, receipt))))
        };
        self.app.decide(commit).await
    }
}

/// Adds the contact's deletion, with kept events that name it (X9). Messages that gateways repeat
/// must not create it again (R145).
fn gone(
    changes: ChangeSet,
    contact: &Stored<Contact>,
    kept: &[Stored<UnknownEvent>],
    after: Vec<Job>,
    now: Timestamp,
) -> ChangeSet {
    let changes = after.into_iter().fold(changes, ChangeSet::insert);
    let changes = kept.iter().fold(changes, |changes, event| changes.with(event.delete()));
    let until = now.plus(FORGOTTEN_KEPT);
    let forget = Change::forget_messages(contact.company, contact.id, until);
    changes.with(forget).with(contact.delete())
}

/// What to write first: the contact's deletion when it has no documents, else the durable record of
/// the purge. The contact is written too, so that no document can be added meanwhile. The uploads
/// under way are written too, so that none of them can complete: its bytes would outlive the
/// contact.
fn begin_purge(
    contact: &Stored<Contact>,
    documents: &[Stored<Document>],
    kept: &[Stored<UnknownEvent>],
    id: JobId,
    after: Vec<Job>,
    now: Timestamp,
) -> Decided<Option<Purge>> {
    if documents.is_empty() {
        return Decided::new(gone(ChangeSet::new(), contact, kept, after, now), None);
    }
    let uploads = documents.iter().filter(|document| document.state == DocumentState::Uploading);
    let uploads: Vec<_> =
        uploads.map(|document| document.update(document.value().clone())).collect();
    let documents: Vec<DocumentId> = documents.iter().map(|document| document.id).collect();
    let kind = JobKind::Purge {
        contact: contact.id,
        documents: documents.clone(),
        stage: PurgeStage::Removing,
    };
    let job =
        Job { leased_until: Some(now.plus(LEASE)), ..Job::due_now(id, contact.company, kind, now) };
    let mut changes =
        ChangeSet::new().insert(job.clone()).with(contact.update(contact.value().clone()));
    for upload in uploads {
        changes = changes.with(upload);
    }
    let job = Stored::new(job, crate::store::Version::FIRST);
    Decided::new(changes, Some(Purge { job, documents }))
}

/// The same purge after the contact was deleted.
fn erasing(job: &Stored<Job>) -> Job {
    let mut erasing = job.value().clone();
    if let JobKind::Purge { stage, .. } = &mut erasing.kind {
        *stage = PurgeStage::Erasing;
    }
    erasing
}

/// Copies every file, then removes every original. A missing file counts as removed.
async fn remove_files(
    app: &Recado,
    company: CompanyId,
    purge: &mut Purge,
) -> Result<(), Error<DeleteContactError>> {
    let failed = |_| Error::Rejected(DeleteContactError::PurgeFailed);
    for document in purge.documents.clone() {
        keep_lease(app, &mut purge.job).await?;
        let (file, copy) = (file_key(company, document), undo_key(company, document));
        app.files().copy(&file, &copy).await.map_err(failed)?;
    }
    for document in purge.documents.clone() {
        keep_lease(app, &mut purge.job).await?;
        app.files().remove(&file_key(company, document)).await.map_err(failed)?;
    }
    Ok(())
}

/// Renews the lease of a purge that takes long. If it lapsed, another process would undo the purge
/// while it is under way.
async fn keep_lease(app: &Recado, job: &mut Stored<Job>) -> Result<(), Error<DeleteContactError>> {
    let now = app.now();
    if job.leased_until.is_some_and(|until| now.plus(MARGIN) < until) {
        return Ok(());
    }
    let renewed = Job { leased_until: Some(now.plus(LEASE)), ..job.value().clone() };
    if !app.commit_once(ChangeSet::new().with(job.update(renewed.clone()))).await? {
        return Err(Error::Busy);
    }
    *job = Stored::new(renewed, job.version().next());
    Ok(())
}

/// Puts every file back and removes the copies.
async fn restore_files(
    files: &dyn Files,
    company: CompanyId,
    documents: &[DocumentId],
) -> Result<(), FileError> {
    for document in documents {
        files.copy(&undo_key(company, *document), &file_key(company, *document)).await?;
    }
    erase_copies(files, company, documents).await
}

/// Removes the copies that were kept for undoing.
async fn erase_copies(
    files: &dyn Files,
    company: CompanyId,
    documents: &[DocumentId],
) -> Result<(), FileError> {
    for document in documents {
        files.remove(&undo_key(company, *document)).await?;
    }
    Ok(())
}

/// Undoes a purge and deletes its job. If something cannot be undone now, the job does it later;
/// until then reading a document falls back to its copy. Returns whether everything is done.
async fn undo<E>(
    app: &Recado,
    company: CompanyId,
    job: &Stored<Job>,
    documents: &[DocumentId],
) -> Result<bool, Error<E>> {
    let restored = restore_files(app.files(), company, documents).await.is_ok();
    close(app, job, restored).await?;
    Ok(restored)
}

/// Removes the copies of a purge that was committed and deletes its job; if that fails, the job
/// does it later. Returns whether everything is done.
async fn finish<E>(
    app: &Recado,
    company: CompanyId,
    job: &Stored<Job>,
    documents: &[DocumentId],
) -> Result<bool, Error<E>> {
    let erased = erase_copies(app.files(), company, documents).await.is_ok();
    close(app, job, erased).await?;
    Ok(erased)
}

/// Deletes a job that is done; otherwise it is due again shortly.
async fn close<E>(app: &Recado, job: &Stored<Job>, done: bool) -> Result<(), Error<E>> {
    let change = if done {
        job.delete()
    } else {
        let mut later = job.value().clone();
        later.attempts += 1;
        later.leased_until = None;
        later.due_at = app.now().plus(RETRY);
        job.update(later)
    };
    // In conflict, another process has taken the job over and closes it.
    app.commit_once(ChangeSet::new().with(change)).await?;
    Ok(())
}

/// Ends a purge that was interrupted: undoes it if the contact still exists, else finishes it.
/// Returns whether it is finished.
pub(crate) async fn finish_purge<E>(app: &Recado, job: &Stored<Job>) -> Result<bool, Error<E>> {
    match &job.kind {
        JobKind::Purge { documents, stage: PurgeStage::Removing, .. } => {
            undo(app, job.company, job, documents).await
        }
        JobKind::Purge { documents, stage: PurgeStage::Erasing, .. } => {
            finish(app, job.company, job, documents).await
        }
        JobKind::Enrich { .. }
        | JobKind::FetchMedia { .. }
        | JobKind::SyncGroups { .. }
        | JobKind::SyncGroupsOnce { .. }
        | JobKind::CheckConnection { .. }
        | JobKind::CheckConnectionOnce { .. }
        | JobKind::PullMissed { .. }
        | JobKind::PullMissedOnce { .. }
        | JobKind::FindSent { .. }
        | JobKind::LearnNames { .. }
        | JobKind::AnnounceLate { .. }
        | JobKind::EraseMessage { .. }
        | JobKind::EraseEvents { .. }
        | JobKind::FreeUploads { .. }
        | JobKind::RemoveCompany { .. } => Ok(true),
    }
}

impl From<NotFound> for DeleteContactError {
    fn from(_: NotFound) -> Self {
        Self::NotFound
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::contacts::{Identifier, Platform};
    use crate::store::{ChangeKind, Row, Version};

    /// D26: the bytes of an upload that completed later would outlive the contact.
    #[test]
    fn a_purge_keeps_uploads_under_way_from_being_completed() {
        let (company, now) = (CompanyId::new(Uuid::from_u128(1)), Timestamp::from_millis(0));
        let identifier = Identifier::parse("lid-1").expect("an identifier");
        let id = ContactId::new(Uuid::from_u128(2));
        let contact = Contact::new(id, company, Platform::whatsapp(), identifier, None, now);
        let document = |n: u128, state| Document {
            id: DocumentId::new(Uuid::from_u128(n)),
            company,
            contact_id: id,
            filename: "a.pdf".to_owned(),
            size: 3,
            state,
            created_at: now,
        };
        let uploading = document(4, DocumentState::Uploading);
        let documents = [document(3, DocumentState::Stored), uploading.clone()]
            .map(|document| Stored::new(document, Version::FIRST));
        let job = |n: u128, kind| Job::due_now(JobId::new(Uuid::from_u128(n)), company, kind, now);
        let forget = job(5, JobKind::EraseEvents { contact: id });
        let contact = Stored::new(contact, Version::FIRST);
        let begun = begin_purge(
            &contact,
            &documents,
            &[],
            JobId::new(Uuid::from_u128(6)),
            vec![forget],
            now,
        );
        let written: Vec<&Document> = begun
            .changes
            .changes
            .iter()
            .filter_map(|change| match change.kind() {
                ChangeKind::Update { row: Row::Document(document), .. } => Some(document),
                _ => None,
            })
            .collect();
        assert_eq!(written, [&uploading]);
    }
}
