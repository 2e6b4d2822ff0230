//! Reads that fail on demand, all or by name.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::access::{AccessReads, ApiKey, Company, KeyHash};
use recado_core::campaigns::{
    Campaign, CampaignReads, Recipient, RecipientCounts, RecipientEntry, RecipientNumber,
    RecipientStatus,
};
use recado_core::connections::{Connection, ConnectionReads};
use recado_core::contacts::{
    Contact, ContactFilter, ContactReads, ContactRecord, ContactSlice, DraftFacts, DraftQuery,
    ExportPosition, Identifier, Platform,
};
use recado_core::conversations::{ChannelContact, ChannelQuery, ConversationReads};
use recado_core::custom_fields::{CustomField, CustomFieldReads};
use recado_core::deals::{Deal, DealReads};
use recado_core::deliveries::{
    Delivery, DeliveryFilter, DeliveryReads, DueReads, PendingQueue, QueueKey, QueuePage, QueueRead,
};
use recado_core::dispatches::{DispatchReads, DispatchWindow};
use recado_core::documents::{Document, DocumentReads};
use recado_core::events::{EventReads, EventRecord, EventType, JournalPosition};
use recado_core::gateway::UnknownKind;
use recado_core::groups::{ConnectionGroup, GroupCode, GroupReads};
use recado_core::ids::{
    CampaignId, CompanyId, ConnectionId, ContactId, EventId, ListId, MessageId, WebhookId, WorkerId,
};
use recado_core::inbound::{EndpointSlug, InboundEndpoint, InboundReads};
use recado_core::jobs::{Job, JobKind, JobReads};
use recado_core::links::{Link, LinkCode, LinkReads};
use recado_core::lists::{List, ListCandidates, ListReads};
use recado_core::messages::{
    Message, MessageFilter, MessageReads, MessageRecord, ProviderMessageId, Referred, SenderType,
};
use recado_core::page::{Page, PageRequest};
use recado_core::prosas::{LedgerFilter, LedgerPage, LedgerReads};
use recado_core::store::{Listing, Records, Removable, Row, RowKey, RowKind, StoreError, Stored};
use recado_core::templates::{Template, TemplateReads};
use recado_core::webhooks::{Webhook, WebhookReads};
use uuid::Uuid;

use super::FaultyStore;

/// Hands every read of every trait on, unless it is to fail, and lists their names.
macro_rules! reads {
    ($($trait:ident {
        $(fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $answer:ty;)+
    })+) => {
        $(
            #[async_trait]
            impl $trait for FaultyStore {
                $(async fn $name(&self, $($arg: $type),*) -> Result<$answer, StoreError> {
                    self.read(stringify!($name), self.inner.$name($($arg),*)).await
                })+
            }
        )+

        /// The names of all others.
        const READS: &[&str] = &[$($(stringify!($name),)+)+];
    };
}

#[async_trait]
impl Records for FaultyStore {
    async fn row(&self, key: &RowKey) -> Result<Option<Stored<Row>>, StoreError> {
        self.read(&row_of(key.kind()), self.inner.row(key)).await
    }

    async fn rows(&self, listing: Listing) -> Result<Vec<Stored<Row>>, StoreError> {
        self.read(&rows_of(listing.kind()), self.inner.rows(listing)).await
    }

    async fn is_in_use(&self, company: CompanyId, record: Removable) -> Result<bool, StoreError> {
        self.read("is_in_use", self.inner.is_in_use(company, record)).await
    }
}

/// What [`Records::row`] of a kind is called.
fn row_of(kind: RowKind) -> String {
    format!("row of {kind:?}")
}

/// What [`Records::rows`] of a kind is called.
fn rows_of(kind: RowKind) -> String {
    format!("rows of {kind:?}")
}

/// Whether a read has this name.
pub(super) fn exists(name: &str) -> bool {
    READS.contains(&name)
        || name == "is_in_use"
        || RowKind::ALL.iter().any(|kind| name == row_of(*kind) || name == rows_of(*kind))
}

