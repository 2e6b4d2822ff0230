//! Events at the gateway, and their webhooks.

use serde_json::{Value, json};

use super::{FakeEvolution, INSTANCE, TOKEN};
use crate::gateways::SignedWebhook;

impl FakeEvolution {
    /// A text from a person, as the gateway's record of it. The record is kept in the history.
    pub fn incoming(&self, digits: &str, text: &str) -> Value {
        self.incoming_message(digits, "conversation", json!({ "conversation": text }))
    }

    /// A message of any kind from a person.
    pub fn incoming_message(&self, digits: &str, kind: &str, message: Value) -> Value {
        let mut state = self.state();
        let id = state.next_id("3A", 18);
        let key = state.key(digits, &id, false);
        let record = json!({"key": key, "pushName": "Maria", "status": "DELIVERY_ACK",
            "message": message, "contextInfo": null, "messageType": kind,
            "messageTimestamp": state.seconds(), "instanceId": "uuid", "source": "ios"});
        state.keep(&record);
        record
    }

    /// A text from a person in a group, which is given by its full address.
    pub fn incoming_in_group(&self, group: &str, digits: &str, text: &str) -> Value {
        let mut state = self.state();
        let id = state.next_id("3A", 18);
        let key = state.group_key(group, digits, &id);
        let record = json!({"key": key, "pushName": "Maria", "status": "DELIVERY_ACK",
            "message": {"conversation": text}, "contextInfo": null,
            "messageType": "conversation", "messageTimestamp": state.seconds(),
            "instanceId": "uuid", "source": "ios"});
        state.keep(&record);
        record
    }

    /// A text that the operator types on the paired phone.
    pub fn typed(&self, digits: &str, text: &str) -> Value {
        let mut state = self.state();
        let id = state.next_id("", 32);
        let key = state.key(digits, &id, true);
        let record = json!({"key": key, "pushName": "Loja", "status": "SERVER_ACK",
            "message": {"conversation": text}, "contextInfo": null,
            "messageType": "conversation", "messageTimestamp": state.seconds(),
            "instanceId": "uuid", "source": "android"});
        state.keep(&record);
        record
    }

    /// Sets the delivery status of a sent message, and answers the webhook about it.
    pub fn acknowledge(&self, id: &str, status: &str) -> SignedWebhook {
        let mut state = self.state();
        let row = state.rows.iter_mut().find(|row| row["key"]["id"] == json!(id));
        let mut remote = Value::Null;
        if let Some(row) = row {
            remote = row["key"]["remoteJid"].clone();
            if let Some(updates) = row["MessageUpdate"].as_array_mut() {
                updates.push(json!({ "status": status }));
            }
        }
        drop(state);
        self.webhook(
            "messages.update",
            json!({"keyId": id, "remoteJid": remote, "fromMe": true,
            "participant": null, "status": status, "instanceId": "uuid", "messageId": "row"}),
        )
    }

    /// The webhook about a message that was received, or typed on the phone.
    pub fn webhook_message(&self, record: &Value) -> SignedWebhook {
        self.webhook("messages.upsert", record.clone())
    }

    /// The webhook about a message that a program sent, by its id. It is empty for other messages.
    pub fn webhook_sent(&self, id: &str) -> SignedWebhook {
        let state = self.state();
        let sent = state.sent.iter().find(|sent| sent.id == id);
        let data = sent.map_or(Value::Null, |sent| state.record_of(sent));
        drop(state);
        self.webhook("send.message", data)
    }

    /// The webhook of messages from before the pairing.
    pub fn webhook_history(&self, records: &[Value]) -> SignedWebhook {
        self.webhook("messages.set", json!(records))
    }

    /// Changes the state of the instance, and answers the webhook about it.
    pub fn change_state(&self, to: &'static str) -> SignedWebhook {
        self.set_state(to);
        let reason = if to == "open" { 200 } else { 401 };
        self.webhook(
            "connection.update",
            json!({"instance": INSTANCE, "state": to,
            "statusReason": reason, "wuid": "551140028922@s.whatsapp.net", "profileName": "Loja",
            "profilePictureUrl": null}),
        )
    }

    /// The webhook of any event.
    pub fn webhook(&self, event: &str, data: Value) -> SignedWebhook {
        let body = json!({"event": event, "instance": INSTANCE, "data": data,
            "destination": "https://core.example/hooks/evo",
            "date_time": "2026-08-20T09:00:00.000Z", "sender": "551140028922@s.whatsapp.net",
            "server_url": "http://evolution.example:8080", "apikey": null});
        SignedWebhook {
            headers: vec![
                ("content-type".to_owned(), "application/json".to_owned()),
                ("user-agent".to_owned(), "axios/1.12.2".to_owned()),
            ],
            query: vec![("token".to_owned(), TOKEN.to_owned())],
            body: body.to_string().into_bytes(),
        }
    }
}
