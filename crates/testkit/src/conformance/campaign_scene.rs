//! Rows of inbound endpoints, dispatch windows and campaigns, for use with those of [`Scene`].

use std::collections::BTreeMap;
use std::sync::Arc;

use recado_core::campaigns::{
    Campaign, CampaignStatus, Recipient, RecipientCounts, RecipientNumber, RecipientStatus,
    RecipientsFrom,
};
use recado_core::contacts::Contact;
use recado_core::dispatches::{DispatchWindow, WindowKey, WindowState};
use recado_core::ids::{
    CampaignId, ContactId, InboundEndpointId, LedgerLineId, ListId, MessageId, TemplateId,
};
use recado_core::inbound::{
    AuthMode, EndpointSecretHash, EndpointSlug, InboundEndpoint, VariableMapping,
};
use recado_core::lists::List;
use recado_core::prosas::{Brl, Prosas};
use recado_core::store::{Change, ChangeSet, CommitError, Conflict, RecordsExt, Stored};
use tokio::sync::Barrier;
use uuid::Builder;

use super::Harness;
use super::call_site::CallSite;
use super::scene::{Scene, at, first};

/// A limit that no test reaches.
pub(super) const ALL: u32 = 100_000;

/// A slug.
pub(super) fn slug(slug: &str) -> EndpointSlug {
    EndpointSlug::parse(slug).expect("a slug")
}

/// Counts of recipients by status. Statuses that are not given have none.
pub(super) fn counted(counts: &[(RecipientStatus, u64)]) -> RecipientCounts {
    let mut counted = RecipientCounts::default();
    counts.iter().for_each(|(status, count)| counted.add(*status, *count));
    counted
}

/// A campaign that was started for a list.
pub(super) struct Enrolled {
    pub(super) campaign: Campaign,
    pub(super) list: List,
    /// The contacts of the list, in the order of their numbers.
    pub(super) contacts: Vec<Contact>,
}

/// Commits all change sets at once, alternating between two processes if the harness has a second
/// one. A commit that answers [`Conflict::Contended`] is repeated.
pub(super) async fn at_once(
    harness: &dyn Harness,
    scene: &Scene,
    changes: Vec<ChangeSet>,
) -> Vec<Result<(), CommitError>> {
    let second = harness.second().await.unwrap_or_else(|| scene.store.clone());
    let barrier = Arc::new(Barrier::new(changes.len()));
    let mut tasks = Vec::new();
    for (n, changes) in changes.into_iter().enumerate() {
        let store = if n % 2 == 0 { scene.store.clone() } else { second.clone() };
        let barrier = barrier.clone();
        tasks.push(tokio::spawn(async move {
            barrier.wait().await;
            loop {
                match store.commit(changes.clone()).await {
                    Err(CommitError::Conflict(Conflict::Contended)) => {}
                    outcome => return outcome,
                }
            }
        }));
    }
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.expect("no panic"));
    }
    outcomes
}

impl Scene {
    /// An endpoint that takes the phone from the body and needs a secret.
    pub(super) fn endpoint(&self, name: &str) -> InboundEndpoint {
        let phone = ("phone_number".to_owned(), "$.phone".to_owned());
        InboundEndpoint {
            id: InboundEndpointId::new(self.uuid()),
            company: self.company,
            slug: slug(name),
            mapping: VariableMapping::from_stored(BTreeMap::from([phone])),
            auth_mode: AuthMode::SecretRequired,
            secret_hash: EndpointSecretHash::from_bytes(self.random()),
            is_active: true,
            created_at: at(0),
            updated_at: at(0),
        }
    }

    /// A window with a reservation.
    pub(super) fn window(&self, contact: &Contact, key: u8) -> DispatchWindow {
        DispatchWindow {
            company: self.company,
            contact: contact.id,
            key: WindowKey::from_bytes([key; 32]),
            message: MessageId::new(self.uuid()),
            sent_at: at(0),
            state: WindowState::Reserved,
            ends_at: at(60_000),
        }
    }

    /// A window as it is stored now.
    pub(super) async fn window_now(&self, of: &DispatchWindow) -> Option<Stored<DispatchWindow>> {
        let window = self.store.get::<DispatchWindow>((self.company, of.contact, of.key)).await;
        window.expect("the store works")
    }

