//! Posts of gateways to the webhook addresses of connections: docs/operator-api.md; D31, D67, D68,
//! D70.

use std::sync::atomic::{AtomicUsize, Ordering};

use recado_testkit::gateways::{FakeCloud, SignedWebhook};
use recado_testkit::store::StoreFailure;
use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::gateways::query_of;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{
    Clouded, Request, ScriptedAnswer, StoreKind, World, both_stores, digits, eventually, join_all,
    mobile, raw, text, unknown_id, wamid, webhook_request,
};
use serde_json::{Value, json};

const SIGNATURE: &str = "x-hub-signature-256";
const LIMIT: usize = 16 * 1024 * 1024;

fn hello(world: &Clouded, n: u32) -> SignedWebhook {
    world.fake.webhook_text(&digits(&mobile(n)), &wamid(), "oi", world.now())
}

/// Verifies an address in the same way as the official API.
async fn handshake(world: &World, connection: &str, query: &[(&str, &str)]) -> ScriptedAnswer {
    let query: Vec<(String, String)> =
        query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let path = format!("/api/webhooks/provider/{connection}{}", query_of(&query));
    world.send(Request::new("GET", path)).await
}

fn subscribing<'a>(challenge: &'a str, token: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![("hub.mode", "subscribe"), ("hub.challenge", challenge), ("hub.verify_token", token)]
}

async fn nothing_was_kept(world: &World) {
    assert_eq!(world.all_messages().await, Vec::<Value>::new());
    assert_eq!(world.list_ids("limit=100").await, Vec::<String>::new());
    assert!(world.events().await.is_empty());
}

/// Creates a second connection, to a number of the same app or of another one.
async fn another(world: &Clouded, fake: &FakeCloud, app_secret: &str) -> String {
    let mut settings = fake.settings(&world.gateway.url());
    settings.insert("app_secret".to_owned(), json!(app_secret));
    let reported = json!({"status": "connected"});
    world.gateway_connection("official_cloud", "cloud_api", settings, reported).await
}

#[both_stores]
async fn an_address_that_no_connection_has_is_404(world: Clouded) {
    let simulated = world.cloud().await;
    let unknown = unknown_id();
    for id in [unknown.as_str(), "abc", "%20", simulated.as_str()] {
        let answer = world.webhook(id, &hello(&world, 1)).await;
        answer.expect_hook_error(404, "NOT_FOUND");
        let answer = handshake(&world, id, &subscribing("1", "verify-token")).await;
        answer.expect_hook_error(404, "NOT_FOUND");
    }
    nothing_was_kept(&world).await;
}

#[both_stores]
async fn a_verified_address_answers_the_challenge_as_it_is(world: Clouded) {
    let connection = &world.connection;
    for challenge in ["1158201444", "a b&c=d/é\"<x>"] {
        let answer = handshake(&world, connection, &subscribing(challenge, "verify-token")).await;
        assert_eq!(answer.status, 200, "{}", answer.show());
        assert_eq!(answer.body, challenge.as_bytes());
        assert!(answer.header("content-type").starts_with("text/plain"), "{}", answer.show());
    }
    let with_suffix = format!("{connection}/messages");
    let answer = handshake(&world, &with_suffix, &subscribing("7", "verify-token")).await;
    assert_eq!(answer.body, b"7".as_slice(), "{}", answer.show());
}

#[both_stores]
async fn a_wrong_or_missing_verify_token_is_401(world: Clouded) {
    let connection = &world.connection;
    let mut twice = subscribing("1", "verify-token");
    twice.push(("hub.verify_token", "verify-token"));
    for query in [
        subscribing("1", "wrong"),
        subscribing("1", ""),
        subscribing("1", "verify-token "),
        subscribing("1", "VERIFY-TOKEN"),
        vec![("hub.mode", "subscribe"), ("hub.challenge", "1")],
        twice,
        Vec::new(),
    ] {
        let answer = handshake(&world, connection, &query).await;
        answer.expect_hook_error(401, "UNAUTHORIZED");
    }
}

