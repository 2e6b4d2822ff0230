//! Groups and communities in the forms of all engines.

use recado_core::gateway::{GatewayEvent, Provider, ProviderError};
use recado_core::groups::{Group, GroupCode, GroupList};
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::{WahaEngine, WahaGroup};
use serde_json::{Value, json};

use super::support::{SUFFIX, Scene};

fn code(id: &str) -> GroupCode {
    GroupCode::parse(&format!("{id}@{SUFFIX}"), SUFFIX).expect("a code")
}

async fn read(scene: &Scene) -> Result<Vec<Group>, ProviderError> {
    let read = scene.adapter.groups(&scene.transport, &scene.connection).await;
    read.map(|list| {
        let mut groups = list.groups;
        groups.sort_by(|one, other| one.code.cmp(&other.code));
        groups
    })
}

#[tokio::test]
async fn groups_communities_and_announcement_groups_are_read_on_every_engine() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        scene.waha.set_groups(vec![
            WahaGroup { is_admin: true, ..WahaGroup::new("100@g.us", "Obra") },
            WahaGroup { announce_only: true, ..WahaGroup::new("200@g.us", "Avisos") },
            WahaGroup { is_community: true, ..WahaGroup::new("300@g.us", "Bairro") },
            WahaGroup {
                is_announcement: true,
                announce_only: true,
                community: Some("300@g.us".to_owned()),
                ..WahaGroup::new("301@g.us", "Bairro avisos")
            },
        ]);
        let group = |id: &str, subject: &str| Group {
            subject: Some(subject.to_owned()),
            ..Group::seen(code(id))
        };
        let expected = [
            Group { is_admin: true, ..group("100", "Obra") },
            Group { announce_only: true, ..group("200", "Avisos") },
            Group { is_community: true, ..group("300", "Bairro") },
            Group {
                is_announcement: true,
                announce_only: true,
                community_code: Some(code("300")),
                ..group("301", "Bairro avisos")
            },
        ];
        assert_eq!(read(&scene).await.expect("it answers"), expected, "{engine:?}");
        scene.assert_clean();
    }
}

#[tokio::test]
async fn many_groups_come_in_several_answers_and_all_at_once_from_others() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let groups = (0..250).map(|n| WahaGroup::new(&format!("{n}@g.us"), "Obra"));
        scene.waha.set_groups(groups.collect());
        assert_eq!(read(&scene).await.expect("it answers").len(), 250, "{engine:?}");
        scene.assert_clean();
    }
}

#[tokio::test]
async fn an_engine_that_answers_the_same_again_and_again_comes_to_an_end() {
    let transport = ScriptedTransport::new();
    let session = json!({"status": "WORKING", "engine": {"engine": "WEBJS"}});
    transport.then_json(200, &session);
    let groups: Vec<_> = (0..100).map(|n| json!({"id": format!("{n}@g.us")})).collect();
    transport.then_json(200, &json!(groups)).then_json(200, &json!(groups));
    let scene = Scene::new(WahaEngine::Webjs);
    let read = scene.adapter.groups(&transport, &scene.connection).await.expect("it answers");
    assert_eq!(read.groups.len(), 100);
}

async fn answered(pages: &[Value]) -> Result<Vec<Group>, ProviderError> {
    answered_by("NOWEB", pages).await.map(|list| list.groups)
}

async fn answered_by(engine: &str, pages: &[Value]) -> Result<GroupList, ProviderError> {
    let transport = ScriptedTransport::new();
    transport.then_json(200, &json!({"status": "WORKING", "engine": {"engine": engine}}));
    for page in pages {
        transport.then_json(200, page);
    }
    let scene = Scene::new(WahaEngine::Noweb);
    scene.adapter.groups(&transport, &scene.connection).await
}

/// D2.
#[tokio::test]
async fn an_empty_list_that_may_be_a_failure_takes_no_group_away() {
    let group = json!({"100@g.us": {"id": "100@g.us", "subject": "Obra"}});
    for (engine, page, is_whole) in [
        ("NOWEB", json!({}), false),
        ("NOWEB", json!([]), false),
        ("NOWEB", group, true),
        ("GOWS", json!([]), true),
        ("WEBJS", json!([]), true),
    ] {
        let list = answered_by(engine, std::slice::from_ref(&page)).await.expect("a list");
        assert_eq!(list.is_whole, is_whole, "{engine}: {page}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_wholly_groups_is_a_failure_and_deletes_none() {
    let group = json!({"id": "100@g.us", "subject": "Obra"});
    for page in [
        json!({"error": "not yet"}),
        json!({"groups": [group]}),
        json!({"100@g.us": group, "total": 1}),
        json!({"100@g.us": group, "200@g.us": null}),
        json!([group, {"subject": "Obra"}]),
        json!([group, {"id": "553491234567@c.us"}]),
        json!([7]),
        json!("groups"),
    ] {
        let reported = answered(std::slice::from_ref(&page)).await;
        assert!(matches!(reported, Err(ProviderError::Failed(_))), "{page}: {reported:?}");
    }
    for none in [json!({}), json!([]), json!(null)] {
        assert_eq!(answered(&[none]).await, Ok(Vec::new()));
    }
    assert_eq!(answered(&[json!({"100@g.us": group})]).await.map(|reported| reported.len()), Ok(1));
}

#[tokio::test]
async fn groups_that_are_named_by_their_key_alone_are_read() {
    let page = json!({"100-1@g.us": {"subject": "Obra", "announce": true},
        "200@g.us": {"subject": "Casa", "id": "201@g.us"}});
    let reported = answered(&[page, json!([])]).await.expect("it answers");
    let group = |id: &str, subject: &str| Group {
        subject: Some(subject.to_owned()),
        ..Group::seen(code(id))
    };
    assert_eq!(
        reported,
        [Group { announce_only: true, ..group("100-1", "Obra") }, group("201", "Casa")]
    );
}

#[tokio::test]
async fn a_list_without_members_has_the_gateway_asked_who_may_write() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        scene.waha.set_reports_members(false);
        let closed = |id: &str| WahaGroup { announce_only: true, ..WahaGroup::new(id, "Avisos") };
        scene.waha.set_groups(vec![
            WahaGroup::new("100@g.us", "Obra"),
            WahaGroup { is_admin: true, ..closed("200@g.us") },
            closed("300@g.us"),
        ]);
        // An engine that reports flags with the members does not report closed groups.
        let expected = if engine == WahaEngine::Webjs { vec![] } else { vec![200, 300] };
        let read = read(&scene).await.expect("it answers");
        let admins: Vec<bool> = read.iter().map(|group| group.is_admin).collect();
        assert_eq!(admins, [false, engine != WahaEngine::Webjs, false], "{engine:?}");
        let asked: Vec<String> =
            scene.paths().into_iter().filter(|path| path.ends_with("/v2")).collect();
        let of = |id: &i32| format!("GET /api/loja1/groups/{id}%40g.us/participants/v2");
        assert_eq!(asked, expected.iter().map(of).collect::<Vec<_>>());
        scene.assert_clean();
    }
}

