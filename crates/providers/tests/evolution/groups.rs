//! Groups and communities (3.4).

use recado_core::gateway::{Provider, ProviderError};
use recado_core::groups::{Group, GroupCode};
use recado_testkit::ScriptedTransport;
use serde_json::{Value, json};

use crate::scene::{SUFFIX, Scene};

fn code(text: &str) -> GroupCode {
    GroupCode::parse(text, SUFFIX).expect("a code")
}

fn group(id: &str, participants: Value) -> Value {
    json!({"id": id, "subject": "Clientes", "subjectOwner": "123@lid",
        "subjectTime": 1_700_000_000, "pictureUrl": null, "size": 42, "creation": 1_690_000_000,
        "owner": "123@lid", "desc": "…", "descId": "3EB0", "restrict": false, "announce": false,
        "isCommunity": false, "isCommunityAnnounce": false, "participants": participants})
}

async fn read(groups: Vec<Value>) -> Vec<Group> {
    let scene = Scene::new();
    for group in groups {
        scene.fake.add_group(group);
    }
    let told = scene.provider.groups(&scene.transport, &scene.connection).await;
    assert_eq!(scene.fake.violations(), [""; 0]);
    told.expect("groups")
}

#[tokio::test]
async fn a_community_and_its_announcement_group_are_told_apart() {
    let mut parent = group("120363099999999999@g.us", json!([]));
    parent["isCommunity"] = json!(true);
    let mut announcements = group("120363041234567890@g.us", json!([]));
    announcements["linkedParent"] = json!("120363099999999999@g.us");
    announcements["isCommunityAnnounce"] = json!(true);
    announcements["announce"] = json!(true);
    let told = read(vec![parent, announcements]).await;
    let named = |id: &str| Group { subject: Some("Clientes".to_owned()), ..Group::met(code(id)) };
    let expected = [
        Group { is_community: true, ..named("120363099999999999@grupos.example") },
        Group {
            community_code: Some(code("120363099999999999@grupos.example")),
            is_announcement: true,
            announce_only: true,
            ..named("120363041234567890@grupos.example")
        },
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn the_own_role_is_found_under_either_form_of_the_number() {
    let member = |id: &str, phone: Value, admin: Value| {
        json!({"id": id, "phoneNumber": phone,
        "admin": admin, "name": "Loja", "imgUrl": null})
    };
    // The connection's number is +55 (11) 98765-4000.
    for (participants, is_admin) in [
        (json!([member("5511987654000@s.whatsapp.net", Value::Null, json!("admin"))]), true),
        (json!([member("551187654000@s.whatsapp.net", Value::Null, json!("superadmin"))]), true),
        (json!([member("7@lid", json!("5511987654000@s.whatsapp.net"), json!("admin"))]), true),
        (json!([member("5511987654000@s.whatsapp.net", Value::Null, Value::Null)]), false),
        (json!([member("5534991234567@s.whatsapp.net", Value::Null, json!("admin"))]), false),
        (json!([member("7@lid", Value::Null, json!("admin"))]), false),
        (json!(["5511987654000@s.whatsapp.net", 7, null]), false),
        (Value::Null, false),
    ] {
        let told = read(vec![group("1-2@g.us", participants.clone())]).await;
        assert_eq!((told.len(), told[0].is_admin), (1, is_admin), "{participants}");
    }
}

#[tokio::test]
async fn a_group_without_a_name_is_one() {
    let mut nameless = group("2@g.us", json!([]));
    nameless["subject"] = json!(" ");
    assert_eq!(read(vec![nameless]).await, [Group::met(code("2@grupos.example"))]);
    assert_eq!(read(Vec::new()).await, []);
}

#[tokio::test]
async fn a_list_that_is_not_wholly_groups_is_a_failure_and_deletes_none() {
    for entry in [json!({"subject": "A"}), json!({"id": "a b@g.us"}), json!(7), Value::Null] {
        let scene = Scene::new();
        scene.fake.add_group(group("1@g.us", json!([]))).add_group(entry.clone());
        let told = scene.provider.groups(&scene.transport, &scene.connection).await;
        assert!(matches!(told, Err(ProviderError::Failed(_))), "{entry}: {told:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_list_is_a_failure() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    transport.then_json(200, &json!({"error": true})).then_json(500, &json!([]));
    for _ in 0..2 {
        let told = scene.provider.groups(&transport, &scene.connection).await;
        assert!(matches!(told, Err(ProviderError::Failed(_))), "{told:?}");
    }
}
