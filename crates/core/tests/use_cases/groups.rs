//! Groups, as operators set them and gateways report them.

use std::sync::Arc;
use std::time::Duration;

use recado_core::contacts::ContactFilter;
use recado_core::events::EventType;
use recado_core::gateway::ProviderError;
use recado_core::groups::{Group, GroupCode, GroupList, parse_groups};
use recado_core::ids::ConnectionId;
use recado_core::page::PageRequest;
use recado_testkit::kit::body;
use recado_testkit::{Kit, MemoryStore};
use serde_json::{Value, json};

use super::connections::connect;
use super::{code, create_phone, refused, shown};

async fn set(kit: &Kit, id: ConnectionId, groups: Value) -> Value {
    let groups = groups.as_array().unwrap().clone();
    let set = kit.app.groups().replace(kit.company.id, id, &groups).await;
    serde_json::to_value(set.unwrap()).unwrap()
}

/// The codes of a connection's groups.
async fn codes(kit: &Kit, id: ConnectionId) -> Vec<String> {
    let groups = kit.app.groups().all(kit.company.id, id).await.unwrap();
    let groups = serde_json::to_value(groups).unwrap();
    let codes = groups.as_array().unwrap().iter();
    codes.map(|group| group["code"].as_str().unwrap().to_owned()).collect()
}

/// The contacts of the company by identifier, with their names.
async fn names(kit: &Kit) -> Vec<(String, String)> {
    let (filter, first) = (ContactFilter::default(), PageRequest::FIRST);
    let page = kit.app.contacts().page(&kit.caller, &filter, first, false).await.unwrap();
    let mut names: Vec<(String, String)> = page
        .items
        .iter()
        .map(|contact| serde_json::to_value(contact).unwrap())
        .map(|contact| {
            let text = |name: &str| contact[name].as_str().unwrap().to_owned();
            (text("identifier"), text("name"))
        })
        .collect();
    names.sort();
    names
}

fn reported(subjects: &[(&str, &str)]) -> Vec<Group> {
    let group = |(code, subject): &(&str, &str)| Group {
        subject: Some((*subject).to_owned()),
        ..Group::seen(GroupCode::parse(code, "g.us").unwrap())
    };
    subjects.iter().map(group).collect()
}

#[tokio::test]
async fn a_put_answers_the_set_and_makes_a_contact_of_each_group() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let id = connect(&kit, "simulated", json!({})).await;
    let answer = set(
        &kit,
        id,
        json!([
            { "code": "2@g.us", "subject": "Bairro", "is_community": true },
            { "code": "1@g.us", "subject": "Obra", "community_code": "2@g.us", "is_admin": true },
        ]),
    )
    .await;
    let first = json!({ "code": "1@g.us", "subject": "Obra", "is_community": false,
        "community_code": "2@g.us", "is_announcement": false, "announce_only": false,
        "participates": true, "is_admin": true });
    assert_eq!(answer[0], first);
    assert_eq!(answer[1]["is_community"], true);
    assert_eq!(names(&kit).await, [("1@g.us".to_owned(), "Obra".to_owned())]);
    let events = store.events(kit.company.id);
    let [event] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(event.event_type, EventType::ContactCreated);
    let contact = shown(&kit, event.contact.unwrap()).await;
    assert_eq!(contact["phone"], "1@g.us");
    assert_eq!(contact["is_group"], true);
    assert_eq!(contact["external_chat_id"], "1@g.us");
}

