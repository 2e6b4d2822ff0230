//! Reads that fail on demand, all or by name.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::access::{AccessReads, ApiKey, Company, KeyHash, Member, Secret, SecretName};
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
use recado_core::deals::{Deal, DealReads, Pipeline, Stage};
use recado_core::deliveries::{
    Delivery, DeliveryFilter, DeliveryReads, DueReads, PendingQueue, QueueKey, QueuePage,
    QueueRead, Shard, ShardReads,
};
use recado_core::dispatches::{DispatchReads, DispatchWindow, WindowKey};
use recado_core::documents::{Document, DocumentReads};
use recado_core::events::{EventReads, EventRecord, EventType, JournalPosition};
use recado_core::gateway::UnknownKind;
use recado_core::groups::{ConnectionGroup, GroupCode, GroupReads};
use recado_core::idempotency::{CallKey, IdempotencyReads, RememberedCall};
use recado_core::ids::{
    CampaignId, CloseReasonId, CompanyId, ConnectionId, ContactId, CustomFieldId, DealId,
    DeliveryId, DocumentId, EventId, InboundEndpointId, KeyId, LedgerLineId, LinkId, ListId,
    MemberId, MessageId, OrganizationId, PipelineId, StageId, TagId, TemplateId, WebhookId,
    WorkerId,
};
use recado_core::inbound::{EndpointSlug, InboundEndpoint, InboundReads};
use recado_core::jobs::{Job, JobKind, JobReads};
use recado_core::leads::{LeadMemory, LeadReads};
use recado_core::links::{Link, LinkCode, LinkReads};
use recado_core::lists::{List, ListCandidates, ListReads};
use recado_core::messages::{
    Message, MessageFilter, MessageReads, MessageRecord, ProviderMessageId, Referred, SenderType,
};
use recado_core::organizations::{Organization, OrganizationReads};
use recado_core::page::{Page, PageRequest};
use recado_core::prosas::{LedgerFilter, LedgerLine, LedgerPage, LedgerReads};
use recado_core::store::{StoreError, Stored};
use recado_core::tags::{CloseReason, Tag, TagReads};
use recado_core::templates::{Template, TemplateReads};
use recado_core::webhooks::{Routes, Webhook, WebhookReads};
use recado_core::workers::{Worker, WorkerReads};
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

        /// The names of all reads.
        pub(super) const READS: &[&str] = &[$($(stringify!($name),)+)+];
    };
}

