//! What an export shows of each row about a contact.

use serde_json::{Value, json};

use crate::gateway::UnknownEvent;
use crate::idempotency::CallState;
use crate::leads::LeadMemoryView;
use crate::messages::{MediaLinks, Message, MessageView};
use crate::prosas::LedgerLineView;
use crate::store::{Row, RowKind};

/// The file of the events that were not understood.
pub(super) const KEPT_EVENTS: (&str, &str) =
    ("kept-events.json", "Events that were not understood and are about it or name it.");

/// The name of the file with the rows of a kind, and what it says; `None` for rows that tell
/// nothing that another file does not tell.
///
/// R411.
pub(super) const fn file_of(kind: RowKind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        RowKind::ContactTag => ("tags.json", "The tags on the contact, by id."),
        RowKind::ListMember => ("lists.json", "The lists that it is in, by id."),
        RowKind::Deal => ("deals.json", "Its deals."),
        RowKind::Document => ("documents.json", "Its documents; their files are in documents/."),
        RowKind::Link => ("links.json", "The tracked links that were made for it."),
        RowKind::Click => ("clicks.json", "The clicks on these links."),
        RowKind::Alias => ("names.json", "Its names on its channel, also of merged contacts."),
        RowKind::Conversation => ("conversations.json", "Where it stands on each connection."),
        RowKind::LeadMemory => ("lead-memory.json", "What an AI inferred about it."),
        RowKind::LedgerLine => ("ledger.json", "What was spent on messages to it."),
        RowKind::RememberedCall => ("calls.json", "Calls of programs whose answers name it."),
        RowKind::UnknownEvent => KEPT_EVENTS,
        RowKind::DispatchWindow => ("dispatches.json", "Template messages sent by programs."),
        RowKind::Recipient => ("campaigns.json", "The campaigns that it is a recipient of."),
        _ => return None,
    })
}

fn of(view: impl serde::Serialize) -> Value {
    serde_json::to_value(view).unwrap_or(Value::Null)
}

/// JSON that is kept as text.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// A row as the export shows it: without secrets, and without what is about others.
///
/// R411.
pub(super) fn row(row: &Row) -> Value {
    match row {
        Row::ContactTag(tag) => json!({"tag_id": tag.tag}),
        Row::ListMember(member) => json!({"list_id": member.list}),
        Row::Deal(deal) => of(deal),
        Row::Document(document) => of(document),
        Row::Link(link) => json!({
            "id": link.id, "url": link.url, "clicks": link.clicks, "created_at": link.created_at,
        }),
        Row::Click(click) => json!({
            "id": click.id, "link_id": click.link, "at": click.at, "human": click.human,
        }),
        Row::Alias(alias) => {
            json!({"source_platform": alias.platform.as_str(), "name": alias.key.as_str()})
        }
        Row::Conversation(on) => json!({
            "connection_id": on.connection, "identifier": on.identifier,
            "last_message_at": on.last_message_at, "last_inbound_at": on.last_inbound_at,
            "unread": on.unread,
        }),
        Row::LeadMemory(memory) => of(LeadMemoryView::new(memory)),
        Row::LedgerLine(line) => of(LedgerLineView::new(line)),
        Row::RememberedCall(call) => {
            let answer = match &call.state {
                CallState::InFlight { .. } => Value::Null,
                CallState::Answered { answer } => parsed(answer),
            };
            json!({
                "operation": call.key.operation, "answer": answer, "expires_at": call.expires_at,
            })
        }
        Row::DispatchWindow(window) => json!({
            "message_id": window.message, "sent_at": window.sent_at,
            "state": window.state, "ends_at": window.ends_at,
        }),
        Row::Recipient(recipient) => json!({
            "campaign_id": recipient.campaign, "number": recipient.number.0,
            "status": recipient.status, "message_id": recipient.message,
            "fault": recipient.fault, "sent_at": recipient.sent_at,
            "delivered_at": recipient.outcomes.delivered, "read_at": recipient.outcomes.read,
            "ended_at": recipient.outcomes.ended,
        }),
        _ => Value::Null,
    }
}

/// A kept event, with so much of its body as may be shown.
pub(super) fn kept_event(event: &UnknownEvent, body: Option<Value>) -> Value {
    json!({
        "id": event.id, "connection_id": event.connection, "kind": event.kind,
        "received_at": event.received_at, "is_body_left_out": body.is_none(), "body": body,
    })
}

/// A message with all its content. A link to its file, which is a credential, gives way to the
/// path of the file in the ZIP; who wrote in a group is left out.
///
/// R411.
pub(super) fn message(message: &Message, links: &MediaLinks) -> Value {
    let mut shown = of(MessageView::new(message, links));
    if let Some(fields) = shown.as_object_mut() {
        fields.insert("media_url".to_owned(), json!(message.media.url));
        fields.insert("participant".to_owned(), Value::Null);
        fields.insert("external_id".to_owned(), json!(message.external_id));
        let upload = message.media.upload.map(|id| format!("files/{id}"));
        let document = message.media.document.map(|id| format!("documents/{id}"));
        fields.insert("file".to_owned(), json!(upload.or(document)));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R411.
    #[test]
    fn every_kind_that_can_be_about_a_contact_has_a_file() {
        for kind in RowKind::ALL.iter().copied() {
            let is_written = file_of(kind).is_some() || kind == RowKind::Message;
            assert_eq!(is_written, kind.is_about_a_contact(), "{kind:?}");
        }
    }

    /// R410: those without an id are read at once, so for each of them it has to be known that
    /// there are few.
    #[test]
    fn few_rows_without_an_id_are_about_one_contact() {
        let has_no_id =
            |kind: &RowKind| kind.is_about_a_contact() && !kind.key_parts().contains(&"id");
        let found: Vec<RowKind> = RowKind::ALL.iter().copied().filter(has_no_id).collect();
        let known = [
            RowKind::ContactTag,
            RowKind::ListMember,
            RowKind::Alias,
            RowKind::Conversation,
            RowKind::LeadMemory,
            RowKind::RememberedCall,
            RowKind::DispatchWindow,
            RowKind::Recipient,
        ];
        assert_eq!(found, known);
    }
}
