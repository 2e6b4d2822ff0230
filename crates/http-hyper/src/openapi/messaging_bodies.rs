//! The request bodies of connections, messages, conversations and what goes with them.
#![expect(dead_code, reason = "these types are schemas; nothing is read out of them")]

use recado_core::Timestamp;
use recado_core::gateway::Preference;
use recado_core::ids::{ConnectionId, ContactId, LedgerLineId, MessageId};
use recado_core::messages::{
    DeliveryCode, Direction, ErrorType, MessageStatus, MessageType, SenderType,
};
use recado_core::templates::TemplateCategory;
use serde_json::Value;
#[cfg(test)]
use utoipa::ToSchema;

/// A group as a connection sees it.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct Group {
    /// `<id>@<group_suffix>`.
    code: String,
    subject: String,
    is_community: Option<bool>,
    /// The community it belongs to.
    community_code: Option<String>,
    /// Whether it is its community's announcement group.
    is_announcement: Option<bool>,
    /// Whether only administrators may write.
    announce_only: Option<bool>,
    /// True by default.
    participates: Option<bool>,
    is_admin: Option<bool>,
}

/// The groups that a connection's number is in.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct Groups(Vec<Group>);

/// What a gateway tells, in the neutral form.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct Events {
    #[cfg_attr(test, schema(max_items = 1000))]
    events: Vec<NeutralEvent>,
}

/// One neutral event. Which fields it has depends on `kind`.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct NeutralEvent {
    /// `message`, `edit`, `echo`, `status`, `connection`, `groups` or `preference`.
    kind: String,
    provider_message_id: Option<String>,
    /// The provider's time.
    timestamp: Option<Timestamp>,
    /// Who wrote: digits, a LID, a business-scoped id, or a group code.
    from: Option<String>,
    /// Of an echo: to whom.
    to: Option<String>,
    /// Other names of the same person.
    aliases: Option<Vec<String>>,
    participant: Option<String>,
    push_name: Option<String>,
    #[cfg_attr(test, schema(rename = "type"))]
    r#type: Option<MessageType>,
    content: Option<String>,
    media: Option<NeutralMedia>,
    quoted_provider_message_id: Option<String>,
    /// What the quoted message said, for one that we do not have.
    quoted_content: Option<String>,
    quoted_type: Option<MessageType>,
    button: Option<NeutralButton>,
    /// Whether it comes from a check of the history.
    history: Option<bool>,
    /// Of a status: `sent`, `delivered`, `read`, `failed`; of a connection: `connected`,
    /// `disconnected`.
    status: Option<String>,
    /// Of a status: our own id of the message, where the gateway returns it.
    reference: Option<MessageId>,
    error: Option<NeutralError>,
    groups: Option<Vec<Group>>,
    preference: Option<Preference>,
}

/// A file of a neutral message.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct NeutralMedia {
    url: Option<String>,
    mimetype: Option<String>,
    filename: Option<String>,
    caption: Option<String>,
}

/// A pressed button.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct NeutralButton {
    id: Option<String>,
    payload: Option<String>,
    title: Option<String>,
}

/// Why a message failed.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct NeutralError {
    /// A number of the official API, or a code of the catalogue.
    #[cfg_attr(test, schema(value_type = Option<String>))]
    code: Option<Value>,
    title: Option<String>,
    details: Option<String>,
}

/// Nothing.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct Nothing {}

/// A lead memory. Lists are added to by POST and replaced by PUT.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct LeadMemoryBody {
    summary: Option<String>,
    sentiment: Option<String>,
    intent: Option<String>,
    consciousness_level: Option<String>,
    bant: Option<BantBody>,
    #[cfg_attr(test, schema(max_items = 20))]
    key_facts: Option<Vec<String>>,
    #[cfg_attr(test, schema(max_items = 10))]
    products_interested: Option<Vec<String>>,
    #[cfg_attr(test, schema(max_items = 10))]
    objections: Option<Vec<String>>,
    last_topic: Option<String>,
}

/// A lead memory with its counters and times; those that are left out are those of one more write.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct WholeLeadMemory {
    #[cfg_attr(test, serde(flatten))]
    inferred: LeadMemoryBody,
    #[cfg_attr(test, schema(minimum = 1))]
    version: Option<u32>,
    interaction_count: Option<u32>,
    first_interaction_at: Option<Timestamp>,
    last_memory_update_at: Option<Timestamp>,
}

/// Budget, authority, need and timeline.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct BantBody {
    budget: Option<String>,
    authority: Option<String>,
    authority_raw: Option<String>,
    need: Option<String>,
    timeline: Option<String>,
}

/// A message to be imported.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct ImportMessage {
    /// So that an import can be repeated: an id that is there already is 409.
    id: Option<MessageId>,
    contact_id: ContactId,
    connection_id: ConnectionId,
    direction: Direction,
    #[cfg_attr(test, schema(rename = "type"))]
    r#type: Option<MessageType>,
    content: Option<String>,
    media_url: Option<String>,
    media_mimetype: Option<String>,
    media_filename: Option<String>,
    media_caption: Option<String>,
    status: Option<MessageStatus>,
    error_type: Option<ErrorType>,
    error_message: Option<String>,
    /// The same as `error_message`.
    failure_reason: Option<String>,
    delivery_error: Option<DeliveryErrorBody>,
    sender_type: Option<SenderType>,
    wamid: Option<String>,
    external_id: Option<String>,
    quoted_message_id: Option<MessageId>,
    quoted_content: Option<String>,
    quoted_type: Option<MessageType>,
    is_edited: Option<bool>,
    edited_at: Option<Timestamp>,
    created_at: Option<Timestamp>,
    timestamp: Option<Timestamp>,
    official_template_category: Option<TemplateCategory>,
    prosa: Option<CoveredBy>,
}

/// Why a message failed; only `code` is read.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct DeliveryErrorBody {
    code: DeliveryCode,
    description: Option<String>,
}

/// The debit that covers a message; its values are the ledger's.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct CoveredBy {
    consumption_id: LedgerLineId,
}
