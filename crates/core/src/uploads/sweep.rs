//! Removing uploads that nobody has any more (X11, R348).
//!
//! A message that is stored either finds its upload held already, and relies on that, or writes
//! that it is held. So when an upload was marked as about to go, every message that has it either
//! was stored before the mark, and is found, or makes the next step fail.

use super::{Upload, UploadState, Uploads};
use crate::Recado;
use crate::ids::{CompanyId, UploadId};
use crate::store::{ChangeSet, Listing, RecordsExt, Removable, Row, RowKind, StoreError, Stored};

/// How many uploads of a company are looked at in one step.
const AT_ONCE: u32 = 200;

impl Uploads<'_> {
    /// Removes some uploads that have expired, or that no message has any more; what a dead process
    /// left half-stored, too: of the companies that this process looks after (R456). Answers
    /// whether there may be more. Call it every few minutes.
    ///
    /// # Errors
    ///
    /// When the store fails; what was removed stays removed.
    pub async fn sweep(&self) -> Result<bool, StoreError> {
        let mut more = false;
        for company in self.app.companies_looked_after(RowKind::Upload).await? {
            more |= self.sweep_of(company).await?;
        }
        Ok(more)
    }

    async fn sweep_of(&self, company: CompanyId) -> Result<bool, StoreError> {
        let (kind, until) = (RowKind::Upload, self.app.now());
        let due = Listing::Oldest { company, kind, until, limit: AT_ONCE };
        let unused = Listing::Unused { company, kind, limit: AT_ONCE };
        let mut more = false;
        for listing in [due, unused] {
            let rows = self.app.store().rows(listing).await?;
            let mut settled = 0;
            for row in &rows {
                let Row::Upload(upload) = row.value() else { continue };
                let upload = Stored::new(upload.clone(), row.version());
                settled += u32::from(self.settle(&upload).await?);
            }
            // Where the object store fails, what is there would be looked at again at once.
            more |= settled == AT_ONCE;
        }
        Ok(more)
    }

    /// Frees uploads that may not be in use any more, at once. Answers whether all of them are
    /// settled.
    pub(crate) async fn free(
        &self,
        company: CompanyId,
        uploads: &[UploadId],
    ) -> Result<bool, StoreError> {
        let mut is_done = true;
        for id in uploads {
            if let Some(upload) = self.app.store().get::<Upload>((company, *id)).await? {
                is_done &= self.settle(&upload).await?;
            }
        }
        Ok(is_done)
    }

    /// Removes an upload that no message has, and that is not kept as one of the company's: after a
    /// send that was refused. If it fails, the sweep does it.
    pub async fn release(&self, company: CompanyId, id: UploadId) {
        let _: Result<bool, StoreError> = self.free(company, &[id]).await;
    }

    /// Settles an upload that may not be in use: it is held, expires later, or goes now. False if
    /// it has to be looked at again.
    async fn settle(&self, upload: &Stored<Upload>) -> Result<bool, StoreError> {
        let (now, end) = (self.app.now(), self.retained_until(upload.created_at));
        let is_kept = upload.is_listed && now < end && upload.state == UploadState::Stored;
        let marked = match is_kept {
            true if upload.expires_at == Some(end) => return Ok(true),
            true => Upload { expires_at: Some(end), ..upload.value().clone() },
            // It is just arriving.
            false if upload.state == UploadState::Uploading && !is_due(upload, now) => {
                return Ok(true);
            }
            false => {
                let expires_at = Some(upload.expires_at.unwrap_or(now).min(now));
                Upload { state: UploadState::Removing, expires_at, ..upload.value().clone() }
            }
        };
        let marked = match marked == *upload.value() {
            true => upload.clone(),
            false => {
                if !self
                    .app
                    .commit_once(ChangeSet::new().with(upload.update(marked.clone())))
                    .await?
                {
                    return Ok(false);
                }
                Stored::new(marked, upload.version().next())
            }
        };
        let used = self.app.store().is_in_use(upload.company, Removable::Upload(upload.id)).await?;
        if used {
            let held = marked.update(marked.held());
            self.app.commit_once(ChangeSet::new().with(held)).await?;
            return Ok(true);
        }
        if is_kept {
            return Ok(true);
        }
        if self.app.files().remove(&marked.key()).await.is_err() {
            return Ok(false);
        }
        self.app.commit_once(ChangeSet::new().with(marked.delete())).await
    }
}

fn is_due(upload: &Upload, now: crate::Timestamp) -> bool {
    upload.expires_at.is_some_and(|at| at <= now)
}

/// Some uploads that messages of a contact carry, to be freed after its deletion.
pub(crate) async fn carried_by(
    app: &Recado,
    company: CompanyId,
    contact: crate::ids::ContactId,
) -> Result<Vec<UploadId>, StoreError> {
    let carried = Listing::Carried { company, contact, limit: super::free::MAX_NAMED };
    let rows = app.store().rows(carried).await?;
    Ok(rows
        .iter()
        .filter_map(|row| crate::store::Record::of(row.value()))
        .map(|u: &Upload| u.id)
        .collect())
}
