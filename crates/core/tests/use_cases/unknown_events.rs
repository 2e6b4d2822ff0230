//! What was not understood: kept as it came, listed, read again, erased (X9, R105).

use std::time::Duration;

use recado_core::connections::{Connection, ConnectionReads as _, HEARD_AGAIN};
use recado_core::gateway::{
    GatewayEvent, GatewayMessage, Incoming, KEPT_OF_CONNECTION, KEPT_OF_KIND, KeptQuery,
    LISTED_EVENTS, MAX_KEPT_BODY, MAX_KIND, ProviderWebhook, UnknownEvent, UnknownReason,
    UnknownReport, WebhookRefused,
};
use recado_core::ids::ContactId;
use recado_core::inbox::{ProviderWebhookError, ReceivedWebhook, Replayed, parse_event};
use recado_core::messages::MessageFilter;
use recado_core::messages::MessageReads as _;
use recado_core::messages::{Blocks, MessageType, Unsupported};
use recado_core::page::PageRequest;
use recado_core::store::{RecordsExt as _, Stored, Upkeep as _};
use recado_core::{Clock as _, Error, Timestamp};
use recado_testkit::kit::body;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::{Value, json};

use super::gateway_scene::*;

fn unknown(kind: &str, body: Value) -> Incoming {
    Ok(GatewayEvent::Unknown(UnknownReport::new(kind, body)))
}

/// A message that nobody can show, as its gateway wrote it.
fn sketch(id: &str, peer: &str) -> GatewayMessage {
    let unsupported = Unsupported { reason: None, provider_type: Some("sketch".to_owned()) };
    GatewayMessage {
        message_type: MessageType::Unsupported,
        content: None,
        blocks: Blocks { unsupported: Some(unsupported), ..Blocks::default() },
        raw: Some(json!({ "id": id, "from": peer, "sketch": "a drawing of a cat" })),
        ..text(id, peer, "")
    }
}

pub(super) async fn kept(scene: &Scene) -> Vec<Stored<UnknownEvent>> {
    let query = KeptQuery::newest(scene.connection(), 10_000);
    scene.model.unknown_events(scene.kit.company.id, &query).await.unwrap().events
}

/// The listing of the operator API.
pub(super) async fn listed(scene: &Scene) -> Vec<Value> {
    let connections = scene.kit.app.connections();
    let listed = connections.unknown_events(scene.kit.company.id, scene.connection()).await;
    serde_json::to_value(listed.unwrap()).unwrap().as_array().unwrap().clone()
}

impl Scene {
    /// Makes the gateway call with this body; the script sets the events of the call.
    async fn call_with(&self, body: &str) -> Result<ReceivedWebhook, Error<ProviderWebhookError>> {
        let (inbox, webhook) = (self.kit.app.inbox(), ProviderWebhook::new(body));
        let called = inbox.called(&self.connection().to_string(), &webhook).await?;
        inbox.take_webhook(&called, &webhook).await
    }

    pub(super) async fn merge(&self, kept: &Value, other: &Value) {
        let contacts = self.kit.app.contacts();
        contacts.merge(self.kit.company.id, contact_id(kept), contact_id(other)).await.unwrap();
    }

    async fn delete_contact(&self, contact: &Value) {
        let contacts = self.kit.app.contacts();
        contacts.delete(&self.kit.caller, contact_id(contact)).await.unwrap();
    }

    /// All messages: the id, text and time of each.
    async fn all_messages(&self) -> Vec<(String, Option<String>, Timestamp)> {
        let mut all = Vec::new();
        for page in 1.. {
            let (filter, page) = (MessageFilter::default(), PageRequest { page, limit: 100 });
            let page = self.model.message_page(self.kit.company.id, &filter, page).await.unwrap();
            if page.items.is_empty() {
                break;
            }
            all.extend(page.items.into_iter().map(|item| {
                let message = item.message;
                let id = message.provider_id.unwrap().as_str().to_owned();
                (id, message.content, message.timestamp)
            }));
        }
        all
    }

