//! Two contacts that turned out to be one person, made one by the operator (D62, D67).

use std::sync::Arc;

use recado_core::contacts::ContactFilter;
use recado_core::conversations::ActionName;
use recado_core::gateway::SendFailure;
use recado_core::ids::{ContactId, ListId};
use recado_core::messages::DeliveryCode;
use recado_core::page::PageRequest;
use recado_core::query::Params;
use recado_core::{Error, ManageResult};
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure, StoreOp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::gateway_scene::*;
use super::{code, create, create_phone, refused, run_until_it_hangs, shown};

const LID: &str = "123456@lid";

async fn merge(scene: &Scene, id: ContactId, other: ContactId) -> ManageResult<()> {
    scene.kit.app.contacts().merge(scene.kit.company.id, id, other).await
}

/// The contact of the newest message.
async fn newest_contact(scene: &Scene) -> ContactId {
    let newest = scene.messaging.newest().await;
    ContactId::parse(newest["contact_id"].as_str().unwrap()).unwrap()
}

/// A contact known by phone, and one known by LID that has written.
async fn two(scene: &Scene) -> (ContactId, ContactId) {
    let keeps = create_phone(&scene.kit, PHONE).await;
    scene.messaging.hear("m1", LID, "Oi").await;
    (keeps, newest_contact(scene).await)
}

async fn is_gone(scene: &Scene, id: ContactId) -> bool {
    scene.kit.app.contacts().get_for_operator(scene.kit.company.id, id).await.is_err()
}

async fn contacts(scene: &Scene) -> u64 {
    let filter = ContactFilter::default();
    let page = PageRequest::FIRST;
    scene.kit.app.contacts().page(&scene.kit.caller, &filter, page, false).await.unwrap().total
}

async fn messages_of(scene: &Scene, id: ContactId) -> Vec<Value> {
    let messages = scene.kit.app.messages();
    let params = Params::default();
    let listed = messages.list_of_contact(&scene.kit.caller, id, &params).await.unwrap();
    listed.items.iter().map(|item| serde_json::to_value(item).unwrap()).collect()
}

/// R116.
#[tokio::test]
async fn everything_of_the_other_contact_is_the_ones_that_stays() {
    let scene = scene("waha").await;
    let (keeps, goes) = two(&scene).await;
    let (app, company) = (&scene.kit.app, scene.kit.company.id);
    let list = app.lists().create(company, &body(json!({ "name": "VIP" }))).await.unwrap();
    let list = serde_json::to_value(list).unwrap();
    let list_id = ListId::parse(list["id"].as_str().unwrap()).unwrap();
    let members = body(json!({ "contact_ids": [goes] }));
    app.lists().add_contacts(company, list_id, &members).await.unwrap();
    let tag = body(json!({ "name": "VIP", "color": "#fff" }));
    let tag = serde_json::to_value(app.tags().create(company, &tag).await.unwrap()).unwrap();
    let patch = body(json!({ "tag_ids": [tag["id"]] }));
    app.contacts().patch_as_operator(company, goes, &patch).await.unwrap();
    let deal = body(json!({ "contact_id": goes, "title": "Bolo" }));
    app.deals().create(company, &deal).await.unwrap();
    app.documents().attach(company, goes, "a.pdf", vec![1, 2]).await.unwrap();
    let link = body(json!({ "contact_id": goes, "url": "https://example.com/" }));
    app.links().create(company, &link).await.unwrap();
    let memory = body(json!({ "summary": "quer bolo", "key_facts": ["Tem loja"] }));
    app.leads().merge(company, goes, &memory).await.unwrap();
    let debit = json!({ "prosas": 3, "cost_brl": 0.3, "scope": "message", "contact_id": goes });
    app.prosas().debit(company, &body(debit)).await.unwrap();

    merge(&scene, keeps, goes).await.unwrap();
    assert!(is_gone(&scene, goes).await);
    assert_eq!(contacts(&scene).await, 1);
    let now = shown(&scene.kit, keeps).await;
    assert_eq!((&now["phone"], &now["identifier"]), (&json!(PHONE), &json!("5534991230001")));
    assert_eq!(now["tags"].as_array().unwrap().len(), 1);
    assert_eq!(now["connections"][0]["unread_count"], 1);
    assert_eq!(messages_of(&scene, keeps).await.len(), 1);
    let members = app.lists().all(company).await.unwrap();
    assert_eq!(serde_json::to_value(members).unwrap()[0]["contacts_count"], 1);
    let deals = serde_json::to_value(app.deals().all(company).await.unwrap()).unwrap();
    assert_eq!(deals[0]["contact_id"], json!(keeps));
    let documents = app.documents().list(company, keeps).await.unwrap();
    let read = app.documents().read(company, keeps, documents[0].id).await.unwrap();
    assert_eq!(read.1, [1, 2]);
    let links = serde_json::to_value(app.links().all(company).await.unwrap()).unwrap();
    assert_eq!(links[0]["contact_id"], json!(keeps));
    let memory = serde_json::to_value(app.leads().get(company, keeps).await.unwrap()).unwrap();
    assert_eq!(memory["key_facts"], json!(["Tem loja"]));
    assert_eq!(scene.messaging.ledger().await[0]["contact_id"], json!(keeps));
    // Messages from and to every name of both are those of this contact.
    for (n, peer) in [LID, PEER, "5534991230001"].into_iter().enumerate() {
        scene.messaging.hear(&format!("h{n}"), peer, "Oi").await;
        assert_eq!(newest_contact(&scene).await, keeps, "{peer}");
    }
    assert_eq!(scene.messaging.send(PHONE, "Oi").await.unwrap().contact_id, keeps);
    assert_eq!(contacts(&scene).await, 1);
}

