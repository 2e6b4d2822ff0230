//! Groups and communities.

use recado_core::gateway::{Provider, ProviderError};
use recado_core::groups::{Group, GroupCode, GroupList};
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

async fn list(scene: &Scene) -> GroupList {
    let reported = scene.provider.groups(&scene.transport, &scene.connection).await;
    assert_eq!(scene.fake.violations(), [""; 0]);
    reported.expect("groups")
}

async fn read(groups: Vec<Value>) -> Vec<Group> {
    let scene = Scene::new();
    for group in groups {
        scene.fake.add_group(group);
    }
    let reported = list(&scene).await;
    assert!(reported.is_whole);
    reported.groups
}

fn admin() -> Value {
    json!([{"id": "5511987654000@s.whatsapp.net", "phoneNumber": null, "admin": "superadmin",
        "name": "Loja", "imgUrl": null}])
}

/// A group where only administrators write.
fn announcing(id: &str, participants: Value) -> Value {
    let mut group = group(id, participants);
    group["announce"] = json!(true);
    group
}

#[tokio::test]
async fn a_community_and_its_announcement_group_are_distinguished() {
    let mut parent = group("120363099999999999@g.us", json!([]));
    parent["isCommunity"] = json!(true);
    let mut announcements = group("120363041234567890@g.us", json!([]));
    announcements["linkedParent"] = json!("120363099999999999@g.us");
    announcements["isCommunityAnnounce"] = json!(true);
    announcements["announce"] = json!(true);
    let reported = read(vec![parent, announcements]).await;
    let named = |id: &str| Group { subject: Some("Clientes".to_owned()), ..Group::seen(code(id)) };
    let expected = [
        Group { is_community: true, ..named("120363099999999999@grupos.example") },
        Group {
            community_code: Some(code("120363099999999999@grupos.example")),
            is_announcement: true,
            announce_only: true,
            ..named("120363041234567890@grupos.example")
        },
    ];
    assert_eq!(reported, expected);
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
        let reported = read(vec![group("1-2@g.us", participants.clone())]).await;
        assert_eq!((reported.len(), reported[0].is_admin), (1, is_admin), "{participants}");
    }
}

#[tokio::test]
async fn a_group_without_a_name_is_one() {
    let mut nameless = group("2@g.us", json!([]));
    nameless["subject"] = json!(" ");
    assert_eq!(read(vec![nameless]).await, [Group::seen(code("2@grupos.example"))]);
    assert_eq!(read(Vec::new()).await, []);
}

#[tokio::test]
async fn an_entry_that_is_no_group_keeps_the_others_and_the_list_is_not_whole() {
    for entry in [json!({"subject": "A"}), json!({"id": "a b@g.us"}), json!(7), Value::Null] {
        let scene = Scene::new();
        scene.fake.add_group(entry.clone());
        let reported = scene.provider.groups(&scene.transport, &scene.connection).await;
        assert!(matches!(reported, Err(ProviderError::Failed(_))), "none is a group: {reported:?}");
        scene.fake.add_group(group("1@g.us", json!([])));
        let reported = list(&scene).await;
        assert_eq!((reported.groups.len(), reported.is_whole), (1, false), "{entry}");
    }
}

#[tokio::test]
async fn the_role_is_asked_for_where_it_decides_and_the_list_does_not_tell_it() {
    let scene = Scene::new();
    scene.fake.list_no_participants();
    scene.fake.add_group(announcing("1@g.us", admin()));
    scene.fake.add_group(announcing("2@g.us", json!([{"id": "7@lid", "admin": "admin"}])));
    // The role in the third is unknown, and no more are requested.
    scene.fake.add_group(announcing("3@g.us", json!(["5511987654000@s.whatsapp.net"])));
    scene.fake.add_group(group("4@g.us", admin()));
    let mut community = announcing("5@g.us", admin());
    community["isCommunity"] = json!(true);
    scene.fake.add_group(community);
    let reported = list(&scene).await;
    let roles: Vec<bool> = reported.groups.iter().map(|group| group.is_admin).collect();
    assert_eq!(roles, [true, false, false, false, false]);
    let open = ["3@grupos.example", "4@grupos.example", "5@grupos.example"].map(code);
    assert_eq!((reported.is_whole, reported.without_role), (true, open.to_vec()));
    assert_eq!(scene.fake.requests(), 4);
}

#[tokio::test]
async fn a_list_with_participants_needs_no_more_questions() {
    let scene = Scene::new();
    scene.fake.add_group(announcing("1@g.us", admin()));
    let reported = list(&scene).await;
    assert!(reported.groups[0].is_admin && reported.without_role.is_empty());
    assert_eq!(scene.fake.requests(), 1);
}

#[tokio::test]
async fn roles_are_asked_for_within_bounds() {
    let bare = |n: usize| json!({"id": format!("{n}@g.us"), "announce": true});
    let groups: Vec<Value> = (0..60).map(bare).collect();
    for (answer, status, requests, open) in
        [(json!({"participants": admin()}), 200, 51, 10), (json!({}), 404, 4, 60)]
    {
        let scene = Scene::new();
        let transport = ScriptedTransport::new();
        transport.then_json(200, &json!(groups));
        for _ in 0..60 {
            transport.then_json(status, &answer);
        }
        let reported = scene.provider.groups(&transport, &scene.connection).await.expect("groups");
        assert_eq!((reported.groups.len(), reported.is_whole), (60, true));
        assert_eq!((transport.requests().len(), reported.without_role.len()), (requests, open));
        assert!(transport.requests().iter().all(|request| request.repeatable));
    }
}

#[tokio::test]
async fn an_answer_that_is_no_list_is_a_failure() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    transport.then_json(200, &json!({"error": true})).then_json(500, &json!([]));
    for _ in 0..2 {
        let reported = scene.provider.groups(&transport, &scene.connection).await;
        assert!(matches!(reported, Err(ProviderError::Failed(_))), "{reported:?}");
    }
}