    /// The unread messages of the first message's contact.
    async fn unread(&self) -> u64 {
        let message = self.messaging.messages().await.remove(0);
        let contact = contact_id(&message["contact_id"]);
        let shown = self.kit.app.contacts().get(&self.kit.caller, contact, false).await.unwrap();
        let shown = serde_json::to_value(shown).unwrap();
        shown["connections"][0]["unread_count"].as_u64().unwrap()
    }
}

fn contact_id(id: &Value) -> ContactId {
    ContactId::parse(id.as_str().unwrap()).unwrap()
}

pub(super) async fn replay(scene: &Scene) -> Replayed {
    let (inbox, company) = (scene.kit.app.inbox(), scene.kit.company.id);
    let (mut all, mut cursor) = (Replayed::default(), None);
    loop {
        let (step, next) = inbox.replay(company, None, cursor).await.unwrap();
        all = all.and(step);
        cursor = next;
        if cursor.is_none() {
            return all;
        }
    }
}

pub(super) fn replayed(looked_at: u64, told: u64) -> Replayed {
    let mut all = Replayed::default();
    (all.looked_at, all.told, all.still_unknown) = (looked_at, told, looked_at - told);
    all
}

/// X9.
#[tokio::test]
async fn what_no_adapter_knows_is_kept_as_it_came() {
    let scene = scene("waha").await;
    let came = scene.kit.clock.now();
    let call = json!({ "event": "call.received", "from": "5534991230001@c.us", "at": 17 });
    let events = [unknown("call.received", call.clone()), heard("m1", PEER)];
    let taken = scene.call(here(events)).await.unwrap();
    assert_eq!((taken.stored, taken.refused_in_all), (2, 0));
    assert_eq!(taken.unknown, ["call.received"]);
    scene.kit.clock.advance(Duration::from_secs(1));
    let report = UnknownReport {
        provider_id: Some(wamid("m7")),
        ..UnknownReport::new("label.upsert", json!([{ "name": "Cliente VIP" }]))
    };
    scene.call(here([Ok(GatewayEvent::Unknown(report))])).await.unwrap();
    let listed = listed(&scene).await;
    let shown = |n: usize, name: &str| listed[n][name].clone();
    assert_eq!(
        (shown(0, "kind"), shown(1, "kind")),
        (json!("label.upsert"), json!("call.received"))
    );
    assert_eq!(shown(1, "body"), call);
    assert_eq!(shown(1, "reason"), "unknown_kind");
    assert_eq!(shown(1, "received_at"), json!(came));
    assert_eq!(
        (shown(0, "provider_message_id"), shown(1, "provider_message_id")),
        (json!("m7"), json!(null))
    );
    assert_eq!(scene.shown_connection().await["not_understood"], 2);
    assert_eq!(scene.messaging.messages().await.len(), 1);
}

/// R105.
#[tokio::test]
async fn a_repeated_event_is_kept_once() {
    let scene = scene("waha").await;
    let events = || {
        here([unknown("call", json!({ "n": 1 })), Ok(GatewayEvent::Message(sketch("m1", PEER)))])
    };
    let first = scene.call(events()).await.unwrap();
    assert_eq!((first.stored, first.not_understood.len()), (2, 2));
    let second = scene.call(events()).await.unwrap();
    assert_eq!((second.stored, second.passed_over, second.not_understood.len()), (0, 2, 0));
    scene.call(here([unknown("call", json!({ "n": 2 }))])).await.unwrap();
    assert_eq!(kept(&scene).await.len(), 3);
}

#[tokio::test]
async fn events_that_come_at_once_are_kept_once_each() {
    let scene = scene("waha").await;
    scene.kit.provider.set_received(Ok(here([unknown("call", json!({}))])));
    let id = scene.connection().to_string();
    let calls = futures_util::future::join_all((0..8).map(|_| scene.call_of(&id))).await;
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
    assert_eq!(kept(&scene).await.len(), 1);
}

