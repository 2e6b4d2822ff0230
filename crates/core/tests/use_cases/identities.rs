//! Several names of one person (D15, D62, D67).

use recado_core::gateway::{GatewayEvent, GatewayMessage, NamesReport};
use recado_core::inbox::{EventOutcome, EventResult};
use recado_core::{Error, Rejection};
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::gateway_scene::*;
use super::{create_phone, shown};

const LID: &str = "123456@lid";

async fn names(scene: &Scene, peer: &str, aliases: &[&str]) -> EventResult {
    let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
    let report = NamesReport { peer: peer.to_owned(), aliases };
    scene.messaging.receive(vec![Ok(GatewayEvent::Names(report))]).await.remove(0)
}

/// The contact of the newest message.
async fn newest_contact(scene: &Scene) -> String {
    scene.messaging.newest().await["contact_id"].as_str().unwrap().to_owned()
}

/// The contacts with the phone of the scene, from the refusal of a send by phone.
async fn ambiguous(scene: &Scene) -> Option<Vec<String>> {
    match scene.messaging.send(PHONE, "Oi").await {
        Err(Error::Rejected(error)) if error.code().as_str() == "AMBIGUOUS_CONTACT" => {
            let details = json!(error.details());
            let ids = details["contact_ids"].as_array().unwrap().iter();
            Some(ids.map(|id| id.as_str().unwrap().to_owned()).collect())
        }
        Ok(_) => None,
        other => panic!("{other:?}"),
    }
}

/// R115.
#[tokio::test]
async fn a_contact_known_by_lid_gets_the_phone_that_is_learnt_later() {
    let scene = scene("waha").await;
    scene.messaging.hear("m1", LID, "Oi").await;
    let contact = newest_contact(&scene).await;
    assert_eq!(names(&scene, LID, &[PEER]).await.result, EventOutcome::Stored);
    let id = recado_core::ids::ContactId::parse(&contact).unwrap();
    let now = shown(&scene.kit, id).await;
    assert_eq!((&now["phone"], &now["identifier"]), (&json!(PHONE), &json!(LID)));
    assert_eq!(names(&scene, LID, &[PEER]).await.result, EventOutcome::Duplicate);
    assert_eq!(names(&scene, PEER, &[LID]).await.result, EventOutcome::Duplicate);
    // A send by phone uses the channel's name, and messages are matched by any of its names.
    let sent = scene.messaging.send(PHONE, "Olá").await.unwrap();
    assert_eq!(sent.contact_id, id);
    assert_eq!(scene.kit.provider.sent()[0].outgoing.recipient, LID);
    for (message, peer) in [("m2", PEER), ("m3", "5534991230001"), ("m4", LID)] {
        scene.messaging.hear(message, peer, "Oi").await;
        assert_eq!(newest_contact(&scene).await, contact);
    }
    assert_eq!(scene.reported("contact.created").len(), 1);
}

#[tokio::test]
async fn a_contact_known_by_phone_is_found_by_the_lid_that_is_learnt_later() {
    let scene = scene("waha").await;
    let contact = create_phone(&scene.kit, PHONE).await;
    assert_eq!(names(&scene, LID, &[PEER]).await.result, EventOutcome::Stored);
    scene.messaging.hear("m1", LID, "Oi").await;
    assert_eq!(newest_contact(&scene).await, contact.to_string());
    assert_eq!(shown(&scene.kit, contact).await["identifier"], "5534991230001");
}

#[tokio::test]
async fn names_of_nobody_make_nobody() {
    let scene = scene("evolution").await;
    // The first event of a process makes the key of media links.
    names(&scene, LID, &[PEER]).await;
    let rows = scene.model.row_count();
    assert_eq!(names(&scene, LID, &[PEER]).await.result, EventOutcome::Ignored);
    assert_eq!(names(&scene, "  ", &[]).await.result, EventOutcome::Refused);
    assert_eq!(scene.model.row_count(), rows);
}

/// R115.
#[tokio::test]
async fn two_contacts_that_turn_out_to_be_one_person_are_distinguished_by_the_operator() {
    let scene = scene("waha").await;
    let by_phone = create_phone(&scene.kit, PHONE).await.to_string();
    scene.messaging.hear("m1", LID, "Oi").await;
    let by_lid = newest_contact(&scene).await;
    assert_eq!(ambiguous(&scene).await, None);
    assert_eq!(names(&scene, LID, &[PEER]).await.result, EventOutcome::Stored);
    let mut found = ambiguous(&scene).await.expect("both have the phone");
    found.sort();
    let mut both = [by_phone.clone(), by_lid.clone()];
    both.sort();
    assert_eq!(found, both);
    // Inbound messages go to the contact with the channel's name, and nothing is lost.
    scene.messaging.hear("m2", LID, "Oi").await;
    assert_eq!(newest_contact(&scene).await, by_lid);
    scene.messaging.hear("m3", PEER, "Oi").await;
    assert_eq!(newest_contact(&scene).await, by_phone);
    assert_eq!(names(&scene, LID, &[PEER]).await.result, EventOutcome::Duplicate);

    let [keeps, goes] =
        [&by_phone, &by_lid].map(|id| recado_core::ids::ContactId::parse(id).unwrap());
    scene.kit.app.contacts().merge(scene.kit.company.id, keeps, goes).await.unwrap();
    let sent = scene.messaging.send(PHONE, "Oi").await.unwrap();
    assert_eq!(sent.contact_id, keeps);
    scene.messaging.hear("m4", LID, "Oi").await;
    assert_eq!(newest_contact(&scene).await, by_phone);
    assert!(scene.messaging.messages().await.iter().all(|m| m["contact_id"] == json!(keeps)));
}

