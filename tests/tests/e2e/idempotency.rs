//! `Idempotency-Key`: D37.

use recado_tests::{
    Request, ScriptedAnswer, World, both_stores, eventually, join_all, mobile, steered, text,
};
use serde_json::{Value, json};

const SEND: &str = "/api/v1/send/message";
const CONTACTS: &str = "/api/v1/contacts";
const REPLAYED: &str = "idempotent-replayed";

fn oi(to: &str) -> Value {
    json!({"to": to, "message": "oi"})
}

async fn keyed(world: &World, path: &str, key: &str, body: &Value) -> ScriptedAnswer {
    world.send(world.keyed(path, key, body)).await
}

/// Asserts that an answer is the repetition of another one.
#[track_caller]
fn assert_replayed(first: &ScriptedAnswer, again: &ScriptedAnswer) {
    assert_eq!(first.header(REPLAYED), "", "{}", first.show());
    assert_eq!(again.header(REPLAYED), "true", "{}", again.show());
    assert_eq!(again.status, first.status);
    assert_eq!(again.body, first.body);
    assert_eq!(again.header("content-type"), first.header("content-type"));
}

#[both_stores]
async fn a_repeated_send_gets_the_first_answer_and_sends_nothing(world: World) {
    world.qr().await;
    let first = keyed(&world, SEND, "k1", &oi(&mobile(1))).await;
    first.expect(200);
    for _ in 0..3 {
        assert_replayed(&first, &keyed(&world, SEND, "k1", &oi(&mobile(1))).await);
    }
    assert_eq!(world.all_messages().await.len(), 1);
    keyed(&world, SEND, "k2", &oi(&mobile(1))).await.expect(200);
    assert_eq!(world.all_messages().await.len(), 2, "another key is another call");
}

#[both_stores]
async fn a_repeated_creation_gets_the_first_answer(world: World) {
    let body = json!({"phone": mobile(1), "name": "Ana"});
    let first = keyed(&world, CONTACTS, "k", &body).await;
    let id = text(&first.expect(201)["contact"]["id"]);
    world.patch_contact(&id, json!({"name": "Bia"})).await.expect(200);
    let again = keyed(&world, CONTACTS, "k", &body).await;
    assert_replayed(&first, &again);
    assert_eq!(again.data()["contact"]["name"], "Ana");
    assert_eq!(world.list_ids("").await, [id]);
}

#[both_stores]
async fn without_the_header_nothing_is_remembered(world: World) {
    world.qr().await;
    for _ in 0..2 {
        let answer = world.post_send(oi(&mobile(1))).await;
        answer.expect(200);
        assert_eq!(answer.header(REPLAYED), "");
    }
    assert_eq!(world.all_messages().await.len(), 2);
}