#[both_stores]
async fn a_call_without_the_right_signature_is_401_and_nothing_is_kept(world: Clouded) {
    let good = hello(&world, 1);
    let signature = good.headers.iter().find(|(name, _)| name == SIGNATURE);
    let signature = signature.expect("it is signed").1.clone();
    let mut changed = good.body.clone();
    let at = changed.windows(2).position(|two| two == b"oi").expect("the text");
    changed[at] = b'O';
    let mut spaced = good.body.clone();
    spaced.push(b' ');
    let foreign = {
        let body = good.body.clone();
        let hex = recado_testkit::gateways::hex_hmac_sha256("another", &body);
        good.clone().with_header(SIGNATURE, &format!("sha256={hex}"))
    };
    for bad in [
        good.clone().without_header(SIGNATURE),
        good.clone().with_header(SIGNATURE, ""),
        good.clone().with_header(SIGNATURE, "sha256="),
        good.clone().with_header(SIGNATURE, &signature.replace("sha256=", "")),
        good.clone().with_header(SIGNATURE, &signature.replace("sha256=", "sha1=")),
        good.clone().with_header(SIGNATURE, &signature[..signature.len() - 1]),
        good.clone().with_header(SIGNATURE, &format!("{signature}0")),
        good.clone().with_header(SIGNATURE, &format!("sha256={}", "0".repeat(64))),
        good.clone().with_header(SIGNATURE, &format!("sha256={}", "é".repeat(32))),
        good.clone().with_body(changed),
        good.clone().with_body(spaced),
        good.clone().with_body(""),
        foreign,
    ] {
        let answer = world.webhook(&world.connection, &bad).await;
        answer.expect_hook_error(401, "UNAUTHORIZED");
    }
    let twice = webhook_request(&world.connection, "", &good).header(SIGNATURE, &signature);
    world.send(twice).await.expect_hook_error(401, "UNAUTHORIZED");
    let wrong_too = webhook_request(&world.connection, "", &good)
        .header(SIGNATURE, format!("sha256={}", "0".repeat(64)));
    world.send(wrong_too).await.expect_hook_error(401, "UNAUTHORIZED");
    nothing_was_kept(&world).await;
    world.takes(&good).await;
    assert_eq!(world.all_messages().await.len(), 1, "rightly signed it is taken");
}

#[both_stores]
async fn a_call_signed_by_another_company_is_401(world: Clouded) {
    let them = world.tenant("Rival").await;
    let mut settings = world.fake.settings(&world.gateway.url());
    settings.insert("app_secret".to_owned(), json!("their secret"));
    let reported = json!({"status": "connected"});
    let theirs =
        world.gateway_connection_of(&them, "official_cloud", "cloud_api", settings, reported).await;
    let answer = world.webhook(&theirs, &hello(&world, 1)).await;
    answer.expect_hook_error(401, "UNAUTHORIZED");
    nothing_was_kept(&world).await;
}

#[both_stores]
async fn what_is_not_json_is_400_once_it_is_signed_and_401_before(world: Clouded) {
    for body in ["{", "", "nonsense", "\u{0}", "{\"object\": tru"] {
        let hex = recado_testkit::gateways::hex_hmac_sha256("app-secret", body.as_bytes());
        let signed = SignedWebhook {
            headers: vec![(SIGNATURE.to_owned(), format!("sha256={hex}"))],
            query: Vec::new(),
            body: body.as_bytes().to_vec(),
        };
        let answer = world.webhook(&world.connection, &signed).await;
        answer.expect_hook_error(400, "INVALID_PAYLOAD");
        let answer = world.webhook(&world.connection, &signed.without_header(SIGNATURE)).await;
        answer.expect_hook_error(401, "UNAUTHORIZED");
    }
    nothing_was_kept(&world).await;
}

#[both_stores]
async fn a_call_over_16_mib_is_413_and_one_of_16_mib_is_taken(world: Clouded) {
    let mut body = hello(&world, 1).body;
    body.resize(LIMIT, b' ');
    let signed = |body: &[u8]| {
        let hex = recado_testkit::gateways::hex_hmac_sha256("app-secret", body);
        SignedWebhook {
            headers: vec![(SIGNATURE.to_owned(), format!("sha256={hex}"))],
            query: Vec::new(),
            body: body.to_vec(),
        }
    };
    world.takes(&signed(&body)).await;
    assert_eq!(world.all_messages().await.len(), 1);
    let digest = "0".repeat(64);
    let head = format!(
        "POST /api/webhooks/provider/{} HTTP/1.1\r\nhost: x\r\n{SIGNATURE}: sha256={digest}\r\n\
         content-length: {}\r\n\r\n",
        world.connection,
        LIMIT + 1
    );
    let answer = raw(world.addr, head.as_bytes()).await.expect("an answer");
    answer.expect_hook_error(413, "PAYLOAD_TOO_LARGE");
}

