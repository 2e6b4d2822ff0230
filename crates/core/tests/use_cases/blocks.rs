//! What messages hold besides text and file: listed, reported, and readable as text (X1–X5, X7).

use std::sync::Arc;

use recado_core::conversations::ActionName;
use recado_core::ids::ContactId;
use recado_core::inbox::EventOutcome;
use recado_testkit::kit::body;
use recado_testkit::{Kit, MemoryStore};
use serde_json::{Value, json};

use super::messaging::Messaging;
use super::shown;

pub(super) const PEER: &str = "5511987654321";

pub(super) struct Scene {
    pub(super) messaging: Messaging,
    pub(super) model: MemoryStore,
}

pub(super) async fn qr_scene() -> Scene {
    let model = MemoryStore::new();
    Scene { messaging: Messaging::on(Kit::on(Arc::new(model.clone())).await).await, model }
}

impl Scene {
    pub(super) async fn message_of(&self, id: &str) -> Value {
        let messages = self.messaging.messages().await;
        messages.into_iter().find(|message| message["wamid"] == id).unwrap()
    }

    /// The data of all events of this type.
    pub(super) fn reported(&self, event: &str) -> Vec<Value> {
        let events = self.model.events(self.messaging.kit.company.id);
        let events = events.iter().filter(|known| known.event_type.as_str() == event);
        events.map(|known| serde_json::from_str(&known.data).unwrap()).collect()
    }

    /// The contact of a message.
    pub(super) async fn contact_of(&self, message: &Value) -> Value {
        shown(&self.messaging.kit, contact_id(message)).await
    }
}

pub(super) fn contact_id(message: &Value) -> ContactId {
    ContactId::parse(message["contact_id"].as_str().unwrap()).unwrap()
}

/// Reports a neutral event; its message as it is listed.
pub(super) async fn listed(scene: &Scene, id: &str, fields: Value) -> Value {
    let mut event = json!({"kind": "message", "provider_message_id": id, "from": PEER});
    event.as_object_mut().unwrap().extend(body(fields));
    let result = scene.messaging.tell(event.clone()).await;
    assert_eq!(result.result, EventOutcome::Stored, "{event} {result:?}");
    scene.message_of(id).await
}

