//! Of simultaneous dispatches one is sent, also across crashes: 4.10, 7.3; D36, D50.

use std::net::SocketAddr;
use std::time::Duration;

use recado_core::Timestamp;
use recado_tests::backend::{Database, HandClock, TestServer};
use recado_tests::binary::Process;
use recado_tests::hooks_in::{FORWARDED, dispatching, unknown_client};
use recado_tests::world::{Tenant, operator_at, tenant_at};
use recado_tests::{
    Intake, Request, ScriptedAnswer, Setup, StoreKind, both_stores, eventually, join_all, mobile,
    on_postgres, steered, text,
};
use serde_json::{Value, json};

/// A dispatch to a phone, from a new client.
fn call(token: &str, phone: &str) -> Request {
    let request = Request::new("POST", dispatching(token)).header(FORWARDED, unknown_client());
    request.json(&json!({"phone_number": phone}))
}

/// Checks that one of these was sent, and that the others were refused because of it.
#[track_caller]
fn assert_one(answers: &[ScriptedAnswer]) -> Value {
    let sent: Vec<&ScriptedAnswer> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(sent.len(), 1, "{:?}", answers.iter().map(ScriptedAnswer::show).collect::<Vec<_>>());
    let sent = sent[0].expect_ok();
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        let body = refused.json();
        if body.get("existing").is_some() {
            assert_eq!(refused.expect_duplicate()["message_id"], sent["message_id"]);
        } else {
            refused.expect_hook_error(409, "DUPLICATE_SEND");
        }
    }
    sent
}

/// The messages of a company at a server.
async fn messages(addr: SocketAddr, us: &Tenant) -> Vec<Value> {
    let request = Request::new("GET", "/api/v1/messages?limit=100").bearer(&us.key);
    let answer = request.send(addr).await;
    answer.expect(200);
    answer.items()
}

async fn pending(addr: SocketAddr, us: &Tenant) {
    eventually("it is pending", || async {
        let all = messages(addr, us).await;
        all.iter().any(|one| one["status"] == "pending").then_some(())
    })
    .await;
}

#[both_stores]
async fn of_simultaneous_dispatches_exactly_one_sends(world: Intake) {
    world.silent("official_cloud").await;
    for (n, (count, category)) in
        [(10, "MARKETING"), (50, "MARKETING"), (10, "UTILITY"), (50, "AUTHENTICATION")]
            .into_iter()
            .enumerate()
    {
        let token = world.token(&format!("t{n}"), category, "Olá").await;
        let phone = mobile(u32::try_from(n).expect("small"));
        let calls = (0..count).map(|_| world.send(call(&token, &phone))).collect();
        let sent = assert_one(&join_all(calls).await);
        assert_eq!(sent["action"], "created");
        assert_eq!(world.all_messages().await.len(), n + 1);
    }
    assert_eq!(world.events_of("message.sent").await.len(), 4);
    assert_eq!(world.events_of("contact.created").await.len(), 4);
    assert_eq!(world.list_ids("").await.len(), 4);
}

#[both_stores]
async fn a_caller_that_hangs_up_changes_nothing(world: Intake) {
    world.silent("official_cloud").await;
    let token = world.token("promo", "MARKETING", "Olá").await;
    let caller = tokio::spawn(call(&token, &steered(5)).try_send(world.addr));
    pending(world.addr, &world.us).await;
    caller.abort();
    let message = text(&world.all_messages().await[0]["id"]);
    world.reaches(&message, "sent").await;
    let existing = eventually("the window is open", || async {
        let refused = world.dispatch_to(&token, &steered(5)).await;
        refused.json().get("existing").cloned()
    })
    .await;
    assert_eq!(existing["message_id"], message.as_str());
}

#[both_stores]
async fn a_dispatch_cut_off_by_a_kill_keeps_its_reservation_for_60_seconds(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &["--trusted-proxies", "127.0.0.0/8"]).await;
    let addr = process.addr;
    let us = tenant_at(addr, "Acme", "enterprise").await;
    let features = json!({"features": {"template_dispatch": true}});
    operator_at(addr, "", "PATCH", &format!("/companies/{}", us.id), features).await.expect(200);
    let body = json!({
        "kind": "official_cloud", "name": "c", "identifier": "+551140000000",
        "gateway": "simulated", "settings": {"reports": false},
    });
    operator_at(addr, &us.id, "POST", "C/connections", body).await.expect(201);
    let body = json!({
        "name": "promo", "category": "MARKETING", "body": "Olá", "status": "APPROVED",
    });
    let made = operator_at(addr, &us.id, "POST", "C/templates", body).await.expect(201);
    let token = text(&made["token"]);
    let caller = tokio::spawn(call(&token, &steered(5)).try_send(addr));
    pending(addr, &us).await;
    let made = text(&messages(addr, &us).await[0]["created_at"]);
    let made = Timestamp::parse(&made).expect("a time");
    process.kill().await;
    assert!(caller.await.expect("it ends").is_none(), "there was no answer");

    let process = Process::serve(&database, &["--trusted-proxies", "127.0.0.0/8"]).await;
    let addr = process.addr;
    let again = call(&token, &steered(5)).send(addr).await;
    again.expect_hook_error(409, "DUPLICATE_SEND");
    eventually("the message is settled", || async {
        let all = messages(addr, &us).await;
        assert_eq!(all.len(), 1, "nothing is sent again");
        (all[0]["error_type"] == "delivery_uncertain").then_some(())
    })
    .await;
    process.kill().await;

    // The test advances the clock for the rest of the minute.
    let clock = HandClock::default();
    clock.set_back(Duration::from_secs(24 * 60 * 60 * 3_650));
    clock.advance(made.since(clock.now()) + Duration::from_millis(59_000));
    let setup = Setup {
        clock: Some(clock.clone()),
        no_background: true,
        trusted_proxies: &["127.0.0.0/8"],
        // As the process was.
        alone: true,
        ..Setup::default()
    };
    let server = TestServer::start(&database, setup).await;
    let again = call(&token, &steered(5)).send(server.addr).await;
    assert_eq!(again.status, 409, "{}", again.show());
    clock.advance(Duration::from_secs(2));
    call(&token, &steered(5)).send(server.addr).await.expect_ok();
    assert_eq!(messages(server.addr, &us).await.len(), 2);
}

#[on_postgres]
async fn of_simultaneous_dispatches_in_two_processes_exactly_one_sends(world: Intake) {
    let setup = Setup {
        clock: Some(world.server.clock.clone()),
        trusted_proxies: &["127.0.0.0/8"],
        ..Setup::default()
    };
    let second = TestServer::start(&world.database, setup).await;
    let addrs = [world.addr, second.addr];
    world.silent("official_cloud").await;
    for n in 0..5_u32 {
        let token = world.token(&format!("t{n}"), "MARKETING", "Olá").await;
        let calls = (0..50).map(|k| call(&token, &mobile(n)).send(addrs[k % 2])).collect();
        assert_one(&join_all(calls).await);
    }
    assert_eq!(world.all_messages().await.len(), 5);
    assert_eq!(world.events_of("contact.created").await.len(), 5);
}
