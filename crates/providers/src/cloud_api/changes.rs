//! The changes of a webhook, by their field.

use recado_core::gateway::{Addressee, GatewayEvent, Incoming, Received, UnknownReport};
use serde_json::Value;

use super::people::Contacts;
use super::webhook::EntryContext;
use super::{account, history, message, preferences, status};
use crate::shared::at;
use crate::shared::word;

/// Known fields that are ignored: quality scores of templates, and the address book of the paired
/// phone. Alerts and limits of the account are recorded as unknown kinds.
const LEFT_OUT: &[&str] = &["message_template_quality_update", "smb_app_state_sync"];

/// The events of one change.
pub(super) fn read(envelope: &EntryContext<'_>, field: &str, value: &Value) -> Vec<Received> {
    let number = at(value, &["metadata"]).and_then(|metadata| word(metadata, "phone_number_id"));
    let here = number.map_or(Addressee::Called, Addressee::Number);
    let (to, events) = match field {
        "messages" => (here, messages(envelope, value)),
        "smb_message_echoes" => (here, message::echoes(envelope, value)),
        "history" => (here, history::read(envelope, value)),
        "user_preferences" => (here, preferences::read(value)),
        "message_template_status_update" => (envelope.of_account(), account::status(value)),
        "template_category_update" => (envelope.of_account(), account::category(value)),
        "account_update" => (envelope.of_account(), vec![Ok(GatewayEvent::StateDoubtful)]),
        known if LEFT_OUT.contains(&known) => (here, Vec::new()),
        other => (here, vec![unknown(other.to_owned(), value)]),
    };
    events.into_iter().map(|event| Received { to: to.clone(), event }).collect()
}

/// Inbound messages, statuses of outbound ones, and errors of the account.
fn messages(envelope: &EntryContext<'_>, value: &Value) -> Vec<Incoming> {
    let Some(fields) = value.as_object() else {
        return vec![unknown("messages".to_owned(), value)];
    };
    let (mut events, mut is_known) = (Vec::new(), false);
    for name in ["messages", "statuses", "errors"] {
        let items = match fields.get(name) {
            None | Some(Value::Null) => continue,
            Some(Value::Array(items)) => items,
            Some(_) => {
                is_known = true;
                events.push(Err(format!("{name} is no list")));
                continue;
            }
        };
        is_known = true;
        match name {
            "messages" => {
                let contacts = Contacts::of_senders(value);
                events.extend(items.iter().flat_map(|it| message::inbound(envelope, contacts, it)));
            }
            "statuses" => events.extend(items.iter().flat_map(|item| status::read(value, item))),
            // An error without a message concerns the account or the number.
            _ if !items.is_empty() => events.push(Ok(GatewayEvent::StateDoubtful)),
            _ => {}
        }
    }
    if !is_known {
        events.push(unknown("messages".to_owned(), value));
    }
    events
}

/// An event of an unknown kind.
pub(super) fn unknown(kind: String, body: &Value) -> Incoming {
    Ok(GatewayEvent::Unknown(UnknownReport::new(kind, body.clone())))
}
