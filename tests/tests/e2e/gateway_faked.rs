//! The three gateways behind one interface, each with a strict fake, and what each carries.

use recado_testkit::gateways::{SendBehaviour, WahaEngine};
use recado_tests::{Clouded, World, digits, mobile};
use serde_json::Value;

use crate::gateway_evolution::Evolution;
use crate::gateway_shapes::{at_evolution, at_the_api, at_waha};
use crate::gateway_waha::{Waha, chat};

/// A message that a fake accepted.
pub(crate) struct Taken {
    pub(crate) id: String,
    /// The recipient, as the gateway is told.
    pub(crate) to: String,
    pub(crate) operation: String,
    pub(crate) file: Option<Vec<u8>>,
    /// The whole request.
    pub(crate) body: Value,
}

/// A gateway with a strict fake behind it.
pub(crate) trait Faked {
    /// The world, in which it has the only connection.
    fn world(&self) -> &World;

    /// The messages that the fake accepted, in order.
    fn taken(&self) -> Vec<Taken>;

    /// What the body of a request says for a message of this kind.
    fn shape(&self, kind: &str) -> Value;

    /// Asserts that the fake recorded no violation.
    fn is_clean(&self);
}

impl Faked for Waha {
    fn world(&self) -> &World {
        &self.world
    }

    fn taken(&self) -> Vec<Taken> {
        let taken = self.fake.accepted().into_iter().map(|sent| Taken {
            id: sent.raw_id,
            to: sent.chat,
            operation: sent.route,
            file: sent.file,
            body: sent.body,
        });
        taken.collect()
    }

    fn shape(&self, kind: &str) -> Value {
        at_waha(kind)
    }

    fn is_clean(&self) {
        self.well_behaved();
    }
}

impl Faked for Evolution {
    fn world(&self) -> &World {
        &self.world
    }

    fn taken(&self) -> Vec<Taken> {
        let taken = self.fake.accepted().into_iter().map(|sent| Taken {
            id: sent.id,
            to: sent.number,
            operation: sent.operation,
            file: sent.file,
            body: sent.body,
        });
        taken.collect()
    }

    fn shape(&self, kind: &str) -> Value {
        at_evolution(kind)
    }

    fn is_clean(&self) {
        self.well_behaved();
    }
}

impl Faked for Clouded {
    fn world(&self) -> &World {
        &self.world
    }

    fn taken(&self) -> Vec<Taken> {
        let taken = self.fake.accepted().into_iter().map(|sent| Taken {
            id: sent.id,
            to: sent.to,
            operation: sent.kind,
            file: sent.media.map(|file| file.bytes),
            body: sent.body,
        });
        taken.collect()
    }

    fn shape(&self, kind: &str) -> Value {
        at_the_api(kind)
    }

    fn is_clean(&self) {
        self.well_behaved();
    }
}

/// The kinds that each engine of WAHA carries, with the operation of each.
pub(crate) fn carried_by(engine: WahaEngine) -> Vec<(&'static str, &'static str)> {
    let mut carried = vec![
        ("text", "sendText"),
        ("image", "sendImage"),
        ("video", "sendVideo"),
        ("voice", "sendVoice"),
        ("document", "sendFile"),
        ("sticker", "sendSticker"),
        ("poll", "sendPoll"),
        ("location", "sendLocation"),
        ("contacts", "sendContactVcard"),
    ];
    if engine != WahaEngine::Webjs {
        carried.push(("list", "sendList"));
    }
    if engine == WahaEngine::Noweb {
        carried.extend([("buttons", "sendButtons"), ("cta_url", "sendButtons")]);
    }
    carried
}

/// The kinds that Evolution carries, with the operation of each.
pub(crate) const BY_EVOLUTION: [(&str, &str); 13] = [
    ("text", "sendText"),
    ("image", "sendMedia"),
    ("video", "sendMedia"),
    ("audio", "sendMedia"),
    ("voice", "sendWhatsAppAudio"),
    ("document", "sendMedia"),
    ("sticker", "sendSticker"),
    ("buttons", "sendButtons"),
    ("list", "sendList"),
    ("cta_url", "sendButtons"),
    ("poll", "sendPoll"),
    ("location", "sendLocation"),
    ("contacts", "sendContact"),
];

/// The kinds that the official API carries, with the type of each there.
pub(crate) const BY_THE_API: [(&str, &str); 14] = [
    ("text", "text"),
    ("template", "template"),
    ("image", "image"),
    ("video", "video"),
    ("audio", "audio"),
    ("voice", "audio"),
    ("document", "document"),
    ("sticker", "sticker"),
    ("buttons", "interactive"),
    ("list", "interactive"),
    ("cta_url", "interactive"),
    ("location_request", "interactive"),
    ("location", "location"),
    ("contacts", "contacts"),
];

/// A gateway whose next sends end as a script says, and which reports what becomes of messages.
pub(crate) trait Scripted: Faked {
    fn script(&self, behaviour: SendBehaviour);

    /// Reports that a message, by the gateway's id, was delivered, then that it was read.
    async fn delivers(&self, id: &str);

    /// Reports, where the gateway does, that it sent this message, by the gateway's id.
    async fn tells_of(&self, id: &str);

    /// Receives a text from somebody, and returns its message.
    async fn hear(&self, n: u32) -> Value;
}

impl Scripted for Waha {
    fn script(&self, behaviour: SendBehaviour) {
        self.fake.script([behaviour]);
    }

    async fn delivers(&self, id: &str) {
        for ack in [2, 3] {
            self.takes(&self.fake.webhook_ack(id, ack)).await;
        }
    }

    async fn tells_of(&self, id: &str) {
        if let Some(message) = self.fake.sent_message(id) {
            self.takes(&self.fake.webhook_message(&message)).await;
        }
    }

    async fn hear(&self, n: u32) -> Value {
        self.hears(&chat(&mobile(n)), "oi").await
    }
}

impl Scripted for Evolution {
    fn script(&self, behaviour: SendBehaviour) {
        self.fake.script([behaviour]);
    }

    async fn delivers(&self, id: &str) {
        for status in ["DELIVERY_ACK", "READ"] {
            self.takes(&self.fake.acknowledge(id, status)).await;
        }
    }

    async fn tells_of(&self, id: &str) {
        self.takes(&self.fake.webhook_sent(id)).await;
    }

    async fn hear(&self, n: u32) -> Value {
        self.hears(&mobile(n), "oi").await
    }
}

impl Scripted for Clouded {
    fn script(&self, behaviour: SendBehaviour) {
        self.fake.script([behaviour]);
    }

    async fn delivers(&self, id: &str) {
        let accepted = self.fake.accepted();
        let sent = accepted.iter().find(|sent| sent.id == id).expect("it was accepted");
        for status in ["delivered", "read"] {
            self.reported(sent, status).await;
        }
    }

    async fn tells_of(&self, _id: &str) {}

    async fn hear(&self, n: u32) -> Value {
        self.says(&digits(&mobile(n)), "oi").await
    }
}
