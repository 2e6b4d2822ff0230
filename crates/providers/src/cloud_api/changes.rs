//! The changes of a webhook, by their field.

use recado_core::gateway::{Addressee, GatewayEvent, Incoming, Received, UnknownReport};
use recado_core::messages::ProviderMessageId;
use serde_json::{Map, Value, json};

use super::message::id_of;
use super::people::{Contacts, NamedPerson};
use super::webhook::EntryContext;
use super::{account, calls, history, identity, message, preferences, status};
use crate::shared::at;
use crate::shared::word;

/// Known fields that are ignored: quality scores of templates, and the address book of the paired
/// phone. Alerts and limits of the account are recorded as unknown kinds.
const LEFT_OUT: &[&str] = &["message_template_quality_update", "smb_app_state_sync"];
/// Fields of a value that are no lists of events.
const AROUND: [&str; 3] = ["messaging_product", "metadata", "contacts"];
/// The lists of a change of messages.
const LISTS: [&str; 3] = ["messages", "statuses", "errors"];

/// A change: its field and its value.
pub(super) struct Change<'a> {
    pub(super) field: &'a str,
    pub(super) value: &'a Value,
    /// The people that it names.
    pub(super) contacts: Contacts<'a>,
}

impl<'a> Change<'a> {
    fn new(field: &'a str, value: &'a Value) -> Self {
        Self { field, value, contacts: Contacts::of(value) }
    }

    /// The change with these lists in place of its own, and the entry of `contacts` that belongs to
    /// what is in them.
    pub(super) fn around(&self, contact: Option<&Value>, lists: Value) -> Value {
        let mut value = Map::new();
        for name in ["messaging_product", "metadata"] {
            value.extend(at(self.value, &[name]).map(|kept| (name.to_owned(), kept.clone())));
        }
        value.extend(contact.map(|contact| ("contacts".to_owned(), json!([contact]))));
        if let Value::Object(lists) = lists {
            value.extend(lists);
        }
        json!({"field": self.field, "value": value})
    }

    /// This change alone, as an event that is not known.
    pub(super) fn unknown(&self, kind: String) -> Incoming {
        unknown(kind, json!({"field": self.field, "value": self.value}), None)
    }

    /// An item of a list of it, as an event that is not known; `fields` name its person.
    pub(super) fn unknown_item(
        &self,
        kind: String,
        list: &str,
        item: &Value,
        fields: &[&str],
    ) -> Incoming {
        let contact = NamedPerson::entry(item, fields, &self.contacts);
        let body = self.around(contact, json!({ list: [item] }));
        unknown(kind, body, id_of(item, "id").ok())
    }

    /// A field of it alone, as an event that is not known.
    fn unknown_field(&self, kind: String, name: &str, value: &Value) -> Incoming {
        unknown(kind, self.around(None, json!({ name: value })), None)
    }

    /// Its fields beside these lists, and those of them that are none, each as an event that is not
    /// known; itself if it has neither, and nothing of it `is_known`.
    pub(super) fn rest(&self, lists: &[&str], is_known: bool) -> Vec<Incoming> {
        let fields = self.value.as_object().into_iter().flatten();
        let unknown = fields.filter_map(|(name, value)| {
            let kind = match lists.contains(&name.as_str()) {
                true if value.is_array() => return None,
                true => format!("{name} is no list"),
                false => format!("{}.{name}", self.field),
            };
            let is_around = AROUND.contains(&name.as_str()) || value.is_null();
            (!is_around).then(|| self.unknown_field(kind, name, value))
        });
        let unknown: Vec<Incoming> = unknown.collect();
        match unknown.is_empty() && !is_known {
            true => vec![self.unknown(self.field.to_owned())],
            false => unknown,
        }
    }
}

/// The events of one change.
pub(super) fn read(envelope: &EntryContext<'_>, field: &str, value: &Value) -> Vec<Received> {
    let change = Change::new(field, value);
    let number = at(value, &["metadata"]).and_then(|metadata| word(metadata, "phone_number_id"));
    let here = number.map_or(Addressee::Called, Addressee::Number);
    let (to, events) = match field {
        "messages" => (here, messages(envelope, &change)),
        "smb_message_echoes" => (here, message::echoes(envelope, &change)),
        "history" => (here, history::read(envelope, &change)),
        "calls" => (here, calls::read(&change)),
        "user_preferences" => (here, preferences::read(&change)),
        "user_id_update" => (here, identity::updates(&change)),
        "message_template_status_update" => (envelope.of_account(), account::status(value)),
        "template_category_update" => (envelope.of_account(), account::category(value)),
        "account_update" => (envelope.of_account(), vec![Ok(GatewayEvent::StateDoubtful)]),
        known if LEFT_OUT.contains(&known) => (here, Vec::new()),
        other => (here, vec![change.unknown(other.to_owned())]),
    };
    // What cannot be read is kept, as a person may have said it.
    let kept = |event: Incoming| event.or_else(|reason| change.unknown(reason));
    let received = |event| Received { to: to.clone(), event: kept(event) };
    events.into_iter().map(received).collect()
}

/// Inbound messages, statuses of outbound ones, and errors of the account. Lists that are not known
/// are events of their own.
fn messages(envelope: &EntryContext<'_>, change: &Change<'_>) -> Vec<Incoming> {
    let Some(fields) = change.value.as_object() else {
        return vec![change.unknown("messages".to_owned())];
    };
    let (mut events, mut is_known) = (Vec::new(), false);
    for name in LISTS {
        let Some(items) = fields.get(name).and_then(Value::as_array) else { continue };
        is_known = true;
        match name {
            "messages" => {
                let contacts = Contacts::of_senders(change.value);
                let read = |item| message::inbound(envelope, change, &contacts, item);
                events.extend(items.iter().flat_map(read));
            }
            "statuses" => events.extend(items.iter().flat_map(|item| status::read(change, item))),
            // An error without a message concerns the account or the number.
            _ if !items.is_empty() => events.push(Ok(GatewayEvent::StateDoubtful)),
            _ => {}
        }
    }
    events.extend(change.rest(&LISTS, is_known));
    events
}

/// An event of an unknown kind; `body` is what [`read`](super::webhook::read) reads.
pub(super) fn unknown(
    kind: String,
    body: Value,
    provider_id: Option<ProviderMessageId>,
) -> Incoming {
    let report = UnknownReport::new(kind, body);
    Ok(GatewayEvent::Unknown(UnknownReport { provider_id, ..report }))
}
