//! Shortcuts for the company of a [`Kit`]: connections, contacts, templates, received and sent
//! messages.
//!
//! ```
//! use recado_testkit::Kit;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let kit = Kit::new().await;
//! let connection = kit.connection("qr").await;
//! kit.contact_writes(connection, "5534991230001", "Oi").await;
//! kit.send("+5534991230001", "Olá!").await.expect("the contact may be written to");
//! assert_eq!(kit.sent_texts(), ["Olá!"]);
//! # }
//! ```

use recado_core::Error;
use recado_core::access::ClientNet;
use recado_core::connections::ConnectionStatus;
use recado_core::contacts::{Contact, Phone, Region};
use recado_core::conversations::ChannelQuery;
use recado_core::dispatches::{AdmittedTemplate, DispatchError, Dispatched};
use recado_core::gateway::{Content, Incoming};
use recado_core::ids::{ConnectionId, ContactId};
use recado_core::inbox::{EventResult, parse_event};
use recado_core::query::Params;
use recado_core::sending::{SendError, SentView};
use recado_core::store::{RecordsExt, Stored};
use serde_json::{Value, json};

use crate::Kit;
use crate::kit::body;

impl Kit {
    /// A connection of a kind, `qr` or `official_cloud`, that is connected.
    pub async fn connection(&self, kind: &str) -> ConnectionId {
        let new = json!({
            "kind": kind, "name": "Loja", "identifier": "5511940028922", "gateway": "simulated",
        });
        let connections = self.app.connections();
        let made = connections.create(self.company.id, &body(new)).await;
        let id = made.expect("a connection can be made").id;
        let connected = ConnectionStatus::Connected;
        let set = connections.set_status(self.company.id, id, connected).await;
        set.expect("the connection is there");
        id
    }

    /// The contact that has this phone. It is created if no contact has the phone.
    pub async fn contact(&self, phone: &str) -> ContactId {
        if let Some(known) = self.contact_by_phone(phone).await {
            return known;
        }
        let new = body(json!({ "phone": phone }));
        let made = self.app.contacts().create(&self.caller, &new).await;
        made.expect("a contact can be made").contact.id
    }

    /// The contact that has this phone.
    pub async fn contact_by_phone(&self, phone: &str) -> Option<ContactId> {
        let phone = Phone::parse(phone, &Region::br()).expect("a phone number");
        let query = ChannelQuery::of_phone(&phone);
        let found = self.store.channel_contacts(self.company.id, &query).await;
        found.expect("the store works").first().map(|found| found.contact.id)
    }

    /// A contact as it is stored now.
    pub async fn stored_contact(&self, id: ContactId) -> Stored<Contact> {
        let found = self.store.get::<Contact>((self.company.id, id)).await;
        found.expect("the store works").expect("the contact is there")
    }

    /// An approved template that can be dispatched: `{"name": …, "category": …, "body": …}`. Turns
    /// template dispatch on for the company.
    pub async fn template(&self, mut new: Value) -> AdmittedTemplate {
        let change = body(json!({ "features": { "template_dispatch": true } }));
        let changed = self.app.access().change_company(self.company.id, &change).await;
        changed.expect("the company is there");
        if new.get("status").is_none() {
            new["status"] = json!("APPROVED");
        }
        let made = self.app.templates().create(self.company.id, &body(new)).await;
        let token = made.expect("a template can be made").token.to_string();
        let client = ClientNet::of(std::net::Ipv4Addr::LOCALHOST.into());
        let admitted = self.app.dispatches().admit(&token, client).await;
        admitted.expect("the template takes calls")
    }

    /// Dispatches a template with these variables, in order.
    ///
    /// # Errors
    ///
    /// As [`Dispatches::send`](recado_core::dispatches::Dispatches::send).
    pub async fn dispatch(
        &self,
        template: &AdmittedTemplate,
        phone: &str,
        variables: &[&str],
    ) -> Result<Dispatched, Error<DispatchError>> {
        let numbered =
            (1..).zip(variables).map(|(n, value): (u32, _)| (n.to_string(), json!(value)));
        let variables: serde_json::Map<_, _> = numbered.collect();
        let body = json!({ "phone_number": phone, "variables": variables }).to_string();
        self.app.dispatches().send(template, body.as_bytes(), &Params::new(Vec::new())).await
    }

    /// Sends a text to a phone.
    ///
    /// # Errors
    ///
    /// As [`Sending::send_text`](recado_core::sending::Sending::send_text).
    pub async fn send(&self, to: &str, text: &str) -> Result<SentView, Error<SendError>> {
        let draft = body(json!({ "to": to, "message": text }));
        self.app.sending().send_text(&self.caller, &draft).await
    }

    /// Receives an event from the gateway of a connection.
    pub async fn receive(
        &self,
        connection: ConnectionId,
        events: Vec<Incoming>,
    ) -> Vec<EventResult> {
        let received = self.app.inbox().receive(self.company.id, connection, events).await;
        received.expect("the connection is there")
    }

    /// Receives a text from a contact.
    pub async fn contact_writes(&self, on: ConnectionId, from: &str, text: &str) -> EventResult {
        self.tell(on, json!({ "kind": "message", "from": from, "type": "text", "content": text }))
            .await
    }

    /// Receives a text that the operator wrote on the paired phone.
    pub async fn operator_writes(&self, on: ConnectionId, to: &str, text: &str) -> EventResult {
        self.tell(on, json!({ "kind": "echo", "to": to, "type": "text", "content": text })).await
    }

    /// Receives one event, with a new provider's id and the time of the clock.
    async fn tell(&self, on: ConnectionId, mut event: Value) -> EventResult {
        event["provider_message_id"] = json!(self.provider.next_reported_id());
        event["timestamp"] = json!(self.app.now());
        let results = self.receive(on, vec![parse_event(&event, "g.us")]).await;
        results.into_iter().next().expect("every event has a result")
    }

    /// The texts that the gateways were asked to send, in order: for templates, the text with its
    /// variables filled in; for what is no text, its kind.
    pub fn sent_texts(&self) -> Vec<String> {
        let texts = self.provider.sent().into_iter().map(|sent| match sent.outgoing.content {
            Content::Text(text) => text,
            Content::Template { rendered, .. } => rendered,
            other => other.kind().as_str().to_owned(),
        });
        texts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_contact_of_a_known_phone_is_its_holder_in_every_form_of_the_phone() {
        let kit = Kit::new().await;
        let known = kit.contact("+55 34 99123-0001").await;
        for form in ["+5534991230001", "34991230001", "+55 34 9123-0001"] {
            assert_eq!(kit.contact(form).await, known, "{form}");
        }
        assert_ne!(kit.contact("+55 34 99123-0002").await, known);
    }
}
