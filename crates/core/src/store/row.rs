//! Rows as the store keeps them: every kind of record, its key and its version.

use crate::access::{ApiKey, Company, Member, Secret, SecretName};
use crate::campaigns::{Campaign, Recipient, RecipientNumber};
use crate::connections::Connection;
use crate::contacts::{Alias, ChannelKey, Contact, ContactTag, Platform};
use crate::conversations::Conversation;
use crate::custom_fields::CustomField;
use crate::deals::{Deal, Pipeline, Stage};
use crate::deliveries::{Delivery, Shard, ShardNumber};
use crate::dispatches::{DispatchWindow, WindowKey};
use crate::documents::Document;
use crate::gateway::UnknownKind;
use crate::groups::{ConnectionGroup, GroupCode};
use crate::idempotency::{CallKey, RememberedCall};
use crate::ids::{
    CampaignId, ClickId, CloseReasonId, CompanyId, ConnectionId, ContactId, CustomFieldId, DealId,
    DeliveryId, DocumentId, InboundEndpointId, JobId, KeyId, LedgerLineId, LinkId, ListId,
    MemberId, MessageId, OrganizationId, PipelineId, StageId, TagId, TemplateId, WebhookId,
    WorkerId,
};
use crate::inbound::InboundEndpoint;
use crate::jobs::Job;
use crate::leads::LeadMemory;
use crate::links::{Click, Link};
use crate::lists::{List, ListMember};
use crate::messages::{Message, MessageRef, ProviderMessageId};
use crate::organizations::Organization;
use crate::prosas::LedgerLine;
use crate::tags::{CloseReason, Tag};
use crate::templates::Template;
use crate::webhooks::{Routes, Webhook};
use crate::workers::Worker;

/// How often a row has been written: 1 when inserted, one more with each update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

impl Version {
    /// The version of a row that was just inserted.
    pub const FIRST: Self = Self(1);

    /// A version as the store keeps it.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number itself.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The version after one more write.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A row as it was read, with the version it was read at.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored<T> {
    value: T,
    version: Version,
}

impl<T> Stored<T> {
    /// Made by stores, when they read a row.
    pub const fn new(value: T, version: Version) -> Self {
        Self { value, version }
    }

    /// What was read.
    pub const fn value(&self) -> &T {
        &self.value
    }

    /// The version it was read at.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// What was read, owned.
    pub fn into_value(self) -> T {
        self.value
    }
}