#[tokio::test]
async fn what_the_contact_lacks_is_filled_in_and_what_it_has_stays() {
    let scene = scene("waha").await;
    let keeps = create(&scene.kit, json!({ "phone": PHONE, "name": "Ana", "city": "Uberlândia" }));
    let keeps = keeps.await.contact.id;
    let goes = create(
        &scene.kit,
        json!({ "phone": "+5534991230009", "name": "Ana Maria", "email": "ana@x.example",
            "city": "São Paulo", "state": "MG" }),
    );
    let goes = goes.await.contact.id;
    merge(&scene, keeps, goes).await.unwrap();
    let now = shown(&scene.kit, keeps).await;
    assert_eq!((&now["name"], &now["phone"]), (&json!("Ana"), &json!(PHONE)));
    assert_eq!(now["email"], "ana@x.example");
    assert_eq!((&now["city"], &now["state"]), (&json!("Uberlândia"), &json!("MG")));
    // The other phone is an alias of it: messages from this phone are the contact's.
    scene.messaging.hear("m1", "5534991230009", "Oi").await;
    assert_eq!(newest_contact(&scene).await, keeps);
    let again = body(json!({ "phone": "+5534991230009" }));
    let taken = scene.kit.app.contacts().create(&scene.kit.caller, &again).await;
    assert_eq!(code(taken), "CONTACT_EXISTS");
}

#[tokio::test]
async fn a_request_to_stop_and_a_block_outlive_the_merge() {
    for (first, second) in [(true, false), (false, true)] {
        let scene = scene("waha").await;
        let (keeps, goes) = two(&scene).await;
        let act = async |id, action, given| {
            let conversations = scene.kit.app.conversations();
            let given = body(given);
            conversations.act(scene.kit.company.id, id, action, &given).await.unwrap();
        };
        let stopped = if first { keeps } else { goes };
        let at = json!({ "source": "backfill", "opted_out_at": "2026-01-02T03:04:05.006Z" });
        act(stopped, ActionName::OptOut, at).await;
        act(if second { keeps } else { goes }, ActionName::Block, json!({})).await;
        let before = shown(&scene.kit, stopped).await;
        let reported = scene.reported("contact.opted_out").len();
        merge(&scene, keeps, goes).await.unwrap();
        let now = shown(&scene.kit, keeps).await;
        assert_eq!(now["opted_out_at"], before["opted_out_at"]);
        assert_ne!(now["opted_out_at"], Value::Null);
        assert_eq!(now["is_blocked"], true);
        let refused = scene.messaging.send(PHONE, "Oi").await;
        assert!(["CONTACT_OPTED_OUT", "CONTACT_BLOCKED"].contains(&code(refused).as_str()));
        // A merge is no opt-out.
        assert_eq!(scene.reported("contact.opted_out").len(), reported);
    }
}

