//! The gateway's history: missed events, and the search for a send with an unknown outcome.

use recado_core::Timestamp;
use recado_core::gateway::{
    FileKind, GatewayEvent, Incoming, Lookup, Missed, Outgoing, Provider, ProviderError,
};
use recado_core::messages::{MessageStatus, MessageType};
use recado_core::transport::OutboundRequest;
use recado_testkit::gateways::{EvolutionVersion, FakeEvolution, SendBehaviour};
use recado_testkit::{ScriptedTransport, contents};
use serde_json::{Value, json};

use crate::scene::{Scene, lookup, status, text_to, text_to_group};

const PHONE: &str = "5534991234567";
const START: i64 = 1_760_000_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(START + seconds * 1_000)
}

async fn missed(scene: &Scene, from: i64, to: i64) -> Missed {
    let pulled = scene.provider.missed(&scene.transport, &scene.connection, at(from), at(to));
    let pulled = pulled.await.expect("an answer");
    assert_eq!(scene.fake.violations(), [""; 0]);
    pulled
}

/// Short texts of events.
fn short(events: &[Incoming]) -> Vec<String> {
    let text = |content: &Option<String>| content.clone().unwrap_or_default();
    let short = |event: &Incoming| match event {
        Ok(GatewayEvent::Message(message)) => {
            assert!(!message.history, "a pull is live");
            format!("in {}", text(&message.content))
        }
        Ok(GatewayEvent::Echo(echo)) => format!("typed {}", text(&echo.content)),
        Ok(GatewayEvent::OwnSend(sent)) => format!("sent {}", text(&sent.content)),
        Ok(GatewayEvent::Status(status)) => status.status.as_str().to_owned(),
        Ok(GatewayEvent::Unknown(unknown)) => format!("kept {}", unknown.body["data"]),
        other => panic!("{other:?}"),
    };
    events.iter().map(short).collect()
}

#[tokio::test]
async fn what_was_missed_is_reported_oldest_first_with_how_far_it_came() {
    let scene = Scene::new();
    scene.fake.set_now(at(-5));
    scene.fake.incoming(PHONE, "too early");
    scene.fake.set_now(at(0));
    scene.fake.incoming(PHONE, "Oi");
    scene.fake.set_now(at(10));
    scene.send(&text_to(PHONE, "Olá")).await.expect("sent");
    scene.fake.set_now(at(20));
    let typed = scene.fake.typed(PHONE, "Já vai");
    scene.fake.set_now(at(31));
    scene.fake.incoming(PHONE, "too late");
    let id = scene.fake.accepted()[0].id.clone();
    scene.fake.acknowledge(&id, "DELIVERY_ACK");
    scene.fake.acknowledge(&id, "DELETED");
    scene.fake.acknowledge(typed["key"]["id"].as_str().expect("an id"), "READ");
    let pulled = missed(&scene, 0, 30).await;
    assert_eq!(short(&pulled.events), ["in Oi", "sent Olá", "delivered", "typed Já vai", "read"]);
    assert_eq!(pulled.more_from, None);
    let reported = status(pulled.events[2].clone().expect("readable"));
    assert_eq!(
        (reported.provider_id.as_str(), reported.status),
        (id.as_str(), MessageStatus::Delivered)
    );
}

#[tokio::test]
async fn a_long_outage_is_reported_in_parts_without_a_gap() {
    let scene = Scene::new();
    for second in 0..1_234 {
        scene.fake.set_now(at(second));
        scene.fake.incoming(PHONE, &second.to_string());
    }
    let (mut from, mut reported, mut pulls) = (at(0), Vec::new(), 0);
    loop {
        let pulled = scene.provider.missed(&scene.transport, &scene.connection, from, at(5_000));
        let pulled = pulled.await.expect("an answer");
        pulls += 1;
        reported.extend(short(&pulled.events));
        match pulled.more_from {
            Some(more) => {
                assert!(more > from);
                from = more;
            }
            None => break,
        }
    }
    reported.dedup();
    let all: Vec<String> = (0..1_234).map(|second| format!("in {second}")).collect();
    assert_eq!(reported, all);
    assert!((3..=4).contains(&pulls), "{pulls}");
}

