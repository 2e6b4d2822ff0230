//! Sends through WAHA whose outcome is unknown: they are never sent again. Any report, look-up or
//! pull that has the message shows that it was sent: D28, D36, D38.

use std::time::Duration;

use recado_testkit::gateways::{SendBehaviour, WahaEngine};
use recado_tests::{StoreKind, both_stores, eventually, mobile, text};
use serde_json::{Value, json};

use crate::gateway_waha::Waha;

const SECOND: Duration = Duration::from_secs(1);

/// Sends, and asserts that the outcome is uncertain; returns the id of the message.
async fn lost(waha: &Waha, to: &str, behaviour: SendBehaviour) -> String {
    let what = format!("{behaviour:?}");
    waha.fake.script([behaviour]);
    let answer = waha.send_text(to, "chegou?").await;
    let details = answer.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(details["error_type"], "delivery_uncertain", "{what}: {}", answer.show());
    assert_eq!(details["delivery_error"], "DELIVERY_UNCERTAIN", "{what}");
    let id = text(&details["message_id"]);
    assert_uncertain(waha, &id).await;
    id
}

async fn assert_uncertain(waha: &Waha, id: &str) {
    let message = waha.message(id).await;
    assert_eq!(message["status"], "failed", "{message}");
    assert_eq!(message["error_type"], "delivery_uncertain", "{message}");
    assert_eq!(message["delivery_error"]["code"], "DELIVERY_UNCERTAIN", "{message}");
    assert_eq!(message["wamid"], Value::Null, "{message}");
}

async fn assert_proved(waha: &Waha, id: &str, status: &str) {
    let message = waha.message(id).await;
    assert_eq!(message["status"], status, "{message}");
    assert_eq!(message["error_type"], Value::Null, "{message}");
    assert_eq!(message["delivery_error"], Value::Null, "{message}");
    assert_eq!(message["failure_reason"], Value::Null, "{message}");
    let last = waha.fake.accepted().pop().expect("it was sent");
    assert_eq!(message["wamid"], last.raw_id.as_str());
}

/// Makes all four look-ups of the message.
async fn look_four_times(waha: &Waha) {
    for wait in [5, 30, 120, 600] {
        waha.later(SECOND * wait).await;
    }
}

fn sends(waha: &Waha) -> usize {
    waha.fake.requests().iter().filter(|request| request.path.ends_with("/sendText")).count()
}

fn taken() -> Vec<SendBehaviour> {
    let failure = json!({"statusCode": 500, "exception": {"message": "x", "name": "Error"},
        "request": {"body": {"text": "chegou?"}, "path": "/api/sendText"}});
    vec![
        SendBehaviour::AcceptThenDrop,
        SendBehaviour::AcceptWithoutId,
        SendBehaviour::AcceptThenError(500, failure),
        SendBehaviour::AcceptThenError(502, json!({})),
    ]
}

#[both_stores]
async fn whatever_decides_nothing_is_uncertain_and_found_by_its_id(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        for behaviour in taken() {
            let waha = Waha::on(kind, engine).await;
            let id = lost(&waha, &mobile(1), behaviour.clone()).await;
            waha.later(SECOND * 4).await;
            assert_uncertain(&waha, &id).await;
            waha.later(SECOND).await;
            assert_proved(&waha, &id, "sent").await;
            look_four_times(&waha).await;
            assert_eq!(sends(&waha), 1, "{engine:?} {behaviour:?}: it is never sent again");
            assert_eq!(waha.announced(&id).await, ["failed", "sent"], "{behaviour:?}");
            waha.well_behaved();
        }
    }
}

#[both_stores]
async fn a_gateway_that_answers_too_late_is_uncertain_and_found(waha: Waha) {
    waha.set(json!({"timeout_ms": 300})).await;
    let id = lost(&waha, &mobile(1), SendBehaviour::AcceptLate(SECOND * 3)).await;
    waha.later(SECOND * 5).await;
    assert_proved(&waha, &id, "sent").await;
    assert_eq!(sends(&waha), 1);
}

