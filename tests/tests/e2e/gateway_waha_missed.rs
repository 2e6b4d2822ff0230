//! Events whose webhooks were lost: pulls after an outage and at intervals: docs/gateways/waha.md;
//! D31, D64.

use std::time::Duration;

use recado_testkit::gateways::WahaEngine;
use recado_tests::{StoreKind, both_stores, join_all, mobile, text};
use serde_json::{Value, json};

use crate::gateway_waha::{Waha, chat, raw};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// Stops the session and starts it again, and runs `meanwhile` between.
async fn outage(waha: &Waha, meanwhile: impl FnOnce(&Waha)) {
    waha.takes(&waha.fake.webhook_status("FAILED")).await;
    waha.pass(MINUTE * 2);
    meanwhile(waha);
    waha.pass(MINUTE * 2);
    waha.takes(&waha.fake.webhook_status("WORKING")).await;
    waha.jobs().await;
}

#[both_stores]
async fn what_was_missed_is_brought_after_a_reconnect(kind: StoreKind) {
    for engine in [WahaEngine::Gows, WahaEngine::Noweb] {
        let waha = Waha::on(kind, engine).await;
        waha.jobs().await;
        outage(&waha, |waha| {
            waha.fake.receive(&chat(&mobile(1)), "Maria", "alô?");
            waha.fake.type_on_phone(&chat(&mobile(2)), "já volto");
            waha.fake.receive(&chat(&mobile(3)), "João", "parar");
        })
        .await;
        let all = waha.all_messages().await;
        let mut said: Vec<String> = all.iter().map(|one| text(&one["content"])).collect();
        said.sort();
        assert_eq!(said, ["alô?", "já volto", "parar"], "{engine:?}");
        assert_eq!(waha.events_of("message.received").await.len(), 2, "they are live");
        assert_eq!(waha.events_of("message.sent").await.len(), 1);
        assert_eq!(waha.events_of("contact.opted_out").await.len(), 1);
        waha.well_behaved();
    }
}

#[both_stores]
async fn a_webhook_that_comes_after_the_pull_is_no_second_message(waha: Waha) {
    let mut late = Vec::new();
    outage(&waha, |waha| {
        let reported = waha.fake.receive(&chat(&mobile(1)), "Maria", "alô?");
        let typed = waha.fake.type_on_phone(&chat(&mobile(1)), "oi");
        late = [reported, typed].iter().map(|one| waha.fake.webhook_message(one)).collect();
    })
    .await;
    assert_eq!(waha.all_messages().await.len(), 2);
    join_all(late.iter().map(|webhook| waha.takes(webhook)).collect()).await;
    waha.later(MINUTE * 15).await;
    assert_eq!(waha.all_messages().await.len(), 2);
    assert_eq!(waha.events_of("message.received").await.len(), 1);
    assert_eq!(waha.events_of("message.sent").await.len(), 1);
}

#[both_stores]
async fn a_pull_after_a_deletion_does_not_bring_the_contact_back(waha: Waha) {
    waha.jobs().await;
    let reported = waha.fake.receive(&chat(&mobile(1)), "Maria", "segredo");
    let message = waha.brings(&reported).await;
    let contact = format!("/api/v1/contacts/{}", text(&message["contact_id"]));
    waha.delete(&contact).await.expect_deleted();
    // The regular pull overlaps with earlier ones, the pull after an outage starts before the
    // outage, and the gateway repeats its webhooks.
    waha.later(MINUTE * 15).await;
    outage(&waha, |waha| {
        waha.fake.receive(&chat(&mobile(2)), "João", "alô?");
    })
    .await;
    waha.takes(&waha.fake.webhook_message(&reported)).await;
    let all = waha.all_messages().await;
    assert_eq!(all.iter().map(|one| text(&one["content"])).collect::<Vec<_>>(), ["alô?"]);
    assert_eq!(waha.events_of("contact.created").await.len(), 2);
    assert_eq!(waha.events_of("message.received").await.len(), 2);
    waha.hears(&chat(&mobile(1)), "sou eu").await;
    assert_eq!(waha.all_messages().await.len(), 2);
}

#[both_stores]
async fn a_webhook_and_a_pull_at_once_store_a_message_once(waha: Waha) {
    waha.jobs().await;
    let reported: Vec<Value> =
        (0..5).map(|n| waha.fake.receive(&chat(&mobile(n)), "Maria", "oi")).collect();
    waha.pass(MINUTE * 15);
    let hooks: Vec<_> = reported.iter().map(|one| waha.fake.webhook_message(one)).collect();
    let posted = join_all(hooks.iter().map(|webhook| waha.takes(webhook)).collect());
    tokio::join!(posted, waha.jobs(), waha.jobs());
    for message in &reported {
        waha.known(&raw(message)).await;
    }
    assert_eq!(waha.all_messages().await.len(), 5);
    assert_eq!(waha.events_of("message.received").await.len(), 5);
}