/// X1, X2, X4: a person who reads the listing sees what was sent, and programs find the same in the
/// block.
#[tokio::test]
async fn each_kind_of_message_is_readable_in_the_listing_and_has_its_block() {
    let scene = qr_scene().await;
    for (n, (kind, key, block, content)) in [
        (
            "location",
            "location",
            json!({"latitude": -23.5, "longitude": -46.6, "name": "Loja", "address": "Rua A, 1",
                "url": null, "is_live": false}),
            "-23.5,-46.6 Loja, Rua A, 1",
        ),
        (
            "contacts",
            "shared_contacts",
            json!([{"name": "Ana", "phones": [{"number": "+5511", "type": "CELL"}], "emails": [],
                "organization": null, "title": null, "urls": [], "addresses": [],
                "birthday": null}]),
            "Ana, +5511",
        ),
        (
            "interactive",
            "interactive",
            json!({"kind": "flow_reply", "id": null, "title": null, "description": null,
                "payload": null, "response": {"Dia": "segunda"}, "in_reply_to": null}),
            "Dia: segunda",
        ),
        (
            "order",
            "order",
            json!({"catalog_id": "c", "text": null, "items": [{"product_id": "p", "name": "Caneca",
                "quantity": 2, "price": {"amount": "10.50", "currency": "BRL"}}],
                "total": {"amount": "21.00", "currency": "BRL"}}),
            "2 x Caneca (R$ 10,50)\nTotal: R$ 21,00",
        ),
        (
            "poll",
            "interactive",
            json!({"kind": "poll", "body": "Quando?", "options": [
                {"option": "Hoje", "votes": 0}, {"option": "Amanhã", "votes": 0}],
                "selectable": 1}),
            "Enquete: Quando?\n- Hoje\n- Amanhã",
        ),
        (
            "system",
            "system",
            json!({"kind": "missed_call", "video": false, "text": null}),
            "Chamada perdida",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let mut fields = json!({"type": kind});
        fields[key] = block.clone();
        let message = listed(&scene, &format!("m{n}"), fields).await;
        assert_eq!(message["type"], kind);
        assert_eq!(message["content"], content, "{kind}");
        assert_eq!(message[key], block, "{kind}");
        let events = scene.reported("message.received");
        assert_eq!(events.last().unwrap()[key], block, "{kind}");
    }
}

/// X2, X3.
#[tokio::test]
async fn marks_and_details_of_a_text_are_listed_beside_it() {
    let scene = qr_scene().await;
    let message = listed(
        &scene,
        "m1",
        json!({"type": "text", "content": "Quanto custa?", "forwarded": "often",
            "referral": {"source_type": "ad", "headline": "Promoção", "click_id": "k"},
            "product": {"catalog_id": "c", "product_id": "p"}}),
    )
    .await;
    assert_eq!(message["content"], "Quanto custa?");
    assert_eq!(message["forwarded"], "often");
    assert_eq!(message["referral"]["headline"], "Promoção");
    assert_eq!(message["product"]["product_id"], "p");
    let voice = listed(&scene, "m2", json!({"type": "audio", "is_voice": true})).await;
    assert_eq!((&voice["is_voice"], &voice["location"]), (&json!(true), &Value::Null));
}

/// X2: the ids of our messages in blocks are found by us.
#[tokio::test]
async fn an_answer_and_a_reaction_name_the_stored_message_they_are_about() {
    let scene = qr_scene().await;
    let text = listed(&scene, "m1", json!({"type": "text", "content": "Oi"})).await;
    let foreign = "00000000-0000-7000-8000-000000000001";
    let answer = listed(
        &scene,
        "m2",
        json!({"type": "interactive", "quoted_provider_message_id": "m1",
            "interactive": {"kind": "button_reply", "title": "Sim", "in_reply_to": foreign}}),
    )
    .await;
    assert_eq!(answer["interactive"]["in_reply_to"], text["id"]);
    let reaction = listed(
        &scene,
        "m3",
        json!({"type": "reaction", "quoted_provider_message_id": "m1",
            "reaction": {"emoji": "👍", "provider_message_id": "m1", "message_id": foreign}}),
    )
    .await;
    assert_eq!(
        reaction["reaction"],
        json!({"emoji": "👍", "message_id": text["id"], "provider_message_id": "m1"})
    );
    assert_eq!(reaction["content"], "👍");
}

/// X2: gateways that report a reaction and a button in the older fields fill the same blocks.
#[tokio::test]
async fn a_reaction_and_a_button_without_blocks_get_them() {
    let scene = qr_scene().await;
    listed(&scene, "m1", json!({"type": "text", "content": "Oi"})).await;
    let reaction = json!({"type": "reaction", "content": "👍", "quoted_provider_message_id": "m1"});
    let reaction = listed(&scene, "m2", reaction).await;
    assert_eq!(reaction["reaction"]["provider_message_id"], "m1");
    let pressed = json!({"type": "interactive", "button": {"id": "1", "title": "Sim"}});
    let pressed = listed(&scene, "m3", pressed).await;
    assert_eq!(pressed["interactive"]["kind"], "button_reply");
    assert_eq!((&pressed["interactive"]["id"], &pressed["content"]), (&json!("1"), &json!("Sim")));
}

/// X7.
#[tokio::test]
async fn a_reaction_neither_counts_as_unread_nor_reopens() {
    let scene = qr_scene().await;
    let text = listed(&scene, "m1", json!({"type": "text", "content": "Oi"})).await;
    let conversations = scene.messaging.kit.app.conversations();
    let company = scene.messaging.kit.company.id;
    let close = ActionName::Close;
    conversations.act(company, contact_id(&text), close, &body(json!({}))).await.unwrap();
    let before = scene.contact_of(&text).await;
    let reaction = json!({"type": "reaction", "content": "👍", "quoted_provider_message_id": "m1"});
    listed(&scene, "m2", reaction).await;
    let after = scene.contact_of(&text).await;
    assert_eq!(after["inbox_status"], "resolved");
    assert_eq!(after["connections"][0]["unread_count"], before["connections"][0]["unread_count"]);
    listed(&scene, "m3", json!({"type": "text", "content": "Oi"})).await;
    assert_eq!(scene.contact_of(&text).await["inbox_status"], "open");
}

/// X5, X9: the text that comes under the id of an `unsupported` message replaces it.
#[tokio::test]
async fn content_that_comes_later_replaces_an_unsupported_message_and_counts_once() {
    let scene = qr_scene().await;
    let unsupported = json!({"type": "unsupported",
        "unsupported": {"reason": "131060", "provider_type": "unsupported"}});
    let before = listed(&scene, "m1", unsupported).await;
    assert_eq!(before["unsupported"]["reason"], "131060");
    let after = listed(&scene, "m1", json!({"type": "text", "content": "Bom dia"})).await;
    assert_eq!(after["id"], before["id"]);
    assert_eq!((&after["type"], &after["content"]), (&json!("text"), &json!("Bom dia")));
    assert_eq!(after["unsupported"], Value::Null);
    let contact = scene.contact_of(&after).await;
    assert_eq!(contact["connections"][0]["unread_count"], 1);
    let again = json!({"kind": "message", "provider_message_id": "m1", "from": PEER,
        "type": "text", "content": "Outro"});
    assert_eq!(scene.messaging.tell(again).await.result, EventOutcome::Duplicate);
    assert_eq!(scene.message_of("m1").await["content"], "Bom dia");
}

/// X5: the file of a message that was a notice of a missing file, from either side.
#[tokio::test]
async fn a_file_that_comes_later_replaces_the_notice_that_it_is_missing() {
    let scene = qr_scene().await;
    for (id, kind, peer) in [("m1", "message", "from"), ("m2", "echo", "to")] {
        let event = |fields: Value| {
            let mut event = json!({"kind": kind, "provider_message_id": id, "history": true});
            event[peer] = json!(PEER);
            event.as_object_mut().unwrap().extend(body(fields));
            event
        };
        let missing = event(json!({"type": "system", "system": {"kind": "file_missing"}}));
        assert_eq!(scene.messaging.tell(missing.clone()).await.result, EventOutcome::Stored);
        assert_eq!(scene.message_of(id).await["content"], "Arquivo não disponível");
        assert_eq!(scene.messaging.tell(missing.clone()).await.result, EventOutcome::Duplicate);
        let file = event(json!({"type": "image", "media": {"url": "media:1"}}));
        assert_eq!(scene.messaging.tell(file).await.result, EventOutcome::Stored);
        let message = scene.message_of(id).await;
        assert_eq!((&message["type"], &message["content"]), (&json!("image"), &Value::Null));
        assert_ne!(message["media_url"], Value::Null);
        assert_eq!(scene.messaging.tell(missing).await.result, EventOutcome::Duplicate);
    }
}

/// X5: content first and `unsupported` later is the same end.
#[tokio::test]
async fn an_unsupported_repeat_takes_no_content_away() {
    let scene = qr_scene().await;
    listed(&scene, "m1", json!({"type": "text", "content": "Bom dia"})).await;
    let late = json!({"kind": "message", "provider_message_id": "m1", "from": PEER,
        "type": "unsupported"});
    assert_eq!(scene.messaging.tell(late).await.result, EventOutcome::Duplicate);
    assert_eq!(scene.message_of("m1").await["content"], "Bom dia");
}

/// X5, D43.
#[tokio::test]
async fn a_request_to_stop_in_late_content_counts() {
    let scene = qr_scene().await;
    let before = listed(&scene, "m1", json!({"type": "unsupported"})).await;
    listed(&scene, "m1", json!({"type": "text", "content": "SAIR"})).await;
    let contact = scene.contact_of(&before).await;
    assert_ne!(contact["opted_out_at"], Value::Null);
    assert_eq!(scene.reported("contact.opted_out").len(), 1);
}

/// X2, D43: a button that asks to stop counts, also where only the block names it; a form does not.
#[tokio::test]
async fn a_pressed_button_that_asks_to_stop_counts_wherever_it_is_named() {
    for (kind, stops) in [("button_reply", true), ("list_reply", true), ("flow_reply", false)] {
        let scene = qr_scene().await;
        let answer = json!({"type": "interactive", "interactive": {"kind": kind, "title": "Sair"}});
        let message = listed(&scene, "m1", answer).await;
        let contact = scene.contact_of(&message).await;
        assert_eq!(contact["opted_out_at"] != Value::Null, stops, "{kind}");
    }
}

/// X7, 2.1: whoever reacts has a name all the same.
#[tokio::test]
async fn a_reaction_tells_the_name_that_a_person_gave_themselves() {
    let scene = qr_scene().await;
    let reaction = json!({"type": "reaction", "content": "👍", "push_name": "Bia",
        "quoted_provider_message_id": "m0"});
    let message = listed(&scene, "m1", reaction).await;
    assert_eq!(scene.contact_of(&message).await["display_name"], "Bia");
}

/// D31a: what a person writes with a file is its caption, and an edit changes that.
#[tokio::test]
async fn an_edit_of_a_file_changes_its_caption() {
    let scene = qr_scene().await;
    let photo = json!({"type": "image", "media": {"mimetype": "image/png", "caption": "Veja"}});
    listed(&scene, "m1", photo).await;
    let edit = json!({"kind": "edit", "provider_message_id": "m1", "content": "Veja isto"});
    assert_eq!(scene.messaging.tell(edit.clone()).await.result, EventOutcome::Stored);
    assert_eq!(scene.messaging.tell(edit).await.result, EventOutcome::Duplicate);
    let message = scene.message_of("m1").await;
    assert_eq!(
        (&message["media_caption"], &message["content"]),
        (&json!("Veja isto"), &Value::Null)
    );
    assert_eq!(message["is_edited"], true);
}

/// X2: what a gateway sends is never refused for its size; what has no form is, by its name.
#[tokio::test]
async fn a_block_is_cut_to_its_limits_and_one_without_its_form_is_named() {
    let scene = qr_scene().await;
    let long = "á".repeat(5_000);
    let message = listed(
        &scene,
        "m1",
        json!({"type": "text", "content": "Oi",
        "referral": {"headline": long}}),
    )
    .await;
    let headline = message["referral"]["headline"].as_str().unwrap();
    assert_eq!(headline.chars().count(), 4_096);
    assert!(headline.ends_with('…'));
    let bad = json!({"kind": "message", "provider_message_id": "m2", "from": PEER,
        "type": "location", "location": {"latitude": 1}});
    let refused = scene.messaging.tell(bad).await;
    assert_eq!(refused.result, EventOutcome::Refused);
    assert!(refused.reason.unwrap().starts_with("location cannot be read"));
}