/// D64.
#[tokio::test]
async fn a_put_replaces_the_set_and_an_event_merges_into_it() {
    let kit = Kit::new().await;
    let id = connect(&kit, "simulated", json!({})).await;
    set(
        &kit,
        id,
        json!([{ "code": "1@g.us", "subject": "A" }, { "code": "2@g.us", "subject": "B" }]),
    )
    .await;
    let groups = parse_groups(&[json!({ "code": "3@g.us", "subject": "C" })], "g.us").unwrap();
    kit.app.groups().merge(kit.company.id, id, groups).await.unwrap();
    assert_eq!(codes(&kit, id).await, ["1@g.us", "2@g.us", "3@g.us"]);
    set(&kit, id, json!([{ "code": "2@g.us", "subject": "B2" }])).await;
    assert_eq!(codes(&kit, id).await, ["2@g.us"]);
    let pair = |code: &str, name: &str| (code.to_owned(), name.to_owned());
    let expected = [pair("1@g.us", "A"), pair("2@g.us", "B2"), pair("3@g.us", "C")];
    assert_eq!(names(&kit).await, expected, "contacts outlive the sets");
}

#[tokio::test]
async fn two_connections_share_the_contact_of_a_group() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    for _ in 0..2 {
        let id = connect(&kit, "simulated", json!({})).await;
        set(&kit, id, json!([{ "code": "1@g.us", "subject": "Obra" }])).await;
    }
    assert_eq!(names(&kit).await.len(), 1);
    assert_eq!(store.events(kit.company.id).len(), 1);
}

/// R46.
#[tokio::test]
async fn a_name_that_people_gave_a_group_survives_the_next_synchronization() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let id = connect(&kit, "simulated", json!({})).await;
    set(&kit, id, json!([{ "code": "1@g.us", "subject": "Obra" }])).await;
    let contact = store.events(kit.company.id)[0].contact.unwrap();
    super::update(&kit, contact, json!({ "name": "Casa da Ana" })).await;
    set(&kit, id, json!([{ "code": "1@g.us", "subject": "Obra", "announce_only": true }])).await;
    assert_eq!(shown(&kit, contact).await["name"], "Casa da Ana");
    set(&kit, id, json!([{ "code": "1@g.us", "subject": "Obra 2" }])).await;
    assert_eq!(shown(&kit, contact).await["name"], "Obra 2");
}

/// R46.
#[tokio::test]
async fn wrong_groups_are_refused_all_together() {
    let kit = Kit::new().await;
    let id = connect(&kit, "simulated", json!({})).await;
    let groups = [json!({ "code": "1@g.us", "subject": "A" }), json!({ "code": "2@c.us" })];
    let (code, details) = refused(kit.app.groups().replace(kit.company.id, id, &groups).await);
    assert_eq!(code, "VALIDATION_ERROR");
    assert_eq!(details["fields"], json!(["groups[1].code", "groups[1].subject"]));
    assert!(codes(&kit, id).await.is_empty());
    assert_eq!(names(&kit).await, []);
}

#[tokio::test]
async fn groups_set_on_an_official_connection_are_kept_and_never_sent_through() {
    let kit = Kit::new().await;
    let id = connect(&kit, "simulated", json!({ "kind": "official_cloud" })).await;
    let groups = kit.app.groups();
    let put = [json!({ "code": "1@g.us", "subject": "A" })];
    groups.replace(kit.company.id, id, &put).await.unwrap();
    groups.sync(kit.company.id, id).await.unwrap();
    assert_eq!(codes(&kit, id).await, ["1@g.us"]);
    let text = body(json!({ "to": "1@g.us", "message": "Oi" }));
    let sent = kit.app.sending().send_text(&kit.caller, &text).await;
    assert_eq!(code(sent), "CONNECTION_REQUIRED");
}

#[tokio::test]
async fn groups_of_an_unknown_connection_are_not_there() {
    let kit = Kit::new().await;
    let id = connect(&kit, "simulated", json!({})).await;
    let (other, _) = kit.another_company("Outra").await;
    let groups = kit.app.groups();
    assert_eq!(code(groups.all(other.id, id).await), "NOT_FOUND");
    assert_eq!(code(groups.replace(other.id, id, &[]).await), "NOT_FOUND");
    assert_eq!(code(groups.sync(other.id, id).await), "NOT_FOUND");
}

