//! Names of recipients in the answers to sends, and what they must not change (D15, D62, D67).

use std::time::Duration;

use recado_core::gateway::{Accepted, GatewayEvent, GatewayMessage};
use recado_core::ids::ContactId;
use recado_core::sending::{Order, SendTarget};
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::gateway_scene::*;
use super::{create_phone, refused, shown};

const LID: &str = "123456@lid";
const SCOPED: &str = "BR.13491208655302741918";
const OTHER: &str = "+5511987654321";

/// An answer that names the recipient.
fn named(id: &str, recipient: Option<&str>, aliases: &[&str]) -> Accepted {
    Accepted {
        provider_id: wamid(id),
        recipient: recipient.map(str::to_owned),
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
    }
}

/// Sends a text to a contact by its id.
async fn reply(scene: &Scene, contact: ContactId) {
    let company = scene.kit.company.id;
    let order = Order::text(company, SendTarget::Contact(contact), None, "Oi".to_owned());
    scene.kit.app.sending().deliver(order).await.unwrap();
}

async fn newest_contact(scene: &Scene) -> ContactId {
    let message = scene.messaging.newest().await;
    message["contact_id"].as_str().and_then(ContactId::parse).unwrap()
}

/// The contact of a new message from `peer`.
async fn writes(scene: &Scene, id: &str, peer: &str) -> ContactId {
    scene.messaging.hear(id, peer, "Oi").await;
    newest_contact(scene).await
}

/// Whom the last send was addressed to.
fn addressed(scene: &Scene) -> String {
    scene.kit.provider.sent().last().unwrap().outgoing.recipient.clone()
}

/// The contacts that a send by phone finds.
async fn ambiguous(scene: &Scene, phone: &str) -> Vec<ContactId> {
    let (code, details) = refused(scene.messaging.send(phone, "Oi").await);
    assert_eq!(code, "AMBIGUOUS_CONTACT");
    let ids = details["contact_ids"].as_array().unwrap().iter();
    let mut ids: Vec<_> = ids.map(|id| id.as_str().and_then(ContactId::parse).unwrap()).collect();
    ids.sort();
    ids
}

/// R138.
#[tokio::test]
async fn a_phone_that_an_answer_reports_goes_to_the_contact_that_has_none() {
    let answers = [(Some(LID), vec![PEER]), (Some(PEER), vec![]), (None, vec![PEER])];
    for (recipient, aliases) in answers {
        let scene = scene("waha").await;
        let contact = writes(&scene, "m1", LID).await;
        assert_eq!(shown(&scene.kit, contact).await["phone"], LID, "a LID stands for it");
        scene.kit.provider.then(Ok(named("w1", recipient, &aliases)));
        reply(&scene, contact).await;
        assert_eq!(addressed(&scene), LID, "nothing else was known");
        assert_eq!(shown(&scene.kit, contact).await["phone"], PHONE);
        assert_eq!(scene.reported("message.sent")[0]["contact"]["phone"], PHONE);
        let sent = scene.messaging.send(PHONE, "Olá").await.unwrap();
        assert_eq!(sent.contact_id, contact);
        assert_eq!(addressed(&scene), recipient.unwrap_or(LID), "as the channel calls it");
        assert_eq!(writes(&scene, "m2", PEER).await, contact);
        assert_eq!(writes(&scene, "m3", LID).await, contact);
        assert_eq!(scene.reported("contact.created").len(), 1);
    }
}

#[tokio::test]
async fn a_hidden_id_in_an_answer_that_is_another_contacts_gives_that_one_the_phone() {
    let answers = [(Some(LID), vec![]), (Some(PEER), vec![LID]), (Some(LID), vec![PEER])];
    for (recipient, aliases) in answers {
        let scene = scene("waha").await;
        let by_lid = writes(&scene, "m1", LID).await;
        scene.kit.provider.then(Ok(named("w1", recipient, &aliases)));
        let by_phone = scene.messaging.send(PHONE, "Oi").await.unwrap().contact_id;
        assert_ne!(by_phone, by_lid);
        assert_eq!(shown(&scene.kit, by_lid).await["phone"], PHONE);
        let mut both = vec![by_lid, by_phone];
        both.sort();
        assert_eq!(ambiguous(&scene, PHONE).await, both);
        // Nothing is merged: each keeps its name.
        assert_eq!(writes(&scene, "m2", LID).await, by_lid);
        assert_eq!(writes(&scene, "m3", PEER).await, by_phone);
        reply(&scene, by_phone).await;
        assert_eq!(addressed(&scene), PEER);
        reply(&scene, by_lid).await;
        assert_eq!(addressed(&scene), LID);
    }
}

