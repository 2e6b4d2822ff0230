//! Percent-encoded paths and `Content-Encoding: identity`: D8a, D73.

use recado_tests::backend::StoreKind;
use recado_tests::hooks_in::{dispatching, plain};
use recado_tests::world::OPERATOR;
use recado_tests::{
    Intake, Request, ScriptedAnswer, World, both_stores, digits, keys, mobile, phone, text, with,
};
use serde_json::json;

/// The path with every byte of its segments percent-encoded.
fn encoded(path: &str) -> String {
    let byte = |byte: u8| match byte {
        b'/' => "/".to_owned(),
        byte => format!("%{byte:02X}"),
    };
    path.bytes().map(byte).collect()
}

fn operators(method: &str, path: String) -> Request {
    Request::new(method, path).bearer(OPERATOR)
}

/// The status and code of a refusal.
fn refusal(answer: &ScriptedAnswer) -> (u16, String) {
    (answer.status, text(&answer.json()["code"]))
}

#[both_stores]
async fn paths_of_the_api_and_the_operator_are_compared_percent_decoded(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let detail = world.detail(&id).await;
    for path in [
        format!("/api/v1/%63ontacts/{id}"),
        format!("/%61pi/%76%31/contacts/{id}"),
        format!("/api/v1/c%6fntacts/{}", encoded(&id)),
        encoded(&format!("/api/v1/contacts/{id}")),
    ] {
        assert_eq!(world.get(&path).await.expect(200), detail, "{path}");
    }
    let listed = world.get("/api/v1/%63ontacts?limit=1").await;
    assert_eq!(listed.ids(), [id.clone()]);
    let made = world.post(&encoded("/api/v1/contacts"), json!({"phone": phone(2)})).await;
    made.expect(201);
    let path = format!("/operator/v1/companies/{}/contacts/{id}", world.us.id);
    let by_operator = world.send(operators("GET", encoded(&path))).await.expect(200);
    assert_eq!(by_operator["id"], id.as_str());
}

#[both_stores]
async fn paths_of_webhooks_links_and_media_are_compared_percent_decoded(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let call = |path: String| Request::new("POST", path).header("x-service-secret", &site.secret);
    let body = json!({"phone": mobile(1)});
    for path in [encoded(&site.path()), "/api/webhooks/incoming/s%69te-leads".to_owned()] {
        world.knock(call(path).json(&body)).await.expect_ok();
    }
    world.silent("official_cloud").await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    let dispatch = Request::new("POST", encoded(&dispatching(&token)));
    world.knock(dispatch.json(&json!({"phone_number": mobile(2)}))).await.expect_ok();

    let contact = world.create_id(json!({"phone": mobile(3)})).await;
    let link = json!({"contact_id": contact, "url": "https://example.com/a"});
    let code = text(&world.make("C/links", link).await["code"]);
    for path in [format!("/%6C/{code}"), encoded(&format!("/l/{code}"))] {
        let followed = world.send(Request::new("GET", path)).await;
        assert_eq!(
            (followed.status, followed.header("location").as_str()),
            (302, "https://example.com/a")
        );
    }
    for path in ["/%68ealthz", "/api/%6Fpenapi.json"] {
        assert_eq!(world.send(Request::new("GET", path)).await.status, 200, "{path}");
    }
    let nobody = "00000000-0000-7000-8000-000000000000";
    let provider = Request::new("POST", encoded(&format!("/api/webhooks/provider/{nobody}/a")));
    assert_eq!(refusal(&world.knock(provider).await), (404, "NOT_FOUND".to_owned()));
    let media = Request::new("GET", encoded(&format!("/media/{nobody}/{nobody}/x")));
    assert_eq!(refusal(&world.send(media).await), (404, "NOT_FOUND".to_owned()));
}