#[tokio::test]
async fn a_message_brings_names_as_a_report_of_them_does() {
    let scene = scene("evolution").await;
    let by_phone = create_phone(&scene.kit, PHONE).await.to_string();
    scene.messaging.hear("m1", LID, "Oi").await;
    let by_lid = newest_contact(&scene).await;
    let reported = GatewayMessage { aliases: vec![PEER.to_owned()], ..text("m2", LID, "Oi") };
    scene.call(here([Ok(GatewayEvent::Message(reported))])).await.unwrap();
    assert_eq!(newest_contact(&scene).await, by_lid);
    let mut found = ambiguous(&scene).await.expect("both have the phone");
    found.sort();
    let mut both = [by_phone, by_lid];
    both.sort();
    assert_eq!(found, both);
}

/// R115.
#[tokio::test]
async fn a_phone_that_a_contact_has_is_not_replaced() {
    let scene = scene("waha").await;
    let contact = create_phone(&scene.kit, PHONE).await;
    names(&scene, LID, &[PEER]).await;
    names(&scene, LID, &["5511987654321"]).await;
    assert_eq!(shown(&scene.kit, contact).await["phone"], PHONE);
    scene.messaging.hear("m1", "5511987654321", "mudei de número").await;
    assert_eq!(newest_contact(&scene).await, contact.to_string());
}

#[tokio::test]
async fn names_that_are_learnt_at_once_are_learnt_once() {
    let scene = scene("waha").await;
    scene.messaging.hear("m1", LID, "Oi").await;
    let reports = (0..20).map(|_| names(&scene, LID, &[PEER]));
    let results = futures_util::future::join_all(reports).await;
    let stored = results.iter().filter(|r| r.result == EventOutcome::Stored).count();
    assert_eq!(stored, 1);
    assert_eq!(ambiguous(&scene).await, None);
}

#[tokio::test]
async fn groups_learn_no_phone() {
    let scene = scene("waha").await;
    let reported = GatewayMessage {
        participant: Some(PEER.to_owned()),
        aliases: vec![PEER.to_owned()],
        ..text("m1", "120363@g.us", "Oi")
    };
    scene.call(here([Ok(GatewayEvent::Message(reported))])).await.unwrap();
    let contact = newest_contact(&scene).await;
    let id = recado_core::ids::ContactId::parse(&contact).unwrap();
    let group = shown(&scene.kit, id).await;
    assert_eq!(group["is_group"], true);
    assert_ne!(group["phone"], json!(PHONE));
    assert_ne!(group["phone"], Value::Null, "a group is shown by its identifier");
    let sent = scene.messaging.send(PHONE, "Oi").await.unwrap();
    assert_ne!(sent.contact_id, id);
}

/// R37.
#[tokio::test]
async fn an_event_is_about_whom_it_names_first_on_its_channel() {
    let scene = scene("waha").await;
    let says = async |id: &str, peer: &str, aliases: &[&str]| {
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        let message = GatewayMessage { aliases, ..text(id, peer, "Oi") };
        scene.messaging.receive(vec![Ok(GatewayEvent::Message(message))]).await;
        newest_contact(&scene).await
    };
    let (one, two) = (says("m1", "1@lid", &[]).await, says("m2", "2@lid", &[]).await);
    assert_eq!(says("m3", "1@lid", &["2@lid"]).await, one);
    assert_eq!(says("m4", "2@lid", &["1@lid"]).await, two);
    assert_eq!(says("m5", "3@lid", &["2@lid", "1@lid"]).await, two);
    let mut same_phone = Vec::new();
    for (identifier, channel) in [("a", "telegram"), ("b", "whatsapp"), ("c", "whatsapp")] {
        let new = json!({ "identifier": identifier, "source_platform": channel, "phone": PHONE });
        let import = scene.kit.app.contacts().import(&scene.kit.company, &body(new)).await;
        same_phone.push(import.unwrap().0.to_string());
    }
    assert_eq!(says("m6", PEER, &[]).await, same_phone[1], "the older one on the channel");
}