#[tokio::test]
async fn what_an_answer_brings_is_learnt_once_by_sends_at_once() {
    let scene = scene("waha").await;
    let by_lid = writes(&scene, "m1", LID).await;
    let by_phone = create_phone(&scene.kit, PHONE).await;
    for n in 0..10 {
        scene.kit.provider.then(Ok(named(&format!("w{n}"), Some(LID), &[PEER])));
    }
    let gate = scene.kit.provider.hold();
    let sends = futures_util::future::join_all((0..10).map(|_| scene.messaging.send(PHONE, "Oi")));
    let open = async {
        gate.reached(10).await;
        gate.open();
    };
    let (sent, ()) = tokio::join!(sends, open);
    assert!(sent.into_iter().all(|sent| sent.unwrap().contact_id == by_phone));
    assert_eq!(shown(&scene.kit, by_lid).await["phone"], PHONE);
    assert!(scene.messaging.messages().await[..10].iter().all(|m| m["status"] == "sent"));
}

#[tokio::test]
async fn one_constant_number_in_all_answers_redirects_nothing() {
    let scene = scene("cloud_api").await;
    let third = "+5521987654321";
    let phones = [OTHER, PHONE, third];
    let contacts = [
        create_phone(&scene.kit, OTHER).await,
        create_phone(&scene.kit, PHONE).await,
        create_phone(&scene.kit, third).await,
    ];
    for round in 0..3 {
        for (n, phone) in phones.iter().enumerate() {
            let id = format!("w{round}.{n}");
            scene.kit.provider.then(Ok(named(&id, Some(PEER), &[])));
            assert_eq!(scene.messaging.send(phone, "Oi").await.unwrap().contact_id, contacts[n]);
            let first_or_own = phone.trim_start_matches('+');
            let expected = if n == 1 && round > 0 { PEER } else { first_or_own };
            assert_eq!(addressed(&scene), expected, "round {round}");
        }
    }
    assert_eq!(writes(&scene, "m1", PEER).await, contacts[1]);
    assert_eq!(writes(&scene, "m2", "5511987654321").await, contacts[0]);
}

/// R138.
#[tokio::test]
async fn the_number_of_another_person_in_an_answer_stays_theirs() {
    let scene = scene("cloud_api").await;
    scene.kit.provider.then(Ok(named("w1", Some(PEER), &[])));
    let other = scene.messaging.send(OTHER, "Oi").await.unwrap().contact_id;
    assert_ne!(writes(&scene, "m1", PEER).await, other);
    scene.messaging.send(OTHER, "Oi").await.unwrap();
    assert_eq!(addressed(&scene), "5511987654321");
}

/// R138.
#[tokio::test]
async fn another_form_of_the_number_is_learnt_and_used() {
    let scene = scene("cloud_api").await;
    let (phone, reported) = ("+525512345678", "5215512345678");
    scene.kit.provider.then(Ok(named("w1", Some(reported), &[SCOPED])));
    let contact = scene.messaging.send(phone, "Hola").await.unwrap().contact_id;
    scene.messaging.send(phone, "Hola").await.unwrap();
    assert_eq!(addressed(&scene), reported);
    for (id, peer) in [("m1", reported), ("m2", "525512345678"), ("m3", SCOPED)] {
        assert_eq!(writes(&scene, id, peer).await, contact, "{peer}");
    }
    assert_eq!(shown(&scene.kit, contact).await["phone"], phone);
}

/// R138.
#[tokio::test]
async fn a_scoped_id_does_not_replace_a_number_as_address() {
    let scene = scene("cloud_api").await;
    let both = GatewayMessage { aliases: vec![SCOPED.to_owned()], ..text("m1", PEER, "Oi") };
    scene.call(here([Ok(GatewayEvent::Message(both))])).await.unwrap();
    let contact = newest_contact(&scene).await;
    assert_eq!(writes(&scene, "m2", SCOPED).await, contact);
    scene.messaging.send(PHONE, "Olá").await.unwrap();
    assert_eq!(addressed(&scene), PEER);
    scene.kit.provider.then(Ok(named("w1", Some(SCOPED), &[])));
    reply(&scene, contact).await;
    scene.messaging.send(PHONE, "Olá").await.unwrap();
    assert_eq!(addressed(&scene), PEER);
}