#[tokio::test]
async fn a_large_set_is_written_whole() {
    let kit = Kit::new().await;
    let id = connect(&kit, "simulated", json!({})).await;
    let group = |n: usize| json!({ "code": format!("{n}@g.us"), "subject": format!("G{n}") });
    let groups: Vec<Value> = (0..1_000).map(group).collect();
    set(&kit, id, groups.into()).await;
    assert_eq!(codes(&kit, id).await.len(), 1_000);
    assert_eq!(
        kit.app
            .contacts()
            .page(&kit.caller, &ContactFilter::default(), PageRequest::FIRST, false)
            .await
            .unwrap()
            .total,
        1_000
    );
}

#[tokio::test]
async fn a_synchronization_replaces_the_set_by_what_the_gateway_reports() {
    let kit = Kit::new().await;
    let id = connect(&kit, "waha", json!({ "status": "connected" })).await;
    set(&kit, id, json!([{ "code": "1@g.us", "subject": "A" }])).await;
    kit.provider.set_groups(Ok(reported(&[("2@g.us", "B"), ("2@g.us", "B")])));
    let answer = kit.app.groups().sync(kit.company.id, id).await.unwrap();
    assert_eq!(answer.len(), 1);
    assert_eq!(codes(&kit, id).await, ["2@g.us"]);
}

#[tokio::test]
async fn a_gateway_that_cannot_tell_or_fails_leaves_the_set() {
    let kit = Kit::new().await;
    let id = connect(&kit, "waha", json!({ "status": "connected" })).await;
    set(&kit, id, json!([{ "code": "1@g.us", "subject": "A" }])).await;
    let unable = kit.app.groups().sync(kit.company.id, id).await.unwrap();
    assert_eq!(unable.len(), 1, "the set as it is");
    kit.provider.set_groups(Err(ProviderError::Failed("timeout".to_owned())));
    assert_eq!(code(kit.app.groups().sync(kit.company.id, id).await), "PROVIDER_ERROR");
    assert_eq!(codes(&kit, id).await, ["1@g.us"]);
}

/// R135.
#[tokio::test]
async fn a_list_that_is_not_whole_removes_no_group() {
    let kit = Kit::new().await;
    let id = connect(&kit, "evolution", json!({ "status": "connected" })).await;
    set(&kit, id, json!([{ "code": "1@g.us", "subject": "A" }])).await;
    let groups = reported(&[("2@g.us", "B"), ("2@g.us", "B2")]);
    let list = GroupList { is_whole: false, ..GroupList::from(groups) };
    kit.provider.set_group_list(Ok(list));
    let answer = kit.app.groups().sync(kit.company.id, id).await.unwrap();
    assert_eq!(answer.len(), 2);
    assert_eq!(codes(&kit, id).await, ["1@g.us", "2@g.us"]);
}

/// R135.
#[tokio::test]
async fn a_role_that_is_not_reported_stays_as_it_is_known() {
    let kit = Kit::new().await;
    let id = connect(&kit, "evolution", json!({ "status": "connected" })).await;
    let known = json!([{ "code": "1@g.us", "subject": "A", "is_admin": true },
        { "code": "2@g.us", "subject": "B", "is_admin": true }]);
    set(&kit, id, known).await;
    let groups = reported(&[("1@g.us", "A2"), ("2@g.us", "B"), ("3@g.us", "C")]);
    let without_role = ["1@g.us", "3@g.us"].map(|code| GroupCode::parse(code, "g.us").unwrap());
    let list = GroupList { without_role: without_role.to_vec(), ..GroupList::from(groups) };
    let roles = async || {
        let groups = kit.app.groups().all(kit.company.id, id).await.unwrap();
        let groups = serde_json::to_value(groups).unwrap();
        let shown = groups.as_array().unwrap().iter().map(|group| group["is_admin"] == json!(true));
        shown.collect::<Vec<bool>>()
    };
    kit.app.groups().merge(kit.company.id, id, list.clone()).await.unwrap();
    assert_eq!(roles().await, [true, false, false]);
    kit.provider.set_group_list(Ok(list));
    kit.app.groups().sync(kit.company.id, id).await.unwrap();
    assert_eq!(roles().await, [true, false, false]);
    assert_eq!(names(&kit).await[0].1, "A2");
}

