//! Deleting a company (R208, R209).
//!
//! One commit marks the company as deleted, deletes its webhooks and the operator tokens that reach
//! it alone, pauses its campaigns and makes a job. Whatever finds the company by a key, a slug, a
//! token, a link or its id looks at that mark. The job then removes the rows of each kind, those
//! that refer first, in small commits, each after the files that its rows are the only record of.
//! So it can go on after a crash at any point.

use std::time::Duration;

use super::{Access, Company, OperatorToken};
use crate::campaigns::{Campaign, PauseReason, paused};
use crate::documents::{FileError, file_key, undo_key};
use crate::events::Swept;
use crate::ids::{CompanyId, DocumentId, JobId};
use crate::jobs::{Job, JobKind};
use crate::manage::{ManageResult, NOT_FOUND};
use crate::store::{
    Change, ChangeSet, CommitError, Decided, Listing, RecordsExt, Row, RowKind, StoreError, Stored,
};
use crate::webhooks::{Routes, Webhook, WebhookState};
use crate::{Installation, Recado, Timestamp};

/// How many rows one commit removes.
const AT_ONCE: u32 = 200;
/// How many commits one turn of the job makes; then others have theirs.
const COMMITS: u32 = 50;
/// How long one turn may take.
const LEASE: Duration = Duration::from_secs(60);
/// The wait for jobs of the company that are being worked on, and after a failure of the document
/// store.
const WAIT: Duration = Duration::from_secs(5);

impl Installation {
    /// A company, unless it was deleted (R208).
    pub(crate) async fn company(
        &self,
        id: CompanyId,
    ) -> Result<Option<Stored<Company>>, StoreError> {
        let found = self.store().get::<Company>(id).await?;
        Ok(found.filter(|company| company.is_there()))
    }
}

impl Access<'_> {
    /// Deletes a company with everything that it has. When this answers, the company does not exist
    /// for anybody any more; its rows and files are removed by a job (R208).
    ///
    /// # Errors
    ///
    /// [`crate::ManageError::NotFound`].
    pub async fn delete_company(&self, id: CompanyId) -> ManageResult<()> {
        let store = self.app.store();
        let job = JobId::new(self.app.uuid(self.app.now()));
        let delete = |now| async move {
            let company = self.app.company(id).await?.ok_or(NOT_FOUND)?;
            let routes = store.get::<Routes>(id).await?;
            let webhooks = store.webhooks(id).await?;
            let shards = store.shards().await?.all().collect();
            let running = store.active_campaigns(&shards, Timestamp::MAX).await?;
            let running = running.into_iter().filter(|campaign| campaign.company == id);
            let tokens = store.all_stored::<OperatorToken>(()).await?.into_iter();
            let tokens = tokens.filter(|token| token.company == Some(id)).collect();
            let around = Around { routes, webhooks, running: running.collect(), tokens };
            Ok(Decided::new(deletion(&company, &around, job, now), ()))
        };
        self.app.decide(delete).await
    }
}

/// What works for a company without being asked.
struct Around {
    routes: Option<Stored<Routes>>,
    webhooks: Vec<Stored<Webhook>>,
    running: Vec<Stored<Campaign>>,
    tokens: Vec<Stored<OperatorToken>>,
}

/// The deletion: from its commit on events make no deliveries, pending ones are not sent, and
/// campaigns send nothing (R208).
fn deletion(company: &Stored<Company>, around: &Around, job: JobId, now: Timestamp) -> ChangeSet {
    let deleted = Company { deleted_at: Some(now), updated_at: now, ..company.value().clone() };
    let mut changes = ChangeSet::new().with(company.update(deleted));
    let none = Routes { company: company.id, fires: false, routes: Vec::new() };
    changes = match &around.routes {
        Some(routes) => changes.with(routes.update(none)),
        None => changes.insert(none),
    };
    for webhook in &around.webhooks {
        let state = WebhookState::Deleted;
        changes = changes.with(webhook.update(Webhook {
            state,
            updated_at: now,
            ..webhook.value().clone()
        }));
    }
    for campaign in &around.running {
        if let Some(paused) = paused(campaign, PauseReason::Operator, now) {
            changes = changes.with(campaign.update(paused));
        }
    }
    for token in &around.tokens {
        changes = changes.with(token.delete());
    }
    let kind = JobKind::RemoveCompany { company: company.id };
    changes.insert(Job::due_now(job, company.id, kind, now))
}