#[tokio::test]
async fn a_kind_has_a_name_of_bounded_length_and_a_body_is_cut() {
    let scene = scene("waha").await;
    let long = format!("a\u{0}\n{}", "é".repeat(5_000));
    let big = json!({ "data": "x".repeat(MAX_KEPT_BODY) });
    scene.call(here([unknown(&long, big)])).await.unwrap();
    let event = kept(&scene).await.remove(0);
    assert_eq!(event.kind.chars().count(), MAX_KIND);
    assert!(event.kind.starts_with("aé") && !event.kind.chars().any(char::is_control));
    let listed = listed(&scene).await.remove(0);
    let shown = listed["body"].as_str().unwrap();
    assert!(shown.starts_with("{\"data\":\"xxx") && shown.ends_with('…'), "as text");
    assert_eq!(replay(&scene).await, replayed(1, 0));
}

/// R105: a kind that comes often takes nothing from the others.
#[tokio::test]
async fn the_oldest_of_a_kind_give_way_and_those_of_other_kinds_stay() {
    let scene = scene("waha").await;
    scene.call(here([unknown("rare", json!({}))])).await.unwrap();
    scene.kit.clock.advance(Duration::from_secs(1));
    for batch in 0..3 {
        scene.kit.clock.advance(Duration::from_secs(1));
        let events = (0..80).map(|n| unknown("often", json!({ "n": batch * 80 + n })));
        assert_eq!(scene.call(here(events)).await.unwrap().stored, 80);
    }
    let kept = kept(&scene).await;
    let often: Vec<_> = kept.iter().filter(|event| event.kind == "often").collect();
    assert_eq!((often.len(), kept.len()), (KEPT_OF_KIND as usize, KEPT_OF_KIND as usize + 1));
    let numbers: Vec<u64> =
        often.iter().map(|event| event.body.json().unwrap()["n"].as_u64().unwrap()).collect();
    assert!(numbers.iter().all(|n| *n >= 80), "{numbers:?}");
    // The same for messages, in the commit that stores them.
    for batch in 0..2 {
        scene.kit.clock.advance(Duration::from_secs(1));
        let message = |n| Ok(GatewayEvent::Message(sketch(&format!("m{}", batch * 90 + n), PEER)));
        assert_eq!(scene.call(here((0..90).map(message))).await.unwrap().stored, 90);
    }
    let query =
        KeptQuery { kind: Some("sketch".to_owned()), ..KeptQuery::newest(scene.connection(), 0) };
    let company = scene.kit.company.id;
    let sketches = scene.model.unknown_events(company, &query).await.unwrap().total;
    assert_eq!(sketches, u64::from(KEPT_OF_KIND));
    assert_eq!(scene.messaging.messages().await.len(), 100, "a page of them");
}

/// R105.
#[tokio::test]
async fn a_connection_keeps_a_bounded_number_and_lists_the_newest() {
    let scene = scene("waha").await;
    for batch in 0..3 {
        scene.kit.clock.advance(Duration::from_secs(1));
        let events = (0..500).map(|n| unknown(&format!("k{batch}.{n}"), json!({})));
        assert_eq!(scene.call(here(events)).await.unwrap().stored, 500);
    }
    let kept = kept(&scene).await;
    assert_eq!(kept.len(), KEPT_OF_CONNECTION as usize);
    assert!(kept.iter().all(|event| !event.kind.starts_with("k0.")));
    let listed = listed(&scene).await;
    assert_eq!(listed.len(), LISTED_EVENTS as usize);
    assert!(listed.iter().all(|event| event["kind"].as_str().unwrap().starts_with("k2.")));
    assert_eq!(scene.shown_connection().await["not_understood"], KEPT_OF_CONNECTION);
}

#[tokio::test]
async fn an_event_that_the_store_fails_to_keep_fails_the_call() {
    let scene = scene("waha").await;
    scene.store.fail_nth(StoreOp::Commit, 0, StoreFailure::Unavailable);
    assert!(scene.call(here([unknown("call", json!({}))])).await.is_err());
    assert_eq!(kept(&scene).await, []);
}

