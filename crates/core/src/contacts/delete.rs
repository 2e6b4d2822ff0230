//! Deleting a contact with its documents (4.5, D26). The steps with files are in `purge.rs`.

use std::collections::BTreeSet;

use super::kept_events::kept_of;
use super::portions::Earlier;
use super::purge::{Purge, begin_purge, erasing, finish, finish_purge, gone, remove_files, undo};
use super::receipt::{count, require_counts};
use super::{Contact, Contacts, DeleteContactError, Receipt};
use crate::Timestamp;
use crate::access::{Caller, Scope};
use crate::documents::{Document, DocumentState};
use crate::error::Error;
use crate::ids::{CompanyId, ContactId, JobId, UploadId};
use crate::jobs::{Job, JobKind};
use crate::keyed_hash::HashKey;
use crate::remembered_opt_outs::kept_on_deletion;
use crate::store::{ChangeSet, Decided, RecordsExt, StoreError, Stored};
use crate::uploads::{carried_by, free_uploads_job};

/// The most commits in which the caller waits for deliveries that are cancelled.
const WITHDRAWALS: u32 = 10;

/// What the first commit of a deletion did.
enum Begun {
    /// Nothing: there are no documents, and more rows than one commit should remove.
    Large,
    /// Everything: there were no documents.
    Deleted(Option<Receipt>),
    /// The purge was recorded.
    Purging(Purge),
}

impl Contacts<'_> {
    /// Deletes a contact, its messages, memberships, deals and documents (4.5).
    ///
    /// Many messages go in portions before the commit that deletes the rest (R441). If that cannot
    /// be reached, the contact is there with fewer messages, and a repeat completes it.
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
        let mut earlier = Earlier::nothing(counts);
        let mut purge = loop {
            match self.begin(company, id, &earlier).await? {
                Begun::Large => {
                    self.remove_in_portions(company, id, None, &mut earlier).await?;
                }
                Begun::Deleted(receipt) => {
                    self.withdraw_deliveries(company, id).await;
                    self.free_sent(company, id).await;
                    return Ok(receipt.map(|receipt| receipt.with_messages(earlier.messages)));
                }
                Begun::Purging(purge) => break purge,
            }
        };
        let mut removed = remove_files(self.app, company, &mut purge).await;
        if removed.is_ok() {
            removed = self.remove_in_portions(company, id, Some(&mut purge), &mut earlier).await;
        }
        if let Err(failed) = removed {
            undo(self.app, company, &purge.job, &purge.documents).await?;
            return Err(failed);
        }
        let Some((erasing, receipt)) = self.commit(company, id, &purge, &earlier).await? else {
            undo(self.app, company, &purge.job, &purge.documents).await?;
            return Err(Error::Busy);
        };
        // The contact is deleted for good. If the rest fails, the job does it.
        self.withdraw_deliveries(company, id).await;
        self.free_sent(company, id).await;
        let _: Result<bool, Error<DeleteContactError>> =
            finish(self.app, company, &erasing, &purge.documents).await;
        Ok(receipt.map(|receipt| receipt.with_messages(earlier.messages)))
    }

    /// The receipt of a deletion that is decided now, if one is wanted. The commit has to
    /// [require](require_counts) what it counted.
    ///
    /// R412.
    async fn receipt(
        &self,
        contact: &Contact,
        kept: usize,
        earlier: &Earlier,
        now: Timestamp,
    ) -> Result<Option<Receipt>, StoreError> {
        if !earlier.counts {
            return Ok(None);
        }
        let (company, id) = (contact.company, contact.id);
        let mut removed = count(self.app.store(), company, id).await?;
        let sent = self.sent(company, id, earlier).await?.len();
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
        earlier: &Earlier,
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
            if documents.is_empty() && self.is_large(company, id).await? {
                return Ok(Decided::unchanged(Begun::Large));
            }
            let kept = kept_of(store, &contact).await?;
            let after = self.afterwards(company, id, earlier).await?;
            let begun = begin_purge(&contact, &documents, &kept, job_id, after, now);
            if let Some(purge) = begun.output {
                return Ok(Decided::new(begun.changes, Begun::Purging(purge)));
            }
            let receipt = self.receipt(&contact, kept.len(), earlier, now).await?;
            let changes = require_counts(begun.changes, company, receipt.as_ref());
            let changes = kept_on_deletion(store, key, &contact, changes).await?;
            Ok(Decided::new(changes, Begun::Deleted(receipt)))
        };
        self.app.decide(begin).await
    }

    /// The files that were sent to it, also with messages that were removed before.
    async fn sent(
        &self,
        company: CompanyId,
        contact: ContactId,
        earlier: &Earlier,
    ) -> Result<BTreeSet<UploadId>, StoreError> {
        let mut sent = earlier.sent.clone();
        sent.extend(carried_by(self.app, company, contact).await?);
        Ok(sent)
    }

    /// The jobs that are made with the contact's deletion: one erases its data from events (D26),
    /// one removes the files that were sent to it, if there are any (R351).
    async fn afterwards(
        &self,
        company: CompanyId,
        contact: ContactId,
        earlier: &Earlier,
    ) -> Result<Vec<Job>, StoreError> {
        let uploads: Vec<_> = self.sent(company, contact, earlier).await?.into_iter().collect();
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
        earlier: &Earlier,
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
            let after = self.afterwards(company, id, earlier).await?;
            let receipt = self.receipt(&contact, kept.len(), earlier, now).await?;
            changes = require_counts(changes, company, receipt.as_ref());
            changes = gone(changes, &contact, &kept, after, now);
            changes = kept_on_deletion(store, key, &contact, changes).await?;
            let erasing = Stored::new(erasing, purge.job.version().next());
            Ok(Decided::new(changes, Some((erasing, receipt))))
        };
        self.app.decide(commit).await
    }
}
