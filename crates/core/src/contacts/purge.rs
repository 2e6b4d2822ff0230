//! The files of a contact that is deleted (D26).
//!
//! Files cannot be part of a database transaction, so the order is: a durable record of the purge
//! (a job); a copy of every file; the removal of every file; the commit that deletes the contact;
//! the removal of the copies. Whatever fails before the commit is undone from the copies, so that
//! a refusal leaves every document readable. A crash is found through the job and undone, or, after
//! the commit, finished.

use std::time::Duration;

use super::{Contact, DeleteContactError};
use crate::documents::{Document, DocumentState, FileError, Files, file_key, undo_key};
use crate::error::Error;
use crate::gateway::UnknownEvent;
use crate::ids::{CompanyId, DocumentId, JobId};
use crate::jobs::{Job, JobKind, PurgeStage};
use crate::messages::FORGOTTEN_KEPT;
use crate::store::{Change, ChangeSet, Decided, Stored, Version};
use crate::{Recado, Timestamp};

/// How long the lease of a purge lasts before the purge counts as interrupted by a crash.
const LEASE: Duration = Duration::from_secs(120);
/// The lease is renewed when less than this is left of it, so that no file operation can outlast
/// it.
const MARGIN: Duration = Duration::from_secs(60);
/// When undoing or erasing that failed is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// A purge that was recorded, at the version it was recorded at.
pub(super) struct Purge {
    pub(super) job: Stored<Job>,
    pub(super) documents: Vec<DocumentId>,
}

/// Adds the contact's deletion, with kept events that name it (X9). Messages that gateways repeat
/// must not create it again (R145).
pub(super) fn gone(
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
pub(super) fn begin_purge(
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
    let job = Stored::new(job, Version::FIRST);
    Decided::new(changes, Some(Purge { job, documents }))
}

/// The same purge after the contact was deleted.
pub(super) fn erasing(job: &Stored<Job>) -> Job {
    let mut erasing = job.value().clone();
    if let JobKind::Purge { stage, .. } = &mut erasing.kind {
        *stage = PurgeStage::Erasing;
    }
    erasing
}

/// Copies every file, then removes every original. A missing file counts as removed.
pub(super) async fn remove_files(
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
pub(super) async fn keep_lease(
    app: &Recado,
    job: &mut Stored<Job>,
) -> Result<(), Error<DeleteContactError>> {
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
pub(super) async fn undo<E>(
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
pub(super) async fn finish<E>(
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
        | JobKind::TakeList { .. }
        | JobKind::RemoveCompany { .. } => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::contacts::{Identifier, Platform};
    use crate::ids::ContactId;
    use crate::store::{ChangeKind, Row};

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