/// X9, R105.
#[tokio::test]
async fn kept_events_go_with_their_connection_and_with_time() {
    let scene = scene("waha").await;
    scene.call(here([unknown("call", json!({}))])).await.unwrap();
    let day = Duration::from_secs(24 * 60 * 60);
    scene.model.upkeep(scene.kit.clock.now().plus(29 * day)).await.unwrap();
    assert_eq!(kept(&scene).await.len(), 1);
    scene.model.upkeep(scene.kit.clock.now().plus(30 * day)).await.unwrap();
    assert_eq!(kept(&scene).await.len(), 0);
    scene.call(here([unknown("call", json!({}))])).await.unwrap();
    let connections = scene.kit.app.connections();
    // One that nothing else refers to is deleted with all that is kept for it.
    connections.delete(scene.kit.company.id, scene.connection()).await.unwrap();
    assert_eq!(kept(&scene).await, []);
    let body = body(json!({}));
    let gone = connections.change(scene.kit.company.id, scene.connection(), &body).await;
    assert_eq!(super::code(gone), "NOT_FOUND");
}

/// X9: an authenticated call with an event that could not be read is kept whole.
#[tokio::test]
async fn a_call_that_could_not_be_read_is_kept() {
    let scene = scene("waha").await;
    let body = r#"{"event": "message", "payload": {"id": 7}}"#;
    let refused = "the message has no sender".to_owned();
    scene.kit.provider.set_received(Ok(here([Err(refused.clone()), heard("m1", PEER)])));
    for stored in [1, 0] {
        let taken = scene.call_with(body).await.unwrap();
        assert_eq!((taken.stored, taken.refused_in_all), (stored, 1));
    }
    let listed = listed(&scene).await;
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["kind"], &listed[0]["reason"]), (&json!(refused), &json!("unreadable")));
    assert_eq!(listed[0]["body"], serde_json::from_str::<Value>(body).unwrap());
    // An adapter that reads it tells the message; the other one is known.
    scene.kit.provider.set_read(|_| vec![heard("m1", PEER), heard("m2", PEER)]);
    assert_eq!(replay(&scene).await, replayed(1, 1));
    assert_eq!(scene.messaging.messages().await.len(), 2);
}

/// X9: a body that is not what the gateway sends was verified before it was read.
#[tokio::test]
async fn a_malformed_call_is_kept_and_one_that_is_not_verified_is_not() {
    let scene = scene("waha").await;
    for (refused, body) in [
        (WebhookRefused::Unauthorized, "forged"),
        (WebhookRefused::Malformed, "<html>502</html>"),
        (WebhookRefused::Malformed, "  "),
    ] {
        scene.kit.provider.set_received(Err(refused));
        assert!(scene.call_with(body).await.is_err());
    }
    let listed = listed(&scene).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["body"], "<html>502</html>");
    assert_eq!(replay(&scene).await, replayed(1, 0));
}

/// X9, X5.
#[tokio::test]
async fn an_unsupported_message_gets_its_content_when_it_is_read_again() {
    let scene = scene("waha").await;
    scene.call(here([Ok(GatewayEvent::Message(sketch("m1", PEER)))])).await.unwrap();
    let event = kept(&scene).await.remove(0);
    assert_eq!((event.reason, event.kind.as_str()), (UnknownReason::Unsupported, "sketch"));
    assert_eq!(event.body.json().unwrap()["sketch"], "a drawing of a cat");
    let shown = scene.messaging.messages().await.remove(0);
    assert_eq!(json!(event.contact), shown["contact_id"]);
    assert_eq!(replay(&scene).await, replayed(1, 0), "nobody reads it yet");
    let before = scene.reported("message.received").len();
    scene.kit.clock.advance(Duration::from_secs(86_400));
    scene.kit.provider.set_read(|raw| {
        let (id, from) = (raw["id"].as_str().unwrap(), raw["from"].as_str().unwrap());
        let sketch = text(id, from, raw["sketch"].as_str().unwrap());
        vec![Ok(GatewayEvent::Message(sketch))]
    });
    assert_eq!(replay(&scene).await, replayed(1, 1));
    let told = scene.messaging.messages().await;
    assert_eq!((told.len(), &told[0]["content"]), (1, &json!("a drawing of a cat")));
    assert_eq!((&told[0]["id"], &told[0]["timestamp"]), (&shown["id"], &shown["timestamp"]));
    assert_eq!(scene.reported("message.received").len(), before);
    assert_eq!(kept(&scene).await, []);
    assert_eq!(replay(&scene).await, replayed(0, 0));
}