#[tokio::test]
async fn an_unreadable_row_loses_none_of_the_others_and_broadcasts_are_left_out() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    let row = |remote: &str, text: &str| {
        json!({"key": {"remoteJid": remote, "fromMe": false, "id": text}, "messageTimestamp": 1,
            "message": {"conversation": text}})
    };
    let rows = json!([row("5534@s.whatsapp.net", "b"), {"key": 7}, row("status@broadcast", "s"),
        row("5534@s.whatsapp.net", "a")]);
    transport.then_json(
        200,
        &json!({"messages": {"total": 4, "pages": 1, "currentPage": 1,
        "records": rows}}),
    );
    let pulled = scene.provider.missed(&transport, &scene.connection, at(0), at(9)).await;
    assert_eq!(short(&pulled.expect("an answer").events), ["in a", r#"kept {"key":7}"#, "in b"]);
}

#[tokio::test]
async fn pages_that_move_while_they_are_read_end_the_pull_early() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    let page = |total: i64, first: i64, records: i64| {
        let row = |n: i64| {
            json!({"key": {"remoteJid": "5534@s.whatsapp.net", "fromMe": false,
            "id": n.to_string()}, "messageTimestamp": 1_760_000_000 + n,
            "message": {"conversation": n.to_string()}})
        };
        let rows: Vec<Value> = (first - records + 1..=first).rev().map(row).collect();
        json!({"messages": {"total": total, "pages": (total + 99) / 100, "currentPage": 1,
            "records": rows}})
    };
    transport.then_json(200, &page(250, 249, 100)).then_json(200, &page(250, 49, 50));
    transport.then_json(200, &page(251, 150, 100));
    let pulled = scene.provider.missed(&transport, &scene.connection, at(0), at(999)).await;
    let pulled = pulled.expect("an answer");
    assert_eq!(pulled.events.len(), 50);
    assert_eq!(pulled.more_from, Some(at(49)));
    let asked = |request: &OutboundRequest| {
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        body["page"].as_i64()
    };
    let pages: Vec<_> = transport.requests().iter().map(asked).collect();
    assert_eq!(pages, [Some(1), Some(3), Some(2)]);
}

#[tokio::test]
async fn a_history_that_cannot_be_read_is_a_failure_and_an_empty_one_is_not() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    let answers = [json!({"error": true}), json!({"messages": {"records": 7}}), json!(null)];
    for answer in &answers {
        transport.then_json(200, answer);
    }
    transport.then_json(400, &FakeEvolution::error(400, &json!(["PrismaClientError"])));
    for _ in 0..=answers.len() {
        let pulled = scene.provider.missed(&transport, &scene.connection, at(0), at(9)).await;
        assert!(matches!(pulled, Err(ProviderError::Failed(_))), "{pulled:?}");
    }
    scene.fake.keep_messages(false);
    scene.fake.incoming(PHONE, "Oi");
    assert_eq!(missed(&scene, -10, 10).await, Missed::default());
}

#[tokio::test]
async fn an_uncertain_send_is_found_under_the_form_that_the_channel_uses() {
    for version in [
        EvolutionVersion::V2_3_3,
        EvolutionVersion::V2_3_6,
        EvolutionVersion::V2_3_7,
        EvolutionVersion::V2_4,
    ] {
        let scene = Scene::new();
        scene.fake.version(version);
        for other in ["5511987654321", "5534991234568"] {
            scene.send(&text_to(other, "Oi")).await.expect("sent");
        }
        scene.fake.script([SendBehaviour::AcceptThenDrop]);
        scene.fake.incoming(PHONE, "Oi");
        let outgoing = text_to(PHONE, "Oi");
        scene.send(&outgoing).await.expect_err("uncertain");
        scene.send(&text_to("5511987654321", "Oi")).await.expect("sent");
        let lookup = lookup(outgoing, START);
        let found = scene.provider.find_sent(&scene.transport, &scene.connection, &lookup).await;
        let found = found.expect("an answer").expect("it was sent");
        assert_eq!(found.provider_id.as_str(), scene.fake.accepted()[2].id, "{version:?}");
        assert_eq!(found.recipient.as_deref(), Some("553491234567"));
        assert_eq!(scene.fake.violations(), [""; 0]);
    }
}