#[both_stores]
async fn a_call_that_is_surely_wrong_is_answered_before_its_body(world: Clouded) {
    let head = format!(
        "POST /api/webhooks/provider/{} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n",
        world.connection
    );
    let answer = raw(world.addr, head.as_bytes()).await.expect("an answer");
    answer.expect_hook_error(401, "UNAUTHORIZED");
}

#[both_stores]
async fn a_path_after_the_id_is_accepted(world: Clouded) {
    for (n, suffix) in (1..).zip(["/messages", "/a/b/c", "/"]) {
        let answer = world.webhook_at(&world.connection, suffix, &hello(&world, n)).await;
        assert_eq!(answer.status, 200, "{}", answer.show());
    }
    assert_eq!(world.all_messages().await.len(), 3);
}

#[both_stores]
async fn a_key_or_the_operator_token_instead_of_a_signature_is_401(world: Clouded) {
    let unsigned = hello(&world, 1).without_header(SIGNATURE);
    for token in [world.us.key.as_str(), recado_tests::OPERATOR] {
        let request = webhook_request(&world.connection, "", &unsigned).bearer(token);
        world.send(request).await.expect_hook_error(401, "UNAUTHORIZED");
    }
    nothing_was_kept(&world).await;
}

#[both_stores]
async fn while_the_store_is_down_a_call_is_503_and_its_repetition_loses_nothing(world: Clouded) {
    let call = hello(&world, 1);
    world.server.store.fail_all(StoreFailure::Unavailable);
    let answer = world.webhook(&world.connection, &call).await;
    answer.expect_hook_error(503, "UNAVAILABLE");
    assert_eq!(answer.header("retry-after"), "5");
    world.server.store.heal();
    nothing_was_kept(&world).await;
    world.takes(&call).await;
    assert_eq!(world.all_messages().await.len(), 1);
    assert_eq!(world.events_of("message.received").await.len(), 1);
}

#[both_stores]
async fn while_contacts_cannot_be_read_no_message_is_lost_or_kept_twice(world: Clouded) {
    let call = hello(&world, 1);
    world.takes(&hello(&world, 1)).await;
    world.server.store.fail_contact_reads();
    let answer = world.webhook(&world.connection, &call).await;
    assert!([200, 503].contains(&answer.status), "{}", answer.show());
    if answer.status == 503 {
        assert_eq!(answer.header("retry-after"), "5");
    }
    world.server.store.heal();
    world.takes(&call).await;
    assert_eq!(world.all_messages().await.len(), 2);
    assert_eq!(world.list_ids("limit=100").await.len(), 1);
    assert_eq!(world.events_of("message.received").await.len(), 2);
}

