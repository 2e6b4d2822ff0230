//! Calls to the webhook address of an Evolution connection, missed events, and secrets:
//! docs/gateways/evolution.md; D31, D67, D68, D70.

use std::time::Duration;

use recado_testkit::gateways::{FakeEvolution, SendBehaviour, SignedWebhook};
use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{
    GatewayServer, Request, StoreKind, World, both_stores, digits, eventually, join_all, mobile,
    text, webhook_request,
};
use serde_json::{Value, json};

use crate::gateway_evolution::{Evolution, id, settings};

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

fn hello(world: &Evolution) -> SignedWebhook {
    world.fake.webhook_message(&world.fake.incoming(&digits(&mobile(1)), "oi"))
}

fn with_query(webhook: &SignedWebhook, query: &[(&str, &str)]) -> SignedWebhook {
    let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    SignedWebhook { query: query.collect(), ..webhook.clone() }
}

async fn nothing_was_kept(world: &World) {
    assert!(world.all_messages().await.is_empty());
    assert!(world.list_ids("limit=10").await.is_empty());
    assert!(world.events().await.is_empty());
}

/// Disconnects the instance and connects it again, and runs `meanwhile` between.
async fn outage(world: &Evolution, meanwhile: impl FnOnce(&Evolution)) {
    world.takes(&world.fake.change_state("close")).await;
    world.pass(MINUTE * 2);
    meanwhile(world);
    world.pass(MINUTE * 2);
    world.takes(&world.fake.change_state("open")).await;
    world.jobs().await;
}

#[both_stores]
async fn a_call_without_the_right_token_is_401(world: Evolution) {
    let good = hello(&world);
    for query in [
        vec![],
        vec![("token", "")],
        vec![("token", "hook-toke")],
        vec![("token", "hook-token2")],
        vec![("token", "HOOK-TOKEN")],
        vec![("token", "T-1")],
        vec![("Token", "hook-token")],
        vec![("token", "hook-token"), ("token", "hook-token")],
        vec![("token", "hook-token"), ("token", "x")],
        vec![("token", "hook-token/MESSAGES")],
    ] {
        let answer = world.webhook(&world.connection, &with_query(&good, &query)).await;
        answer.expect_hook_error(401, "UNAUTHORIZED");
    }
    nothing_was_kept(&world).await;
    let answer = world.webhook_at(&world.connection, "/messages-upsert", &good).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    assert_eq!(world.all_messages().await.len(), 1);
    // The gateway's form of the address, if each event has a path of its own.
    let appended = with_query(&good, &[("token", "hook-token/messages-upsert")]);
    let answer = world.webhook(&world.connection, &appended).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
}

#[both_stores]
async fn another_connections_token_does_not_open_this_one(world: Evolution) {
    let mut other = settings(&world.fake, &world.gateway);
    other.insert("webhook_token".to_owned(), json!("theirs"));
    other.insert("instance".to_owned(), json!("loja2"));
    let theirs = world.gateway_connection("qr", "evolution", other, json!({})).await;
    world.webhook(&theirs, &hello(&world)).await.expect_hook_error(401, "UNAUTHORIZED");
    let with_theirs = with_query(&hello(&world), &[("token", "theirs")]);
    world.webhook(&world.connection, &with_theirs).await.expect_hook_error(401, "UNAUTHORIZED");
    // The token is right for this connection, but the event is from our instance, so it is ignored.
    world.hooked(&theirs, &with_theirs).await;
    nothing_was_kept(&world).await;
    let close = with_query(&world.fake.change_state("close"), &[("token", "theirs")]);
    world.hooked(&theirs, &close).await;
    assert_eq!(world.status().await, "connected");
}

