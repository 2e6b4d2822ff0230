//! Conversations of a [`World`]: connections, gateway events, sends, and the API's views of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::{Request, ScriptedAnswer, text};
use crate::outbox::Event;
use crate::world::{Tenant, World, eventually, phone};

/// The path of an address, such as `media_url`.
pub fn path_of(url: &Value) -> String {
    let url = text(url);
    let (_, path) = url.split_once("://").expect("an address");
    path[path.find('/').expect("a path")..].to_owned()
}

/// The n-th mobile number for which the simulated gateway has no special behaviour.
pub fn mobile(n: u32) -> String {
    phone(1_000 + n)
}

/// A mobile number whose last four digits select a behaviour of the simulated gateway: `1` is
/// `0001`.
pub fn steered(n: u32) -> String {
    phone(70_000 + n)
}

/// The digits of a phone.
pub fn digits(phone: &str) -> String {
    phone.chars().filter(char::is_ascii_digit).collect()
}

/// A Brazilian mobile number in the channel's form: its digits without the ninth.
pub fn eight_digits(phone: &str) -> String {
    let digits = digits(phone);
    let (area, number) = digits.split_at(4);
    format!("{area}{}", number.strip_prefix('9').expect("a mobile with the ninth digit"))
}

/// A provider's message id that was not used before.
pub fn wamid() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("wamid.{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The object with some members replaced or added.
#[must_use]
pub fn with(mut object: Value, more: Value) -> Value {
    let (Value::Object(into), Value::Object(more)) = (&mut object, more) else {
        panic!("two objects are needed");
    };
    into.extend(more);
    object
}

/// The blocks and marks of a message that holds none (X2, X3).
pub fn no_blocks() -> Value {
    json!({
        "location": null, "shared_contacts": null, "interactive": null, "order": null,
        "product": null, "referral": null, "reaction": null, "system": null, "unsupported": null,
        "forwarded": null, "is_voice": false, "deleted_by_sender_at": null,
    })
}

/// These members and those of blocks and marks, sorted.
pub fn with_blocks(members: &[&str]) -> Vec<String> {
    let mut all = keys(&no_blocks());
    all.extend(members.iter().map(|member| (*member).to_owned()));
    all.sort();
    all
}

/// The members of an object, sorted.
pub fn keys(object: &Value) -> Vec<String> {
    let object = object.as_object().unwrap_or_else(|| panic!("an object, not {object}"));
    let mut keys: Vec<String> = object.keys().cloned().collect();
    keys.sort();
    keys
}

impl World {
    /// Creates a connection to the simulated gateway and returns its id.
    pub async fn connection(&self, kind: &str, more: Value) -> String {
        self.connection_of(&self.us, kind, more).await
    }

    /// Creates a connection of a given company to the simulated gateway and returns its id.
    pub async fn connection_of(&self, tenant: &Tenant, kind: &str, more: Value) -> String {
        let body = json!({
            "kind": kind, "name": format!("the {kind}"), "identifier": "+551140000000",
            "gateway": "simulated", "settings": {"delay_ms": 5},
        });
        text(&self.make_for(tenant, "C/connections", with(body, more)).await["id"])
    }

    /// A connected connection of the QR-code kind.
    pub async fn qr(&self) -> String {
        self.connection("qr", json!({})).await
    }

    /// A connected connection of the official cloud kind.
    pub async fn cloud(&self) -> String {
        self.connection("official_cloud", json!({})).await
    }

    /// A connection whose gateway reports nothing on its own.
    pub async fn silent(&self, kind: &str) -> String {
        self.connection(kind, json!({"settings": {"reports": false}})).await
    }

    /// The current time of the clock.
    pub fn time(&self) -> String {
        self.server.clock.now().to_string()
    }

    /// The time this many milliseconds after the current one.
    pub fn time_in(&self, millis: u64) -> String {
        self.server.clock.now().plus(Duration::from_millis(millis)).to_string()
    }

    /// The time this many milliseconds before the current one.
    pub fn time_ago(&self, millis: u64) -> String {
        self.server.clock.now().minus(Duration::from_millis(millis)).to_string()
    }

    /// Posts events of a gateway.
    pub async fn post_events(&self, connection: &str, events: Vec<Value>) -> ScriptedAnswer {
        let path = format!("C/connections/{connection}/events");
        self.operator("POST", &path, json!({"events": events})).await
    }

    /// Posts events of a gateway and returns the result of each.
    pub async fn gateway(&self, connection: &str, events: Vec<Value>) -> Vec<Value> {
        let answer = self.post_events(connection, events).await;
        let results = answer.expect(200)["results"].clone();
        results.as_array().unwrap_or_else(|| panic!("no results in {}", answer.show())).clone()
    }

    /// Posts one event of a gateway and returns its result.
    pub async fn gateway_one(&self, connection: &str, event: Value) -> Value {
        let results = self.gateway(connection, vec![event]).await;
        assert_eq!(results.len(), 1, "{results:?}");
        assert_eq!(results[0]["index"], 0);
        results[0].clone()
    }

    /// Posts one event that must be stored, and returns the id of its message.
    pub async fn stored(&self, connection: &str, event: Value) -> String {
        let result = self.gateway_one(connection, event).await;
        assert_eq!(result["result"], "stored", "{result}");
        text(&result["message_id"])
    }

    /// The event of a text from a contact, at the current time.
    pub fn inbound(&self, from: &str, content: &str) -> Value {
        json!({
            "kind": "message", "provider_message_id": wamid(), "timestamp": self.time(),
            "from": from, "type": "text", "content": content,
        })
    }

    /// The event of a text that the operator wrote on the paired phone, at the current time.
    pub fn echo(&self, to: &str, content: &str) -> Value {
        json!({
            "kind": "echo", "provider_message_id": wamid(), "timestamp": self.time(),
            "to": to, "type": "text", "content": content,
        })
    }

    /// The event of a status report about a message.
    pub fn report(&self, provider_id: &str, status: &str) -> Value {
        json!({
            "kind": "status", "provider_message_id": provider_id, "timestamp": self.time(),
            "status": status,
        })
    }

    /// Receives a text and returns the id of the message.
    pub async fn receive(&self, connection: &str, from: &str, content: &str) -> String {
        self.stored(connection, self.inbound(from, content)).await
    }

    /// Receives a text from a new contact and returns the contact's id.
    pub async fn contact_by_message(&self, connection: &str, phone: &str) -> String {
        let message = self.receive(connection, &digits(phone), "oi").await;
        text(&self.message(&message).await["contact_id"])
    }

    /// POST /send/message with our company's key.
    pub async fn post_send(&self, body: Value) -> ScriptedAnswer {
        self.post("/api/v1/send/message", body).await
    }

    /// Tries to send a text.
    pub async fn send_text(&self, to: &str, message: &str) -> ScriptedAnswer {
        self.post_send(json!({"to": to, "message": message})).await
    }

    /// Sends a text, which must be accepted, and returns the `data`.
    pub async fn sent(&self, to: &str, message: &str) -> Value {
        self.send_text(to, message).await.expect(200)
    }

    /// Tries to send through a connection.
    pub async fn send_through(&self, connection: &str, to: &str) -> ScriptedAnswer {
        self.post_send(json!({"to": to, "message": "oi", "connection_id": connection})).await
    }

    /// All messages of our company, newest first, as the general listing shows them.
    pub async fn all_messages(&self) -> Vec<Value> {
        let answer = self.get("/api/v1/messages?limit=100").await;
        answer.expect(200);
        answer.items()
    }

    /// A message as the general listing shows it.
    pub async fn message(&self, id: &str) -> Value {
        let mut page = 1;
        loop {
            let answer = self.get(&format!("/api/v1/messages?limit=100&page={page}")).await;
            answer.expect(200);
            let items = answer.items();
            assert!(!items.is_empty(), "message {id} is in no page");
            if let Some(found) = items.into_iter().find(|item| item["id"] == id) {
                return found;
            }
            page += 1;
        }
    }

    /// The ids of the messages that the general listing shows for a query.
    pub async fn message_ids(&self, query: &str) -> Vec<String> {
        let answer = self.get(&format!("/api/v1/messages?limit=100&{query}")).await;
        answer.expect(200);
        answer.ids()
    }

    /// The messages of a contact, newest first, as the contact's listing shows them.
    pub async fn messages_of(&self, contact: &str) -> Vec<Value> {
        let answer = self.get(&format!("/api/v1/contacts/{contact}/messages?limit=100")).await;
        answer.expect(200);
        answer.items()
    }

    /// Waits until a message has this status, and returns it.
    pub async fn reaches(&self, message: &str, status: &str) -> Value {
        eventually(&format!("{message} is {status}"), || async {
            let found = self.message(message).await;
            (found["status"] == status).then_some(found)
        })
        .await
    }

    /// POST of an operator's action on a contact.
    pub async fn act(&self, contact: &str, action: &str, body: Value) -> ScriptedAnswer {
        let body = if body.is_null() { json!({}) } else { body };
        self.operator("POST", &format!("C/contacts/{contact}/{action}"), body).await
    }

    /// A contact as the operator API shows it.
    pub async fn full(&self, contact: &str) -> Value {
        self.operator_get(&format!("C/contacts/{contact}")).await
    }

    /// Creates a member and returns its id.
    pub async fn member(&self, name: &str) -> String {
        text(&self.make("C/members", json!({"display_name": name})).await["id"])
    }

    /// Closes the conversation of a contact.
    pub async fn close(&self, contact: &str) {
        self.act(contact, "close", json!({})).await.expect(200);
    }

    /// Replaces the groups of a connection.
    pub async fn put_groups(&self, connection: &str, groups: Value) -> ScriptedAnswer {
        self.operator("PUT", &format!("C/connections/{connection}/groups"), groups).await
    }

    /// The contact of a group.
    pub async fn group_contact(&self, code: &str) -> Value {
        let answer = self.get("/api/v1/contacts?is_group=true&limit=100").await;
        answer.expect(200);
        let found = answer.items().into_iter().find(|one| one["external_chat_id"] == code);
        found.unwrap_or_else(|| panic!("group {code} is not in {}", answer.show()))
    }

    /// All events of our company.
    pub async fn events(&self) -> Vec<Event> {
        self.database.events(&self.us.id).await
    }

    /// The `data` of our company's events of one type.
    pub async fn events_of(&self, event: &str) -> Vec<Value> {
        let events = self.events().await;
        events.into_iter().filter(|one| one.event == event).map(|one| one.data).collect()
    }

    /// The statuses of a message in the events, in order.
    pub async fn announced(&self, message: &str) -> Vec<String> {
        let events = self.events_of("message.status_updated").await;
        let of_it = events.iter().filter(|data| data["message_id"] == message);
        of_it.map(|data| text(&data["status"])).collect()
    }

    /// Creates an approved template and returns it.
    pub async fn template(&self, name: &str, category: &str, body: &str) -> Value {
        let body = json!({"name": name, "category": category, "body": body, "status": "APPROVED"});
        self.make("C/templates", body).await
    }

    /// Imports a message and returns its id.
    pub async fn import_message(&self, body: Value) -> String {
        text(&self.make("C/messages", body).await["id"])
    }

    /// A request of our company to send, with an `Idempotency-Key`.
    pub fn keyed(&self, path: &str, key: &str, body: &Value) -> Request {
        Request::new("POST", path).bearer(&self.us.key).header("idempotency-key", key).json(body)
    }
}
