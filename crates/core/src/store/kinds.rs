//! The only list of record kinds; all others are generated from it.

/// Passes the list of record kinds to a macro: each with the name of its variants, its type, the
/// parts of its key in the order of the table's key, and whether it has a version.
///
/// A kind is written `Name(Type) { field: Type, … } versioned;`. A part of the key is the record's
/// field of that name, or the one that stands after `=`. The tokens in brackets after the macro's
/// name come before the list.
///
/// ```
/// macro_rules! names {
///     ($($(#[$doc:meta])* $name:ident($record:ty) {
///         $($field:ident: $type:ty $(= $($from:ident).+)?),+ $(,)?
///     } $version:ident;)+) => {
///         [$(stringify!($name)),+]
///     };
/// }
/// assert_eq!(recado_core::for_each_row!(names)[0], "Company");
/// ```
///
/// [`match_row!`](crate::match_row) and [`match_kind!`](crate::match_kind) are shorter if a generic
/// function handles every kind alike.
#[macro_export]
macro_rules! for_each_row {
    ($($callback:tt)::+ $([$($input:tt)*])?) => {
        $($callback)::+! {
            $([$($input)*])?
            /// A company.
            Company($crate::access::Company) { company: $crate::ids::CompanyId = id } versioned;
            /// An API key.
            ApiKey($crate::access::ApiKey) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::KeyId,
            } versioned;
            /// A member.
            Member($crate::access::Member) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::MemberId,
            } versioned;
            /// How a member logs in.
            Login($crate::accounts::Login) {
                company: $crate::ids::CompanyId,
                member: $crate::ids::MemberId,
            } versioned;
            /// The one-time link of a member.
            LoginLink($crate::accounts::LoginLink) {
                company: $crate::ids::CompanyId,
                member: $crate::ids::MemberId,
            } versioned;
            /// A session of a member.
            Session($crate::accounts::Session) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::SessionId,
            } versioned;
            /// A token of an operator.
            OperatorToken($crate::access::OperatorToken) {
                id: $crate::ids::OperatorTokenId,
            } versioned;
            /// An installation secret.
            Secret($crate::access::Secret) { name: $crate::access::SecretName } versioned;
            /// A contact.
            Contact($crate::contacts::Contact) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::ContactId,
            } versioned;
            /// A tag on a contact.
            ContactTag($crate::contacts::ContactTag) {
                company: $crate::ids::CompanyId,
                contact: $crate::ids::ContactId,
                tag: $crate::ids::TagId,
            } unversioned;
            /// A custom-field definition.
            CustomField($crate::custom_fields::CustomField) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::CustomFieldId,
            } versioned;
            /// A contact list.
            List($crate::lists::List) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::ListId,
            } versioned;
            /// A contact's membership of a list.
            ListMember($crate::lists::ListMember) {
                company: $crate::ids::CompanyId,
                list: $crate::ids::ListId,
                contact: $crate::ids::ContactId,
            } unversioned;
            /// A tag.
            Tag($crate::tags::Tag) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::TagId,
            } versioned;
            /// A close reason.
            CloseReason($crate::tags::CloseReason) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::CloseReasonId,
            } versioned;
            /// A pipeline.
            Pipeline($crate::deals::Pipeline) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::PipelineId,
            } versioned;
            /// A stage of a pipeline.
            Stage($crate::deals::Stage) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::StageId,
            } versioned;
            /// A deal.
            Deal($crate::deals::Deal) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::DealId,
            } versioned;
            /// A client organization.
            Organization($crate::organizations::Organization) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::OrganizationId,
            } versioned;
            /// A document.
            Document($crate::documents::Document) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::DocumentId,
            } versioned;
            /// A file to be sent.
            Upload($crate::uploads::Upload) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::UploadId,
            } versioned;
            /// A tracked link.
            Link($crate::links::Link) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::LinkId,
            } versioned;
            /// A click on a tracked link; only ever inserted.
            Click($crate::links::Click) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::ClickId,
            } unversioned;
            /// A connection.
            Connection($crate::connections::Connection) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::ConnectionId,
            } versioned;
            /// The statuses that a connection had lately.
            StatusHistory($crate::connections::StatusHistory) {
                company: $crate::ids::CompanyId,
                connection: $crate::ids::ConnectionId,
            } versioned;
            /// A group, as one connection reports it.
            Group($crate::groups::ConnectionGroup) {
                company: $crate::ids::CompanyId,
                connection: $crate::ids::ConnectionId,
                code: $crate::groups::GroupCode = group.code,
            } versioned;
            /// A contact's name on its channel.
            Alias($crate::contacts::Alias) {
                company: $crate::ids::CompanyId,
                platform: $crate::contacts::Platform,
                key: $crate::contacts::ChannelKey,
            } unversioned;
            /// A contact on a connection.
            Conversation($crate::conversations::Conversation) {
                company: $crate::ids::CompanyId,
                contact: $crate::ids::ContactId,
                connection: $crate::ids::ConnectionId,
            } versioned;
            /// A message.
            Message($crate::messages::Message) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::MessageId,
            } versioned;
            /// A provider's message id.
            MessageRef($crate::messages::MessageRef) {
                company: $crate::ids::CompanyId,
                connection: $crate::ids::ConnectionId,
                provider_id: $crate::messages::ProviderMessageId,
            } versioned;
            /// A contact's lead memory.
            LeadMemory($crate::leads::LeadMemory) {
                company: $crate::ids::CompanyId,
                contact: $crate::ids::ContactId,
            } versioned;
            /// A line of the ledger.
            LedgerLine($crate::prosas::LedgerLine) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::LedgerLineId,
            } versioned;
            /// A remembered call.
            RememberedCall($crate::idempotency::RememberedCall) {
                company: $crate::ids::CompanyId,
                key: $crate::idempotency::CallKey,
            } versioned;
            /// A running process.
            Worker($crate::workers::Worker) { id: $crate::ids::WorkerId } versioned;
            /// An event that was not understood, as it came.
            UnknownEvent($crate::gateway::UnknownEvent) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::UnknownEventId,
            } versioned;
            /// A template.
            Template($crate::templates::Template) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::TemplateId,
            } versioned;
            /// An outbound webhook.
            Webhook($crate::webhooks::Webhook) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::WebhookId,
            } versioned;
            /// Where a company's events go.
            Routes($crate::webhooks::Routes) { company: $crate::ids::CompanyId } versioned;
            /// A delivery of an event to a webhook.
            Delivery($crate::deliveries::Delivery) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::DeliveryId,
            } versioned;
            /// A shard of the webhooks. One process at a time sends its deliveries.
            Shard($crate::deliveries::Shard) { number: $crate::deliveries::ShardNumber } versioned;
            /// Something that an operator has halted.
            Halt($crate::halts::Halt) { subject: $crate::halts::HaltSubject } versioned;
            /// An inbound endpoint.
            InboundEndpoint($crate::inbound::InboundEndpoint) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::InboundEndpointId,
            } versioned;
            /// The last dispatch of its kind to a contact.
            DispatchWindow($crate::dispatches::DispatchWindow) {
                company: $crate::ids::CompanyId,
                contact: $crate::ids::ContactId,
                key: $crate::dispatches::WindowKey,
            } versioned;
            /// A campaign.
            Campaign($crate::campaigns::Campaign) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::CampaignId,
            } versioned;
            /// A recipient of a campaign; made by
            /// [`ChangeKind::Enroll`](super::ChangeKind::Enroll).
            Recipient($crate::campaigns::Recipient) {
                company: $crate::ids::CompanyId,
                campaign: $crate::ids::CampaignId,
                number: $crate::campaigns::RecipientNumber,
            } versioned;
            /// An entry of the audit log; only ever inserted, and deleted by its age.
            AuditEntry($crate::audit::AuditEntry) {
                at: $crate::Timestamp,
                id: $crate::ids::AuditEntryId,
            } unversioned;
            /// That a number asked to stop, after its contact was deleted.
            RememberedOptOut($crate::remembered_opt_outs::RememberedOptOut) {
                company: $crate::ids::CompanyId,
                hash: $crate::remembered_opt_outs::OptOutHash,
            } versioned;
            /// A durable background job.
            Job($crate::jobs::Job) {
                company: $crate::ids::CompanyId,
                id: $crate::ids::JobId,
            } versioned;
        }
    };
}