#[tokio::test]
async fn a_gateway_that_does_not_tell_who_may_write_is_asked_once() {
    let group =
        |n: usize| json!({"JID": format!("{n}@g.us"), "Name": "Avisos", "IsAnnounce": true});
    let transport = ScriptedTransport::new();
    transport.then_json(200, &json!({"status": "WORKING", "engine": {"engine": "GOWS"}}));
    transport.then_json(200, &json!([group(1), group(2), group(3)])).then_json(500, &json!({}));
    let scene = Scene::new(WahaEngine::Gows);
    let reported = scene.adapter.groups(&transport, &scene.connection).await.expect("it answers");
    let codes = [code("1"), code("2"), code("3")];
    assert_eq!((reported.groups.len(), reported.without_role), (3, codes.to_vec()));
    assert_eq!(transport.requests().len(), 3);
}

#[tokio::test]
async fn who_may_write_is_asked_for_few_groups_of_one_reading() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_reports_members(false);
    let closed = |n| WahaGroup { announce_only: true, ..WahaGroup::new(&format!("{n}@g.us"), "A") };
    scene.waha.set_groups((0..50).map(closed).collect());
    assert_eq!(read(&scene).await.expect("it answers").len(), 50);
    assert_eq!(scene.paths().iter().filter(|path| path.ends_with("/v2")).count(), 20);
}

#[tokio::test]
async fn groups_are_read_where_the_session_reports_nothing_of_itself() {
    let transport = ScriptedTransport::new();
    transport.then_json(404, &json!({})).then_json(
        200,
        &json!([{"id": "1@g.us", "participants":
        [{"id": "551140028922@s.whatsapp.net", "admin": "admin"}]}]),
    );
    let scene = Scene::new(WahaEngine::Gows);
    let reported = scene.adapter.groups(&transport, &scene.connection).await.expect("it answers");
    assert!(reported.groups[0].is_admin, "by the connection's own number");
    let transport = ScriptedTransport::new();
    transport.then_json(500, &json!({}));
    let reported = scene.adapter.groups(&transport, &scene.connection).await;
    assert!(matches!(reported, Err(ProviderError::Failed(_))), "it may know its names in a moment");
}

#[tokio::test]
async fn a_list_that_does_not_end_is_a_failure() {
    let page = |n: usize| {
        (0..100).map(|i| json!({"id": format!("{}@g.us", n * 100 + i)})).collect::<Value>()
    };
    let pages: Vec<Value> = (0..101).map(page).collect();
    assert!(matches!(answered(&pages).await, Err(ProviderError::Failed(_))));
    let mut pages = pages[..99].to_vec();
    pages.push(json!([{"id": "1-2@g.us"}]));
    assert_eq!(answered(&pages).await.map(|reported| reported.len()), Ok(9_901));
}

#[tokio::test]
async fn a_session_that_does_not_work_has_no_groups_to_tell() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_status("SCAN_QR_CODE");
    let Err(ProviderError::Failed(why)) = read(&scene).await else { panic!("it fails") };
    assert!(why.contains("SCAN_QR_CODE"), "{why}");
}

#[test]
fn events_of_groups_have_them_read_again() {
    let scene = Scene::new(WahaEngine::Gows);
    let group = json!({"id": "12036@g.us", "subject": "Obra", "membersCanSendMessages": true,
        "participants": [{"id": "9@lid", "role": "participant"}]});
    for (event, payload) in [
        ("group.v2.join", json!({"group": group, "timestamp": 1_760_000_000, "_data": {}})),
        ("group.v2.update", json!({"group": {"id": "12036@g.us", "subject": "Nova"}})),
        ("group.v2.leave", json!({"group": {"id": "12036@g.us"}, "_data": {}})),
        (
            "group.v2.participants",
            json!({"type": "promote", "timestamp": 1_760_000_000,
            "group": {"id": "12036@g.us"}, "participants": [{"id": "777@lid", "role": "admin"}]}),
        ),
        ("group.join", json!({})),
    ] {
        assert_eq!(scene.event(event, &payload), GatewayEvent::GroupsChanged, "{event}");
    }
}
