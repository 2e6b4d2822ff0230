//! Gateway events and bodies about messages, made from a command's numbers.

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, NamesReport, OwnSend, TemplateReport, UnknownReport};
use recado_core::messages::ProviderMessageId;
use recado_core::templates::TemplateStatus;
use serde_json::{Value, json};

use super::command::Command;
use super::pools;
use super::world::World;

/// Senders' addresses as gateways write them. Some are the same person, two are groups.
const PEERS: &[&str] = &[
    "5534991234567",
    "553491234567@c.us",
    "+5511987654321",
    "5534991230001",
    "lid-1@lid",
    "lid-2@lid",
    "bsuid.9",
    "g1@g.us",
    "g2@g.us",
];
/// Group codes.
const CODES: &[&str] = &["g1@g.us", "g2@g.us", "com@g.us", "aviso@g.us", "not a group"];
/// Texts of messages. Some are opt-out words.
const TEXTS: &[&str] = &["oi", "PARAR", "sair", "quero bolo 🍰", "", "a'b\"c\\d"];
/// Searches for messages. Some are too short.
const SEARCHES: &[&str] =
    &["PARÁR", "r bo", "a'b", "b\"c\\d", "quero%", "oi", "", "Bolo 🍰", "nota.pdf"];
/// Types of message. One of them does not exist.
const TYPES: &[&str] = &["text", "image", "reaction", "audio", "interactive", "telegram"];
/// Statuses of reports. One of them cannot be reported.
const REPORTS: &[&str] = &["sent", "delivered", "read", "failed", "pending"];

/// A provider's message id: of a received message or of a sent one.
fn provider_id(command: &Command, n: usize) -> String {
    match command.once_in(n, 2) {
        true => format!("w{}", command.number(n + 1) % 25),
        false => format!("fake.{}", 1 + command.number(n + 1) % 15),
    }
}

fn time(command: &Command, n: usize, now: Timestamp) -> Value {
    let back = [0, 1, 1_000, 86_400_000][command.number(n) % 4];
    json!(Timestamp::from_millis(now.millis() - back).to_string())
}

fn set(body: &mut Value, given: bool, name: &str, value: impl Into<Value>) {
    if given {
        body[name] = value.into();
    }
}

/// A gateway event, chosen by the numbers from `n` on.
pub(super) fn event(command: &Command, world: &World, n: usize, now: Timestamp) -> Value {
    let id = provider_id(command, n + 1);
    let peer = command.pick(n + 3, PEERS);
    let aliases = json!([command.pick(n + 4, PEERS)]);
    let mut event = match command.number(n) % 12 {
        0..=4 => json!({ "kind": "message", "from": peer, "provider_message_id": id }),
        5 => json!({ "kind": "echo", "to": peer, "provider_message_id": id }),
        6..=8 => {
            let status = command.pick(n + 5, REPORTS);
            let mut event =
                json!({ "kind": "status", "provider_message_id": id, "status": status });
            set(
                &mut event,
                command.once_in(n + 6, 4),
                "reference",
                world.id("message", command, n + 7),
            );
            set(&mut event, command.once_in(n + 8, 3), "error", json!({ "code": 131_047 }));
            return event;
        }
        9 => {
            let content = command.pick(n + 5, TEXTS);
            return json!({ "kind": "edit", "provider_message_id": id, "content": content });
        }
        10 => {
            let preference = command.pick(n + 5, &["stop", "resume"]);
            json!({ "kind": "preference", "from": peer, "preference": preference })
        }
        _ if command.once_in(n + 5, 2) => json!({ "kind": "groups", "groups": groups(command) }),
        _ => {
            let status =
                command.pick(n + 6, &["connected", "connected", "connected", "disconnected"]);
            return json!({ "kind": "connection", "status": status });
        }
    };
    set(&mut event, true, "type", command.pick(n + 6, TYPES));
    set(&mut event, command.once_in(n + 7, 2), "content", command.pick(n + 8, TEXTS));
    set(&mut event, command.once_in(n + 9, 4), "aliases", aliases);
    set(&mut event, command.once_in(n + 10, 3), "timestamp", time(command, n + 11, now));
    set(&mut event, command.once_in(n + 12, 3), "push_name", command.pick(n + 13, pools::NAMES));
    set(&mut event, command.once_in(n + 14, 6), "history", true);
    let quoted = provider_id(command, n + 15);
    set(&mut event, command.once_in(n + 16, 4), "quoted_provider_message_id", quoted);
    set(&mut event, command.once_in(n + 17, 4), "participant", command.pick(n + 18, PEERS));
    let media = json!({ "url": "https://example.com/a.png", "mimetype": "image/png", "filename": "Nota.PDF" });
    set(&mut event, command.once_in(n + 19, 6), "media", media);
    event
}

