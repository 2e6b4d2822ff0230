//! The webhooks that the API sends.

use recado_core::Timestamp;
use serde_json::{Map, Value, json};

use super::{AcceptedSend, FakeCloud};
use crate::gateways::{SignedWebhook, hex_hmac_sha256};

fn seconds(at: Timestamp) -> String {
    at.millis().div_euclid(1_000).to_string()
}

impl FakeCloud {
    /// A webhook with this body and a valid signature.
    pub fn webhook_body(&self, body: &Value) -> SignedWebhook {
        let body = body.to_string().into_bytes();
        let signature = hex_hmac_sha256(&self.state().app_secret, &body);
        SignedWebhook {
            headers: vec![
                ("content-type".to_owned(), "application/json".to_owned()),
                ("x-hub-signature-256".to_owned(), format!("sha256={signature}")),
            ],
            query: Vec::new(),
            body,
        }
    }

    /// A webhook with these changes, each a field and its value.
    pub fn webhook_changes(&self, changes: &[(&str, Value)]) -> SignedWebhook {
        let changes: Vec<Value> =
            changes.iter().map(|(field, value)| json!({"field": field, "value": value})).collect();
        let account = self.state().account.clone();
        self.webhook_body(&json!({
            "object": "whatsapp_business_account",
            "entry": [{"id": account, "changes": changes}],
        }))
    }

    /// A value of a field of the number, with these additional fields.
    pub fn value(&self, fields: Value) -> Value {
        let state = self.state();
        let mut value = json!({
            "messaging_product": "whatsapp",
            "metadata": {
                "display_phone_number": state.display,
                "phone_number_id": state.number,
            },
        });
        if let (Some(value), Value::Object(fields)) = (value.as_object_mut(), fields) {
            value.extend(fields);
        }
        value
    }

    /// A change with a message from a contact. `content` has its type and the fields of the type.
    pub fn message(&self, from: &str, id: &str, content: &Value, at: Timestamp) -> Value {
        let mut message = json!({"from": from, "id": id, "timestamp": seconds(at)});
        if let (Some(message), Some(content)) = (message.as_object_mut(), content.as_object()) {
            message.extend(content.clone());
        }
        self.value(json!({
            "contacts": [{"profile": {"name": "Maria Souza"}, "wa_id": from}],
            "messages": [message],
        }))
    }

    /// A text from a contact.
    pub fn webhook_text(&self, from: &str, id: &str, text: &str, at: Timestamp) -> SignedWebhook {
        let content = json!({"type": "text", "text": {"body": text}});
        self.webhook_changes(&[("messages", self.message(from, id, &content, at))])
    }

    /// The status of an accepted message, as an element of `statuses`.
    pub fn status(sent: &AcceptedSend, status: &str, at: Timestamp) -> Value {
        let mut fields = Map::new();
        fields.insert("id".to_owned(), json!(sent.id));
        fields.insert("status".to_owned(), json!(status));
        fields.insert("timestamp".to_owned(), json!(seconds(at)));
        let is_phone = sent.wa_id.bytes().all(|byte| byte.is_ascii_digit());
        let name = if is_phone { "recipient_id" } else { "recipient_user_id" };
        fields.insert(name.to_owned(), json!(sent.wa_id));
        if let Some(reference) = sent.reference {
            fields.insert("biz_opaque_callback_data".to_owned(), json!(reference));
        }
        Value::Object(fields)
    }

    /// The status of a message that failed with a code.
    pub fn failed_status(sent: &AcceptedSend, code: u32, details: &str, at: Timestamp) -> Value {
        let mut status = Self::status(sent, "failed", at);
        status["errors"] = json!([{
            "code": code,
            "title": details,
            "message": details,
            "error_data": {"details": details},
        }]);
        status
    }

    /// Several statuses in one call.
    pub fn webhook_statuses(&self, statuses: &[Value]) -> SignedWebhook {
        self.webhook_changes(&[("messages", self.value(json!({ "statuses": statuses })))])
    }

    /// One status of a message.
    pub fn webhook_status(
        &self,
        sent: &AcceptedSend,
        status: &str,
        at: Timestamp,
    ) -> SignedWebhook {
        self.webhook_statuses(&[Self::status(sent, status, at)])
    }

    /// A status of a failed message.
    pub fn webhook_failed(
        &self,
        sent: &AcceptedSend,
        code: u32,
        details: &str,
        at: Timestamp,
    ) -> SignedWebhook {
        self.webhook_statuses(&[Self::failed_status(sent, code, details, at)])
    }

    /// A text that the operator wrote on the phone.
    pub fn webhook_echo(&self, to: &str, id: &str, text: &str, at: Timestamp) -> SignedWebhook {
        let from = self.state().display.clone();
        let echo = json!({"from": from, "to": to, "id": id, "timestamp": seconds(at),
            "type": "text", "text": {"body": text}});
        self.webhook_changes(&[(
            "smb_message_echoes",
            self.value(json!({"message_echoes": [echo]})),
        )])
    }

    /// A contact's preference for marketing messages: `stop` or `resume`.
    pub fn webhook_preference(&self, from: &str, wish: &str, at: Timestamp) -> SignedWebhook {
        let value = self.value(json!({
            "contacts": [{"profile": {"name": "Maria"}, "wa_id": from}],
            "user_preferences": [{"wa_id": from, "detail": "User requested", "value": wish,
                "category": "marketing_messages", "timestamp": at.millis().div_euclid(1_000)}],
        }));
        self.webhook_changes(&[("user_preferences", value)])
    }

    /// The event of a template.
    pub fn webhook_template(&self, name: &str, language: &str, event: &str) -> SignedWebhook {
        let value = json!({"event": event, "message_template_id": 1_689_556_908_129_832_u64,
            "message_template_name": name, "message_template_language": language,
            "reason": "NONE"});
        self.webhook_changes(&[("message_template_status_update", value)])
    }

    /// The request that verifies the address.
    pub fn handshake(&self, challenge: &str) -> SignedWebhook {
        let parameters = [
            ("hub.mode", "subscribe"),
            ("hub.challenge", challenge),
            ("hub.verify_token", &*self.state().verify_token),
        ];
        let query =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        SignedWebhook { headers: Vec::new(), query: query.collect(), body: Vec::new() }
    }
}
