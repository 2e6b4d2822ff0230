//! What a hook's contact sets off, races, outages, and what stays within a company: 4.9, 6.1, 7.2;
//! D17, D52, D57, D70.

use recado_testkit::store::StoreFailure;
use recado_tests::hooks_in::plain;
use recado_tests::{
    Intake, Outside, Receiver, Setup, StoreKind, both_stores, join_all, keys, mobile, text, with,
};
use serde_json::{Value, json};

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
async fn a_new_contact_has_the_defaults_of_every_new_contact(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let body = json!({"phone": mobile(1), "name": "Ana"});
    let ours = world.listed(&text(&world.taken(&site, body).await["contact_id"])).await;
    let api = world.create_id(json!({"phone": mobile(2), "name": "Ana"})).await;
    let api = world.listed(&api).await;
    for field in keys(&api) {
        if !["id", "identifier", "phone", "created_at", "updated_at"].contains(&field.as_str()) {
            assert_eq!(ours[&field], api[&field], "{field}");
        }
    }
}

#[both_stores]
async fn of_50_simultaneous_calls_about_someone_new_one_makes_the_contact(kind: StoreKind) {
    let world = Intake::with(kind, Setup { outside: Outside::Open, ..Setup::default() }).await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url("/hook"), "events": ["*"]});
    world.make("C/webhooks", hook).await;
    let site = world.endpoint("site-leads", with(plain(), json!({"plan": "$.plan"}))).await;
    let bodies: Vec<Value> = (0..50)
        .map(|n| json!({"phone": mobile(1), "name": format!("n{n}"), "plan": format!("p{n}")}))
        .collect();
    let answers = join_all(bodies.iter().map(|body| world.hand_in(&site, body)).collect()).await;
    let answers: Vec<Value> = answers.iter().map(recado_tests::Answer::expect_ok).collect();
    let created = answers.iter().filter(|one| one["action"] == "created");
    assert_eq!(created.count(), 1);
    let id = &answers[0]["contact_id"];
    assert!(answers.iter().all(|one| one["contact_id"] == *id));
    let made =
        answers.iter().map(|one| one["new_pending_definitions"].as_array().map_or(0, Vec::len));
    assert_eq!(made.sum::<usize>(), 1, "one of them made the definition");
    assert_eq!(world.list_ids("").await, [text(id)]);
    assert_eq!(world.get("/api/v1/custom-fields").await.items().len(), 1);
    receiver.reaches("/hook", 1).await;
    assert_eq!(world.events().await.len(), 1);
    world.server.drain().await;
    let only = receiver.only("/hook");
    assert_eq!(only.event(), "contact.created");
    assert_eq!(only.data()["id"], *id);
}

#[both_stores]
async fn simultaneous_calls_about_one_contact_lose_no_field(world: Intake) {
    let keys: Vec<String> = (0..20).map(|n| format!("field-{n}")).collect();
    let mut mapping = plain();
    for key in &keys {
        mapping[key] = json!(format!("$['{key}']"));
    }
    let site = world.endpoint("site-leads", mapping).await;
    let bodies: Vec<Value> =
        keys.iter().map(|key| json!({"phone": mobile(1), key.as_str(): "x"})).collect();
    let answers = join_all(bodies.iter().map(|body| world.hand_in(&site, body)).collect()).await;
    let id = text(&answers[0].expect_ok()["contact_id"]);
    let stored = world.listed(&id).await["custom_fields"].clone();
    assert_eq!(stored.as_object().map(serde_json::Map::len), Some(20), "{stored}");
    assert_eq!(world.get("/api/v1/custom-fields").await.items().len(), 20);
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

#[both_stores]
async fn an_outage_in_the_middle_leaves_all_or_nothing(kind: StoreKind) {
    let world = Intake::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    let mapping = with(plain(), json!({"plan": "$.plan"}));
    let site = world.endpoint("site-leads", mapping).await;
    let mut worked = 0;
    for n in 0..20_u32 {
        let mut seen = 0;
        world.server.store.plan(move |_| {
            seen += 1;
            (seen == n + 1).then_some(StoreFailure::Unavailable)
        });
        let answer = world.hand_in(&site, &json!({"phone": mobile(n), "plan": "x"})).await;
        world.server.store.heal();
        let stored = world.get("/api/v1/contacts?limit=100").await.items();
        let found = stored.iter().find(|one| one["phone"] == mobile(n));
        if answer.status == 200 {
            worked += 1;
            assert_eq!(found.expect("it is stored")["custom_fields"], json!({"plan": "x"}));
        } else {
            assert_eq!(answer.status, 503, "operation {n}: {}", answer.show());
            assert_eq!(answer.header("retry-after"), "5");
            assert!(found.is_none(), "operation {n}: nothing of it is stored");
        }
        assert_eq!(world.events_of("contact.created").await.len(), stored.len());
    }
    assert!(worked > 0 && worked < 20, "{worked}");
}