    /// A draft of a campaign whose template and list do not exist.
    pub(super) fn campaign(&self) -> Campaign {
        Campaign {
            id: CampaignId::new(self.uuid()),
            company: self.company,
            name: "Natal".to_owned(),
            template: TemplateId::new(self.uuid()),
            list: ListId::new(self.uuid()),
            connection: None,
            variables: BTreeMap::new(),
            header: None,
            buttons: Vec::new(),
            prosas: Prosas::ZERO,
            cost: Brl::ZERO,
            messages_per_second: 80,
            scheduled_at: None,
            send_between: None,
            stop_after_failures: None,
            failures_after: None,
            status: CampaignStatus::Draft,
            pause_reason: None,
            created_at: at(0),
            updated_at: at(0),
            started_at: None,
            finished_at: None,
        }
    }

    /// A campaign as it is stored now.
    #[track_caller]
    pub(super) fn campaign_now(
        &self,
        id: CampaignId,
    ) -> impl Future<Output = Option<Stored<Campaign>>> {
        let caller = CallSite::here();
        async move { caller.works(self.store.get::<Campaign>((self.company, id)).await) }
    }

    /// A contact with a random id, so that the order of ids is not the order of creation.
    pub(super) fn contact_by_chance(&self) -> Contact {
        let id = Builder::from_random_bytes(self.random()).into_uuid();
        Contact { id: ContactId::new(id), ..self.contact() }
    }

    /// A stored list, and its contacts in the order of their ids.
    pub(super) async fn crowd(&self, count: usize) -> (List, Vec<Contact>) {
        let list = self.list();
        let mut contacts: Vec<_> = (0..count).map(|_| self.contact_by_chance()).collect();
        self.add(list.clone()).await;
        self.add_all(contacts.clone()).await;
        self.add_all(contacts.iter().map(|contact| self.joins(contact, &list))).await;
        contacts.sort_by_key(|contact| contact.id);
        (list, contacts)
    }

    /// A running campaign with this many recipients, all waiting.
    pub(super) async fn enrolled(&self, count: usize) -> Enrolled {
        let (list, contacts) = self.crowd(count).await;
        let campaign =
            Campaign { list: list.id, status: CampaignStatus::Running, ..self.campaign() };
        let changes = ChangeSet::new().insert(campaign.clone()).with(Change::enroll(
            self.company,
            campaign.id,
            list.id,
        ));
        self.store.commit(changes).await.expect("the campaign can be started");
        Enrolled { campaign, list, contacts }
    }

    /// A recipient as enrolment makes it.
    pub(super) fn waiting(
        &self,
        campaign: CampaignId,
        number: u32,
        contact: ContactId,
    ) -> Recipient {
        Recipient::waiting(self.company, campaign, RecipientNumber(number), contact)
    }

    /// A recipient whose message is being sent.
    pub(super) fn on_its_way(&self, of: &Recipient) -> Recipient {
        Recipient {
            status: RecipientStatus::Sending,
            message: Some(MessageId::new(self.uuid())),
            debit: Some(LedgerLineId::new(self.uuid())),
            ..of.clone()
        }
    }

    /// A recipient as it is stored now.
    #[track_caller]
    pub(super) fn recipient_now(
        &self,
        campaign: CampaignId,
        number: u32,
    ) -> impl Future<Output = Option<Stored<Recipient>>> {
        let (caller, number) = (CallSite::here(), RecipientNumber(number));
        async move { caller.works(self.store.get::<Recipient>((self.company, campaign, number)).await) }
    }

    /// All recipients of a campaign, by number.
    pub(super) async fn recipients_now(&self, campaign: CampaignId) -> Vec<Stored<Recipient>> {
        let mut all = Vec::new();
        for status in RecipientStatus::ALL {
            let some = self
                .store
                .recipients(self.company, campaign, *status, RecipientsFrom::After(None), ALL)
                .await;
            all.extend(some.expect("the store works"));
        }
        all.sort_by_key(|recipient| recipient.number);
        all
    }

    /// Changes the status of a recipient.
    pub(super) async fn moves(&self, campaign: CampaignId, number: u32, status: RecipientStatus) {
        let stored = self.recipient_now(campaign, number).await.expect("it is there");
        let moved = Recipient { status, ..stored.value().clone() };
        self.apply(stored.update(moved)).await;
    }

    /// The number of recipients by status.
    #[track_caller]
    pub(super) fn counts(&self, campaign: CampaignId) -> impl Future<Output = RecipientCounts> {
        let caller = CallSite::here();
        async move {
            caller.works(self.store.campaign_totals(self.company, campaign, None).await).counts
        }
    }
}

impl Enrolled {
    /// The recipients as enrolment made them.
    pub(super) fn recipients(&self, scene: &Scene) -> Vec<Stored<Recipient>> {
        let numbered = (1..).zip(&self.contacts);
        let waiting =
            numbered.map(|(number, contact)| scene.waiting(self.campaign.id, number, contact.id));
        waiting.map(first).collect()
    }
}