#[both_stores]
async fn what_the_gateway_has_not_stays_uncertain(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        let id = lost(&waha, &mobile(1), SendBehaviour::Broken(500)).await;
        look_four_times(&waha).await;
        waha.later(SECOND * 3_600).await;
        assert_uncertain(&waha, &id).await;
        assert_eq!(sends(&waha), 1, "{engine:?}");
        assert!(waha.fake.accepted().is_empty());
        assert_eq!(waha.announced(&id).await, ["failed"]);
        waha.well_behaved();
    }
}

#[both_stores]
async fn a_refusal_is_not_looked_for(waha: Waha) {
    waha.fake.script([SendBehaviour::Error(400, json!({"statusCode": 400, "message": "no"}))]);
    waha.send_text(&mobile(1), "oi").await.expect_error(502, "PROVIDER_ERROR");
    let before = waha.fake.requests().len();
    waha.later(SECOND * 40).await;
    let looks = &waha.fake.requests()[before..];
    assert!(!looks.iter().any(|one| one.path.contains("/messages/")), "{looks:?}");
}

#[both_stores]
async fn an_ack_proves_a_message_that_carries_our_id(kind: StoreKind) {
    for engine in [WahaEngine::Gows, WahaEngine::Noweb] {
        for (ack, status) in [(1, "sent"), (2, "delivered"), (3, "read")] {
            let waha = Waha::on(kind, engine).await;
            let id = lost(&waha, &mobile(1), SendBehaviour::AcceptThenDrop).await;
            let raw = waha.fake.accepted()[0].raw_id.clone();
            waha.takes(&waha.fake.webhook_ack(&raw, ack)).await;
            assert_proved(&waha, &id, status).await;
        }
    }
}

#[both_stores]
async fn an_own_message_proves_it_on_every_engine(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        let id = lost(&waha, &mobile(1), SendBehaviour::AcceptThenDrop).await;
        let raw = waha.fake.accepted()[0].raw_id.clone();
        let kept = waha.fake.sent_message(&raw).expect("it was sent");
        waha.takes(&waha.fake.webhook_message(&kept)).await;
        assert_proved(&waha, &id, "sent").await;
        assert_eq!(waha.all_messages().await.len(), 1, "{engine:?}: no echo beside it");
        waha.takes(&waha.fake.webhook_ack(&raw, 3)).await;
        assert_proved(&waha, &id, "read").await;
    }
}

#[both_stores]
async fn the_same_words_typed_on_the_phone_prove_nothing(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        let id = lost(&waha, &mobile(1), SendBehaviour::Broken(500)).await;
        let chat = crate::gateway_waha::chat(&mobile(1));
        let typed = waha.fake.type_on_phone(&chat, "chegou?");
        waha.takes(&waha.fake.webhook_message(&typed)).await;
        look_four_times(&waha).await;
        assert_uncertain(&waha, &id).await;
        assert_eq!(waha.all_messages().await.len(), 2, "{engine:?}: the echo is a message");
    }
}

#[both_stores]
async fn two_lost_texts_with_the_same_words_are_distinguished_by_their_ids(waha: Waha) {
    let first = lost(&waha, &mobile(1), SendBehaviour::Broken(500)).await;
    let second = lost(&waha, &mobile(1), SendBehaviour::AcceptThenDrop).await;
    look_four_times(&waha).await;
    assert_uncertain(&waha, &first).await;
    assert_proved(&waha, &second, "sent").await;
}

#[both_stores]
async fn a_restart_goes_on_looking(mut waha: Waha) {
    let id = lost(&waha, &mobile(1), SendBehaviour::AcceptThenDrop).await;
    waha.world.restart().await;
    waha.later(SECOND * 5).await;
    assert_proved(&waha, &id, "sent").await;
    assert_eq!(sends(&waha), 1);
}

#[both_stores]
async fn a_gateway_that_is_down_when_it_is_looked_for_is_asked_again(waha: Waha) {
    let id = lost(&waha, &mobile(1), SendBehaviour::AcceptThenDrop).await;
    waha.gateway.stop().await;
    waha.later(SECOND * 5).await;
    assert_uncertain(&waha, &id).await;
    waha.gateway.resume().await;
    waha.later(SECOND * 30).await;
    assert_proved(&waha, &id, "sent").await;
}

