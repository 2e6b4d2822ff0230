//! The three gateways with one interface.

use std::sync::Arc;
use std::time::Duration;

use recado_core::Timestamp;
use recado_core::gateway::{MessageKind, Providers};
use recado_core::ids::MessageId;
use recado_core::transport::{
    Method, OutboundRequest, OutboundResponse, Transport, TransportError,
};
use recado_providers::cloud_api::CloudApi;
use recado_providers::evolution::Evolution;
use recado_providers::waha::Waha;
use recado_testkit::gateways::{
    EvolutionVersion, FakeCloud, FakeEvolution, FakeWaha, InProcess, SendBehaviour, SignedWebhook,
    WahaEngine, graph_error,
};
use serde_json::{Map, Value, json};

use crate::dice::Dice;
use crate::kinds;

/// The recipients: a Brazilian mobile whose ninth digit the channel drops, one whose ninth digit it
/// keeps, and a number of another country.
pub const PHONES: [&str; 3] = ["+5534991230001", "+5511987650002", "+351912345678"];
/// The channel's names for them.
const NAMES: [&str; 3] = ["553491230001", "5511987650002", "351912345678"];

/// A gateway of one of the three kinds. Clones share everything.
#[derive(Clone, Debug)]
pub enum Fake {
    Cloud(FakeCloud),
    Waha(FakeWaha, WahaEngine),
    Evolution(FakeEvolution),
}

/// A message that a gateway accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    pub id: String,
    /// Its mark.
    pub text: String,
    /// Its message id, if the gateway accepts one.
    pub reference: Option<MessageId>,
}

/// A gateway's report about a message.
#[derive(Clone, Debug)]
pub struct Reported {
    pub webhook: SignedWebhook,
    /// Whether it proves that the message was sent.
    pub proves: bool,
}

impl Fake {
    /// The kind follows from the seed; the rest is random.
    pub fn of(seed: u64, dice: &Dice) -> Self {
        match seed % 3 {
            0 => Self::Cloud(FakeCloud::new()),
            1 => {
                let engine = *dice.pick(&WahaEngine::ALL);
                let fake = FakeWaha::new(engine);
                fake.set_number(PHONES[0].trim_start_matches('+'), Some(NAMES[0]));
                if dice.one_in(2) {
                    fake.set_lid(NAMES[0], "123@lid");
                }
                Self::Waha(fake, engine)
            }
            _ => {
                let fake = FakeEvolution::new();
                fake.version(*dice.pick(&[
                    EvolutionVersion::V2_3_3,
                    EvolutionVersion::V2_3_6,
                    EvolutionVersion::V2_3_7,
                    EvolutionVersion::V2_4,
                ]));
                if dice.one_in(2) {
                    fake.add_lid(NAMES[0], "123@lid");
                }
                fake.keep_messages(!dice.one_in(4));
                Self::Evolution(fake)
            }
        }
    }

    /// Whether every message is sent with its message id. If the adapter must first request whether
    /// the gateway accepts one, a message is sent without it when that request fails.
    pub const fn always_gets_references(&self) -> bool {
        matches!(self, Self::Cloud(_))
    }

    /// The body that makes a connection to it.
    pub fn connection(&self) -> Map<String, Value> {
        let (kind, gateway, settings) = match self {
            Self::Cloud(fake) => {
                let settings = Value::Object(fake.settings(&FakeCloud::base()));
                ("official_cloud", "cloud_api", settings)
            }
            Self::Waha(fake, engine) => {
                // While the engine is not known, what not every engine carries is refused.
                let mut settings = fake.settings();
                settings["engine"] = engine.name().into();
                ("qr", "waha", settings)
            }
            Self::Evolution(fake) => ("qr", "evolution", Value::Object(fake.settings())),
        };
        recado_testkit::kit::body(json!({"kind": kind, "name": "Loja", "gateway": gateway,
            "identifier": "551140028922", "settings": settings, "status": "connected"}))
    }

    /// The adapters of a process, which share nothing with those of another one.
    pub fn providers() -> Providers {
        Providers::none()
            .with(Arc::new(CloudApi::new()))
            .with(Arc::new(Waha::new("g.us")))
            .with(Arc::new(Evolution::new("g.us")))
    }

    pub fn set_now(&self, now: Timestamp) {
        match self {
            Self::Cloud(_) => {}
            Self::Waha(fake, _) => {
                fake.set_now(now);
            }
            Self::Evolution(fake) => {
                fake.set_now(now);
            }
        }
    }

    pub fn script(&self, behaviour: SendBehaviour) {
        match self {
            Self::Cloud(fake) => fake.script([behaviour]),
            Self::Waha(fake, _) => {
                fake.script([behaviour]);
            }
            Self::Evolution(fake) => {
                fake.script([behaviour]);
            }
        }
    }