/// X9: keeping costs messages that are understood no read.
#[tokio::test]
async fn nothing_is_read_of_kept_events_for_other_messages() {
    let scene = scene("waha").await;
    for id in ["m1", "m2"] {
        let named = GatewayMessage {
            aliases: vec!["77712345678901@lid".to_owned()],
            ..text(id, PEER, "Oi")
        };
        scene.call(here([Ok(GatewayEvent::Message(named)), heard("m3", PEER)])).await.unwrap();
    }
    let asked = scene.store.asked();
    assert!(asked.contains("channel_contacts"), "{asked:?}");
    assert!(!asked.iter().any(|name| name.contains("unknown_events")), "{asked:?}");
}

/// X5, X9: content that comes by itself ends the keeping.
#[tokio::test]
async fn late_content_ends_the_keeping_of_its_message() {
    let scene = scene("waha").await;
    scene.call(here([Ok(GatewayEvent::Message(sketch("m1", PEER)))])).await.unwrap();
    assert_eq!(kept(&scene).await.len(), 1);
    scene.call(here([Ok(GatewayEvent::Message(text("m1", PEER, "um gato")))])).await.unwrap();
    assert_eq!(kept(&scene).await, []);
    assert_eq!(scene.messaging.messages().await[0]["content"], "um gato");
}

/// X9, D67: a neutral event keeps its own form and is read by the reader of neutral events.
#[tokio::test]
async fn a_neutral_unsupported_message_is_kept_in_its_own_form() {
    let scene = scene("waha").await;
    let event = json!({ "kind": "message", "provider_message_id": "m1", "from": PEER,
        "type": "unsupported", "future": { "x": 1 } });
    let events = vec![parse_event(&event, "g.us")];
    let (inbox, company) = (scene.kit.app.inbox(), scene.kit.company.id);
    inbox.receive_posted(company, scene.connection(), events).await.unwrap();
    assert_eq!(listed(&scene).await[0]["body"], event);
    assert_eq!(replay(&scene).await, replayed(1, 0));
    assert_ne!(scene.shown_connection().await["last_heard_at"], json!(null));
}

/// X9: kept events go with the person whom they are about, or whom they name.
#[tokio::test]
async fn kept_events_are_erased_with_the_person() {
    let scene = scene("waha").await;
    let other = "5511987654321";
    let of = |peer: &str| unknown("call", json!({ "from": format!("{peer}@c.us") }));
    let formatted = unknown("card", json!({ "tel": "+55 34 99123-0001" }));
    let messages = [sketch("m1", PEER), sketch("m2", other)].map(GatewayEvent::Message).map(Ok);
    let events = messages.into_iter().chain([of(PEER), of("5534991230001"), of(other), formatted]);
    scene.call(here(events)).await.unwrap();
    assert_eq!(kept(&scene).await.len(), 6);
    let messages = scene.messaging.messages().await;
    let contact = messages.iter().find(|m| m["wamid"] == "m1").unwrap()["contact_id"].clone();
    scene.delete_contact(&contact).await;
    let left: Vec<String> =
        kept(&scene).await.iter().map(|event| event.body.expose().to_owned()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left.iter().all(|body| body.contains(other)), "{left:?}");
}