#[both_stores]
async fn an_ack_that_is_faster_than_the_answer_is_not_lost(waha: Waha) {
    waha.fake.script([SendBehaviour::AcceptLate(Duration::from_millis(600))]);
    let (to, words) = (mobile(1), "oi");
    let acked = async {
        let raw = eventually("it is taken", || async {
            waha.fake.accepted().pop().map(|sent| sent.raw_id)
        })
        .await;
        waha.takes(&waha.fake.webhook_ack(&raw, 3)).await;
        waha.takes(&waha.fake.webhook_ack(&raw, 2)).await;
    };
    let (data, ()) = tokio::join!(waha.sent(&to, words), acked);
    let message = waha.message(&text(&data["message_id"])).await;
    assert_eq!(message["status"], "read", "{message}");
    assert_eq!(waha.all_messages().await.len(), 1);
}

#[both_stores]
async fn a_proof_that_comes_before_the_time_is_up_stays(waha: Waha) {
    waha.set(json!({"timeout_ms": 1500})).await;
    waha.fake.script([SendBehaviour::AcceptLate(SECOND * 4)]);
    let to = mobile(1);
    let acked = async {
        let raw = eventually("it is taken", || async {
            waha.fake.accepted().pop().map(|sent| sent.raw_id)
        })
        .await;
        waha.takes(&waha.fake.webhook_ack(&raw, 2)).await;
    };
    tokio::join!(waha.send_text(&to, "oi"), acked);
    let all = waha.all_messages().await;
    assert_eq!(all.len(), 1);
    assert_proved(&waha, &text(&all[0]["id"]), "delivered").await;
    look_four_times(&waha).await;
    assert_eq!(sends(&waha), 1);
}

#[both_stores]
async fn a_caller_who_hangs_up_changes_nothing(waha: Waha) {
    waha.fake.script([SendBehaviour::AcceptLate(Duration::from_millis(500))]);
    let to = mobile(1);
    tokio::select! {
        _ = waha.send_text(&to, "oi") => panic!("it answers later"),
        _ = eventually("it is taken", || async { waha.fake.accepted().pop() }) => {}
    }
    let finished = eventually("it is settled", || async {
        let all = waha.all_messages().await;
        (all.len() == 1 && all[0]["status"] == "sent").then(|| all[0].clone())
    })
    .await;
    assert_eq!(finished["wamid"], waha.fake.accepted()[0].raw_id.as_str());
    assert_eq!(sends(&waha), 1);
}

#[both_stores]
async fn the_same_words_that_were_sent_before_or_after_prove_nothing(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        waha.jobs().await;
        let before = waha.sends(&mobile(1), "chegou?").await;
        let id = lost(&waha, &mobile(1), SendBehaviour::Broken(500)).await;
        let after = waha.sends(&mobile(1), "chegou?").await;
        for raw in [&before, &after] {
            let kept = waha.fake.sent_message(raw).expect("it was sent");
            waha.takes(&waha.fake.webhook_message(&kept)).await;
        }
        look_four_times(&waha).await;
        // The regular pull finds them, too.
        waha.later(SECOND * 900).await;
        assert_uncertain(&waha, &id).await;
        assert_eq!(waha.fake.accepted().len(), 2, "{engine:?}");
        waha.well_behaved();
    }
}

#[both_stores]
async fn a_repeated_call_gets_the_same_answer_and_sends_nothing(waha: Waha) {
    let body = json!({"to": mobile(1), "message": "oi"});
    waha.fake.script([SendBehaviour::AcceptThenDrop]);
    let first = waha.world.send(waha.keyed("/api/v1/send/message", "k1", &body)).await;
    let reported = first.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(reported["error_type"], "delivery_uncertain");
    let second = waha.world.send(waha.keyed("/api/v1/send/message", "k1", &body)).await;
    assert_eq!(second.expect_error(502, "PROVIDER_ERROR"), reported);
    assert_eq!((sends(&waha), waha.all_messages().await.len()), (1, 1));
}