#[both_stores]
async fn what_a_lost_webhook_reported_is_brought_by_the_next_regular_pull(waha: Waha) {
    waha.jobs().await;
    waha.pass(MINUTE);
    waha.fake.receive(&chat(&mobile(1)), "Maria", "alguém?");
    waha.later(MINUTE * 13).await;
    assert!(waha.all_messages().await.is_empty());
    waha.later(MINUTE * 2).await;
    assert_eq!(waha.all_messages().await[0]["content"], "alguém?");
    waha.later(MINUTE * 16).await;
    waha.later(MINUTE * 16).await;
    assert_eq!(waha.all_messages().await.len(), 1);
    waha.well_behaved();
}

#[both_stores]
async fn acks_that_were_missed_come_with_the_own_messages(waha: Waha) {
    waha.jobs().await;
    let id = waha.sends(&mobile(1), "oi").await;
    waha.hears(&chat(&mobile(1)), "opa").await;
    waha.pass(SECOND * 30);
    let typed = waha.brings(&waha.fake.type_on_phone(&chat(&mobile(1)), "pois não")).await;
    // The gateway has later statuses; its webhooks about them are lost.
    drop(waha.fake.webhook_ack(&id, 3));
    drop(waha.fake.webhook_ack(&text(&typed["wamid"]), 2));
    waha.later(MINUTE * 15).await;
    assert_eq!(waha.known(&id).await["status"], "read");
    assert_eq!(waha.known(&text(&typed["wamid"])).await["status"], "delivered");
    assert_eq!(waha.all_messages().await.len(), 3, "an own message is no echo");
    assert_eq!(waha.events_of("message.sent").await.len(), 2);
}

#[both_stores]
async fn a_pull_proves_an_uncertain_send(waha: Waha) {
    waha.jobs().await;
    waha.fake.script([recado_testkit::gateways::SendBehaviour::AcceptThenDrop]);
    let answer = waha.send_text(&mobile(1), "oi").await;
    let id = text(&answer.expect_error(502, "PROVIDER_ERROR")["message_id"]);
    let raw = waha.fake.accepted()[0].raw_id.clone();
    drop(waha.fake.webhook_ack(&raw, 2));
    // The session cannot answer the look-ups of the message, so only the pull can find it.
    waha.fake.set_status("STARTING");
    for wait in [5, 30, 120, 600] {
        waha.later(SECOND * wait).await;
    }
    assert_eq!(waha.message(&id).await["status"], "failed");
    waha.fake.set_status("WORKING");
    waha.later(MINUTE * 15).await;
    let message = waha.message(&id).await;
    assert_eq!((&message["status"], &message["error_type"]), (&json!("delivered"), &Value::Null));
    assert_eq!(waha.fake.accepted().len(), 1);
}

#[both_stores]
async fn many_missed_messages_all_come(waha: Waha) {
    waha.jobs().await;
    outage(&waha, |waha| {
        for n in 0..730 {
            if n % 5 == 0 {
                waha.fake.set_now(waha.server.clock.now().plus(Duration::from_millis(n * 100)));
            }
            let from = chat(&mobile(u32::try_from(n % 7).expect("small")));
            waha.fake.receive(&from, "Maria", &format!("m{n}"));
        }
    })
    .await;
    let mut seen = std::collections::BTreeSet::new();
    for page in 1..=8 {
        let answer = waha.get(&format!("/api/v1/messages?limit=100&page={page}")).await;
        seen.extend(answer.column("content"));
    }
    assert_eq!(seen.len(), 730);
    assert_eq!(waha.events_of("message.received").await.len(), 730);
    waha.well_behaved();
}

#[both_stores]
async fn a_pull_that_fails_is_tried_again_soon(waha: Waha) {
    waha.jobs().await;
    waha.takes(&waha.fake.webhook_status("FAILED")).await;
    waha.pass(MINUTE);
    waha.fake.receive(&chat(&mobile(1)), "Maria", "alô?");
    waha.takes(&waha.fake.webhook_status("WORKING")).await;
    waha.gateway.stop().await;
    waha.jobs().await;
    assert!(waha.all_messages().await.is_empty());
    waha.gateway.resume().await;
    waha.later(SECOND * 15).await;
    assert_eq!(waha.all_messages().await.len(), 1);
}

#[both_stores]
async fn an_engine_that_cannot_list_all_chats_goes_without(kind: StoreKind) {
    let waha = Waha::on(kind, WahaEngine::Webjs).await;
    waha.jobs().await;
    outage(&waha, |waha| {
        waha.fake.receive(&chat(&mobile(1)), "Maria", "alô?");
    })
    .await;
    assert!(waha.all_messages().await.is_empty());
    assert_eq!(waha.status().await, "connected");
    waha.sent(&mobile(1), "oi").await;
    waha.well_behaved();
}
