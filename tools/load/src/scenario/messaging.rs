//! Calls about messages: sends, gateway events, and listings.

mod official;

use serde_json::{Value, json};

use super::PAGE;
use crate::client::Call;
use crate::dataset::{Messaging, outbound_id};

/// The number of events in a call with several.
pub(crate) const BATCH: usize = 100;
/// One of this many events is a message from a contact; the others are status reports. One number
/// at its top rate sends about a thousand messages per second, with three reports each, and
/// receives about three hundred.
const ONE_MESSAGE_IN: u64 = 11;
/// The text of contacts' messages.
const TEXT: &str = "Obrigado! Pode deixar com o porteiro.";
/// How many of the first pages of the general listing are asked for.
const LISTED_PAGES: u64 = 20;

/// A contact in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) contact: String,
    /// E.164, with `+`.
    pub(crate) phone: String,
}

impl Person {
    /// Whether the simulated gateway has no special behaviour for the phone.
    pub(crate) fn is_ordinary(&self) -> bool {
        !["0001", "0002", "0003", "0004", "0005"].iter().any(|end| self.phone.ends_with(end))
    }
}

/// The data about the conversations of a company.
#[derive(Clone, Debug)]
pub(crate) struct KnownMessaging {
    pub(crate) company: String,
    pub(crate) messaging: Messaging,
    pub(crate) people: Vec<Person>,
}

/// The kind of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Sends through the silent connection.
    Send,
    /// Sends through the connection that reports.
    SendReported,
    /// This many events in one call.
    Events(usize),
    /// Webhook calls of the official API, one event in each.
    Webhooks,
    /// Pages of all messages.
    Messages,
    /// The first pages of one contact's messages.
    ContactMessages,
}

/// An event of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Happening {
    Message { from: String, id: String },
    Status { status: &'static str, id: String },
}

/// How many messages wait for reports on the connection of a topic.
const fn outbound_of(messaging: &Messaging, topic: Topic) -> u64 {
    match topic {
        Topic::Webhooks => messaging.official_messages / 2,
        _ => messaging.messages / 2,
    }
}

/// The calls of one connection.
#[derive(Debug)]
pub(crate) struct MessagingCalls {
    known: KnownMessaging,
    topic: Topic,
    random: fastrand::Rng,
    /// The prefix of the ids of received messages: those of two connections, or two runs, are
    /// always different.
    prefix: String,
    events: u64,
    statuses: u64,
    /// The first outbound message to report on. Each connection has a range of its own.
    first: u64,
    time: String,
}

impl MessagingCalls {
    /// The calls of one of several connections.
    pub(crate) fn new(
        known: &KnownMessaging,
        topic: Topic,
        (connection, connections): (usize, usize),
        seed: u64,
    ) -> Self {
        let outbound = outbound_of(&known.messaging, topic);
        let start = fastrand::Rng::with_seed(seed).u64(..outbound.max(1));
        Self {
            known: known.clone(),
            topic,
            random: fastrand::Rng::with_seed(seed ^ (connection as u64 + 1)),
            prefix: format!("load.run.{seed:x}.{connection}"),
            events: 0,
            statuses: 0,
            first: start + connection as u64 * outbound / connections.max(1) as u64,
            time: crate::dataset::now().to_string(),
        }
    }

    fn person(&mut self) -> &Person {
        &self.known.people[self.random.usize(..self.known.people.len())]
    }

    /// Whether the answers have the results of events.
    pub(crate) const fn causes_events(&self) -> bool {
        matches!(self.topic, Topic::Events(_))
    }

    /// The next call.
    pub(crate) fn next(&mut self) -> Call {
        match self.topic {
            Topic::Send => self.send(self.known.messaging.silent.to_string()),
            Topic::SendReported => self.send(self.known.messaging.reporting.to_string()),
            Topic::Events(count) => {
                let events: Vec<Value> = (0..count).map(|_| self.event()).collect();
                let KnownMessaging { company, messaging, .. } = &self.known;
                let path = format!(
                    "/operator/v1/companies/{company}/connections/{}/events",
                    messaging.silent
                );
                Call::Post(path.into(), json!({ "events": events }).to_string())
            }
            Topic::Webhooks => self.webhook(),
            Topic::Messages => {
                let page = self.random.u64(1..=LISTED_PAGES);
                Call::Get(format!("/api/v1/messages?page={page}&limit={PAGE}"))
            }
            Topic::ContactMessages => {
                let contact = self.person().contact.clone();
                Call::Get(format!("/api/v1/contacts/{contact}/messages?limit={PAGE}"))
            }
        }
    }