#[both_stores]
async fn an_encoded_slash_splits_no_segment_and_nothing_is_decoded_twice(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let unknown =
        |answer: &ScriptedAnswer| assert_eq!(refusal(answer), (404, "NOT_FOUND".to_owned()));
    for path in [
        format!("/api/v1/contacts%2F{id}"),
        format!("/api/v1%2Fcontacts/{id}"),
        format!("/api/v1/contacts/{id}%2Fmessages"),
        format!("/api/v1/contacts/{id}/%2Fmessages"),
        format!("/api/v1/%2563ontacts/{id}"),
        format!("/api/v1/contacts/{}", encoded(&id).replace('%', "%25")),
        format!("/api/v1/contacts/{id}%2F"),
        format!("/api/v1/x/%2e%2e/contacts/{id}"),
    ] {
        unknown(&world.get(&path).await);
    }
    // Without a key nobody learns which of them there are.
    for path in ["/api/v1/%63ontacts", "/%61pi/v1/nothing", "/api/v1/%2563ontacts"] {
        let answer = world.send(Request::new("GET", path)).await;
        answer.expect_error(401, "UNAUTHORIZED");
    }
    world
        .send(Request::new("GET", "/operator%2Fv1%2Fcompanies"))
        .await
        .expect_error(404, "NOT_FOUND");
    world
        .send(Request::new("GET", "/op%65rator/v1/companies"))
        .await
        .expect_error(401, "UNAUTHORIZED");
    assert_eq!(keys(&world.detail(&id).await), keys(&world.detail(&encoded(&id)).await));
}

#[both_stores]
async fn a_bad_escape_and_what_is_no_utf_8_name_nothing(world: Intake) {
    for bad in
        ["%", "%4", "%zz", "%+1", "a%2", "%ff", "%C3", "%C3%28", "%ED%A0%80", "%00", "%0d%0a"]
    {
        let path = format!("/api/v1/contacts/{bad}");
        world.get(&path).await.expect_error(404, "NOT_FOUND");
        world.send(Request::new("GET", path)).await.expect_error(401, "UNAUTHORIZED");
        let path = format!("/operator/v1/companies/{}/contacts/{bad}", world.us.id);
        world.send(operators("GET", path)).await.expect_error(404, "NOT_FOUND");
        for path in ["/l/", "/media/a/b/", "/"] {
            let answer = world.send(Request::new("GET", format!("{path}{bad}"))).await;
            answer.expect_error(404, "NOT_FOUND");
        }
        for path in ["incoming/", "template-dispatch/", "provider/"] {
            let path = format!("/api/webhooks/{path}{bad}");
            let answer = world.knock(Request::new("POST", path.clone())).await;
            assert_eq!(answer.status, 404, "{path}: {}", answer.show());
            assert_eq!(answer.json()["ok"], false, "{path}");
        }
    }
    world.get("/api/v1/contacts").await.expect(200);
}

#[both_stores]
async fn content_encoding_identity_is_none(kind: StoreKind) {
    let world = World::start(kind).await;
    for (n, identity) in (1..).zip(["identity", "Identity", " IDENTITY "]) {
        let request = Request::new("POST", "/api/v1/contacts").header("content-encoding", identity);
        world.call(request.json(&json!({"phone": phone(n)}))).await.expect(201);
    }
    for other in ["gzip", "identity, gzip", "identity, identity", "identity;q=1", "x-identity"] {
        let request = Request::new("POST", "/api/v1/contacts").header("content-encoding", other);
        let answer = world.call(request.json(&json!({"phone": phone(9)}))).await;
        answer.expect_error(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    assert_eq!(world.list_ids("").await.len(), 3);
}

#[both_stores]
async fn a_webhook_call_may_say_that_its_encoding_is_identity(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let said = |encoding: &str| {
        site.request().header("content-encoding", encoding).json(&json!({"phone": mobile(1)}))
    };
    world.knock(said("identity")).await.expect_ok();
    world.knock(said("gzip")).await.expect_hook_error(415, "UNSUPPORTED_MEDIA_TYPE");
    let qr = world.qr().await;
    let event = with(world.inbound(&digits(&mobile(1)), "oi"), json!({}));
    let path = format!("/operator/v1/companies/{}/connections/{qr}/events", world.us.id);
    let events = operators("POST", path).header("content-encoding", "identity");
    world.send(events.json(&json!({"events": [event]}))).await.expect(200);
}