#[both_stores]
async fn what_is_no_event_changes_nothing(world: Evolution) {
    for body in ["", "oi", "{", "\u{0}"] {
        let bad = hello(&world).with_body(body);
        let answer = world.webhook(&world.connection, &bad).await;
        answer.expect_hook_error(400, "INVALID_PAYLOAD");
    }
    for body in [
        "{}",
        "[]",
        r#"{"event":"messages.upsert","instance":"loja1"}"#,
        r#"{"event":"messages.upsert","instance":"loja1","data":[1,null,"x",{}]}"#,
        r#"{"event":"messages.upsert","instance":"loja1","data":{"key":7}}"#,
        r#"{"event":"messages.update","instance":"loja1","data":{"status":"READ"}}"#,
        r#"{"event":"messages.set","instance":"loja1","data":[[]]}"#,
        r#"{"event":7,"instance":"loja1","data":{}}"#,
    ] {
        world.takes(&hello(&world).with_body(body)).await;
    }
    nothing_was_kept(&world).await;
    assert_eq!(world.status().await, "connected");
}

#[both_stores]
async fn one_bad_event_of_many_does_not_lose_the_others(world: Evolution) {
    let good: Vec<Value> =
        (1..=3).map(|n| world.fake.incoming(&digits(&mobile(n)), "oi")).collect();
    let list = json!([good[0], {"key": {}}, good[1], null, good[2]]);
    world.takes(&world.fake.webhook("messages.upsert", list)).await;
    for record in &good {
        world.known(&id(record)).await;
    }
}

#[both_stores]
async fn unknown_events_are_kept_as_they_came_and_once(world: Evolution) {
    let data = json!({"segredo": "senha 123", "from": digits(&mobile(1))});
    for _ in 0..2 {
        world.takes(&world.fake.webhook("poll.closed", data.clone())).await;
    }
    let kept = world.about("unknown-events").await;
    assert_eq!(kept.as_array().map(Vec::len), Some(1), "{kept}");
    assert_eq!(kept[0]["kind"], "poll.closed");
    let body = &kept[0]["body"];
    assert_eq!((&body["event"], &body["data"]), (&json!("poll.closed"), &data));
    assert_eq!(body["apikey"], Value::Null, "a secret of the gateway");
    nothing_was_kept(&world).await;
}

#[both_stores]
async fn what_was_missed_is_brought_after_a_reconnect_and_not_twice(world: Evolution) {
    world.jobs().await;
    let mut late = Vec::new();
    outage(&world, |world| {
        let reported = world.fake.incoming(&digits(&mobile(1)), "alô?");
        let typed = world.fake.typed(&digits(&mobile(2)), "já volto");
        let stop = world.fake.incoming(&digits(&mobile(3)), "parar");
        late = [reported, typed, stop].iter().map(|one| world.fake.webhook_message(one)).collect();
    })
    .await;
    let all = world.all_messages().await;
    let mut said: Vec<String> = all.iter().map(|one| text(&one["content"])).collect();
    said.sort();
    assert_eq!(said, ["alô?", "já volto", "parar"]);
    join_all(late.iter().map(|webhook| world.takes(webhook)).collect()).await;
    world.later(MINUTE * 16).await;
    assert_eq!(world.all_messages().await.len(), 3);
    assert_eq!(world.events_of("message.received").await.len(), 2, "they are live");
    assert_eq!(world.events_of("message.sent").await.len(), 1);
    assert_eq!(world.events_of("contact.opted_out").await.len(), 1);
    world.well_behaved();
}

#[both_stores]
async fn the_regular_pull_brings_messages_and_acks(world: Evolution) {
    world.jobs().await;
    let sent = world.sends(&mobile(1), "oi").await;
    world.pass(SECOND * 30);
    world.fake.incoming(&digits(&mobile(1)), "alguém?");
    drop(world.fake.acknowledge(&sent, "READ"));
    world.later(MINUTE * 14).await;
    assert_eq!(world.all_messages().await.len(), 1);
    world.later(MINUTE).await;
    assert_eq!(world.all_messages().await.len(), 2);
    assert_eq!(world.known(&sent).await["status"], "read");
    world.later(MINUTE * 15).await;
    assert_eq!(world.all_messages().await.len(), 2, "an own message is no echo");
    world.well_behaved();
}

