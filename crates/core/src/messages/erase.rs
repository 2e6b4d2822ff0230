//! Erasing what is left elsewhere of a message that its sender deleted, for companies that erase
//! such messages (X3): its file, its copies in stored events, what was kept of it as not
//! understood, and the quotes of it.

use std::time::Duration;

use super::MessageFilter;
use crate::Recado;
use crate::documents::{Document, file_key};
use crate::events::{EventsAbout, after_erasure};
use crate::gateway::UnknownEvent;
use crate::ids::{DocumentId, JobId, MessageId, UnknownEventId, UploadId};
use crate::jobs::{Job, JobKind};
use crate::page::PageRequest;
use crate::store::{Change, ChangeSet, RecordsExt, StoreError, Stored};

/// How many events are erased in one step, and how many quoting messages are read at once.
const AT_ONCE: u32 = 100;
/// How long the job is held while the messages that quote it are read.
const LEASE: Duration = Duration::from_secs(120);
/// How long after the deletion it is looked for copies for the last time.
const SETTLED: Duration = Duration::from_secs(30);
/// How long it waits until it tries again to remove a file.
const FILE_WAIT: Duration = Duration::from_secs(30);

/// What a deleted message leaves beside its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeftOfMessage {
    /// Its file, if one was received and stored.
    pub(crate) document: Option<DocumentId>,
    /// The file that it was sent with; others may have it too.
    pub(crate) upload: Option<UploadId>,
    /// What was kept of it as not understood.
    pub(crate) kept: Option<UnknownEventId>,
}

/// Removes the file, the quotes, and the data of events of a deleted message. An event that a
/// pending delivery needs is erased once the delivery is settled; the job stays until nothing is
/// left (X3, R64, R363).
///
/// # Errors
///
/// When the store fails; the job is taken up again later.
pub(crate) async fn erase_message_job(
    app: &Recado,
    job: &Stored<Job>,
    id: MessageId,
    left: LeftOfMessage,
) -> Result<(), StoreError> {
    let LeftOfMessage { document, upload, kept } = left;
    let Some(job) = app.hold_job(job, LEASE).await? else { return Ok(()) };
    let message = app.store().messages(job.company, &[id]).await?.pop();
    let Some(message) = message.filter(|message| message.is_deleted()) else {
        return app.close_job(ChangeSet::new().with(job.delete())).await;
    };
    let mut is_clean = match document {
        Some(document) => remove_file(app, &job, document).await?,
        None => true,
    };
    if let Some(upload) = upload {
        is_clean &= app.uploads().free(job.company, &[upload]).await?;
    }
    if let Some(kept) = kept
        && let Some(kept) = app.store().get::<UnknownEvent>((job.company, kept)).await?
    {
        is_clean &= app.commit_once(ChangeSet::new().with(kept.delete())).await?;
    }
    is_clean &= erase_quotes(app, &message).await?;
    let about = EventsAbout { contact: message.contact, message: Some(id) };
    let erased = app.database().outbox().erase_events(job.company, about, AT_ONCE).await?;
    // What read the message before its deletion may be written a moment later.
    let is_settled = app.now() >= job.created_at.plus(SETTLED);
    let is_done = is_clean && is_settled && !erased.left;
    let change = after_erasure(&job, erased, is_done, app.now());
    // If its contact was merged meanwhile, the events of the other one are to be looked through.
    app.close_job(ChangeSet::new().require(message.unchanged()).with(change)).await
}

/// Removes the stored copy of the file, then its record; false if it has to be tried again.
pub(super) async fn remove_file(
    app: &Recado,
    job: &Job,
    id: DocumentId,
) -> Result<bool, StoreError> {
    let Some(document) = app.store().get::<Document>((job.company, id)).await? else {
        return Ok(true);
    };
    if app.files().remove(&file_key(job.company, id)).await.is_err() {
        return Ok(false);
    }
    app.commit_once(ChangeSet::new().with(document.delete())).await
}

/// Has the file of an erased message removed by the job of its erasure, because it could not be
/// removed at once.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn remove_later(
    app: &Recado,
    message: &super::Message,
    document: DocumentId,
) -> Result<(), StoreError> {
    let company = message.company;
    let kind = |upload, kept| JobKind::EraseMessage {
        message: message.id,
        document: Some(document),
        upload,
        kept,
    };
    let known = app.store().job_like(company, &kind(None, None)).await?;
    let due_at = app.now().plus(FILE_WAIT);
    let change = match known {
        None => {
            let id = JobId::new(app.uuid(due_at));
            let job = Job::due_now(id, company, kind(None, None), app.now());
            Change::insert(Job { due_at, ..job })
        }
        Some(known) => {
            let (upload, kept) = match known.kind {
                JobKind::EraseMessage { upload, kept, .. } => (upload, kept),
                _ => (None, None),
            };
            known.update(Job {
                kind: kind(upload, kept),
                due_at,
                leased_until: None,
                ..known.value().clone()
            })
        }
    };
    app.commit_once(ChangeSet::new().with(change)).await.map(|_| ())
}

/// Takes the text out of the quotes of a message. False if a quoting message changed meanwhile, so
/// that the job has to look again.
async fn erase_quotes(app: &Recado, message: &Stored<super::Message>) -> Result<bool, StoreError> {
    let filter = MessageFilter { quoting: Some(message.id), ..MessageFilter::default() };
    let mut page = PageRequest::first(AT_ONCE);
    loop {
        let found = app.store().message_page(message.company, &filter, page).await?;
        let quoting: Vec<MessageId> = found
            .items
            .iter()
            .filter(|record| record.message.quoted.content.is_some())
            .map(|record| record.message.id)
            .collect();
        if !quoting.is_empty() {
            let mut changes = ChangeSet::new();
            for stored in app.store().messages(message.company, &quoting).await? {
                let mut after = stored.value().clone();
                after.quoted.content = None;
                changes = changes.with(stored.update(after));
            }
            if !app.commit_once(changes).await? {
                return Ok(false);
            }
        }
        if found.items.len() < AT_ONCE as usize {
            return Ok(true);
        }
        page = PageRequest { page: page.page + 1, ..page };
    }
}