/// In few cases, an event of a kind that only adapters report.
pub(super) fn rare_event(command: &Command, n: usize, now: Timestamp) -> Option<GatewayEvent> {
    let peer = command.pick(n + 3, PEERS).to_owned();
    let aliases = vec![command.pick(n + 4, PEERS).to_owned()];
    let event = match command.number(n + 21) % 40 {
        0..=2 => GatewayEvent::OwnSend(OwnSend {
            provider_id: ProviderMessageId::from_stored(provider_id(command, n + 1)),
            reference: None,
            peer,
            aliases,
            message_type: None,
            content: Some(command.pick(n + 5, TEXTS).to_owned()),
            timestamp: Some(now),
        }),
        3 | 4 => GatewayEvent::Names(NamesReport { peer, aliases }),
        5 => GatewayEvent::GroupsChanged,
        6 => GatewayEvent::StateDoubtful,
        7 => GatewayEvent::Template(TemplateReport {
            provider_id: None,
            name: Some("promo".to_owned()),
            language: Some("pt_BR".to_owned()),
            status: Some(TemplateStatus::ALL[command.number(n + 5) % TemplateStatus::ALL.len()]),
            category: None,
        }),
        8 | 9 => GatewayEvent::Unknown(UnknownReport::new(
            command.pick(n + 5, &["call", "label.edit"]).to_owned(),
            json!({ "from": peer }),
        )),
        _ => return None,
    };
    Some(event)
}

/// A list of groups, each once.
pub(super) fn groups(command: &Command) -> Vec<Value> {
    let named = CODES
        .iter()
        .enumerate()
        .filter(|(n, code)| command.once_in(40 + n, if code.contains('@') { 2 } else { 12 }));
    named
        .map(|(n, code)| {
            let mut group = json!({ "code": code });
            set(&mut group, true, "subject", format!("Grupo {}", command.number(45 + n) % 3));
            set(&mut group, code.starts_with("com"), "is_community", true);
            let inside = !code.starts_with("com") && command.once_in(50 + n, 3);
            set(&mut group, inside, "community_code", "com@g.us");
            set(&mut group, inside && command.once_in(55 + n, 2), "is_announcement", true);
            set(&mut group, true, "participates", !command.once_in(60 + n, 4));
            group
        })
        .collect()
}

/// A body that creates or changes a connection.
pub(super) fn connection(command: &Command) -> Value {
    let kind = command.pick(10, &["qr", "qr", "qr", "official_cloud"]);
    json!({
        "kind": kind,
        "name": command.pick(11, &["Loja", "loja", "São João"]),
        "identifier": "551133224455",
        "gateway": "simulated",
        "status": command.pick(12, &["connected", "connected", "connected", "disconnected"]),
    })
}

/// A body that sends a text.
pub(super) fn text(command: &Command, world: &World) -> Value {
    let to = match command.number(10) % 4 {
        0 => command.pick(11, CODES),
        _ => command.pick(11, pools::PHONES),
    };
    let mut body = json!({ "to": to, "message": command.pick(12, TEXTS) });
    let connection = world.id("connection", command, 14);
    set(&mut body, command.once_in(13, 3), "connection_id", connection);
    body
}

/// A body that imports a message.
pub(super) fn message(command: &Command, world: &World, now: Timestamp) -> Value {
    let inbound = command.once_in(10, 2);
    let mut body = json!({
        "contact_id": world.id("contact", command, 11),
        "connection_id": world.id("connection", command, 12),
        "direction": if inbound { "inbound" } else { "outbound" },
        "type": command.pick(13, &TYPES[..5]),
        "content": command.pick(14, TEXTS),
    });
    set(&mut body, command.once_in(15, 2), "wamid", provider_id(command, 16));
    set(&mut body, command.once_in(18, 2), "created_at", time(command, 19, now));
    let statuses = &["sent", "delivered", "read", "failed"];
    set(&mut body, !inbound, "status", command.pick(20, statuses));
    let senders = &["system", "agent", "ai", "campaign"];
    set(&mut body, !inbound, "sender_type", command.pick(21, senders));
    set(&mut body, command.once_in(22, 4), "external_id", "crm-1");
    body
}