/// R138.
#[tokio::test]
async fn somebody_without_a_phone_is_reached_by_their_hidden_id() {
    for (gateway, hidden) in [("cloud_api", SCOPED), ("waha", LID)] {
        let scene = scene(gateway).await;
        let contact = writes(&scene, "m1", hidden).await;
        reply(&scene, contact).await;
        assert_eq!(addressed(&scene), hidden);
        let newer = format!("X{hidden}");
        scene.kit.provider.then(Ok(named("w1", Some(&newer), &[])));
        reply(&scene, contact).await;
        reply(&scene, contact).await;
        assert_eq!(addressed(&scene), newer, "one hidden id follows the other");
    }
}

#[tokio::test]
async fn a_proof_brings_what_the_answer_would_have() {
    let scene = scene("waha").await;
    let by_lid = writes(&scene, "m1", LID).await;
    scene.kit.provider.find(Ok(Some(named("w1", Some(LID), &[]))));
    let id = scene.send_uncertainly("Oi").await;
    scene.after(5).await;
    assert_eq!(scene.outcome(id).await.0, "sent");
    assert_eq!(shown(&scene.kit, by_lid).await["phone"], PHONE);
    assert_eq!(ambiguous(&scene, PHONE).await.len(), 2);
}

#[tokio::test]
async fn groups_learn_no_names_from_answers() {
    let scene = scene("waha").await;
    let contact = writes(&scene, "m1", "120363@g.us").await;
    scene.kit.provider.then(Ok(named("w1", Some("120363@g.us"), &[PEER, LID])));
    reply(&scene, contact).await;
    assert_ne!(shown(&scene.kit, contact).await["phone"], Value::from(PHONE));
    assert_ne!(writes(&scene, "m2", PEER).await, contact);
    assert_ne!(writes(&scene, "m3", LID).await, contact);
}

/// R49.
#[tokio::test]
async fn an_answer_with_the_id_of_another_message_of_the_agents_deletes_nothing() {
    for (text, wait) in [("Oi", 1), ("Bom dia", 0)] {
        let scene = scene("waha").await;
        scene.messaging.echo("w1", PEER, text).await;
        scene.kit.clock.advance(Duration::from_secs(wait));
        scene.kit.provider.then_accept("w1");
        scene.messaging.send(PHONE, "Oi").await.unwrap();
        let messages = scene.messaging.messages().await;
        assert_eq!(messages.len(), 2, "{text} {wait} s earlier: {messages:?}");
    }
}

/// R39.
#[tokio::test]
async fn a_hidden_id_does_not_replace_a_number_as_address() {
    let scene = scene("waha").await;
    for id in ["w1", "w2"] {
        scene.kit.provider.then(Ok(named(id, Some(LID), &[PEER])));
        scene.messaging.send(PHONE, "Oi").await.unwrap();
        assert_eq!(addressed(&scene), PHONE[1..]);
    }
}

/// D67.
#[tokio::test]
async fn a_hidden_id_that_is_another_contacts_does_not_become_the_address() {
    let (own, others) = (LID, "654321@lid");
    let scene = scene("waha").await;
    let contact = writes(&scene, "m1", own).await;
    assert_ne!(writes(&scene, "m2", others).await, contact);
    for id in ["w1", "w2"] {
        scene.kit.provider.then(Ok(named(id, Some(others), &[])));
        reply(&scene, contact).await;
        assert_eq!(addressed(&scene), own);
    }
}

/// R115.
#[tokio::test]
async fn a_contact_that_has_a_reported_name_as_identifier_only_gets_the_phone() {
    let scene = scene("waha").await;
    let new = body(json!({ "identifier": LID }));
    let imported = scene.kit.app.contacts().import(&scene.kit.company, &new).await.unwrap().0;
    scene.kit.provider.then(Ok(named("w1", Some(LID), &[])));
    assert_ne!(scene.messaging.send(PHONE, "Oi").await.unwrap().contact_id, imported);
    assert_eq!(shown(&scene.kit, imported).await["phone"], PHONE);
}

/// R115.
#[tokio::test]
async fn a_group_that_an_answer_names_gets_no_phone() {
    let group = "1203@g.us";
    let scene = scene("waha").await;
    let in_group =
        GatewayMessage { participant: Some(OTHER.to_owned()), ..text("m1", group, "Oi") };
    scene.call(here([Ok(GatewayEvent::Message(in_group))])).await.unwrap();
    let contact = newest_contact(&scene).await;
    assert_eq!(shown(&scene.kit, contact).await["phone"], group);
    scene.kit.provider.then(Ok(named("w1", None, &[group])));
    scene.messaging.send(PHONE, "Oi").await.unwrap();
    assert_eq!(shown(&scene.kit, contact).await["phone"], group);
}