    fn send(&mut self, connection: String) -> Call {
        let to = self.person().phone.clone();
        let message = "Seu pedido saiu para entrega e chega em até uma hora.";
        let body = json!({"to": to, "message": message, "connection_id": connection});
        Call::Post("/api/v1/send/message".into(), body.to_string())
    }

    /// The next event.
    fn happening(&mut self) -> Happening {
        self.events += 1;
        if self.events.is_multiple_of(ONE_MESSAGE_IN) {
            let from = self.person().phone.trim_start_matches('+').to_owned();
            return Happening::Message { from, id: format!("{}.{}", self.prefix, self.events) };
        }
        // A hundred messages are delivered, then the same hundred are read.
        let (block, place) = (self.statuses / 200, self.statuses % 200);
        self.statuses += 1;
        let outbound = outbound_of(&self.known.messaging, self.topic);
        let number = (self.first + block * 100 + place % 100) % outbound.max(1);
        let status = if place < 100 { "delivered" } else { "read" };
        Happening::Status { status, id: outbound_id(number) }
    }

    fn event(&mut self) -> Value {
        match self.happening() {
            Happening::Message { from, id } => json!({
                "kind": "message",
                "from": from,
                "type": "text",
                "content": TEXT,
                "provider_message_id": id,
                "timestamp": self.time,
            }),
            Happening::Status { status, id } => json!({
                "kind": "status",
                "status": status,
                "provider_message_id": id,
                "timestamp": self.time,
            }),
        }
    }

    /// The next call of the official API.
    fn webhook(&mut self) -> Call {
        let happening = self.happening();
        let path = format!("/api/webhooks/provider/{}", self.known.messaging.official);
        let body = official::body(&happening, crate::dataset::now());
        let signature = official::signature(body.as_bytes());
        Call::Signed(path.into(), body, signature)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use recado_core::ids::ConnectionId;

    use super::*;

    fn known() -> KnownMessaging {
        let connection =
            ConnectionId::parse("0193a5c0-0000-7000-8000-000000000001").expect("an id");
        let person = |n: u32| Person { contact: n.to_string(), phone: format!("+551199000{n}") };
        KnownMessaging {
            company: "c".to_owned(),
            messaging: Messaging {
                messages: 100_000,
                silent: connection,
                reporting: connection,
                official: connection,
                official_messages: 25_000,
            },
            people: (1001..1100).map(person).collect(),
        }
    }

    #[test]
    fn events_are_mixed_and_none_comes_twice() {
        let mut seen = HashSet::new();
        let mut messages = 0;
        for connection in 0..4 {
            let mut calls = MessagingCalls::new(&known(), Topic::Events(BATCH), (connection, 4), 9);
            for _ in 0..50 {
                let Call::Post(path, body) = calls.next() else { panic!("a POST was expected") };
                assert!(path.ends_with("/events"));
                let body: Value = serde_json::from_str(&body).expect("JSON");
                let events = body["events"].as_array().expect("events");
                assert_eq!(events.len(), BATCH);
                for event in events {
                    let key = format!("{} {}", event["provider_message_id"], event["status"]);
                    assert!(seen.insert(key), "{event}");
                    messages += usize::from(event["kind"] == "message");
                }
            }
        }
        assert_eq!(messages, 4 * (50 * BATCH / ONE_MESSAGE_IN as usize));
    }

    #[test]
    fn phones_that_steer_the_simulated_gateway_are_not_ordinary() {
        let person = |phone: &str| Person { contact: String::new(), phone: phone.to_owned() };
        assert!(!person("+5511990000003").is_ordinary());
        assert!(person("+5511990000006").is_ordinary());
    }
}