/// Matches a [`Row`](crate::store::Row) or a reference to one, and evaluates the body with its
/// record, whatever its type: `match_row!(row, record => insert(record))`.
#[macro_export]
macro_rules! match_row {
    (
        [[$row:expr] $record:ident [$body:expr]]
        $($(#[$doc:meta])* $name:ident($type:ty) $key:tt $version:ident;)+
    ) => {
        match $row {
            $($crate::store::Row::$name($record) => $body,)+
        }
    };
    ($row:expr, $record:ident => $body:expr) => {
        $crate::for_each_row!($crate::match_row [[$row] $record [$body]])
    };
}

/// Matches a [`RowKind`](crate::store::RowKind), and evaluates the body with the name of its type:
/// `match_kind!(key.kind(), T => get::<T>(key))`.
#[macro_export]
macro_rules! match_kind {
    (
        [[$kind:expr] $record:ident [$body:expr]]
        $($(#[$doc:meta])* $name:ident($type:ty) $key:tt $version:ident;)+
    ) => {
        match $kind {
            $($crate::store::RowKind::$name => {
                type $record = $type;
                $body
            })+
        }
    };
    ($kind:expr, $record:ident => $body:expr) => {
        $crate::for_each_row!($crate::match_kind [[$kind] $record [$body]])
    };
}
