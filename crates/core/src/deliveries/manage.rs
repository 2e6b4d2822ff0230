//! Deliveries for the operator: listing, reading, redelivering, cancelling (D52a, D56a, D74).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use async_trait::async_trait;

use super::{
    Delivery, DeliveryDetail, DeliveryFilter, DeliveryRequest, DeliveryStatus, DeliveryView,
    PendingDeliveries, cancelled, envelope, is_withdrawn, redelivered,
};
use crate::code::Code;
use crate::contacts::Contact;
use crate::error::{Error, Rejection};
use crate::events::{EventRecord, Swept};
use crate::ids::{CompanyId, ContactId, DeliveryId, EventId, WebhookId};
use crate::page::{MAX_LIMIT, Page, PageRequest};
use crate::store::{ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;
use crate::webhooks::{Webhook, WebhookState};
use crate::{Recado, Timestamp};

/// How many deliveries are cancelled in one commit.
const CANCELLED_AT_ONCE: u32 = 200;
/// How many rows one step of the sweep removes of a kind.
const SWEPT_AT_ONCE: u32 = 500;

/// How many pages of failed deliveries are redelivered in one call.
const REDELIVERED_PAGES: u32 = 5;

/// How many failed deliveries of a webhook are sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redelivered {
    /// These are.
    pub redelivered: u64,
    /// These may not be: their body was erased, or they are pending again already.
    pub passed_over: u64,
    /// These were beyond what one call does; call it again.
    pub left: u64,
}

/// Why a delivery was not redelivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// There is no such delivery.
    #[error("no such record")]
    NotFound,
    /// It is pending: it will be tried anyway.
    #[error("the delivery is still pending")]
    Pending,
    /// The contact that it tells of was deleted (D26, D74).
    #[error("the body of the delivery was erased")]
    Erased,
    /// Its webhook was deleted.
    #[error("the webhook of the delivery was deleted")]
    WebhookDeleted,
}

impl Rejection for DeliveryError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound => Code::NotFound,
            Self::Pending => Code::DeliveryPending,
            Self::Erased => Code::BodyErased,
            Self::WebhookDeleted => Code::WebhookDeleted,
        }
    }
}

/// The use cases on deliveries. Made by [`Recado::deliveries`].
#[derive(Clone, Copy, Debug)]
pub struct Deliveries<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Deliveries to webhooks, and their delivery worker.
    pub fn deliveries(&self) -> Deliveries<'_> {
        Deliveries { app: self }
    }
}

/// An event with the contact that it is about, if that is there.
type WithContact = (EventRecord, Option<Stored<Contact>>);

/// Whether an event may be handed out: it tells something, and the contact that it is about, if it
/// is about one, is there (D74).
fn is_shown((event, contact): &WithContact) -> bool {
    event.shown_data().is_some() && event.contact.is_some() == contact.is_some()
}

/// Reads an event with its contact; once more where the contact seems to be gone, because the event
/// may have become another one's between the two reads.
async fn event_with_contact(
    store: &dyn Reads,
    company: CompanyId,
    id: EventId,
) -> Result<Option<WithContact>, StoreError> {
    let mut is_last = false;
    loop {
        let Some(event) = store.event(company, id).await? else { return Ok(None) };
        let contact = match event.contact {
            Some(contact) => store.get::<Contact>((company, contact)).await?,
            None => None,
        };
        let found = (event, contact);
        if is_last || is_shown(&found) {
            return Ok(Some(found));
        }
        is_last = true;
    }
}

/// Starts a fresh series of attempts (R74).
struct Redeliver {
    company: CompanyId,
    id: DeliveryId,
}

#[async_trait]
impl UseCase for Redeliver {
    type Loaded = Option<(Stored<Delivery>, Option<WithContact>, Option<Stored<Webhook>>)>;
    type Output = Delivery;
    type Error = DeliveryError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let Some(delivery) = store.get::<Delivery>((self.company, self.id)).await? else {
            return Ok(None);
        };
        let event = event_with_contact(store, self.company, delivery.event).await?;
        let webhook = store.get::<Webhook>((self.company, delivery.webhook)).await?;
        Ok(Some((delivery, event, webhook)))
    }

    fn decide(
        &self,
        loaded: Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Delivery>, DeliveryError> {
        let (delivery, event, webhook) = loaded.ok_or(DeliveryError::NotFound)?;
        if delivery.status == DeliveryStatus::Pending {
            return Err(DeliveryError::Pending);
        }
        let webhook = webhook
            .filter(|webhook| webhook.state != WebhookState::Deleted)
            .ok_or(DeliveryError::WebhookDeleted)?;
        let Some((_, contact)) = event.filter(is_shown) else { return Err(DeliveryError::Erased) };
        let again = redelivered(&delivery, now);
        let mut changes =
            ChangeSet::new().require(webhook.unchanged()).with(delivery.update(again.clone()));
        if let Some(contact) = contact {
            // A deletion that is committed before this redelivery refuses it.
            changes = changes.require(contact.unchanged());
        }
        Ok(Decided::new(changes, again))
    }
}