    pub async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        match self {
            Self::Cloud(fake) => InProcess(fake.clone()).send(request).await,
            Self::Waha(fake, _) => InProcess(fake.clone()).send(request).await,
            Self::Evolution(fake) => InProcess(fake.clone()).send(request).await,
        }
    }

    /// The kinds of messages that are sent through it.
    pub fn kinds(&self) -> &'static [MessageKind] {
        match self {
            Self::Cloud(_) => &kinds::OFFICIAL,
            Self::Waha(_, engine) => kinds::of_engine(*engine),
            Self::Evolution(_) => &kinds::EVOLUTION,
        }
    }

    /// The name of its adapter.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Cloud(_) => "cloud_api",
            Self::Waha(..) => "waha",
            Self::Evolution(_) => "evolution",
        }
    }

    /// Whether a request uploads a file, and so sends nothing by itself.
    pub fn is_upload(&self, request: &OutboundRequest) -> bool {
        matches!(self, Self::Cloud(_)) && request.url.ends_with("/media")
    }

    /// Sets what happens to the next upload.
    pub fn script_upload(&self, dice: &Dice) {
        let Self::Cloud(fake) = self else { return };
        fake.script_uploads([match dice.below(24) {
            0 => SendBehaviour::AcceptThenDrop,
            1 => SendBehaviour::AcceptLate(Duration::from_secs(120)),
            2 => SendBehaviour::AcceptWithoutId,
            3 => SendBehaviour::Broken(502),
            4 => SendBehaviour::Refuse,
            5 => self.sure(dice),
            6 => self.doubtful(dice, SendBehaviour::Error),
            _ => SendBehaviour::Accept,
        }]);
    }

    /// Whether a request sends.
    pub fn is_send(&self, request: &OutboundRequest) -> bool {
        let path = request.url.split('?').next().unwrap_or_default();
        let sends = match self {
            Self::Cloud(_) => path.ends_with("/messages"),
            Self::Waha(..) => path.contains("/api/send"),
            Self::Evolution(_) => path.contains("/message/send"),
        };
        sends && request.method == Method::Post
    }

    /// The mark in the body of a request that sends.
    pub fn mark_in(&self, body: &[u8]) -> String {
        let body: Value = serde_json::from_slice(body).expect("a send is JSON");
        let mark = kinds::mark_in(&body).or_else(|| self.mark_in_upload(&body));
        mark.unwrap_or_else(|| panic!("a send has a mark: {body}"))
    }

    /// The mark in the uploaded file that a send names.
    fn mark_in_upload(&self, body: &Value) -> Option<String> {
        let Self::Cloud(fake) = self else { return None };
        let id = &body[body["type"].as_str()?]["id"];
        let uploaded = fake.uploaded();
        let file = uploaded.iter().find(|file| *id == *file.id)?;
        kinds::mark_in_bytes(&file.bytes)
    }

    /// Every message that it accepted, in order.
    pub fn arrived(&self) -> Vec<Arrived> {
        let mark = |body: &Value, file: Option<&[u8]>| {
            let mark = kinds::mark_in(body).or_else(|| kinds::mark_in_bytes(file?));
            mark.unwrap_or_else(|| panic!("a send has a mark: {body}"))
        };
        match self {
            Self::Cloud(fake) => fake
                .accepted()
                .into_iter()
                .map(|sent| Arrived {
                    text: mark(&sent.body, sent.media.as_ref().map(|file| &*file.bytes)),
                    id: sent.id,
                    reference: sent.reference,
                })
                .collect(),
            Self::Waha(fake, _) => fake
                .accepted()
                .into_iter()
                .map(|sent| {
                    let id = sent.is_callers_id.then(|| hyphenated(&sent.raw_id));
                    let reference = id.and_then(|id| MessageId::parse(&id));
                    let text = mark(&sent.body, sent.file.as_deref());
                    Arrived { id: sent.raw_id, text, reference }
                })
                .collect(),
            Self::Evolution(fake) => fake
                .accepted()
                .into_iter()
                .map(|sent| Arrived {
                    text: mark(&sent.body, sent.file.as_deref()),
                    id: sent.id,
                    reference: None,
                })
                .collect(),
        }
    }

    pub fn violations(&self) -> Vec<String> {
        match self {
            Self::Cloud(fake) => fake.violations(),
            Self::Waha(fake, _) => fake.violations(),
            Self::Evolution(fake) => fake.violations(),
        }
    }

    /// The behaviour for a message. A certain failure never follows an acceptance.
    pub fn behaviour(&self, dice: &Dice) -> SendBehaviour {
        match dice.below(16) {
            0 => SendBehaviour::AcceptThenDrop,
            1 => SendBehaviour::AcceptLate(Duration::from_secs(120)),
            2 => SendBehaviour::AcceptLate(Duration::from_secs(1)),
            3 => SendBehaviour::AcceptWithoutId,
            4 => self.doubtful(dice, SendBehaviour::AcceptThenError),
            5 => self.doubtful(dice, SendBehaviour::Error),
            6 => self.sure(dice),
            7 => SendBehaviour::Broken(*dice.pick(&[500, 502, 504])),
            8 => SendBehaviour::Refuse,
            _ => SendBehaviour::Accept,
        }
    }

    /// An answer after which the outcome is unknown.
    fn doubtful(
        &self,
        dice: &Dice,
        with: impl FnOnce(u16, Value) -> SendBehaviour,
    ) -> SendBehaviour {
        let (status, body) = match self {
            Self::Cloud(_) => dice
                .pick(&[
                    graph_error(1, "unknown"),
                    graph_error(2, "temporary"),
                    graph_error(131_000, "Something went wrong"),
                    graph_error(131_016, "Service unavailable"),
                    (500, json!("oops")),
                    (504, Value::Null),
                ])
                .clone(),
            Self::Waha(..) => {
                let status = *dice.pick(&[500, 502, 504, 408]);
                (status, json!({"statusCode": status, "message": "Internal server error"}))
            }
            Self::Evolution(_) => {
                let answers = [
                    (500, json!("Internal Server Error")),
                    (400, json!("Connection Closed")),
                    (400, json!(["Error: Timed Out"])),
                    (504, json!("upstream")),
                ];
                let (status, said) = dice.pick(&answers);
                (*status, FakeEvolution::error(*status, said))
            }
        };
        with(status, body)
    }

    /// A refusal: the message was not accepted.
    fn sure(&self, dice: &Dice) -> SendBehaviour {
        let (status, body) = match self {
            Self::Cloud(_) => {
                let codes = [100, 131_026, 131_047, 190, 131_056, 130_429, 368];
                graph_error(*dice.pick(&codes), "no")
            }
            Self::Waha(..) => {
                let status = *dice.pick(&[400, 401, 404, 422, 429]);
                (status, json!({"statusCode": status, "message": "no"}))
            }
            Self::Evolution(_) => {
                let invalid = json!([["instance requires property \"text\""]]);
                let answers = [
                    (400, invalid),
                    (400, json!([{"exists": false, "jid": "x", "number": "x"}])),
                    (401, json!("Unauthorized")),
                    (404, json!(["The \"loja1\" instance does not exist"])),
                    (429, json!("slow down")),
                ];
                let (status, said) = dice.pick(&answers);
                (*status, FakeEvolution::error(*status, said))
            }
        };
        SendBehaviour::Error(status, body)
    }

    /// All reports about the accepted message with this index: its statuses, or its failure.
    pub fn reports(&self, index: usize, fails: bool, now: Timestamp) -> Vec<Reported> {
        let reported = |webhook, proves| Reported { webhook, proves };
        match self {
            Self::Cloud(fake) => {
                let sent = &fake.accepted()[index];
                let mut reports = vec![reported(fake.webhook_status(sent, "sent", now), true)];
                if fails {
                    let failed = fake.webhook_failed(sent, 131_026, "not on the channel", now);
                    reports.push(reported(failed, false));
                } else {
                    for status in ["delivered", "read"] {
                        reports.push(reported(fake.webhook_status(sent, status, now), true));
                    }
                }
                reports
            }
            Self::Waha(fake, _) => {
                let id = &fake.accepted()[index].raw_id;
                let own = fake.sent_message(id).expect("it was taken");
                let mut reports = vec![reported(fake.webhook_message(&own), true)];
                let acks: &[i64] = if fails { &[-1] } else { &[1, 2, 3] };
                for ack in acks {
                    reports.push(reported(fake.webhook_ack(id, *ack), *ack > 0));
                }
                reports
            }
            Self::Evolution(fake) => {
                let id = &fake.accepted()[index].id;
                let mut reports = vec![reported(fake.webhook_sent(id), true)];
                let acks: &[&str] =
                    if fails { &["ERROR"] } else { &["SERVER_ACK", "DELIVERY_ACK", "READ"] };
                for ack in acks {
                    reports.push(reported(fake.acknowledge(id, ack), false));
                }
                reports
            }
        }
    }

    /// The webhook of a message from a person.
    pub fn reply(&self, person: usize, n: usize, now: Timestamp) -> SignedWebhook {
        let name = NAMES[person];
        match self {
            Self::Cloud(fake) => fake.webhook_text(name, &format!("wamid.in.{n}"), "Oi", now),
            Self::Waha(fake, _) => {
                let message = fake.receive(&format!("{name}@c.us"), "Maria", "Oi");
                fake.webhook_message(&message)
            }
            Self::Evolution(fake) => fake.webhook_message(&fake.incoming(name, "Oi")),
        }
    }

    /// The webhook of a message that the operator wrote on the phone.
    pub fn typed(&self, person: usize, text: &str, n: usize, now: Timestamp) -> SignedWebhook {
        let name = NAMES[person];
        match self {
            Self::Cloud(fake) => fake.webhook_echo(name, &format!("wamid.own.{n}"), text, now),
            Self::Waha(fake, _) => {
                let message = fake.type_on_phone(&format!("{name}@c.us"), text);
                fake.webhook_message(&message)
            }
            Self::Evolution(fake) => fake.webhook_message(&fake.typed(name, text)),
        }
    }
}

/// An id of 32 digits as ids are written.
fn hyphenated(id: &str) -> String {
    let id = id.to_lowercase();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &id[part]);
    parts.join("-")
}