#[both_stores]
async fn many_missed_messages_all_come(world: Evolution) {
    world.jobs().await;
    outage(&world, |world| {
        for n in 0..730 {
            if n % 5 == 0 {
                let later = Duration::from_millis(n * 100);
                world.fake.set_now(world.server.clock.now().plus(later));
            }
            let from = digits(&mobile(u32::try_from(n % 7).expect("small")));
            world.fake.incoming(&from, &format!("m{n}"));
        }
    })
    .await;
    let mut seen = std::collections::BTreeSet::new();
    for page in 1..=8 {
        let answer = world.get(&format!("/api/v1/messages?limit=100&page={page}")).await;
        seen.extend(answer.column("content"));
    }
    assert_eq!(seen.len(), 730);
    assert_eq!(world.events_of("message.received").await.len(), 730);
    world.well_behaved();
}

#[both_stores]
async fn no_answer_and_no_log_line_shows_a_secret(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &["--log", "trace"]).await;
    let addr = process.addr;
    let us = tenant_at(addr, "Acme", "enterprise").await;
    let fake = FakeEvolution::new();
    let gateway = GatewayServer::start(fake.clone()).await;
    let body = json!({"kind": "qr", "name": "e", "identifier": "+551140028922",
        "gateway": "evolution", "settings": settings(&fake, &gateway)});
    let made = operator_at(addr, &us.id, "POST", "C/connections", body).await;
    let mut shown = made.show();
    let connection = text(&made.expect(201)["id"]);
    let path = format!("C/connections/{connection}");
    eventually("it is connected", || async {
        let view = operator_at(addr, &us.id, "GET", &path, Value::Null).await;
        (view.data()["status"] == "connected").then_some(())
    })
    .await;
    let good = fake.webhook_message(&fake.incoming(&digits(&mobile(1)), "segredo-recebido"));
    let bad = with_query(&good, &[("token", "token-errado-dele")]);
    for webhook in [&good, &bad] {
        // The gateway's answer to an error has the requested address, which contains the token.
        let answer = webhook_request(&connection, "", webhook).send(addr).await;
        shown.push_str(&format!("{:?} {:?}", answer.headers, answer.body));
    }
    let send = |words: &'static str| {
        let body = json!({"to": mobile(1), "message": words});
        Request::new("POST", "/api/v1/send/message").bearer(&us.key).json(&body).send(addr)
    };
    shown.push_str(&send("segredo-enviado").await.show());
    fake.script([SendBehaviour::Broken(500)]);
    shown.push_str(&send("segredo-perdido").await.show());
    fake.set_state("close");
    let code = operator_at(addr, &us.id, "GET", &format!("{path}/qr"), Value::Null).await;
    assert_eq!(code.expect(200)["text"], "2@1");
    let wrong = json!({"settings": {"api_key": "chave-errada"}});
    shown.push_str(&operator_at(addr, &us.id, "PATCH", &path, wrong).await.show());
    let check = format!("{path}/check");
    shown.push_str(&operator_at(addr, &us.id, "POST", &check, json!({})).await.show());
    shown.push_str(&send("segredo-final").await.show());
    gateway.stop().await;
    shown.push_str(&operator_at(addr, &us.id, "POST", &check, json!({})).await.show());
    let log = process.kill_and_read().await;
    assert!(log.contains("/api/webhooks/provider/"), "there is a log: {log}");
    for secret in [
        "hook-token",
        "token-errado",
        "chave-errada",
        "\"T-1\"",
        "segredo",
        "Maria",
        "2@1",
        &digits(&mobile(1)),
    ] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
    for secret in ["hook-token", "token-errado", "chave-errada", "T-1"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}
