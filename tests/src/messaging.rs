//! What happens on the channels of a [`World`]: connections, gateway events, sends, and what can be
//! seen of them afterwards.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::{Request, ScriptedAnswer, text};
use crate::outbox::Event;
use crate::world::{Tenant, World, eventually, phone};

/// The n-th of many mobiles that the simulated gateway serves without any tricks.
pub fn mobile(n: u32) -> String {
    phone(1_000 + n)
}

/// A mobile whose last four digits steer the simulated gateway, such as `1` for `0001`.
pub fn steered(n: u32) -> String {
    phone(70_000 + n)
}

/// The digits of a phone.
pub fn digits(phone: &str) -> String {
    phone.chars().filter(char::is_ascii_digit).collect()
}

/// A Brazilian mobile as the channel often knows it: its digits without the ninth.
pub fn eight_digits(phone: &str) -> String {
    let digits = digits(phone);
    let (area, number) = digits.split_at(4);
    format!("{area}{}", number.strip_prefix('9').expect("a mobile with the ninth digit"))
}

/// A provider's message id that was never there before.
pub fn wamid() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("wamid.{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The same object with other members.
#[must_use]
pub fn with(mut object: Value, more: Value) -> Value {
    let (Value::Object(into), Value::Object(more)) = (&mut object, more) else {
        panic!("two objects are needed");
    };
    into.extend(more);
    object
}

/// The members of an object, sorted.
pub fn keys(object: &Value) -> Vec<String> {
    let object = object.as_object().unwrap_or_else(|| panic!("an object, not {object}"));
    let mut keys: Vec<String> = object.keys().cloned().collect();
    keys.sort();
    keys
}

impl World {
    /// Makes a connection over the simulated gateway and returns its id.
    pub async fn connection(&self, kind: &str, more: Value) -> String {
        self.connection_of(&self.us, kind, more).await
    }

    /// Makes a connection of some company over the simulated gateway and returns its id.
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

    /// A connection whose gateway reports nothing by itself.
    pub async fn silent(&self, kind: &str) -> String {
        self.connection(kind, json!({"settings": {"reports": false}})).await
    }

    /// The time of the clock.
    pub fn time(&self) -> String {
        self.server.clock.now().to_string()
    }

    /// The time some milliseconds after that of the clock.
    pub fn time_in(&self, millis: u64) -> String {
        self.server.clock.now().plus(Duration::from_millis(millis)).to_string()
    }

    /// The time some milliseconds before that of the clock.
    pub fn time_ago(&self, millis: u64) -> String {
        self.server.clock.now().minus(Duration::from_millis(millis)).to_string()
    }

    /// Hands events of a gateway in.
    pub async fn post_events(&self, connection: &str, events: Vec<Value>) -> ScriptedAnswer {
        let path = format!("C/connections/{connection}/events");
        self.operator("POST", &path, json!({"events": events})).await
    }

    /// Hands events of a gateway in and returns the result of each.
    pub async fn gateway(&self, connection: &str, events: Vec<Value>) -> Vec<Value> {
        let answer = self.post_events(connection, events).await;
        let results = answer.expect(200)["results"].clone();
        results.as_array().unwrap_or_else(|| panic!("no results in {}", answer.show())).clone()
    }

    /// Hands one event of a gateway in and returns its result.
    pub async fn gateway_one(&self, connection: &str, event: Value) -> Value {
        let results = self.gateway(connection, vec![event]).await;
        assert_eq!(results.len(), 1, "{results:?}");
        assert_eq!(results[0]["index"], 0);
        results[0].clone()
    }

    /// Hands one event in that has to be stored, and returns the id of its message.
    pub async fn stored(&self, connection: &str, event: Value) -> String {
        let result = self.gateway_one(connection, event).await;
        assert_eq!(result["result"], "stored", "{result}");
        text(&result["message_id"])
    }

    /// The event of a text from someone, at this moment.
    pub fn inbound(&self, from: &str, content: &str) -> Value {
        json!({
            "kind": "message", "provider_message_id": wamid(), "timestamp": self.time(),
            "from": from, "type": "text", "content": content,
        })
    }

    /// The event of a text that the operator wrote on the paired phone, at this moment.
    pub fn echo(&self, to: &str, content: &str) -> Value {
        json!({
            "kind": "echo", "provider_message_id": wamid(), "timestamp": self.time(),
            "to": to, "type": "text", "content": content,
        })
    }

    /// The event of a report about a message.
    pub fn report(&self, provider_id: &str, status: &str) -> Value {
        json!({
            "kind": "status", "provider_message_id": provider_id, "timestamp": self.time(),
            "status": status,
        })
    }

    /// Lets someone write a text and returns the id of the message.
    pub async fn receive(&self, connection: &str, from: &str, content: &str) -> String {
        self.stored(connection, self.inbound(from, content)).await
    }

    /// Lets someone new write a text and returns the id of the contact.
    pub async fn contact_by_message(&self, connection: &str, phone: &str) -> String {
        let message = self.receive(connection, &digits(phone), "oi").await;
        text(&self.message(&message).await["contact_id"])
    }

    /// POST /send/message with our key.
    pub async fn post_send(&self, body: Value) -> ScriptedAnswer {
        self.post("/api/v1/send/message", body).await
    }

    /// Tries to send a text.
    pub async fn send_text(&self, to: &str, message: &str) -> ScriptedAnswer {
        self.post_send(json!({"to": to, "message": message})).await
    }

    /// Sends a text that has to be accepted and returns the `data`.
    pub async fn sent(&self, to: &str, message: &str) -> Value {
        self.send_text(to, message).await.expect(200)
    }

    /// Tries to send through a connection.
    pub async fn send_through(&self, connection: &str, to: &str) -> ScriptedAnswer {
        self.post_send(json!({"to": to, "message": "oi", "connection_id": connection})).await
    }

    /// All messages of ours, newest first, as the general listing shows them.
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

    /// The messages of a contact, newest first, as its own listing shows them.
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

    /// An action of the operator on a contact.
    pub async fn act(&self, contact: &str, action: &str, body: Value) -> ScriptedAnswer {
        let body = if body.is_null() { json!({}) } else { body };
        self.operator("POST", &format!("C/contacts/{contact}/{action}"), body).await
    }

    /// A contact as the operator sees it.
    pub async fn full(&self, contact: &str) -> Value {
        self.operator_get(&format!("C/contacts/{contact}")).await
    }

    /// Makes a member and returns its id.
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

    /// All events of ours.
    pub async fn events(&self) -> Vec<Event> {
        self.database.events(&self.us.id).await
    }

    /// The `data` of our events of one type.
    pub async fn events_of(&self, event: &str) -> Vec<Value> {
        let events = self.events().await;
        events.into_iter().filter(|one| one.event == event).map(|one| one.data).collect()
    }

    /// The statuses that were announced of a message, in order.
    pub async fn announced(&self, message: &str) -> Vec<String> {
        let events = self.events_of("message.status_updated").await;
        let of_it = events.iter().filter(|data| data["message_id"] == message);
        of_it.map(|data| text(&data["status"])).collect()
    }

    /// Makes an approved template and returns it.
    pub async fn template(&self, name: &str, category: &str, body: &str) -> Value {
        let body = json!({"name": name, "category": category, "body": body, "status": "APPROVED"});
        self.make("C/templates", body).await
    }

    /// Imports a message and returns its id.
    pub async fn import_message(&self, body: Value) -> String {
        text(&self.make("C/messages", body).await["id"])
    }

    /// A request of ours to send, with a key for its repetition.
    pub fn keyed(&self, path: &str, key: &str, body: &Value) -> Request {
        Request::new("POST", path).bearer(&self.us.key).header("idempotency-key", key).json(body)
    }
}