/// R116.
#[tokio::test]
async fn nobody_is_reported_of_a_merge() {
    let scene = scene("waha").await;
    let (keeps, goes) = two(&scene).await;
    let before = scene.model.events(scene.kit.company.id).len();
    merge(&scene, keeps, goes).await.unwrap();
    assert_eq!(scene.model.events(scene.kit.company.id).len(), before);
}

/// R116.
#[tokio::test]
async fn what_cannot_be_merged_is_left_alone() {
    let scene = scene("waha").await;
    let (keeps, goes) = two(&scene).await;
    scene.messaging.hear("m2", "120363@g.us", "Oi").await;
    let group = newest_contact(&scene).await;
    let import = body(json!({ "identifier": "@ana", "source_platform": "telegram" }));
    let (telegram, _) = scene.kit.app.contacts().import(&scene.kit.company, &import).await.unwrap();
    let nobody = ContactId::new(Uuid::from_u128(1));
    let rows = scene.model.row_count();
    for (id, other) in
        [(keeps, keeps), (keeps, group), (group, keeps), (keeps, telegram), (telegram, keeps)]
    {
        let (code, details) = refused(merge(&scene, id, other).await);
        assert_eq!(code, "VALIDATION_ERROR");
        assert_eq!(details["fields"], json!(["other_contact_id"]));
    }
    for (id, other) in [(nobody, goes), (keeps, nobody)] {
        assert_eq!(code(merge(&scene, id, other).await), "NOT_FOUND");
    }
    let (company, _) = scene.kit.another_company("Outra").await;
    let theirs = scene.kit.app.contacts().merge(company.id, keeps, goes).await;
    assert_eq!(code(theirs), "NOT_FOUND");
    // The other company with its key is all that is new.
    assert_eq!(scene.model.row_count(), rows + 2);
    assert_eq!(code(merge(&scene, goes, goes).await), "VALIDATION_ERROR");
}

#[tokio::test]
async fn a_merge_happens_once() {
    let scene = scene("waha").await;
    let (keeps, goes) = two(&scene).await;
    let (one, other) = tokio::join!(merge(&scene, keeps, goes), merge(&scene, keeps, goes));
    let outcomes = [one, other].map(|outcome| outcome.is_ok());
    assert!(outcomes[0] != outcomes[1], "{outcomes:?}");
    assert_eq!(code(merge(&scene, keeps, goes).await), "NOT_FOUND");
    assert_eq!(messages_of(&scene, keeps).await.len(), 1);
}

#[tokio::test]
async fn a_merge_both_ways_at_once_keeps_one_of_them() {
    let scene = scene("waha").await;
    let (one, other) = two(&scene).await;
    let outcomes = tokio::join!(merge(&scene, one, other), merge(&scene, other, one));
    assert!(outcomes.0.is_ok() != outcomes.1.is_ok(), "{outcomes:?}");
    assert_eq!(contacts(&scene).await, 1);
    assert_eq!(scene.messaging.messages().await.len(), 1);
}

#[tokio::test]
async fn a_message_on_its_way_is_finished_on_the_contact_that_stays() {
    let accepted = recado_core::gateway::Accepted {
        provider_id: wamid("w1"),
        recipient: Some("553491230009".to_owned()),
        aliases: vec!["777@lid".to_owned()],
    };
    let refusal = SendFailure::refused(DeliveryCode::Payment, "pague");
    for answer in [Ok(accepted), Err(refusal), Err(SendFailure::uncertain("timed out"))] {
        let scene = scene("waha").await;
        let keeps = create_phone(&scene.kit, "+5534991230009").await;
        let goes = create_phone(&scene.kit, PHONE).await;
        let gate = scene.kit.provider.hold();
        scene.kit.provider.then(answer.clone());
        let send = scene.messaging.send(PHONE, "Oi");
        let meanwhile = async {
            gate.reached(1).await;
            merge(&scene, keeps, goes).await.unwrap();
            gate.open();
        };
        let (sent, ()) = tokio::join!(send, meanwhile);
        let id = scene.kit.provider.sent()[0].outgoing.reference;
        let message = scene.message(id).await;
        assert_eq!(message["contact_id"], json!(keeps));
        let wanted = if answer.is_ok() { "sent" } else { "failed" };
        assert_eq!((message["status"].as_str(), sent.is_ok()), (Some(wanted), answer.is_ok()));
        let reported =
            scene.reported(if answer.is_ok() { "message.sent" } else { "message.status_updated" });
        assert_eq!((reported.len(), &reported[0]["contact"]["id"]), (1, &json!(keeps)));
        assert!(is_gone(&scene, goes).await);
        if answer.is_ok() {
            assert_eq!(sent.unwrap().contact_id, keeps);
            scene.messaging.hear("m1", "777@lid", "Oi").await;
            assert_eq!(newest_contact(&scene).await, keeps);
        }
    }
}

