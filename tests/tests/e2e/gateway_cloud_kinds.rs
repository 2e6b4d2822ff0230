//! Messages of every kind through the official cloud API, and what is done with messages there:
//! X12, X13, X14; R331, R333.

use std::time::Duration;

use recado_tests::{Clouded, both_stores, mobile, text, with};
use serde_json::{Value, json};

/// The kinds that need no file: the call, its body, the type of the message, its block, and the
/// API's type.
fn calls() -> Vec<(&'static str, Value, &'static str, &'static str, &'static str)> {
    let offer = |body: Value| ("interactive", body, "interactive", "interactive", "interactive");
    vec![
        offer(json!({"kind": "buttons", "body": "Confirma?", "footer": "Padaria",
            "header": {"text": "Pedido"},
            "buttons": [{"id": "sim", "title": "Sim"}, {"id": "nao", "title": "Não"}]})),
        offer(json!({"kind": "list", "body": "O que deseja?", "button": "Ver", "sections": [
            {"title": "Pães", "rows": [{"id": "p", "title": "Francês", "description": "Novo"}]},
            {"title": "Bolos", "rows": [{"id": "b", "title": "Cenoura"}]}]})),
        offer(json!({"kind": "cta_url", "body": "Veja", "label": "Datas",
            "url": "https://padaria.example/datas"})),
        offer(json!({"kind": "location_request", "body": "Onde?"})),
        (
            "location",
            json!({"latitude": -18.918612, "longitude": -48.277245, "name": "Padaria"}),
            "location",
            "location",
            "location",
        ),
        (
            "contacts",
            json!({"contacts": [{"name": "João", "phones": ["+5534991234567"],
                "organization": "Padaria"}]}),
            "contacts",
            "shared_contacts",
            "contacts",
        ),
    ]
}

#[both_stores]
async fn each_kind_goes_out_as_the_api_wants_it_and_is_read_back(world: Clouded) {
    for (n, (call, body, kind, block, official)) in (1..).zip(calls()) {
        let wanted = with(json!({"to": mobile(n)}), body);
        let data = world.post(&format!("/api/v1/send/{call}"), wanted.clone()).await.expect(200);
        assert_eq!(data["type"], kind, "{wanted}");
        let sent = world.fake.accepted().pop().expect("it arrived");
        assert_eq!((&*sent.kind, &*sent.to), (official, &*mobile(n)), "{wanted}");
        assert_eq!(sent.body["biz_opaque_callback_data"], data["message_id"], "{wanted}");
        let message = world.message_with(&sent.id).await;
        assert_eq!(message["type"], kind, "{wanted}");
        assert!(message[block].is_object() || message[block].is_array(), "{message}");
        assert_eq!(message["status"], "sent", "{wanted}");
    }
    world.well_behaved();
}

/// X7, X13.
#[both_stores]
async fn a_reaction_names_its_message_and_is_withdrawn_by_an_empty_one(world: Clouded) {
    let inbound = world.says("5511987650002", "oi").await;
    for (emoji, expected) in [(json!("\u{1F44D}"), "\u{1F44D}"), (Value::Null, "")] {
        let call = json!({"message_id": inbound["id"], "emoji": emoji});
        world.post("/api/v1/send/reaction", call).await.expect(200);
        let sent = world.fake.accepted().pop().expect("it arrived");
        let reaction = json!({"message_id": inbound["wamid"], "emoji": expected});
        assert_eq!(sent.body["reaction"], reaction);
    }
    assert_eq!(world.fake.accepted().len(), 2);
    world.well_behaved();
}

#[both_stores]
async fn a_quoted_message_is_the_context(world: Clouded) {
    let inbound = world.says("5511987650002", "oi").await;
    let call = json!({"contact_id": inbound["contact_id"], "quoted_message_id": inbound["id"],
        "kind": "location_request", "body": "Onde?"});
    world.post("/api/v1/send/interactive", call).await.expect(200);
    let sent = world.only_send().await;
    assert_eq!(sent.body["context"], json!({"message_id": inbound["wamid"]}));
    world.well_behaved();
}

/// X12, X14.
#[both_stores]
async fn what_the_api_has_no_word_for_is_refused_by_name(world: Clouded) {
    let sent = world.sent(&mobile(1), "oi").await;
    let path = format!("/api/v1/messages/{}", text(&sent["message_id"]));
    let poll = json!({"to": mobile(1), "kind": "poll", "body": "Quando?",
        "options": ["Sábado", "Domingo"]});
    let refused = [
        (world.post("/api/v1/send/interactive", poll).await, "poll"),
        (world.patch(&path, json!({"message": "olá"})).await, "edit"),
        (world.delete(&path).await, "revoke"),
    ];
    for (answer, kind) in refused {
        answer.expect_error(422, "NOT_SUPPORTED_BY_CONNECTION");
        let details = answer.json()["details"].clone();
        assert_eq!(
            (&details["kind"], &details["provider"]),
            (&json!(kind), &json!("official_cloud"))
        );
        let supported = details["supported"].as_array().cloned().unwrap_or_default();
        assert!(supported.contains(&json!("buttons")) && !supported.contains(&json!(kind)));
    }
    assert_eq!(world.fake.accepted().len(), 1);
    world.well_behaved();
}

/// X14, R333.
#[both_stores]
async fn messages_are_marked_as_read_and_typing_marks_the_newest(world: Clouded) {
    let first = world.says("5511987650002", "oi").await;
    let path = format!("/api/v1/messages/{}/read", text(&first["id"]));
    world.post(&path, json!({})).await.expect(200);
    assert_eq!(world.fake.read(), [text(&first["wamid"])]);
    world.advance(Duration::from_secs(5));
    let newest = world.says("5511987650002", "tudo bem?").await;
    let path = format!("/api/v1/contacts/{}/typing", text(&first["contact_id"]));
    let shown = world.post(&path, json!({"state": "typing"})).await.expect(200);
    assert_eq!(shown["done"], true, "{shown}");
    assert_eq!(world.fake.typed(), [text(&newest["wamid"])]);
    world.advance(Duration::from_secs(5));
    let shown = world.post(&path, json!({"state": "paused"})).await.expect(200);
    assert_eq!(shown["done"], false, "{shown}");
    assert_eq!(world.fake.typed().len(), 1);
    world.well_behaved();
}