/// A body that books a debit, or refunds a part of one.
pub(super) fn booking(command: &Command, world: &World, refund: bool) -> Value {
    let mut body = json!({
        "prosas": command.number(10) % 50,
        "cost_brl": (command.number(11) % 500) as f64 / 100.0,
    });
    if refund {
        body["consumption_id"] = json!(world.id("debit", command, 12));
    } else {
        body["scope"] = json!(command.pick(13, &["turn", "message"]));
        body["message_ids"] = json!(world.ids_of("outbound", command, 14, 2));
        set(&mut body, command.once_in(20, 3), "contact_id", world.id("contact", command, 21));
    }
    body
}

/// A body of a lead memory.
pub(super) fn inferred(command: &Command) -> Value {
    let mut body = json!({ "summary": command.pick(10, TEXTS) });
    set(&mut body, command.once_in(11, 2), "key_facts", json!([command.pick(12, pools::NAMES)]));
    let bant = json!({ "authority": command.pick(13, &["decision_maker", "o pai decide"]) });
    set(&mut body, command.once_in(14, 2), "bant", bant);
    body
}

/// A body that creates a template.
pub(super) fn template(command: &Command, world: &World) -> Value {
    let mut body = json!({
        "name": command.pick(10, &["promo", "promo", "aviso"]),
        "category": command.pick(11, &["MARKETING", "UTILITY", "AUTHENTICATION"]),
        "language": "pt_BR",
        "body": "Olá, {{1}}!",
        "status": command.pick(12, &["APPROVED", "APPROVED", "APPROVED", "PENDING"]),
    });
    let connection = world.id("connection", command, 14);
    set(&mut body, command.once_in(13, 3), "connection_id", connection);
    body
}

/// An operator's action on a conversation, and its body.
pub(super) fn action(command: &Command, world: &World, now: Timestamp) -> (&'static str, Value) {
    let member = world.id("member", command, 11);
    match command.number(10) % 13 {
        0 => ("close", json!({ "close_reason_id": world.id("reason", command, 12) })),
        1 => ("close", json!({})),
        2 => ("take-over", json!({ "member_id": member })),
        3 => ("assign", json!({ "member_id": member })),
        4 => {
            let until = Timestamp::from_millis(now.millis() + 60_000).to_string();
            ("pause-ai", json!({ "until": until }))
        }
        5 => ("resume-ai", json!({})),
        6 => {
            let modes = &["service", "external", "off", "on"];
            ("ai-mode", json!({ "mode": command.pick(12, modes) }))
        }
        7 => ("enable-external-ai", json!({})),
        8 => ("handoff", json!({})),
        9 => (["block", "unblock"][command.number(12) % 2], json!({})),
        10 => ("opt-out", json!({})),
        11 => ("opt-in", json!({})),
        _ => ("read", json!({})),
    }
}

/// The parameters of a listing of messages.
pub(super) fn message_filters(
    command: &Command,
    world: &World,
    now: Timestamp,
) -> Vec<(String, String)> {
    let mut params = Vec::new();
    let mut give = |n: usize, times: usize, name: &str, value: String| {
        if command.once_in(n, times) {
            params.push((name.to_owned(), value));
        }
    };
    let when = |n: usize| time(command, n, now).as_str().unwrap_or_default().to_owned();
    give(10, 4, "contact_id", world.id("contact", command, 11));
    give(12, 4, "connection_id", world.id("connection", command, 13));
    give(14, 4, "direction", command.pick(15, &["inbound", "outbound"]).to_owned());
    give(16, 5, "type", command.pick(17, TYPES).to_owned());
    give(18, 5, "status", command.pick(19, &["received", "sent", "read", "failed"]).to_owned());
    give(20, 5, "from", when(21));
    give(22, 5, "to", when(23));
    give(28, 4, "search", command.pick(29, SEARCHES).to_owned());
    give(24, 2, "limit", (1 + command.number(25) % 9).to_string());
    give(26, 3, "page", (1 + command.number(27) % 3).to_string());
    params
}