/// R110, R341.
#[tokio::test]
async fn a_file_is_found_by_its_type_and_caption() {
    let scene = Scene::new();
    for caption in [Some("Veja"), None] {
        scene.fake.script([SendBehaviour::AcceptThenDrop]);
        let content = contents::media(FileKind::Image, caption);
        scene.send(&Outgoing { content, ..text_to(PHONE, "") }).await.expect_err("uncertain");
        let sent = scene.fake.accepted().pop().expect("it left").id;
        for kind in [MessageType::Text, MessageType::Video, MessageType::Image] {
            let outgoing = text_to(PHONE, caption.unwrap_or_default());
            let lookup = Lookup::new(outgoing, kind, at(0));
            let (transport, connection) = (&scene.transport, &scene.connection);
            let found = scene.provider.find_sent(transport, connection, &lookup).await;
            let found = found.expect("an answer").map(|found| found.provider_id);
            let is_it = caption.is_some() && kind == MessageType::Image;
            assert_eq!(found.is_some(), is_it, "{caption:?} {kind}");
            assert!(found.is_none_or(|id| id.as_str() == sent));
        }
    }
    assert_eq!(scene.fake.violations(), [""; 0]);
}

#[tokio::test]
async fn an_uncertain_send_to_a_group_is_found_there() {
    let scene = Scene::new();
    scene.fake.add_group(json!({"id": "1-2@g.us"})).add_group(json!({"id": "3@g.us"}));
    scene.fake.script([SendBehaviour::Accept, SendBehaviour::AcceptThenDrop]);
    scene.send(&text_to_group("3@grupos.example", "Oi")).await.expect("sent");
    let outgoing = text_to_group("1-2@grupos.example", "Oi");
    scene.send(&outgoing).await.expect_err("uncertain");
    let lookup = lookup(outgoing, START);
    let found = scene.provider.find_sent(&scene.transport, &scene.connection, &lookup).await;
    let found = found.expect("an answer").expect("it was sent");
    assert_eq!(found.provider_id.as_str(), scene.fake.accepted()[1].id);
    assert_eq!(found.recipient, None);
    assert_eq!(scene.fake.violations(), [""; 0]);
}

#[tokio::test]
async fn another_text_time_or_conversation_proves_nothing() {
    let scene = Scene::new();
    scene.fake.script([SendBehaviour::Refuse]);
    let outgoing = text_to(PHONE, "Oi");
    scene.send(&outgoing).await.expect_err("unreachable");
    scene.fake.incoming(PHONE, "Oi");
    let sends = [(0, PHONE, "Oi!"), (0, "5534991234568", "Oi"), (-100, PHONE, "Oi")];
    for (second, to, text) in sends.into_iter().chain([(500, PHONE, "Oi")]) {
        scene.fake.set_now(at(second));
        scene.send(&text_to(to, text)).await.expect("sent");
    }
    let lookup = lookup(outgoing, START);
    let found = scene.provider.find_sent(&scene.transport, &scene.connection, &lookup).await;
    assert_eq!(found, Ok(None));
    assert_eq!(scene.fake.violations(), [""; 0]);
}

/// R136.
#[tokio::test]
async fn the_same_text_typed_on_the_phone_proves_nothing() {
    let scene = Scene::new();
    scene.fake.script([SendBehaviour::Error(500, json!({}))]);
    let outgoing = text_to(PHONE, "Oi");
    scene.send(&outgoing).await.expect_err("uncertain");
    scene.fake.typed(PHONE, "Oi");
    let lookup = lookup(outgoing, START);
    let found = scene.provider.find_sent(&scene.transport, &scene.connection, &lookup).await;
    assert_eq!(found, Ok(None));
}

/// The answer of a gateway whose history is this one row.
fn history_of(row: &Value) -> Value {
    json!({"messages": {"total": 1, "pages": 1, "currentPage": 1, "records": [row]}})
}

/// R136.
#[tokio::test]
async fn a_programs_id_proves_whatever_source_the_row_names() {
    for (id, source, is_programs) in [
        ("3EB0A1B2C3D4E5F60718", "android", true),
        ("3EB0A1B2C3D4E5F60718", "unknown", true),
        ("3A0FA1B2C3D4E5F60718", "ios", false),
        ("0123456789ABCDEF0123456789ABCDEF", "android", false),
    ] {
        let scene = Scene::new();
        let transport = ScriptedTransport::new();
        let row = json!({"key": {"remoteJid": "553491234567@s.whatsapp.net", "fromMe": true,
            "id": id}, "messageTimestamp": 1_760_000_000, "source": source,
            "message": {"conversation": "Oi"}});
        for _ in 0..3 {
            transport.then_json(200, &history_of(&row));
        }
        let pulled = scene.provider.missed(&transport, &scene.connection, at(0), at(9)).await;
        let reported = if is_programs { "sent Oi" } else { "typed Oi" };
        assert_eq!(short(&pulled.expect("an answer").events), [reported], "{id} {source}");
        let lookup = lookup(text_to(PHONE, "Oi"), START);
        let found = scene.provider.find_sent(&transport, &scene.connection, &lookup).await;
        assert_eq!(found.expect("an answer").is_some(), is_programs, "{id} {source}");
    }
}