reads! {
    AccessReads {
        fn key_by_hash(hash: &KeyHash) -> Option<(ApiKey, Company)>;
    }
    CampaignReads {
        fn campaigns(company: CompanyId) -> Vec<(Campaign, RecipientCounts)>;
        fn recipient_counts(company: CompanyId, campaign: CampaignId) -> RecipientCounts;
        fn running_campaigns() -> Vec<Stored<Campaign>>;
        fn recipients(
            company: CompanyId,
            campaign: CampaignId,
            status: RecipientStatus,
            after: Option<RecipientNumber>,
            limit: u32,
        ) -> Vec<Stored<Recipient>>;
        fn recipients_of(company: CompanyId, messages: &[MessageId]) -> Vec<Stored<Recipient>>;
        fn recipient_page(
            company: CompanyId,
            campaign: CampaignId,
            status: Option<RecipientStatus>,
            page: PageRequest,
        ) -> Page<RecipientEntry>;
    }
    ConnectionReads {
        fn connection_anywhere(id: ConnectionId) -> Option<Stored<Connection>>;
        fn unknown_kinds(company: CompanyId, connection: ConnectionId) -> Vec<Stored<UnknownKind>>;
    }
    ContactReads {
        fn contact_record(
            company: CompanyId,
            id: ContactId,
        ) -> Option<(ContactRecord, Vec<CustomField>)>;
        fn contact_by_identifier(
            company: CompanyId,
            platform: &Platform,
            identifier: &Identifier,
        ) -> Option<Stored<Contact>>;
        fn contact_page(
            company: CompanyId,
            filter: &ContactFilter,
            page: PageRequest,
            clicks: bool,
        ) -> ContactSlice;
        fn contact_export(
            company: CompanyId,
            filter: &ContactFilter,
            after: Option<ExportPosition>,
            limit: u32,
            clicks: bool,
        ) -> ContactSlice;
        fn draft_facts(company: CompanyId, query: &DraftQuery) -> DraftFacts;
    }
    ConversationReads {
        fn channel_contacts(company: CompanyId, query: &ChannelQuery) -> Vec<ChannelContact>;
        fn newest_inbound_at(company: CompanyId, contact: ContactId) -> Option<Timestamp>;
        fn newest_outbound_sender(company: CompanyId, contact: ContactId) -> Option<SenderType>;
    }
    CustomFieldReads {
        fn custom_field_by_slug(company: CompanyId, slug: &str) -> Option<Stored<CustomField>>;
    }
    DealReads {
        fn deals(company: CompanyId, contact: Option<ContactId>) -> Vec<Deal>;
    }
    DeliveryReads {
        fn deliveries(
            company: CompanyId,
            filter: &DeliveryFilter,
            page: PageRequest,
        ) -> Page<Delivery>;
        fn pending_deliveries(
            company: CompanyId,
            webhook: WebhookId,
            limit: u32,
        ) -> Vec<Stored<Delivery>>;
    }
    DispatchReads {
        fn reserved_windows(company: CompanyId, contact: ContactId) -> Vec<Stored<DispatchWindow>>;
    }
    DocumentReads {
        fn documents(company: CompanyId, contact: ContactId) -> Vec<Stored<Document>>;
    }
    DueReads {
        fn pending_queues(after: Option<QueueKey>, limit: u32) -> Vec<PendingQueue>;
        fn read_queue(read: QueueRead) -> QueuePage;
    }
    EventReads {
        fn event(company: CompanyId, id: EventId) -> Option<EventRecord>;
        fn events_after(
            company: CompanyId,
            types: &[EventType],
            after: JournalPosition,
            limit: u32,
        ) -> Vec<(JournalPosition, EventRecord)>;
    }
    GroupReads {
        fn groups(company: CompanyId, connection: ConnectionId) -> Vec<Stored<ConnectionGroup>>;
        fn groups_by_code(company: CompanyId, codes: &[GroupCode]) -> Vec<Stored<ConnectionGroup>>;
    }
    InboundReads {
        fn endpoint_by_slug(slug: &EndpointSlug) -> Option<(InboundEndpoint, Company)>;
    }
    JobReads {
        fn job_like(company: CompanyId, kind: &JobKind) -> Option<Stored<Job>>;
    }
    LedgerReads {
        fn ledger_page(company: CompanyId, filter: &LedgerFilter, page: PageRequest) -> LedgerPage;
    }
    LinkReads {
        fn link_by_code(code: &LinkCode) -> Option<Link>;
    }
    ListReads {
        fn list(company: CompanyId, id: ListId) -> Option<(Stored<List>, u64)>;
        fn lists(company: CompanyId) -> Vec<(List, u64)>;
        fn list_candidates(
            company: CompanyId,
            list: ListId,
            contacts: &[ContactId],
        ) -> ListCandidates;
    }
    MessageReads {
        fn messages(company: CompanyId, ids: &[MessageId]) -> Vec<Stored<Message>>;
        fn referred(
            company: CompanyId,
            connection: ConnectionId,
            ids: &[ProviderMessageId],
        ) -> Vec<Referred>;
        fn message_page(
            company: CompanyId,
            filter: &MessageFilter,
            page: PageRequest,
        ) -> Page<MessageRecord>;
        fn abandoned_messages(now: Timestamp, limit: u32) -> Vec<Stored<Message>>;
        fn messages_left_sent(from: Timestamp, to: Timestamp) -> u64;
        fn messages_in_flight(sender: WorkerId, limit: u32) -> Vec<Stored<Message>>;
    }
    TemplateReads {
        fn template_by_token(token: Uuid) -> Option<(Template, Company)>;
    }
    WebhookReads {
        fn webhooks(company: CompanyId) -> Vec<Stored<Webhook>>;
    }
}