/// X9: the time is written at most once a minute, and is no change of the connection.
#[tokio::test]
async fn a_connection_says_when_it_was_last_heard() {
    let scene = scene("waha").await;
    let before = scene.shown_connection().await;
    assert_eq!((&before["last_heard_at"], &before["not_understood"]), (&json!(null), &json!(0)));
    let first = scene.kit.clock.now();
    scene.call(Vec::new()).await.unwrap();
    let heard = async || scene.shown_connection().await["last_heard_at"].clone();
    assert_eq!(heard().await, json!(first));
    let version = async || {
        let key = (scene.kit.company.id, scene.connection());
        scene.model.get::<Connection>(key).await.unwrap().unwrap().version()
    };
    let written = version().await;
    scene.kit.clock.advance(HEARD_AGAIN - Duration::from_millis(1));
    scene.call(Vec::new()).await.unwrap();
    assert_eq!((heard().await, version().await), (json!(first), written));
    scene.kit.clock.advance(Duration::from_millis(1));
    scene.call(Vec::new()).await.unwrap();
    assert_eq!(heard().await, json!(scene.kit.clock.now()));
    assert_eq!(scene.shown_connection().await["updated_at"], before["updated_at"]);
}

/// X9: 200 kinds of the future. Nothing is dropped; an adapter that knows them tells each once, at
/// its own time, as if it had been there.
#[tokio::test]
async fn two_hundred_future_kinds_are_kept_and_told_once() {
    let scene = scene("waha").await;
    let began = scene.kit.clock.now();
    scene.call(here([heard("m0", PEER)])).await.unwrap();
    let unread = scene.unread().await;
    let received = scene.reported("message.received").len();
    let future = |n: i64| {
        let at = began.millis() + n;
        let raw = json!({ "id": format!("f{n}"), "at": at, "who": PEER, "says": format!("n{n}") });
        match n % 4 {
            // Every fourth is an unsupported message, stored with its contact.
            0 => Ok(GatewayEvent::Message(GatewayMessage {
                timestamp: Some(Timestamp::from_millis(at)),
                raw: Some(raw),
                ..sketch(&format!("f{n}"), PEER)
            })),
            _ => unknown(&format!("future.{n}"), raw),
        }
    };
    for call in 0..20 {
        let events = (0..10).map(|n| future(call * 10 + n + 1));
        assert_eq!(scene.call(here(events)).await.unwrap().stored, 10);
        scene.kit.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(listed(&scene).await.len(), 200);
    let unread_with_messages = scene.unread().await;
    assert_eq!(unread_with_messages, unread + 50, "unsupported messages count when they come");
    let received_with_messages = scene.reported("message.received").len();
    assert_eq!(received_with_messages, received + 50);
    assert_eq!(replay(&scene).await, replayed(200, 0));

    scene.kit.clock.advance(Duration::from_secs(86_400));
    scene.kit.provider.set_read(|raw| {
        let says = |name: &str| raw[name].as_str().unwrap().to_owned();
        let message = GatewayMessage {
            timestamp: raw["at"].as_i64().map(Timestamp::from_millis),
            ..text(&says("id"), &says("who"), &says("says"))
        };
        vec![Ok(GatewayEvent::Message(message))]
    });
    assert_eq!(replay(&scene).await, replayed(200, 200));
    let told = scene.all_messages().await;
    assert_eq!(told.len(), 201);
    for n in 1..=200 {
        let shown: Vec<_> = told.iter().filter(|(id, ..)| *id == format!("f{n}")).collect();
        let at = Timestamp::from_millis(began.millis() + n);
        assert_eq!(shown, [&(format!("f{n}"), Some(format!("n{n}")), at)]);
    }
    assert_eq!(scene.unread().await, unread_with_messages);
    assert_eq!(scene.reported("message.received").len(), received_with_messages);
    assert_eq!(listed(&scene).await, [] as [Value; 0]);
    assert_eq!(replay(&scene).await, replayed(0, 0));
    // Whoever hears them again, or reads them again, tells nothing new.
    scene.call(here((1..=200).map(future))).await.unwrap();
    replay(&scene).await;
    assert_eq!(scene.all_messages().await.len(), 201);
}
