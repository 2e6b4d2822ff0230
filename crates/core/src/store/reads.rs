//! The only list of the reads of a store.

/// Passes the reads of a store to a macro: each trait with its path, and its methods with their
/// arguments and their `Ok` type. All methods are async, take `&self` and return a `Result<_,
/// StoreError>`. The tokens in brackets after the macro's name come before the list.
///
/// It serves to generate wrappers that handle every read alike.
///
/// ```
/// macro_rules! names {
///     ($($Trait:ident($path:path) {
///         $(fn $name:ident($($arg:ident: $Type:ty),* $(,)?) -> $Answer:ty;)+
///     })+) => {
///         [$($(stringify!($name)),+),+]
///     };
/// }
/// assert_eq!(recado_core::for_each_read!(names)[0], "row");
/// ```
#[macro_export]
macro_rules! for_each_read {
    ($($callback:tt)::+ $([$($input:tt)*])?) => {
        $($callback)::+! {
            $([$($input)*])?
            Records($crate::store::Records) {
                fn row(key: &$crate::store::RowKey)
                    -> Option<$crate::store::Stored<$crate::store::Row>>;
                fn rows(listing: $crate::store::Listing)
                    -> Vec<$crate::store::Stored<$crate::store::Row>>;
                fn is_in_use(
                    company: $crate::ids::CompanyId,
                    row: $crate::store::Removable,
                ) -> bool;
                fn count_about(
                    company: $crate::ids::CompanyId,
                    kind: $crate::store::RowKind,
                    contact: $crate::ids::ContactId,
                ) -> u64;
                fn has_many(
                    company: $crate::ids::CompanyId,
                    contact: $crate::ids::ContactId,
                    than: u32,
                ) -> $crate::store::ManyRows;
            }
            AccessReads($crate::access::AccessReads) {
                fn key_by_hash(
                    hash: &$crate::access::KeyHash,
                ) -> Option<($crate::access::ApiKey, $crate::access::Company)>;
            }
            AccountReads($crate::accounts::AccountReads) {
                fn login_by_email(
                    email: &$crate::contacts::Email,
                ) -> Option<$crate::store::Stored<$crate::accounts::Login>>;
                fn login_by_subject(
                    subject: &$crate::accounts::LoginSubjectHash,
                ) -> Option<$crate::store::Stored<$crate::accounts::Login>>;
                fn sessions_of(
                    company: $crate::ids::CompanyId,
                    member: $crate::ids::MemberId,
                ) -> Vec<$crate::store::Stored<$crate::accounts::Session>>;
            }
            CampaignReads($crate::campaigns::CampaignReads) {
                fn campaigns(
                    company: $crate::ids::CompanyId,
                ) -> Vec<($crate::campaigns::Campaign, $crate::campaigns::CampaignTotals)>;
                fn campaign_totals(
                    company: $crate::ids::CompanyId,
                    campaign: $crate::ids::CampaignId,
                    steps: Option<$crate::campaigns::TimeSteps>,
                ) -> $crate::campaigns::CampaignTotals;
                fn active_campaigns(
                    shards: &std::collections::BTreeSet<$crate::deliveries::ShardNumber>,
                    until: $crate::Timestamp,
                ) -> Vec<$crate::store::Stored<$crate::campaigns::Campaign>>;
                fn recipients(
                    company: $crate::ids::CompanyId,
                    campaign: $crate::ids::CampaignId,
                    status: $crate::campaigns::RecipientStatus,
                    from: $crate::campaigns::RecipientsFrom,
                    limit: u32,
                ) -> Vec<$crate::store::Stored<$crate::campaigns::Recipient>>;
                fn recipients_of(
                    company: $crate::ids::CompanyId,
                    messages: &[$crate::ids::MessageId],
                ) -> Vec<$crate::store::Stored<$crate::campaigns::Recipient>>;
                fn recipient_page(
                    company: $crate::ids::CompanyId,
                    campaign: $crate::ids::CampaignId,
                    status: Option<$crate::campaigns::RecipientStatus>,
                    page: $crate::page::PageRequest,
                ) -> $crate::page::Page<$crate::campaigns::RecipientEntry>;
            }
            ConnectionReads($crate::connections::ConnectionReads) {
                fn connection_anywhere(
                    id: $crate::ids::ConnectionId,
                ) -> Option<$crate::store::Stored<$crate::connections::Connection>>;
                fn unknown_events(
                    company: $crate::ids::CompanyId,
                    query: &$crate::gateway::KeptQuery,
                ) -> $crate::gateway::KeptEvents;
            }
            ContactReads($crate::contacts::ContactReads) {
                fn contact_record(
                    company: $crate::ids::CompanyId,
                    id: $crate::ids::ContactId,
                ) -> Option<(
                    $crate::contacts::ContactRecord,
                    Vec<$crate::custom_fields::CustomField>,
                )>;
                fn contact_by_identifier(
                    company: $crate::ids::CompanyId,
                    platform: &$crate::contacts::Platform,
                    identifier: &$crate::contacts::Identifier,
                ) -> Option<$crate::store::Stored<$crate::contacts::Contact>>;
                fn contact_page(
                    company: $crate::ids::CompanyId,
                    filter: &$crate::contacts::ContactFilter,
                    page: $crate::page::PageRequest,
                    clicks: bool,
                ) -> $crate::contacts::ContactSlice;
                fn contact_export(
                    company: $crate::ids::CompanyId,
                    filter: &$crate::contacts::ContactFilter,
                    after: Option<$crate::contacts::ExportPosition>,
                    limit: u32,
                    clicks: bool,
                ) -> $crate::contacts::ContactSlice;
                fn draft_facts(
                    company: $crate::ids::CompanyId,
                    query: &$crate::contacts::DraftQuery,
                ) -> $crate::contacts::DraftFacts;
            }
            ConversationReads($crate::conversations::ConversationReads) {
                fn channel_contacts(
                    company: $crate::ids::CompanyId,
                    query: &$crate::conversations::ChannelQuery,
                ) -> Vec<$crate::conversations::ChannelContact>;
                fn newest_inbound_at(
                    company: $crate::ids::CompanyId,
                    contact: $crate::ids::ContactId,
                ) -> Option<$crate::Timestamp>;
                fn newest_outbound_sender(
                    company: $crate::ids::CompanyId,
                    contact: $crate::ids::ContactId,
                ) -> Option<$crate::messages::SenderType>;
            }
            CustomFieldReads($crate::custom_fields::CustomFieldReads) {
                fn custom_field_by_slug(
                    company: $crate::ids::CompanyId,
                    slug: &str,
                ) -> Option<$crate::store::Stored<$crate::custom_fields::CustomField>>;
            }
            DealReads($crate::deals::DealReads) {
                fn deals(
                    company: $crate::ids::CompanyId,
                    contact: Option<$crate::ids::ContactId>,
                ) -> Vec<$crate::deals::Deal>;
            }
            DeliveryReads($crate::deliveries::DeliveryReads) {
                fn deliveries(
                    company: $crate::ids::CompanyId,
                    filter: &$crate::deliveries::DeliveryFilter,
                    page: $crate::page::PageRequest,
                ) -> $crate::page::Page<$crate::deliveries::Delivery>;
                fn shards() -> $crate::deliveries::Shards;
                fn pending_deliveries(
                    company: $crate::ids::CompanyId,
                    which: $crate::deliveries::PendingDeliveries,
                    limit: u32,
                ) -> Vec<$crate::store::Stored<$crate::deliveries::Delivery>>;
            }
            DispatchReads($crate::dispatches::DispatchReads) {
                fn reserved_windows(
                    company: $crate::ids::CompanyId,
                    contact: $crate::ids::ContactId,
                ) -> Vec<$crate::store::Stored<$crate::dispatches::DispatchWindow>>;
            }
            DocumentReads($crate::documents::DocumentReads) {
                fn documents(
                    company: $crate::ids::CompanyId,
                    contact: $crate::ids::ContactId,
                ) -> Vec<$crate::store::Stored<$crate::documents::Document>>;
            }
            DueReads($crate::deliveries::DueReads) {
                fn pending_queues(
                    shards: &std::collections::BTreeSet<$crate::deliveries::ShardNumber>,
                    after: Option<$crate::deliveries::QueueKey>,
                    limit: u32,
                ) -> Vec<$crate::deliveries::PendingQueue>;
                fn read_queue(read: $crate::deliveries::QueueRead) -> $crate::deliveries::QueuePage;
            }
            EventReads($crate::events::EventReads) {
                fn event(
                    company: $crate::ids::CompanyId,
                    id: $crate::ids::EventId,
                ) -> Option<$crate::events::EventRecord>;
                fn events_after(
                    company: $crate::ids::CompanyId,
                    types: &[$crate::events::EventType],
                    after: $crate::events::JournalPosition,
                    limit: u32,
                ) -> Vec<($crate::events::JournalPosition, $crate::events::EventRecord)>;
                fn newest_events(
                    company: $crate::ids::CompanyId,
                    types: &[$crate::events::EventType],
                    before: Option<$crate::events::JournalPosition>,
                    limit: u32,
                ) -> Vec<($crate::events::JournalPosition, $crate::events::EventRecord)>;
            }
            FigureReads($crate::figures::FigureReads) {
                fn figures(query: &$crate::figures::FigureQuery) -> $crate::figures::Figures;
            }
            GroupReads($crate::groups::GroupReads) {
                fn groups(
                    company: $crate::ids::CompanyId,
                    connection: $crate::ids::ConnectionId,
                ) -> Vec<$crate::store::Stored<$crate::groups::ConnectionGroup>>;
                fn groups_by_code(
                    company: $crate::ids::CompanyId,
                    codes: &[$crate::groups::GroupCode],
                ) -> Vec<$crate::store::Stored<$crate::groups::ConnectionGroup>>;
            }
            InboundReads($crate::inbound::InboundReads) {
                fn endpoint_by_slug(
                    slug: &$crate::inbound::EndpointSlug,
                ) -> Option<($crate::inbound::InboundEndpoint, $crate::access::Company)>;
            }
            JobReads($crate::jobs::JobReads) {
                fn job_like(
                    company: $crate::ids::CompanyId,
                    kind: &$crate::jobs::JobKind,
                ) -> Option<$crate::store::Stored<$crate::jobs::Job>>;
            }
            LedgerReads($crate::prosas::LedgerReads) {
                fn ledger_page(
                    company: $crate::ids::CompanyId,
                    filter: &$crate::prosas::LedgerFilter,
                    page: $crate::page::PageRequest,
                ) -> $crate::prosas::LedgerPage;
                fn ledger_totals(
                    company: $crate::ids::CompanyId,
                    spans: &[$crate::prosas::LedgerSpan],
                ) -> Vec<$crate::prosas::SpanTotals>;
            }
            LinkReads($crate::links::LinkReads) {
                fn link_by_code(code: &$crate::links::LinkCodeHash)
                    -> Option<$crate::store::Stored<$crate::links::Link>>;
            }
            ListReads($crate::lists::ListReads) {
                fn list(
                    company: $crate::ids::CompanyId,
                    id: $crate::ids::ListId,
                ) -> Option<($crate::store::Stored<$crate::lists::List>, u64)>;
                fn lists(company: $crate::ids::CompanyId) -> Vec<($crate::lists::List, u64)>;
                fn list_candidates(
                    company: $crate::ids::CompanyId,
                    list: $crate::ids::ListId,
                    contacts: &[$crate::ids::ContactId],
                    first: u32,
                ) -> $crate::lists::ListCandidates;
            }
            MessageReads($crate::messages::MessageReads) {
                fn messages(
                    company: $crate::ids::CompanyId,
                    ids: &[$crate::ids::MessageId],
                ) -> Vec<$crate::store::Stored<$crate::messages::Message>>;
                fn referred(
                    company: $crate::ids::CompanyId,
                    connection: $crate::ids::ConnectionId,
                    ids: &[$crate::messages::ProviderMessageId],
                ) -> Vec<$crate::messages::Referred>;
                fn message_page(
                    company: $crate::ids::CompanyId,
                    filter: &$crate::messages::MessageFilter,
                    page: $crate::page::PageRequest,
                ) -> $crate::page::Page<$crate::messages::MessageRecord>;
                fn abandoned_messages(
                    now: $crate::Timestamp,
                    limit: u32,
                ) -> Vec<$crate::store::Stored<$crate::messages::Message>>;
                fn messages_in_flight(
                    sender: $crate::ids::WorkerId,
                    limit: u32,
                ) -> Vec<$crate::store::Stored<$crate::messages::Message>>;
            }
            TemplateReads($crate::templates::TemplateReads) {
                fn template_by_token(
                    token: &$crate::templates::TemplateTokenHash,
                ) -> Option<($crate::templates::Template, $crate::access::Company)>;
            }
            WebhookReads($crate::webhooks::WebhookReads) {
                fn webhooks(
                    company: $crate::ids::CompanyId,
                ) -> Vec<$crate::store::Stored<$crate::webhooks::Webhook>>;
            }
        }
    };
}
