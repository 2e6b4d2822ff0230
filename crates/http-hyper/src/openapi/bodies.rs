//! The request bodies that the core does not declare with `body!`, for the document only.
#![expect(dead_code, reason = "these types are schemas; nothing is read out of them")]

use std::collections::BTreeMap;

use recado_core::Timestamp;
use recado_core::gateway::Preference;
use recado_core::ids::MessageId;
use recado_core::messages::{
    Forwarded, Interactive, Location, MessageType, Order, Product, Reaction, Referral,
    SharedContact, SystemNotice, Unsupported,
};
use serde_json::Value;
#[cfg(test)]
use utoipa::openapi::RefOr;
#[cfg(test)]
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
#[cfg(test)]
use utoipa::{PartialSchema, ToSchema};

// Groups are read with the suffix of the installation's codes, and in two ways: a PUT's set is
// answered with all its problems, a gateway's may lack subjects and have unknown fields.

/// A group, as a connection reports it.
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

// Which fields of a neutral event are read depends on its kind; all others, also unknown ones, are
// ignored, and the first problem is the event's result.

/// Events of a gateway, in the neutral form.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct NeutralEvents {
    #[cfg_attr(test, schema(max_items = 1000))]
    /// The events, in the order in which they happened.
    events: Vec<NeutralEvent>,
}

/// One neutral event. Which fields it has depends on `kind`.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct NeutralEvent {
    /// `message`, `echo`, `edit`, `deleted`, `status`, `connection`, `groups` or `preference`.
    kind: String,
    /// The provider's id of the message.
    provider_message_id: Option<String>,
    /// The provider's time.
    timestamp: Option<Timestamp>,
    /// The sender: digits, a LID, a business-scoped id, or a group code.
    from: Option<String>,
    /// Of an echo: the recipient.
    to: Option<String>,
    /// Other names of the same person.
    aliases: Option<Vec<String>>,
    /// Of a message in a group: who wrote it.
    participant: Option<String>,
    /// The name that the sender gave themselves.
    push_name: Option<String>,
    #[cfg_attr(test, schema(rename = "type"))]
    r#type: Option<MessageType>,
    content: Option<String>,
    /// Its file.
    media: Option<NeutralMedia>,
    /// The provider's id of the message that it answers.
    quoted_provider_message_id: Option<String>,
    /// The text of the quoted message, if it is not stored here.
    quoted_content: Option<String>,
    quoted_type: Option<MessageType>,
    /// The button that was pressed.
    button: Option<NeutralButton>,
    location: Option<Location>,
    shared_contacts: Option<Vec<SharedContact>>,
    interactive: Option<Interactive>,
    order: Option<Order>,
    product: Option<Product>,
    referral: Option<Referral>,
    reaction: Option<Reaction>,
    system: Option<SystemNotice>,
    unsupported: Option<Unsupported>,
    forwarded: Option<Forwarded>,
    /// Whether a sound is a voice note.
    is_voice: Option<bool>,
    /// When the sender deleted it.
    deleted_by_sender_at: Option<Timestamp>,
    /// Whether it comes from a check of the history.
    history: Option<bool>,
    /// Whether the channel says that the content comes later, under the same id.
    is_late: Option<bool>,
    /// Of a status: `sent`, `delivered`, `read`, `failed`; of a connection: `connected`,
    /// `disconnected`.
    status: Option<String>,
    /// Of a status: the message's id in this API, if the gateway returns it.
    reference: Option<MessageId>,
    /// Of a status: why the message failed.
    error: Option<NeutralError>,
    /// Of `groups`: the groups that the number is in.
    groups: Option<Vec<Group>>,
    /// Of a preference: what the person wants.
    preference: Option<Preference>,
}

/// A file of a neutral message.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct NeutralMedia {
    /// Where the file can be fetched.
    url: Option<String>,
    /// Its media type.
    mimetype: Option<String>,
    /// Its name.
    filename: Option<String>,
    /// What is written below it.
    caption: Option<String>,
}

/// A pressed button.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct NeutralButton {
    /// Its id.
    id: Option<String>,
    /// What the sender of the button put behind it.
    payload: Option<String>,
    /// What stands on it.
    title: Option<String>,
}

/// Why a message failed.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct NeutralError {
    /// A number of the official API, or a code of the catalogue.
    #[cfg_attr(test, schema(value_type = Option<String>))]
    code: Option<Value>,
    /// What happened.
    title: Option<String>,
    /// More on what happened.
    details: Option<String>,
}

/// Nothing.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct Nothing {}

/// Any JSON of another system.
pub(crate) struct AnyJson;

#[cfg(test)]
impl PartialSchema for AnyJson {
    fn schema() -> RefOr<Schema> {
        let types = [Type::Object, Type::Array, Type::String, Type::Number, Type::Boolean];
        let any = ObjectBuilder::new().schema_type(SchemaType::from_iter(types));
        any.description(Some("Any JSON, as the other system writes it.")).into()
    }
}

#[cfg(test)]
impl ToSchema for AnyJson {}

// A dispatch is read from its body and its query together, and refused for the first problem.

/// A dispatch.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct Dispatch {
    /// Anything that normalizes to a Brazilian phone number.
    phone_number: Option<String>,
    /// By position or name. If it is present, the query's variables are ignored.
    variables: Option<BTreeMap<String, String>>,
    /// What the template's header needs. If it is present, the query's `header_url` is ignored.
    header: Option<recado_core::templates::HeaderValueDraft>,
    /// What the template's buttons need.
    buttons: Option<Vec<recado_core::templates::ButtonValueDraft>>,
}