#[tokio::test]
async fn a_form_of_the_number_that_the_gateway_does_not_know_ends_no_search() {
    let row = json!({"key": {"remoteJid": "553491234567@s.whatsapp.net", "fromMe": true,
        "id": "3EB0A1"}, "messageTimestamp": 1_760_000_000, "message": {"conversation": "Oi"}});
    for (answers, found) in [
        ([(404, json!({})), (200, history_of(&row))], true),
        ([(404, json!({})), (200, history_of(&json!({})))], false),
    ] {
        let scene = Scene::new();
        let transport = ScriptedTransport::new();
        for (status, answer) in answers {
            transport.then_json(status, &answer);
        }
        let lookup = lookup(text_to(PHONE, "Oi"), START);
        let reported = scene.provider.find_sent(&transport, &scene.connection, &lookup).await;
        match reported {
            Ok(sent) => assert!(found && sent.is_some()),
            Err(_) => assert!(!found, "a failure is no answer"),
        }
        assert_eq!(transport.requests().len(), 2);
    }
}

#[tokio::test]
async fn rows_that_the_gateways_filter_lets_through_are_checked() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    let row = |remote: &str, alt: Value, seconds: i64, id: &str| {
        json!({"key": {"remoteJid": remote, "remoteJidAlt": alt, "fromMe": true, "id": id},
            "messageTimestamp": 1_760_000_000 + seconds, "message": {"conversation": " Oi "}})
    };
    let rows = json!([
        row("553491234567@s.whatsapp.net", Value::Null, 9_000, "later"),
        row("5511987654321@s.whatsapp.net", Value::Null, 6, "another's"),
        row("1@lid", json!("553491234567@s.whatsapp.net"), 4, "older"),
        row("2@lid", json!("5534991234567@s.whatsapp.net"), 5, "newest"),
        row("553491234567@s.whatsapp.net", Value::Null, -9_000, "earlier"),
    ]);
    transport.then_json(200, &json!({"messages": {"total": 5, "pages": 1, "records": rows}}));
    let lookup = lookup(text_to(PHONE, "Oi"), START);
    let found = scene.provider.find_sent(&transport, &scene.connection, &lookup).await;
    let found = found.expect("an answer").expect("it was sent");
    assert_eq!(found.provider_id.as_str(), "newest");
    assert_eq!(
        (found.recipient.as_deref(), found.aliases),
        (Some("5534991234567"), vec!["2@lid".to_owned()])
    );
}

#[tokio::test]
async fn a_search_asks_for_both_forms_of_a_mobile_and_both_times_and_ends() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    let full: Vec<Value> = (0..100).map(|_| json!({"key": {}})).collect();
    let page = json!({"messages": {"total": 9_999, "pages": 100, "records": full}});
    for _ in 0..10 {
        transport.then_json(200, &page);
    }
    let lookup = lookup(text_to(PHONE, "Oi"), START);
    let found = scene.provider.find_sent(&transport, &scene.connection, &lookup).await;
    assert_eq!(found, Ok(None));
    let asked: Vec<Value> = transport
        .requests()
        .iter()
        .map(|request| serde_json::from_slice(&request.body).expect("JSON"))
        .collect();
    let chats: Vec<_> =
        asked.iter().map(|body| body["where"]["key"]["remoteJid"].clone()).collect();
    let (with, without) = ("5534991234567@s.whatsapp.net", "553491234567@s.whatsapp.net");
    assert_eq!(chats, [with, with, without, without]);
    for body in asked {
        let times = &body["where"]["messageTimestamp"];
        let bound = |name: &str| Timestamp::parse(times[name].as_str().unwrap_or_default());
        assert!(bound("gte").expect("a time") < at(0) && bound("lte").expect("a time") > at(20));
    }
}