#[both_stores]
async fn a_killed_process_loses_no_acknowledged_call(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let fake = FakeCloud::new();
    let body = json!({
        "kind": "official_cloud", "name": "loja", "identifier": "+551140028922",
        "gateway": "cloud_api", "status": "connected",
        "settings": fake.settings("http://127.0.0.1:9"),
    });
    let made = operator_at(process.addr, &us.id, "POST", "C/connections", body).await;
    let connection = text(&made.expect(201)["id"]);
    let addr = process.addr;
    let now = recado_core::Timestamp::from_millis(1_763_000_000_000);
    let count = AtomicUsize::new(0);
    let callers = (0..6_u32).map(|caller| {
        let (fake, connection, count) = (&fake, &connection, &count);
        async move {
            let mut acknowledged = Vec::new();
            for n in 0..10_000 {
                let id = format!("wamid.{caller}.{n}");
                let from = digits(&mobile(caller * 7 + n % 7));
                let call = fake.webhook_text(&from, &id, "oi", now);
                let Some(answer) = webhook_request(connection, "", &call).try_send(addr).await
                else {
                    break;
                };
                if answer.status != 200 {
                    break;
                }
                acknowledged.push(id);
                count.fetch_add(1, Ordering::SeqCst);
            }
            acknowledged
        }
    });
    let killer = async {
        eventually("sixty calls are acknowledged", || async {
            (count.load(Ordering::SeqCst) >= 60).then_some(())
        })
        .await;
        process.kill().await;
    };
    let (acknowledged, ()) = tokio::join!(join_all(callers.collect()), killer);
    let acknowledged: Vec<String> = acknowledged.into_iter().flatten().collect();
    let process = Process::serve(&database, &[]).await;
    let mut stored = Vec::new();
    for page in 1.. {
        let path = format!("/api/v1/messages?limit=100&page={page}");
        let answer = Request::new("GET", path).bearer(&us.key).send(process.addr).await;
        answer.expect(200);
        let items = answer.column("wamid");
        if items.is_empty() {
            break;
        }
        stored.extend(items);
    }
    for id in &acknowledged {
        let times = stored.iter().filter(|known| *known == id).count();
        assert_eq!(times, 1, "{id} was acknowledged");
    }
    let reported = database.events(&us.id).await;
    let reported = reported.iter().filter(|event| event.event == "message.received").count();
    assert_eq!(reported, stored.len(), "each has its event, and one only");
}

#[both_stores]
async fn repeated_calls_change_nothing_even_at_the_same_time(world: Clouded) {
    let call = hello(&world, 1);
    let calls: Vec<_> = (0..8).map(|_| world.webhook(&world.connection, &call)).collect();
    for answer in join_all(calls).await {
        assert_eq!(answer.status, 200, "{}", answer.show());
    }
    world.takes(&call).await;
    let messages = world.all_messages().await;
    assert_eq!(messages.len(), 1);
    assert_eq!(world.list_ids("limit=100").await.len(), 1);
    assert_eq!(world.events_of("message.received").await.len(), 1);
    assert_eq!(world.events_of("contact.created").await.len(), 1);
    let contact = text(&messages[0]["contact_id"]);
    assert_eq!(world.detail(&contact).await["connections"][0]["unread_count"], 1);
}

#[both_stores]
async fn a_bad_time_or_name_does_not_lose_a_message(world: Clouded) {
    for (n, change) in (1..).zip([
        json!({"timestamp": "soon"}),
        json!({"timestamp": null}),
        json!({"timestamp": "99999999999999999999"}),
        json!({"timestamp": -5}),
    ]) {
        let id = format!("wamid.odd.{n}");
        let content = json!({"type": "text", "text": {"body": "oi"}});
        let mut reported = world.fake.message(&digits(&mobile(n)), &id, &content, world.now());
        let message = reported["messages"][0].as_object_mut().expect("a message");
        message.extend(change.as_object().expect("a change").clone());
        world.changes(&[("messages", reported)]).await;
        assert_eq!(world.message_with(&id).await["content"], "oi", "{change}");
    }
}

#[both_stores]
async fn an_unknown_field_is_kept_as_it_came(world: Clouded) {
    let reported = json!({"mood": "secret words", "count": 7, "who": ["5511987654321"]});
    for _ in 0..3 {
        world.changes(&[("brand_new_field", world.fake.value(reported.clone()))]).await;
    }
    let path = format!("C/connections/{}/unknown-events", world.connection);
    let kept = world.operator_get(&path).await;
    let kept = kept.as_array().expect("a list");
    assert_eq!(kept.len(), 1, "the same three times: {kept:?}");
    assert_eq!(
        (&kept[0]["kind"], &kept[0]["reason"]),
        (&json!("brand_new_field"), &json!("unknown_kind"))
    );
    assert_eq!(kept[0]["received_at"], world.time());
    assert!(kept[0]["body"].to_string().contains("secret words"), "{}", kept[0]);
    let view = world.operator_get(&format!("C/connections/{}", world.connection)).await;
    assert_eq!(
        (&view["last_heard_at"], &view["not_understood"]),
        (&world.time().into(), &json!(1))
    );
    nothing_was_kept(&world).await;
}