#[both_stores]
async fn the_same_key_with_another_body_is_refused(world: World) {
    world.qr().await;
    keyed(&world, SEND, "k", &oi(&mobile(1))).await.expect(200);
    let other = keyed(&world, SEND, "k", &oi(&mobile(2))).await;
    other.expect_error(422, "IDEMPOTENCY_KEY_REUSED");
    let spaced = Request::new("POST", SEND)
        .header("idempotency-key", "k")
        .body(format!("{} ", oi(&mobile(1))));
    world.call(spaced).await.expect_error(422, "IDEMPOTENCY_KEY_REUSED");
    let wrong = keyed(&world, SEND, "k", &json!({})).await;
    wrong.expect_error(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(world.all_messages().await.len(), 1);
}

#[both_stores]
async fn a_repetition_while_the_first_is_in_flight_is_refused(world: World) {
    let settings = json!({"settings": {"timeout_ms": 3_000}});
    world.connection("official_cloud", settings).await;
    let body = oi(&steered(5));
    let (first, second) = tokio::join!(keyed(&world, SEND, "k", &body), async {
        eventually("it is pending", || async {
            (!world.all_messages().await.is_empty()).then_some(())
        })
        .await;
        keyed(&world, SEND, "k", &body).await
    });
    second.expect_error(409, "REQUEST_IN_PROGRESS");
    first.expect_error(502, "DELIVERY_UNCERTAIN");
    assert_replayed(&first, &keyed(&world, SEND, "k", &body).await);
    assert_eq!(world.all_messages().await.len(), 1);
}

#[both_stores]
async fn of_calls_with_one_key_at_once_one_sends(world: World) {
    world.qr().await;
    let body = oi(&mobile(1));
    let calls = (0..20).map(|_| keyed(&world, SEND, "k", &body)).collect();
    let answers = join_all(calls).await;
    let fresh =
        |answer: &&ScriptedAnswer| answer.status == 200 && answer.header(REPLAYED).is_empty();
    assert_eq!(answers.iter().filter(fresh).count(), 1);
    for answer in &answers {
        assert!([200, 409].contains(&answer.status), "{}", answer.show());
        if answer.status == 409 {
            answer.expect_error(409, "REQUEST_IN_PROGRESS");
        }
    }
    assert_eq!(world.all_messages().await.len(), 1);
}

#[both_stores]
async fn refusals_after_validation_are_remembered(world: World) {
    // 404 for a connection.
    let no_connection = json!({"to": mobile(1), "message": "oi",
        "connection_id": recado_tests::unknown_id()});
    let not_found = keyed(&world, SEND, "404", &no_connection).await;
    not_found.expect_error(404, "NOT_FOUND");
    assert_replayed(&not_found, &keyed(&world, SEND, "404", &no_connection).await);
    // 403: the reason is removed afterwards, and the repeated answer stays the same.
    world.qr().await;
    let contact = world.create_id(json!({"phone": mobile(2)})).await;
    world.act(&contact, "block", Value::Null).await.expect(200);
    let blocked = keyed(&world, SEND, "403", &oi(&mobile(2))).await;
    blocked.expect_error(403, "CONTACT_BLOCKED");
    world.act(&contact, "unblock", Value::Null).await.expect(200);
    assert_replayed(&blocked, &keyed(&world, SEND, "403", &oi(&mobile(2))).await);
    // 502.
    let failed = keyed(&world, SEND, "502", &oi(&steered(1))).await;
    failed.expect_error(502, "PROVIDER_ERROR");
    assert_replayed(&failed, &keyed(&world, SEND, "502", &oi(&steered(1))).await);
    assert_eq!(world.all_messages().await.len(), 1);
    // 409 for a creation.
    let taken = keyed(&world, CONTACTS, "409", &json!({"phone": mobile(2)})).await;
    taken.expect_error(409, "CONTACT_EXISTS");
    let again = keyed(&world, CONTACTS, "409", &json!({"phone": mobile(2)})).await;
    assert_replayed(&taken, &again);
    assert_eq!(again.json()["contact_id"], contact.as_str());
}

#[both_stores]
async fn refusals_of_validation_and_of_the_moment_are_not_remembered(world: World) {
    let none = keyed(&world, SEND, "422", &oi(&mobile(1))).await;
    none.expect_error(422, "CONNECTION_REQUIRED");
    keyed(&world, SEND, "400", &json!({})).await.expect_error(400, "MISSING_FIELD");
    keyed(&world, SEND, "phone", &oi("x")).await.expect_error(400, "INVALID_PHONE");
    keyed(&world, CONTACTS, "422", &json!({})).await.expect_invalid();
    world.qr().await;
    for key in ["422", "400", "phone"] {
        let answer = keyed(&world, SEND, key, &oi(&mobile(1))).await;
        answer.expect(200);
        assert_eq!(answer.header(REPLAYED), "", "{key}");
    }
    keyed(&world, CONTACTS, "422", &json!({"phone": mobile(2)})).await.expect(201);
}

#[both_stores]
async fn a_key_counts_within_its_company_and_path_only(world: World) {
    world.qr().await;
    let other = world.tenant("Other").await;
    world.connection_of(&other, "qr", json!({})).await;
    let body = oi(&mobile(1));
    keyed(&world, SEND, "k", &body).await.expect(200);
    let theirs =
        Request::new("POST", SEND).bearer(&other.key).header("idempotency-key", "k").json(&body);
    let answer = world.send(theirs).await;
    answer.expect(200);
    assert_eq!(answer.header(REPLAYED), "");
    keyed(&world, CONTACTS, "k", &json!({"phone": mobile(2)})).await.expect(201);
    // A call with another API key of the same company gets the remembered answer.
    let second = world.key_with(&["messages:send"]).await;
    let ours =
        Request::new("POST", SEND).bearer(&second).header("idempotency-key", "k").json(&body);
    assert_eq!(world.send(ours).await.header(REPLAYED), "true");
}

#[both_stores]
async fn a_remembered_answer_is_for_callers_with_the_scope_only(world: World) {
    world.qr().await;
    let body = oi(&mobile(1));
    keyed(&world, SEND, "k", &body).await.expect(200);
    let key = world.key_with(&["contacts:read"]).await;
    let ours = Request::new("POST", SEND).bearer(&key).header("idempotency-key", "k").json(&body);
    world.send(ours).await.expect_error(403, "INSUFFICIENT_SCOPE");
}

#[both_stores]
async fn an_empty_or_too_long_key_is_refused_before_anything_else(world: World) {
    for path in [SEND, CONTACTS] {
        for key in ["", &"k".repeat(256)] {
            let answer = keyed(&world, path, key, &json!({})).await;
            answer.expect_error(400, "INVALID_PARAMETER");
        }
    }
    world.qr().await;
    keyed(&world, SEND, &"k".repeat(255), &oi(&mobile(1))).await.expect(200);
}

#[both_stores]
async fn the_header_means_nothing_where_it_is_not_offered(world: World) {
    let id = world.create_id(json!({"phone": mobile(1)})).await;
    let path = format!("{CONTACTS}/{id}");
    for name in ["a", "b"] {
        let request = Request::new("PATCH", &path)
            .header("idempotency-key", "k")
            .json(&json!({"name": name}));
        assert_eq!(world.call(request).await.expect(200)["contact"]["name"], name);
    }
}

#[both_stores]
async fn a_repetition_is_counted_by_the_rate(world: World) {
    world.qr().await;
    let key = world.key_rated(2, 1).await;
    let body = oi(&mobile(1));
    let call = || {
        let request = Request::new("POST", SEND).bearer(&key);
        world.send(request.header("idempotency-key", "k").json(&body))
    };
    call().await.expect(200);
    call().await.expect(200);
    call().await.expect_error(429, "RATE_LIMITED");
}

#[both_stores]
async fn remembered_answers_about_a_contact_go_with_it(world: World) {
    world.qr().await;
    let body = json!({"phone": mobile(1), "name": "Fulana Sigilosa"});
    let first = keyed(&world, CONTACTS, "k", &body).await;
    let id = text(&first.expect(201)["contact"]["id"]);
    world.delete(&format!("{CONTACTS}/{id}")).await.expect_deleted();
    let again = keyed(&world, CONTACTS, "k", &body).await;
    assert_eq!(again.header(REPLAYED), "", "{}", again.show());
    again.expect(201);
}
