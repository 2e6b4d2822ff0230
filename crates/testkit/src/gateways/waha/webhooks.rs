//! Webhooks with signatures, as the gateway sends them. To repeat an attempt, send the same webhook
//! again: an event keeps its id in all attempts.

use serde_json::{Value, json};

use super::super::{SignedWebhook, hex_hmac_sha512};
use super::FakeWaha;

impl FakeWaha {
    /// The webhook of any event of the session, with the current time.
    pub fn webhook(&self, event: &str, payload: &Value) -> SignedWebhook {
        let session = self.state().session.clone();
        self.webhook_of_session(&session, event, payload)
    }

    /// The same webhook from another session that calls the same address.
    pub fn webhook_of_session(&self, session: &str, event: &str, payload: &Value) -> SignedWebhook {
        let mut state = self.state();
        state.made += 1;
        let engine = state.engine.name();
        let envelope = json!({"id": format!("evt_{:026x}", state.made),
            "timestamp": state.now.millis(), "event": event, "session": session,
            "metadata": {}, "me": {"id": state.me.0, "lid": state.me.1, "pushName": "Loja"},
            "payload": payload, "engine": engine,
            "environment": {"version": "2026.7.1", "engine": engine, "tier": "CORE"}});
        let body = envelope.to_string().into_bytes();
        let headers = [
            ("content-type", "application/json".to_owned()),
            ("x-webhook-request-id", format!("req-{}", state.made)),
            ("x-webhook-timestamp", state.now.millis().to_string()),
            ("x-webhook-hmac", hex_hmac_sha512(&state.hmac_key, &body)),
            ("x-webhook-hmac-algorithm", "sha512".to_owned()),
        ];
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        SignedWebhook { headers, query: Vec::new(), body }
    }

    /// A message to the session's number, from an address such as `5534…@c.us` or `123@lid`.
    pub fn receive(&self, from: &str, name: &str, text: &str) -> Value {
        self.keep(|state| state.received_message(from, None, name, text))
    }

    /// A message from a member of a group.
    pub fn receive_in_group(&self, group: &str, member: &str, name: &str, text: &str) -> Value {
        self.keep(|state| state.received_message(group, Some(member), name, text))
    }

    /// A message that the operator writes on the paired phone.
    pub fn type_on_phone(&self, chat: &str, text: &str) -> Value {
        self.keep(|state| {
            let raw_id = state.next_id();
            state.own_message(&raw_id, chat, text, "app", 1)
        })
    }

    fn keep(&self, make: impl FnOnce(&mut super::State) -> Value) -> Value {
        let mut state = self.state();
        let message = make(&mut state);
        state.messages.push(message.clone());
        message
    }

    /// The webhook of a message: [received](Self::receive), [typed](Self::type_on_phone) or
    /// [sent](Self::sent_message).
    pub fn webhook_message(&self, message: &Value) -> SignedWebhook {
        self.webhook("message.any", message)
    }

    /// An accepted message, as the session keeps it; `None` if no message has this id.
    pub fn sent_message(&self, raw_id: &str) -> Option<Value> {
        let state = self.state();
        let mut messages = state.messages.iter();
        let found = messages.find(|message| {
            message["id"].as_str().is_some_and(|id| id.split('_').nth(2) == Some(raw_id))
        });
        found.cloned()
    }

    /// The webhook about the delivery status of an accepted message: -1 error, 1 server, 2 device,
    /// 3 read, 4 played.
    pub fn webhook_ack(&self, raw_id: &str, ack: i64) -> SignedWebhook {
        let mut state = self.state();
        let me = state.me.0.clone();
        let of_id = |message: &&mut Value| {
            message["id"].as_str().is_some_and(|id| id.split('_').nth(2) == Some(raw_id))
        };
        let kept = state.messages.iter_mut().find(of_id);
        let (id, chat) = match kept {
            Some(message) => {
                message["ack"] = ack.into();
                (message["id"].clone(), message["to"].clone())
            }
            None => (format!("true_5511999990000@c.us_{raw_id}").into(), Value::Null),
        };
        drop(state);
        let name = ["ERROR", "PENDING", "SERVER", "DEVICE", "READ", "PLAYED"];
        let name = usize::try_from(ack + 1).ok().and_then(|place| name.get(place));
        let payload = json!({"id": id, "from": me, "to": chat, "participant": null,
            "fromMe": true, "ack": ack, "ackName": name, "_data": {}});
        self.webhook("message.ack", &payload)
    }

    /// Changes the state of the session; answers the webhook about it.
    pub fn webhook_status(&self, status: &str) -> SignedWebhook {
        self.set_status(status);
        let now = self.state().now.millis();
        let payload = json!({"status": status,
            "statuses": [{"status": status, "timestamp": now}], "data": null});
        self.webhook("session.status", &payload)
    }

    /// The webhook about a change of the groups.
    pub fn webhook_groups(&self, group: &str) -> SignedWebhook {
        let payload = json!({"group": {"id": group, "subject": "?"}, "timestamp": 1, "_data": {}});
        self.webhook("group.v2.update", &payload)
    }
}