/// What one step of a removal came to.
enum Step {
    /// Something was removed, or has to be looked at again.
    Again,
    /// Nothing can be removed before this wait is over.
    Wait,
    /// Nothing is left, not even the job.
    Done,
}

/// Removes rows of a deleted company, until nothing is left or others should have their turn
/// (R209).
pub(crate) async fn remove_company_job(
    app: &Recado,
    job: &Stored<Job>,
    company: CompanyId,
) -> Result<(), StoreError> {
    let Some(job) = app.hold_job(job, LEASE).await? else { return Ok(()) };
    let mut due_at = app.now();
    for _ in 0..COMMITS {
        match step(app, &job, company).await? {
            Step::Again => {}
            Step::Wait => {
                due_at = app.now().plus(WAIT);
                break;
            }
            Step::Done => return Ok(()),
        }
    }
    let later = Job { leased_until: None, due_at, ..job.value().clone() };
    app.close_job(ChangeSet::new().with(job.update(later))).await
}

/// Removes rows of the first kind that has any; at the end the job and the company itself.
async fn step(app: &Recado, own: &Stored<Job>, company: CompanyId) -> Result<Step, StoreError> {
    let some = async |kind| app.store().rows(Listing::Some { company, kind, limit: AT_ONCE }).await;
    let (mut rows, mut waits) = (Vec::new(), false);
    for row in some(RowKind::Job).await? {
        match row.value() {
            Row::Job(job) if job.id == own.id => {}
            // It may be making a row or a file.
            Row::Job(job) if job.leased_until.is_some_and(|until| app.now() < until) => {
                waits = true;
            }
            _ => rows.push(row),
        }
    }
    let others = RowKind::removal_order().into_iter();
    for kind in others.filter(|kind| !matches!(kind, RowKind::Job | RowKind::Delivery)) {
        if !rows.is_empty() {
            break;
        }
        rows = some(kind).await?;
    }
    if !rows.is_empty() {
        for row in &rows {
            if remove_files_of(app, row.value()).await.is_err() {
                return Ok(Step::Wait);
            }
        }
        let changes = rows.iter().fold(ChangeSet::new(), |set, row| set.with(row.delete()));
        // After a conflict, what is there now is read anew.
        app.commit_once(changes).await?;
        return Ok(Step::Again);
    }
    if app.database().outbox().sweep_outbox(Swept::Company(company), AT_ONCE).await? > 0 {
        return Ok(Step::Again);
    }
    if waits {
        return Ok(Step::Wait);
    }
    let Some(gone) = app.store().get::<Company>(company).await? else { return Ok(Step::Done) };
    let changes = ChangeSet::new().with(own.delete()).with(gone.delete());
    match app.commit(changes).await {
        Ok(()) => Ok(Step::Done),
        // A call that began before the deletion has stored something since.
        Err(CommitError::Conflict(_)) => Ok(Step::Wait),
        Err(CommitError::Store(error)) => Err(error),
    }
}

/// Removes the files that a row is the only record of, with the copies for undoing.
async fn remove_files_of(app: &Recado, row: &Row) -> Result<(), FileError> {
    if let Row::Upload(upload) = row {
        return app.files().remove(&upload.key()).await;
    }
    let (company, documents): (CompanyId, &[DocumentId]) = match row {
        Row::Document(document) => (document.company, &[document.id]),
        Row::Job(job) => match &job.kind {
            JobKind::Purge { documents, .. } => (job.company, documents),
            JobKind::EraseMessage { document: Some(document), .. } => {
                (job.company, std::slice::from_ref(document))
            }
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    for document in documents {
        app.files().remove(&file_key(company, *document)).await?;
        app.files().remove(&undo_key(company, *document)).await?;
    }
    Ok(())
}

/// Ends a claimed job of a company that was deleted, without doing it (R208).
pub(crate) async fn drop_job(app: &Recado, job: &Stored<Job>) -> Result<(), StoreError> {
    let change: Change = match remove_files_of(app, &Row::Job(job.value().clone())).await {
        Ok(()) => job.delete(),
        Err(_) => job.update(Job {
            leased_until: None,
            due_at: app.now().plus(WAIT),
            ..job.value().clone()
        }),
    };
    app.close_job(ChangeSet::new().with(change)).await
}
