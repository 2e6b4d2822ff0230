//! Events of inbound contacts, races, outages, and isolation between companies: 4.9, 6.1, 7.2; D17,
//! D52, D57, D70.

use recado_testkit::store::StoreFailure;
use recado_tests::hooks_in::plain;
use recado_tests::{Intake, Setup, StoreKind, both_stores, keys, mobile, text, with};
use serde_json::json;

#[both_stores]
async fn a_new_contact_is_announced_once_as_the_api_announces_it(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let body = json!({"phone": mobile(1), "name": "Ana"});
    let id = text(&world.taken(&site, body.clone()).await["contact_id"]);
    world.taken(&site, body.clone()).await;
    world.taken(&site, with(body, json!({"name": "Bia"}))).await;
    let events = world.events().await;
    assert_eq!(events.len(), 1, "an update is no event: {events:?}");
    assert_eq!(events[0].event, "contact.created");
    assert_eq!(events[0].contact.as_deref(), Some(&*id));
    let data = &events[0].data;
    assert_eq!(data["id"], id.as_str());
    assert_eq!(data["phone"], mobile(1));
    assert_eq!(data["name"], "Ana", "the state after the change that caused it");
    world.create(json!({"phone": mobile(2)})).await;
    let by_api = &world.events_of("contact.created").await[1];
    assert_eq!(keys(data), keys(by_api));
}

#[both_stores]
async fn an_update_of_a_contact_of_the_api_announces_nothing(world: Intake) {
    let id = world.create_id(json!({"phone": mobile(1)})).await;
    let site = world.endpoint("site-leads", plain()).await;
    let taken = world.taken(&site, json!({"phone": mobile(1), "name": "Ana"})).await;
    assert_eq!(taken["contact_id"], id.as_str());
    assert_eq!(world.events().await.len(), 1);
}

#[both_stores]
async fn a_call_and_a_creation_by_api_at_once_make_one_contact(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    for n in 0..5 {
        let body = json!({"phone": mobile(n)});
        let (hook, api) =
            tokio::join!(world.hand_in(&site, &body), world.post_contact(body.clone()));
        let id = text(&hook.expect_ok()["contact_id"]);
        if api.status == 201 {
            assert_eq!(api.data()["contact"]["id"], id.as_str());
            assert_eq!(hook.json()["action"], "updated");
        } else {
            api.expect_error(409, "CONTACT_EXISTS");
            assert_eq!(api.json()["contact_id"], id.as_str());
            assert_eq!(hook.json()["action"], "created");
        }
    }
    assert_eq!(world.list_ids("limit=100").await.len(), 5);
    assert_eq!(world.events_of("contact.created").await.len(), 5);
}

#[both_stores]
async fn the_same_person_is_another_contact_in_each_company(world: Intake) {
    let theirs = world.neighbour("Other").await;
    let ours = world.endpoint("our-leads", plain()).await;
    let other = world.endpoint_of(&theirs, "their-leads", plain(), json!({})).await;
    let body = json!({"phone": mobile(1), "name": "Ana"});
    let first = text(&world.taken(&ours, body.clone()).await["contact_id"]);
    let second = world.taken(&other, with(body, json!({"name": "Bia"}))).await;
    assert_eq!(second["action"], "created");
    assert_ne!(second["contact_id"], first.as_str());
    assert_eq!(world.detail(&first).await["name"], "Ana");
    assert_eq!(world.list_ids("").await, [first]);
    let listed = world.get_as(&theirs.key, "/api/v1/contacts").await;
    assert_eq!(listed.ids(), [text(&second["contact_id"])]);
}

#[both_stores]
async fn a_secret_opens_no_endpoint_of_another_company(world: Intake) {
    let theirs = world.neighbour("Other").await;
    let ours = world.endpoint("our-leads", plain()).await;
    let other = world.endpoint_of(&theirs, "their-leads", plain(), json!({})).await;
    let crossed = recado_tests::Endpoint { secret: ours.secret.clone(), ..other };
    let answer = world.hand_in(&crossed, &json!({"phone": mobile(1)})).await;
    answer.expect_hook_error(401, "INVALID_SECRET");
}

// Outages.

#[both_stores]
async fn when_nothing_can_be_read_the_answer_is_503_with_retry_after(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    world.server.store.fail_all(StoreFailure::Unavailable);
    let answers = [
        world.hand_in(&site, &json!({"phone": mobile(1)})).await,
        world.dispatch_to(&token, &mobile(1)).await,
    ];
    world.server.store.heal();
    for answer in answers {
        answer.expect_hook_error(503, "UNAVAILABLE");
        assert_eq!(answer.header("retry-after"), "5", "{}", answer.show());
    }
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn when_only_the_contact_cannot_be_read_the_answer_says_so(kind: StoreKind) {
    let world = Intake::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    world.silent("official_cloud").await;
    let site = world.endpoint("site-leads", plain()).await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    world.server.store.fail_contact_reads();
    let answers = [
        world.dispatch_to(&token, &mobile(1)).await,
        world.hand_in(&site, &json!({"phone": mobile(1)})).await,
    ];
    world.server.store.heal();
    for answer in answers {
        answer.expect_hook_error(503, "CONTACT_STATE_UNAVAILABLE");
        assert_eq!(answer.header("retry-after"), "5", "{}", answer.show());
    }
    assert!(world.list_ids("").await.is_empty());
    assert!(world.all_messages().await.is_empty());
    world.taken(&site, json!({"phone": mobile(1)})).await;
    world.dispatched(&token, &mobile(1)).await;
}