/// Works on every job that is due and returns how many there were.
async fn work(kit: &Kit) -> usize {
    let mut done = 0;
    while kit.app.jobs().run_one().await.unwrap() {
        done += 1;
    }
    done
}

/// Works on every job that is due and returns how often the groups were asked for.
async fn read(kit: &Kit) -> usize {
    let before = kit.provider.asked().groups;
    work(kit).await;
    kit.provider.asked().groups - before
}

const HOUR: Duration = Duration::from_secs(60 * 60);

#[tokio::test]
async fn groups_are_read_at_once_and_then_every_hour() {
    let kit = Kit::new().await;
    kit.provider.set_groups(Ok(reported(&[("1@g.us", "A")])));
    let id = connect(&kit, "waha", json!({ "status": "connected" })).await;
    assert_eq!(read(&kit).await, 1);
    assert_eq!(codes(&kit, id).await, ["1@g.us"]);
    kit.provider.set_groups(Ok(reported(&[("2@g.us", "B")])));
    kit.clock.advance(HOUR - Duration::from_secs(1));
    assert_eq!(read(&kit).await, 0);
    kit.clock.advance(Duration::from_secs(1));
    assert_eq!(read(&kit).await, 1);
    assert_eq!(codes(&kit, id).await, ["2@g.us"]);
}

/// R47.
#[tokio::test]
async fn a_connect_has_groups_read_at_once_and_a_failure_tried_again() {
    let kit = Kit::new().await;
    let id = connect(&kit, "waha", json!({})).await;
    kit.provider.set_groups(Ok(reported(&[("1@g.us", "A")])));
    assert_eq!(read(&kit).await, 0, "a disconnected gateway is not asked");
    assert!(codes(&kit, id).await.is_empty());
    kit.provider.set_groups(Err(ProviderError::Failed("starting".to_owned())));
    let on = body(json!({ "status": "connected" }));
    kit.app.connections().change(kit.company.id, id, &on).await.unwrap();
    assert_eq!(read(&kit).await, 1);
    kit.provider.set_groups(Ok(reported(&[("1@g.us", "A")])));
    kit.clock.advance(Duration::from_secs(15));
    assert_eq!(read(&kit).await, 1);
    assert_eq!(codes(&kit, id).await, ["1@g.us"]);
    kit.clock.advance(Duration::from_secs(10 * 60));
    assert_eq!(read(&kit).await, 0, "it is over");
}

#[tokio::test]
async fn the_sweep_ends_with_its_connection() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let id = connect(&kit, "waha", json!({})).await;
    kit.app.connections().delete(kit.company.id, id).await.unwrap();
    kit.clock.advance(recado_core::connections::PULL_AGAIN);
    work(&kit).await;
    assert_eq!(store.jobs(kit.company.id), []);
}

/// R38.
#[tokio::test]
async fn an_import_of_a_taken_alias_leaves_it_with_its_owner() {
    let kit = Kit::new().await;
    let owner = create_phone(&kit, "34991230001").await;
    let new = body(json!({ "phone": "34991230001", "identifier": "other" }));
    let (second, _) = kit.app.contacts().import(&kit.company, &new).await.unwrap();
    kit.app.contacts().delete(&kit.caller, second).await.unwrap();
    let again = body(json!({ "phone": "+55 34 9123-0001" }));
    match kit.app.contacts().create(&kit.caller, &again).await {
        Err(recado_core::Error::Rejected(error)) => {
            let extra = recado_core::Rejection::extra(&error);
            assert_eq!(json!(extra), json!({ "contact_id": owner }));
        }
        other => panic!("{other:?}"),
    }
}
