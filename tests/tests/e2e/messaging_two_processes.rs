//! Conversations with several server processes on one Postgres: D31, D36, D37.

use recado_tests::backend::{Database, TestServer};
use recado_tests::binary::Process;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{
    Request, ScriptedAnswer, Setup, StoreKind, World, digits, eventually, join_all, mobile,
    on_postgres, steered, text,
};
use serde_json::{Value, json};

async fn second(world: &World) -> TestServer {
    let setup = Setup { clock: Some(world.server.clock.clone()), ..Setup::default() };
    TestServer::start(&world.database, setup).await
}

#[on_postgres]
async fn a_message_repeated_at_both_at_once_is_one(world: World) {
    let other = second(&world).await;
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    world.close(&contact).await;
    let event = world.inbound(&digits(&mobile(1)), "voltei");
    let path = format!("C/connections/{qr}/events");
    let calls = (0..60).map(|n| {
        let addr = if n % 2 == 0 { world.addr } else { other.addr };
        operator_at(addr, &world.us.id, "POST", &path, json!({"events": [event]}))
    });
    let results: Vec<String> = join_all(calls.collect())
        .await
        .iter()
        .map(|answer| text(&answer.expect(200)["results"][0]["result"]))
        .collect();
    assert_eq!(results.iter().filter(|one| *one == "stored").count(), 1, "{results:?}");
    assert_eq!(world.messages_of(&contact).await.len(), 2);
    assert_eq!(world.events_of("message.received").await.len(), 2);
}

#[on_postgres]
async fn a_key_used_at_both_at_once_sends_once(world: World) {
    let other = second(&world).await;
    world.qr().await;
    let body = json!({"to": mobile(1), "message": "oi"});
    let calls = (0..20).map(|n| {
        let addr = if n % 2 == 0 { world.addr } else { other.addr };
        world.keyed("/api/v1/send/message", "k", &body).send(addr)
    });
    let answers = join_all(calls.collect()).await;
    let fresh = |answer: &&ScriptedAnswer| {
        answer.status == 200 && answer.header("idempotent-replayed").is_empty()
    };
    assert_eq!(answers.iter().filter(fresh).count(), 1);
    assert_eq!(world.all_messages().await.len(), 1);
}

#[on_postgres]
async fn a_living_process_finishes_what_a_dead_one_left_pending(kind: StoreKind) {
    let database = Database::migrated(kind);
    let (dying, living) =
        (Process::serve(&database, &[]).await, Process::serve(&database, &[]).await);
    let us = tenant_at(living.addr, "Acme", "enterprise").await;
    let body = json!({
        "kind": "official_cloud", "name": "c", "identifier": "1", "gateway": "simulated",
    });
    operator_at(living.addr, &us.id, "POST", "C/connections", body).await.expect(201);
    let send = |to: String, addr| {
        let body = json!({"to": to, "message": "oi"});
        Request::new("POST", "/api/v1/send/message").bearer(&us.key).json(&body).try_send(addr)
    };
    let status = |status: &'static str| {
        let path = format!("/api/v1/messages?status={status}");
        let list = Request::new("GET", path).bearer(&us.key).send(living.addr);
        async move { list.await.items() }
    };
    let cut = tokio::spawn(send(steered(5), dying.addr));
    let slow = tokio::spawn(send(steered(5), living.addr));
    eventually("both are pending", || async { (status("pending").await.len() == 2).then_some(()) })
        .await;
    dying.kill().await;
    let failed = eventually("the dead one's is settled", || async {
        status("failed").await.into_iter().next()
    })
    .await;
    assert_eq!(failed["error_type"], "delivery_uncertain");
    assert!(cut.await.expect("it ends").is_none());
    slow.await.expect("it ends").expect("an answer").expect(200);
    let all = Request::new("GET", "/api/v1/messages").bearer(&us.key).send(living.addr).await;
    let failed = all.items().iter().filter(|one| one["status"] == "failed").count();
    assert_eq!(failed, 1, "the living one's own send was left alone: {}", all.show());
    assert!(all.items().iter().all(|one| one["contact_id"] != Value::Null));
}