#[tokio::test]
async fn a_message_whose_process_died_is_finished_on_the_contact_that_stays() {
    let scene = scene("waha").await;
    let keeps = create_phone(&scene.kit, "+5534991230009").await;
    let goes = create_phone(&scene.kit, PHONE).await;
    let gate = scene.kit.provider.hold();
    assert!(run_until_it_hangs(scene.messaging.send(PHONE, "Oi")).is_none());
    merge(&scene, keeps, goes).await.unwrap();
    scene.kit.clock.advance(recado_core::workers::LEASE + std::time::Duration::from_secs(1));
    while scene.kit.app.sending().recover().await.unwrap() {}
    let id = scene.kit.provider.sent()[0].outgoing.reference;
    assert!(scene.is_uncertain(id).await);
    assert_eq!(scene.message(id).await["contact_id"], json!(keeps));
    drop(gate);
}

#[tokio::test]
async fn messages_that_come_meanwhile_are_all_there() {
    for _ in 0..5 {
        let model = MemoryStore::new();
        let store = FaultyStore::new(Arc::new(model.clone()));
        let kit = Kit::builder().store(Arc::new(store.clone())).build().await;
        let connection = connect(&kit, "waha", json!({})).await;
        let messaging = super::messaging::Messaging { kit: kit.clone(), connection };
        let scene = Scene { messaging, kit, model, store };
        let (keeps, goes) = two(&scene).await;
        let heard = async |n: usize| {
            let peer = [LID, PEER][n % 2];
            scene.messaging.hear(&format!("c{n}"), peer, "Oi").await
        };
        let hears = futures_util::future::join_all((0..30).map(heard));
        let sends =
            futures_util::future::join_all((0..5).map(|_| scene.messaging.send(PHONE, "Oi")));
        let (merged, _, sent) = tokio::join!(merge(&scene, keeps, goes), hears, sends);
        merged.unwrap();
        assert!(sent.iter().all(Result::is_ok), "{sent:?}");
        assert_eq!(scene.messaging.messages().await.len(), 36);
        // A message from a name that no contact has any more would create a contact.
        let all = scene.messaging.messages().await;
        assert!(all.iter().all(|message| message["contact_id"] == json!(keeps)));
        assert_eq!(contacts(&scene).await, 1);
        let unread = &shown(&scene.kit, keeps).await["connections"][0]["unread_count"];
        assert_eq!(*unread, 31);
    }
}

#[tokio::test]
async fn a_merge_that_the_store_fails_changes_nothing_or_everything() {
    for failure in [StoreFailure::Unavailable, StoreFailure::UnknownAfter] {
        let scene = scene("waha").await;
        let (keeps, goes) = two(&scene).await;
        scene.store.fail_nth(StoreOp::Commit, 0, failure);
        let failed = merge(&scene, keeps, goes).await;
        assert!(matches!(failed, Err(Error::Store(_))), "{failed:?}");
        let is_merged = failure == StoreFailure::UnknownAfter;
        assert_eq!(is_gone(&scene, goes).await, is_merged);
        assert_eq!(messages_of(&scene, keeps).await.len(), usize::from(is_merged));
    }
}

#[tokio::test]
async fn what_was_reported_of_either_is_forgotten_with_the_one_that_is_left() {
    let scene = scene("waha").await;
    let (keeps, goes) = two(&scene).await;
    merge(&scene, keeps, goes).await.unwrap();
    scene.kit.app.contacts().delete(&scene.kit.caller, keeps).await.unwrap();
    scene.after(60).await;
    let events = scene.model.events(scene.kit.company.id);
    assert!(events.len() > 1);
    assert!(events.iter().all(|event| event.data.is_empty()), "{events:?}");
}