#[both_stores]
async fn events_go_to_the_connection_of_their_number(world: Clouded) {
    let second = FakeCloud::numbered("222222222222", "551140020000");
    let other = another(&world, &second, "app-secret").await;
    let content = json!({"type": "text", "text": {"body": "oi"}});
    let ours = world.fake.message(&digits(&mobile(1)), "wamid.a", &content, world.now());
    let theirs = second.message(&digits(&mobile(2)), "wamid.b", &content, world.now());
    // The API calls one address for all numbers of an app.
    world.changes(&[("messages", ours), ("messages", theirs)]).await;
    assert_eq!(world.message_with("wamid.a").await["connection_id"], world.connection.as_str());
    assert_eq!(world.message_with("wamid.b").await["connection_id"], other.as_str());
    let third = second.webhook_text(&digits(&mobile(3)), "wamid.c", "oi", world.now());
    world.takes(&third).await;
    assert_eq!(world.message_with("wamid.c").await["connection_id"], other.as_str());
}

#[both_stores]
async fn events_of_a_number_with_another_app_secret_go_nowhere(world: Clouded) {
    let second = FakeCloud::numbered("222222222222", "551140020000");
    another(&world, &second, "another secret").await;
    // Signed with the first app's secret, with the number of the second one.
    let call = second.webhook_text(&digits(&mobile(1)), "wamid.x", "oi", world.now());
    let answer = world.webhook(&world.connection, &call).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    nothing_was_kept(&world).await;
}

#[both_stores]
async fn events_of_a_number_of_another_company_go_nowhere(world: Clouded) {
    let them = world.tenant("Rival").await;
    let second = FakeCloud::numbered("222222222222", "551140020000");
    let reported = json!({"status": "connected"});
    let settings = second.settings(&world.gateway.url());
    world.gateway_connection_of(&them, "official_cloud", "cloud_api", settings, reported).await;
    let call = second.webhook_text(&digits(&mobile(1)), "wamid.x", "oi", world.now());
    let answer = world.webhook(&world.connection, &call).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    nothing_was_kept(&world).await;
    let listing = world.get_as(&them.key, "/api/v1/messages").await;
    assert_eq!(listing.items(), Vec::<Value>::new());
}

#[both_stores]
async fn events_of_an_unknown_number_go_nowhere_and_lose_no_others(world: Clouded) {
    let unknown_client = FakeCloud::numbered("999", "551140020000");
    let content = json!({"type": "text", "text": {"body": "oi"}});
    let lost = unknown_client.message(&digits(&mobile(1)), "wamid.lost", &content, world.now());
    let kept = world.fake.message(&digits(&mobile(2)), "wamid.kept", &content, world.now());
    world.changes(&[("messages", lost), ("messages", kept)]).await;
    let all = world.all_messages().await;
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["wamid"], "wamid.kept");
}

#[both_stores]
async fn the_address_of_a_connection_is_asked_to_the_operator(world: Clouded) {
    let view = world.connection_view(&world.connection).await;
    let url = text(&view["webhook_url"]);
    let path = url.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]));
    assert_eq!(path, Some(format!("/api/webhooks/provider/{}", world.connection).as_str()));
    let simulated = world.cloud().await;
    assert_eq!(world.connection_view(&simulated).await["webhook_url"], Value::Null);
}

#[both_stores]
async fn no_secret_of_a_connection_is_in_any_answer(world: Clouded) {
    world.receives_from(&digits(&mobile(1))).await;
    let secrets = ["app-secret", "verify-token", "EAA-token-of-106540352242922"];
    let one = format!("C/connections/{}", world.connection);
    let mut shown = Vec::new();
    for path in ["C/connections", one.as_str()] {
        shown.push(world.operator("GET", path, Value::Null).await.show());
    }
    let renamed = world.operator("PATCH", &one, json!({"name": "x"})).await;
    renamed.expect(200);
    shown.push(renamed.show());
    for path in ["/api/v1/messages", "/api/v1/contacts", "/metrics"] {
        shown.push(world.get(path).await.show());
    }
    shown.push(world.webhook(&world.connection, &hello(&world, 2)).await.show());
    shown.push(world.operator("POST", &format!("{one}/check"), json!({})).await.show());
    for shown in shown {
        for secret in secrets {
            assert!(!shown.contains(secret), "{secret} is in {shown}");
        }
    }
}