impl Deliveries<'_> {
    /// A page of a company's deliveries, newest first.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn list(
        &self,
        company: CompanyId,
        request: &DeliveryRequest,
    ) -> Result<Page<DeliveryView>, StoreError> {
        let DeliveryRequest { filter, page } = request;
        let page = self.app.listing(|store| store.deliveries(company, filter, *page)).await?;
        let items = page.items.iter().map(DeliveryView::new).collect();
        Ok(Page { items, total: page.total })
    }

    /// A delivery with its body and its attempts; without what it or its receiver said of a contact
    /// that was deleted (D74).
    ///
    /// # Errors
    ///
    /// [`DeliveryError::NotFound`].
    pub async fn get(
        &self,
        company: CompanyId,
        id: DeliveryId,
    ) -> Result<DeliveryDetail, Error<DeliveryError>> {
        let store = self.app.store();
        let delivery = store.get::<Delivery>((company, id)).await?;
        let delivery = delivery.ok_or(Error::Rejected(DeliveryError::NotFound))?;
        let event = store.event(company, delivery.event).await?;
        let body = event.and_then(|event| {
            let data = event.shown_data()?;
            Some(envelope(event.event_type, event.at, company, id, data))
        });
        Ok(DeliveryDetail::new(&delivery, body))
    }

    /// Starts a fresh series of attempts at a finished delivery, with the same id and body (D56a).
    ///
    /// # Errors
    ///
    /// [`DeliveryError`].
    pub async fn redeliver(
        &self,
        company: CompanyId,
        id: DeliveryId,
    ) -> Result<DeliveryView, Error<DeliveryError>> {
        Ok(DeliveryView::new(&self.app.run(&Redeliver { company, id }).await?))
    }

    /// Starts a fresh series of attempts at the failed deliveries of a webhook, the newest first,
    /// at most 500 of them; each by itself, as [`Deliveries::redeliver`] does. One that may not be
    /// redelivered is passed over.
    ///
    /// # Errors
    ///
    /// When the store fails; what was redelivered before stays so.
    pub async fn redeliver_failed(
        &self,
        company: CompanyId,
        webhook: WebhookId,
    ) -> Result<Redelivered, StoreError> {
        let status = Some(DeliveryStatus::Failed);
        let filter = DeliveryFilter { status, webhook: Some(webhook), event: None };
        let (mut failed, mut total) = (Vec::new(), 0);
        for page in 1..=REDELIVERED_PAGES {
            let request = PageRequest { page, limit: MAX_LIMIT };
            let found = self.app.store().deliveries(company, &filter, request).await?;
            total = found.total;
            failed.extend(found.items.into_iter().map(|delivery| delivery.id));
            if failed.len() as u64 >= total {
                break;
            }
        }
        let mut counts = Redelivered {
            left: total.saturating_sub(failed.len() as u64),
            ..Redelivered::default()
        };
        for id in failed {
            match self.app.run(&Redeliver { company, id }).await {
                Ok(_) => counts.redelivered += 1,
                Err(Error::Store(error)) => return Err(error),
                Err(_) => counts.passed_over += 1,
            }
        }
        Ok(counts)
    }

    /// Cancels the pending deliveries of a deleted webhook, in a bounded number of small commits.
    /// Returns whether there may be more; the delivery worker cancels those.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn cancel(
        &self,
        company: CompanyId,
        webhook: WebhookId,
        commits: u32,
    ) -> Result<bool, StoreError> {
        for _ in 0..commits {
            let store = self.app.store();
            let mut pending = store
                .pending_deliveries(company, PendingDeliveries::Of(webhook), CANCELLED_AT_ONCE)
                .await?;
            if pending.is_empty() {
                return Ok(false);
            }
            pending.sort_unstable_by_key(|delivery| delivery.id);
            let mut changes = ChangeSet::new();
            for delivery in &pending {
                changes = changes.with(delivery.update(cancelled(delivery)));
            }
            // In conflict, an attempt ended meanwhile: the rest is read again.
            self.app.commit_once(changes).await?;
        }
        Ok(true)
    }

    /// Cancels the pending deliveries about a deleted contact that are not handed out any more
    /// (D74), with at most `commits` small commits. The others go on (D26).
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn withdraw(
        &self,
        company: CompanyId,
        contact: ContactId,
        commits: u32,
    ) -> Result<(), StoreError> {
        let store = self.app.store();
        let mut after = None;
        for _ in 0..commits {
            let about = PendingDeliveries::About { contact, after };
            let pending = store.pending_deliveries(company, about, CANCELLED_AT_ONCE).await?;
            let Some(last) = pending.last() else { return Ok(()) };
            let mut webhooks: BTreeMap<WebhookId, Option<Stored<Webhook>>> = BTreeMap::new();
            let mut changes = ChangeSet::new();
            for delivery in &pending {
                let webhook = match webhooks.entry(delivery.webhook) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(unknown) => {
                        unknown.insert(store.get((company, delivery.webhook)).await?)
                    }
                };
                let state = webhook.as_ref().map_or(WebhookState::Deleted, |known| known.state);
                if is_withdrawn(delivery, state) {
                    changes = changes.with(delivery.update(cancelled(delivery)));
                }
            }
            if changes.is_empty() {
                after = Some(last.id);
                continue;
            }
            // A webhook that is activated meanwhile sends what was pending.
            for webhook in webhooks.into_values().flatten() {
                changes = changes.require(webhook.unchanged());
            }
            // In conflict, an attempt ended meanwhile: the page is read again.
            if self.app.commit_once(changes).await? {
                after = Some(last.id);
            }
        }
        Ok(())
    }

    /// Removes a batch of rows that are older than the retention: finished deliveries, with their
    /// bodies, and events that no delivery needs. Answers whether there may be more (R70).
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn sweep(&self) -> Result<bool, StoreError> {
        if self.app.halts().current().await?.is_moving() {
            return Ok(false);
        }
        let before = self.app.now().minus(self.app.settings().retention);
        Ok(self.app.database().outbox().sweep_outbox(Swept::Before(before), SWEPT_AT_ONCE).await?
            > 0)
    }
}