impl<T> std::ops::Deref for Stored<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident($type:ty) => $key:ident { $($field:ident: $ftype:ty),* } by $by:expr;)+) => {
        /// One row of one table.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::large_enum_variant, reason = "rows are moved once, from decide to the store")]
        pub enum Row {
            $($(#[$doc])* $name($type),)+
        }

        /// Names one row.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum RowKey {
            $($(#[$doc])* $key {
                $(#[allow(missing_docs, clippy::allow_attributes, reason = "the key's parts say what they are")] $field: $ftype,)*
            },)+
            /// How far exports of a company have read (see [`super::Precondition::NotExported`]).
            ExportFrontier {
                /// The company.
                company: CompanyId,
            },
        }

        impl Row {
            /// The key of this row.
            pub fn key(&self) -> RowKey {
                match self {
                    $(Self::$name(row) => {
                        let by: fn(&$type) -> RowKey = $by;
                        by(row)
                    })+
                }
            }
        }

        $(impl From<$type> for Row {
            fn from(row: $type) -> Self {
                Self::$name(row)
            }
        })+
    };
}

rows! {
    /// A company.
    Company(Company) => Company { company: CompanyId } by |r| RowKey::Company { company: r.id };
    /// An API key.
    ApiKey(ApiKey) => ApiKey { company: CompanyId, id: KeyId } by |r| RowKey::ApiKey { company: r.company, id: r.id };
    /// A member.
    Member(Member) => Member { company: CompanyId, id: MemberId } by |r| RowKey::Member { company: r.company, id: r.id };
    /// An installation secret.
    Secret(Secret) => Secret { name: SecretName } by |r| RowKey::Secret { name: r.name };
    /// A contact.
    Contact(Contact) => Contact { company: CompanyId, id: ContactId } by |r| RowKey::Contact { company: r.company, id: r.id };
    /// A tag on a contact; has no version.
    ContactTag(ContactTag) => ContactTag { company: CompanyId, contact: ContactId, tag: TagId } by |r| RowKey::ContactTag { company: r.company, contact: r.contact, tag: r.tag };
    /// A custom-field definition.
    CustomField(CustomField) => CustomField { company: CompanyId, id: CustomFieldId } by |r| RowKey::CustomField { company: r.company, id: r.id };
    /// A contact list.
    List(List) => List { company: CompanyId, id: ListId } by |r| RowKey::List { company: r.company, id: r.id };
    /// A contact's membership of a list; has no version.
    ListMember(ListMember) => ListMember { company: CompanyId, list: ListId, contact: ContactId } by |r| RowKey::ListMember { company: r.company, list: r.list, contact: r.contact };
    /// A tag.
    Tag(Tag) => Tag { company: CompanyId, id: TagId } by |r| RowKey::Tag { company: r.company, id: r.id };
    /// A close reason.
    CloseReason(CloseReason) => CloseReason { company: CompanyId, id: CloseReasonId } by |r| RowKey::CloseReason { company: r.company, id: r.id };
    /// A pipeline.
    Pipeline(Pipeline) => Pipeline { company: CompanyId, id: PipelineId } by |r| RowKey::Pipeline { company: r.company, id: r.id };
    /// A stage of a pipeline.
    Stage(Stage) => Stage { company: CompanyId, id: StageId } by |r| RowKey::Stage { company: r.company, id: r.id };
    /// A deal.
    Deal(Deal) => Deal { company: CompanyId, id: DealId } by |r| RowKey::Deal { company: r.company, id: r.id };
    /// A client organization.
    Organization(Organization) => Organization { company: CompanyId, id: OrganizationId } by |r| RowKey::Organization { company: r.company, id: r.id };
    /// A document.
    Document(Document) => Document { company: CompanyId, id: DocumentId } by |r| RowKey::Document { company: r.company, id: r.id };
    /// A tracked link.
    Link(Link) => Link { company: CompanyId, id: LinkId } by |r| RowKey::Link { company: r.company, id: r.id };
    /// A click on a tracked link; only ever inserted.
    Click(Click) => Click { company: CompanyId, id: ClickId } by |r| RowKey::Click { company: r.company, id: r.id };
    /// A connection.
    Connection(Connection) => Connection { company: CompanyId, id: ConnectionId } by |r| RowKey::Connection { company: r.company, id: r.id };
    /// A group as a connection sees it.
    Group(ConnectionGroup) => Group { company: CompanyId, connection: ConnectionId, code: GroupCode } by |r| RowKey::Group { company: r.company, connection: r.connection, code: r.group.code.clone() };
    /// A contact's name on its channel; has no version.
    Alias(Alias) => Alias { company: CompanyId, platform: Platform, key: ChannelKey } by |r| RowKey::Alias { company: r.company, platform: r.platform.clone(), key: r.key.clone() };
    /// A contact on a connection.
    Conversation(Conversation) => Conversation { company: CompanyId, contact: ContactId, connection: ConnectionId } by |r| RowKey::Conversation { company: r.company, contact: r.contact, connection: r.connection };
    /// A message.
    Message(Message) => Message { company: CompanyId, id: MessageId } by |r| RowKey::Message { company: r.company, id: r.id };
    /// A provider's message id.
    MessageRef(MessageRef) => MessageRef { company: CompanyId, connection: ConnectionId, provider_id: ProviderMessageId } by |r| RowKey::MessageRef { company: r.company, connection: r.connection, provider_id: r.provider_id.clone() };
    /// A contact's lead memory.
    LeadMemory(LeadMemory) => LeadMemory { company: CompanyId, contact: ContactId } by |r| RowKey::LeadMemory { company: r.company, contact: r.contact };
    /// A line of the ledger.
    LedgerLine(LedgerLine) => LedgerLine { company: CompanyId, id: LedgerLineId } by |r| RowKey::LedgerLine { company: r.company, id: r.id };
    /// A remembered call.
    RememberedCall(RememberedCall) => RememberedCall { company: CompanyId, key: CallKey } by |r| RowKey::RememberedCall { company: r.company, key: r.key.clone() };
    /// A running process.
    Worker(Worker) => Worker { id: WorkerId } by |r| RowKey::Worker { id: r.id };
    /// A kind of event that a connection's adapter does not know.
    UnknownKind(UnknownKind) => UnknownKind { company: CompanyId, connection: ConnectionId, kind: String } by |r| RowKey::UnknownKind { company: r.company, connection: r.connection, kind: r.kind.clone() };
    /// A template.
    Template(Template) => Template { company: CompanyId, id: TemplateId } by |r| RowKey::Template { company: r.company, id: r.id };
    /// An outbound webhook.
    Webhook(Webhook) => Webhook { company: CompanyId, id: WebhookId } by |r| RowKey::Webhook { company: r.company, id: r.id };
    /// Where a company's events go.
    Routes(Routes) => Routes { company: CompanyId } by |r| RowKey::Routes { company: r.company };
    /// A delivery of an event to a webhook.
    Delivery(Delivery) => Delivery { company: CompanyId, id: DeliveryId } by |r| RowKey::Delivery { company: r.company, id: r.id };
    /// A share of the webhooks, which one process at a time dispatches.
    Shard(Shard) => Shard { number: ShardNumber } by |r| RowKey::Shard { number: r.number };
    /// An inbound endpoint.
    InboundEndpoint(InboundEndpoint) => InboundEndpoint { company: CompanyId, id: InboundEndpointId } by |r| RowKey::InboundEndpoint { company: r.company, id: r.id };
    /// The last dispatch of its kind to a contact.
    DispatchWindow(DispatchWindow) => DispatchWindow { company: CompanyId, contact: ContactId, key: WindowKey } by |r| RowKey::DispatchWindow { company: r.company, contact: r.contact, key: r.key };
    /// A campaign.
    Campaign(Campaign) => Campaign { company: CompanyId, id: CampaignId } by |r| RowKey::Campaign { company: r.company, id: r.id };
    /// A recipient of a campaign; made by [`ChangeKind::Enroll`](super::ChangeKind::Enroll).
    Recipient(Recipient) => Recipient { company: CompanyId, campaign: CampaignId, number: RecipientNumber } by |r| RowKey::Recipient { company: r.company, campaign: r.campaign, number: r.number };
    /// A durable background job.
    Job(Job) => Job { company: CompanyId, id: JobId } by |r| RowKey::Job { company: r.company, id: r.id };
}