reads! {
    AccessReads {
        fn company(id: CompanyId) -> Option<Stored<Company>>;
        fn companies() -> Vec<Company>;
        fn key_by_hash(hash: &KeyHash) -> Option<(ApiKey, Company)>;
        fn key(company: CompanyId, id: KeyId) -> Option<Stored<ApiKey>>;
        fn keys(company: CompanyId) -> Vec<ApiKey>;
        fn member(company: CompanyId, id: MemberId) -> Option<Stored<Member>>;
        fn members(company: CompanyId) -> Vec<Member>;
        fn secret(name: SecretName) -> Option<Secret>;
    }
    CampaignReads {
        fn campaign(company: CompanyId, id: CampaignId) -> Option<Stored<Campaign>>;
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
        fn recipient(
            company: CompanyId,
            campaign: CampaignId,
            number: RecipientNumber,
        ) -> Option<Stored<Recipient>>;
        fn recipients_of(company: CompanyId, messages: &[MessageId]) -> Vec<Stored<Recipient>>;
        fn recipient_page(
            company: CompanyId,
            campaign: CampaignId,
            status: Option<RecipientStatus>,
            page: PageRequest,
        ) -> Page<RecipientEntry>;
    }
    ConnectionReads {
        fn connection(company: CompanyId, id: ConnectionId) -> Option<Stored<Connection>>;
        fn connection_anywhere(id: ConnectionId) -> Option<Stored<Connection>>;
        fn unknown_kinds(company: CompanyId, connection: ConnectionId) -> Vec<Stored<UnknownKind>>;
        fn unknown_kind(
            company: CompanyId,
            connection: ConnectionId,
            kind: &str,
        ) -> Option<Stored<UnknownKind>>;
        fn connections(company: CompanyId) -> Vec<Stored<Connection>>;
        fn connection_in_use(company: CompanyId, id: ConnectionId) -> bool;
    }
    ContactReads {
        fn contact(company: CompanyId, id: ContactId) -> Option<Stored<Contact>>;
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
        fn member_in_use(company: CompanyId, id: MemberId) -> bool;
        fn close_reason_in_use(company: CompanyId, id: CloseReasonId) -> bool;
    }
    ConversationReads {
        fn channel_contacts(company: CompanyId, query: &ChannelQuery) -> Vec<ChannelContact>;
        fn newest_inbound_at(company: CompanyId, contact: ContactId) -> Option<Timestamp>;
        fn newest_outbound_sender(company: CompanyId, contact: ContactId) -> Option<SenderType>;
    }
    CustomFieldReads {
        fn custom_field(company: CompanyId, id: CustomFieldId) -> Option<Stored<CustomField>>;
        fn custom_field_by_slug(company: CompanyId, slug: &str) -> Option<Stored<CustomField>>;
        fn custom_fields(company: CompanyId) -> Vec<CustomField>;
    }
    DealReads {
        fn pipeline(company: CompanyId, id: PipelineId) -> Option<Stored<Pipeline>>;
        fn pipelines(company: CompanyId) -> Vec<Pipeline>;
        fn stages(company: CompanyId) -> Vec<Stored<Stage>>;
        fn stage(company: CompanyId, id: StageId) -> Option<Stored<Stage>>;
        fn deal(company: CompanyId, id: DealId) -> Option<Stored<Deal>>;
        fn deals(company: CompanyId, contact: Option<ContactId>) -> Vec<Deal>;
    }
    DeliveryReads {
        fn delivery(company: CompanyId, id: DeliveryId) -> Option<Stored<Delivery>>;
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
        fn dispatch_window(
            company: CompanyId,
            contact: ContactId,
            key: WindowKey,
        ) -> Option<Stored<DispatchWindow>>;
        fn reserved_windows(company: CompanyId, contact: ContactId) -> Vec<Stored<DispatchWindow>>;
    }
    DocumentReads {
        fn document(company: CompanyId, id: DocumentId) -> Option<Stored<Document>>;
        fn documents(company: CompanyId, contact: ContactId) -> Vec<Stored<Document>>;
        fn purge(company: CompanyId, contact: ContactId) -> Option<Stored<Job>>;
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
    IdempotencyReads {
        fn remembered_call(company: CompanyId, key: &CallKey) -> Option<Stored<RememberedCall>>;
    }
    InboundReads {
        fn inbound_endpoint(
            company: CompanyId,
            id: InboundEndpointId,
        ) -> Option<Stored<InboundEndpoint>>;
        fn inbound_endpoints(company: CompanyId) -> Vec<InboundEndpoint>;
        fn endpoint_by_slug(slug: &EndpointSlug) -> Option<(InboundEndpoint, Company)>;
    }
    JobReads {
        fn job_like(company: CompanyId, kind: &JobKind) -> Option<Stored<Job>>;
    }
    LeadReads {
        fn lead_memory(company: CompanyId, contact: ContactId) -> Option<Stored<LeadMemory>>;
    }
    LedgerReads {
        fn ledger_line(company: CompanyId, id: LedgerLineId) -> Option<Stored<LedgerLine>>;
        fn ledger_page(company: CompanyId, filter: &LedgerFilter, page: PageRequest) -> LedgerPage;
    }
    LinkReads {
        fn link_by_code(code: &LinkCode) -> Option<Link>;
        fn link(company: CompanyId, id: LinkId) -> Option<Stored<Link>>;
        fn links(company: CompanyId) -> Vec<Link>;
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
    OrganizationReads {
        fn organization(company: CompanyId, id: OrganizationId) -> Option<Stored<Organization>>;
        fn organizations(company: CompanyId) -> Vec<Organization>;
    }
    ShardReads {
        fn shards() -> Vec<Stored<Shard>>;
    }
    TagReads {
        fn tag(company: CompanyId, id: TagId) -> Option<Stored<Tag>>;
        fn tags(company: CompanyId) -> Vec<Tag>;
        fn close_reason(company: CompanyId, id: CloseReasonId) -> Option<Stored<CloseReason>>;
        fn close_reasons(company: CompanyId) -> Vec<CloseReason>;
    }
    TemplateReads {
        fn template(company: CompanyId, id: TemplateId) -> Option<Stored<Template>>;
        fn template_by_token(token: Uuid) -> Option<(Template, Company)>;
        fn templates(company: CompanyId) -> Vec<Stored<Template>>;
    }
    WebhookReads {
        fn webhook(company: CompanyId, id: WebhookId) -> Option<Stored<Webhook>>;
        fn webhooks(company: CompanyId) -> Vec<Stored<Webhook>>;
        fn routes(company: CompanyId) -> Option<Stored<Routes>>;
    }
    WorkerReads {
        fn worker(id: WorkerId) -> Option<Stored<Worker>>;
        fn workers() -> Vec<Worker>;
    }
}
