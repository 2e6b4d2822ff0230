//! Rows in the form that is compared, with all values that `Debug` hides.

use recado_core::connections::Connection;
use recado_core::contacts::Contact;
use recado_core::conversations::ChannelContact;
use recado_core::figures::Figures;
use recado_core::idempotency::{CallState, RememberedCall};
use recado_core::messages::{Message, MessageRecord, Referred};
use recado_core::store::{Row, Stored};
use serde_json::{Value, json};

fn debug(value: impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

pub(super) fn message(message: &Message) -> Value {
    let Message { id, company, contact, connection, .. } = message;
    let media = &message.media;
    json!([
        [debug(id), debug(company), debug(contact), debug(connection)],
        [debug(message.direction), debug(message.message_type), debug(message.sender_type)],
        [debug(message.status), debug(&message.failure), debug(message.sender)],
        message.content,
        [&media.url, &media.source, &media.mimetype, &media.filename, &media.caption],
        [debug(media.document), debug(media.upload)],
        [debug(message.quoted.message), debug(message.quoted.message_type)],
        [debug(&message.provider_id), debug(message.template_category), debug(message.prosa)],
        [&message.external_id, &message.quoted.content],
        debug(&message.participant),
        message.is_history,
        [debug(message.edited_at), debug(message.created_at), debug(message.timestamp)],
    ])
}

pub(super) fn record(record: &MessageRecord) -> Value {
    json!([message(&record.message), record.contact])
}

fn contact(contact: &Contact) -> Value {
    json!([
        debug([debug(contact.id), debug(&contact.source_platform)]),
        [contact.identifier.as_str(), contact.shown_phone(), &contact.name, &contact.display_name],
        [debug(&contact.external_chat_id), debug(contact.last_connection_id)],
        [contact.opt_out_backfilled, contact.is_group, contact.has_unread],
        [debug(contact.opted_in_at), debug(contact.last_message_at)],
        [debug(contact.created_at), debug(contact.updated_at)],
    ])
}

pub(super) fn connection(connection: &Connection) -> Value {
    json!([debug(connection), connection.settings.expose()])
}

/// Without the position of the journal, which stores may skip.
pub(super) fn figures(figures: Figures) -> Value {
    let Figures { connections, deliveries, jobs, campaigns, left_sent, .. } = figures;
    let mut connections: Vec<String> = connections.iter().map(debug).collect();
    connections.sort();
    json!([connections, debug(deliveries), debug(jobs), campaigns, left_sent])
}

pub(super) fn call(call: &RememberedCall) -> Value {
    let answer = match &call.state {
        CallState::InFlight { .. } => None,
        CallState::Answered { answer } => Some(answer),
    };
    json!([debug(call), call.key.key, answer])
}

/// Any row.
pub(super) fn row(row: &Row) -> Value {
    match row {
        Row::Contact(row) => contact(row),
        Row::Connection(row) => connection(row),
        Row::Message(row) => message(row),
        Row::RememberedCall(row) => call(row),
        Row::InboundEndpoint(row) => json!([debug(row), row.secret_hash.to_text()]),
        Row::Template(row) => json!([
            [debug(row), debug(row.company), debug(row.category), debug(row.connection)],
            [&row.language, &row.body],
            [debug(&row.provider_id), debug(&row.needs)],
            [json!(row.token_hash.to_text()), debug(row.created_at), debug(row.updated_at)],
        ]),
        Row::UnknownEvent(row) => json!([debug(row), row.body.expose()]),
        Row::Upload(row) => super::uploads::shown_upload(row),
        Row::Alias(row) => json!([debug(row), row.key.as_str()]),
        other => json!(debug(other)),
    }
}

/// Any row with its version.
pub(super) fn stored<T: Clone + Into<Row>>(stored: &Stored<T>) -> Value {
    json!([row(&stored.value().clone().into()), stored.version().number()])
}

/// All rows, in the order in which they were read.
pub(super) fn all<T: Clone + Into<Row>>(rows: &[Stored<T>]) -> Vec<Value> {
    rows.iter().map(stored).collect()
}

/// All rows of a read that has no defined order.
pub(super) fn unordered(mut shown: Vec<Value>) -> Vec<Value> {
    shown.sort_by_key(Value::to_string);
    shown
}

pub(super) fn referred(referred: &Referred) -> Value {
    json!([stored(&referred.reference), referred.message.as_ref().map(stored)])
}

pub(super) fn channel_contact(found: &ChannelContact) -> Value {
    let aliases: Vec<&str> = found.aliases.iter().map(|key| key.as_str()).collect();
    json!([stored(&found.contact), aliases, all(&found.conversations)])
}
