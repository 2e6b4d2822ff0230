//! Sends through Evolution whose outcome is unknown: D28, D36, D38.

use std::time::Duration;

use recado_testkit::gateways::{FakeEvolution, SendBehaviour};
use recado_tests::backend::Setup;
use recado_tests::{StoreKind, both_stores, digits, eventually, mobile, text};
use serde_json::{Value, json};

use crate::gateway_evolution::Evolution;

const SECOND: Duration = Duration::from_secs(1);

async fn lost(world: &Evolution, to: &str, words: &str, behaviour: SendBehaviour) -> String {
    let what = format!("{behaviour:?}");
    world.fake.script([behaviour]);
    let answer = world.send_text(to, words).await;
    let details = answer.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(details["error_type"], "delivery_uncertain", "{what}: {}", answer.show());
    assert_eq!(details["delivery_error"], "DELIVERY_UNCERTAIN", "{what}");
    let id = text(&details["message_id"]);
    assert_uncertain(world, &id).await;
    id
}

async fn assert_uncertain(world: &Evolution, id: &str) {
    let message = world.message(id).await;
    assert_eq!(message["status"], "failed", "{message}");
    assert_eq!(message["error_type"], "delivery_uncertain", "{message}");
    assert_eq!(message["wamid"], Value::Null, "{message}");
}

async fn assert_proved(world: &Evolution, id: &str, wamid: &str) {
    let message = world.message(id).await;
    assert_eq!(message["status"], "sent", "{message}");
    assert_eq!(message["error_type"], Value::Null, "{message}");
    assert_eq!(message["delivery_error"], Value::Null, "{message}");
    assert_eq!(message["wamid"], wamid, "{message}");
}

async fn look_four_times(world: &Evolution) {
    for wait in [5, 30, 120, 600] {
        world.later(SECOND * wait).await;
    }
}

fn taken() -> Vec<SendBehaviour> {
    let after = |status: u16, message: Value| {
        SendBehaviour::AcceptThenError(status, FakeEvolution::error(status, &message))
    };
    vec![
        SendBehaviour::AcceptThenDrop,
        SendBehaviour::AcceptWithoutId,
        after(400, json!(["Error: Connection Closed"])),
        after(400, json!("Error: Timed Out")),
        after(400, json!(["SessionError: No sessions"])),
        after(500, json!("Internal Server Error")),
    ]
}

#[both_stores]
async fn whatever_decides_nothing_is_uncertain_and_found_in_the_history(kind: StoreKind) {
    for behaviour in taken() {
        let reported = json!({"status": "connected"});
        let world = Evolution::with(kind, Setup::default(), reported).await;
        let id = lost(&world, &mobile(1), "chegou?", behaviour.clone()).await;
        world.later(SECOND * 4).await;
        assert_uncertain(&world, &id).await;
        world.later(SECOND).await;
        let sent = world.fake.accepted();
        assert_proved(&world, &id, &sent[0].id).await;
        look_four_times(&world).await;
        assert_eq!(world.fake.accepted().len(), 1, "{behaviour:?}: never sent again");
        assert_eq!(world.announced(&id).await, ["failed", "sent"]);
        world.well_behaved();
    }
}

#[both_stores]
async fn what_the_gateway_has_not_stays_uncertain(world: Evolution) {
    let first = lost(&world, &mobile(1), "a", SendBehaviour::Broken(500)).await;
    let reported = FakeEvolution::error(400, &json!(["Error: Connection Closed"]));
    let second = lost(&world, &mobile(2), "b", SendBehaviour::Error(400, reported)).await;
    look_four_times(&world).await;
    world.later(SECOND * 3_600).await;
    assert_uncertain(&world, &first).await;
    assert_uncertain(&world, &second).await;
    assert!(world.fake.accepted().is_empty());
    world.well_behaved();
}

#[both_stores]
async fn the_same_words_sent_much_later_are_another_message(world: Evolution) {
    world.fake.keep_messages(false);
    let id = lost(&world, &mobile(1), "chegou?", SendBehaviour::AcceptThenDrop).await;
    look_four_times(&world).await;
    assert_uncertain(&world, &id).await;
    let sent = world.fake.accepted()[0].id.clone();
    let reported = world.fake.webhook_sent(&sent);
    world.takes(&reported).await;
    assert_uncertain(&world, &id).await;
}

#[both_stores]
async fn a_send_message_proves_it_and_what_follows_moves_it_on(world: Evolution) {
    world.fake.keep_messages(false);
    let id = lost(&world, &mobile(1), "chegou?", SendBehaviour::AcceptThenDrop).await;
    let sent = world.fake.accepted()[0].id.clone();
    world.takes(&world.fake.webhook_sent(&sent)).await;
    assert_proved(&world, &id, &sent).await;
    world.takes(&world.fake.webhook_sent(&sent)).await;
    world.takes(&world.fake.acknowledge(&sent, "READ")).await;
    assert_eq!(world.message(&id).await["status"], "read");
    assert_eq!(world.all_messages().await.len(), 1, "no echo beside it");
    assert_eq!(world.announced(&id).await, ["failed", "sent", "read"]);
}

#[both_stores]
async fn other_words_or_another_person_prove_nothing(world: Evolution) {
    let id = lost(&world, &mobile(1), "chegou?", SendBehaviour::Broken(500)).await;
    for (to, words) in [(mobile(1), "outra"), (mobile(2), "chegou?")] {
        let sent = world.sends(&to, words).await;
        world.takes(&world.fake.webhook_sent(&sent)).await;
    }
    let typed = world.fake.typed(&digits(&mobile(1)), "chegou?");
    world.takes(&world.fake.webhook_message(&typed)).await;
    look_four_times(&world).await;
    assert_uncertain(&world, &id).await;
    world.well_behaved();
}

#[both_stores]
async fn a_gateway_that_answers_too_late_is_uncertain_and_found(world: Evolution) {
    world.set(json!({"timeout_ms": 300})).await;
    let id = lost(&world, &mobile(1), "oi", SendBehaviour::AcceptLate(SECOND * 3)).await;
    world.later(SECOND * 5).await;
    let sent = world.fake.accepted();
    assert_proved(&world, &id, &sent[0].id).await;
    assert_eq!(sent.len(), 1);
}

#[both_stores]
async fn a_lost_text_to_a_group_is_found_there(world: Evolution) {
    world.fake.add_group(json!({"id": "120363000000000001@g.us", "subject": "G"}));
    world.asks("sync-groups").await.expect(200);
    let to = "120363000000000001@g.us";
    let id = lost(&world, to, "oi gente", SendBehaviour::AcceptThenDrop).await;
    world.later(SECOND * 5).await;
    assert_proved(&world, &id, &world.fake.accepted()[0].id).await;
    world.well_behaved();
}

#[both_stores]
async fn two_lost_texts_with_the_same_words_need_two_proofs(world: Evolution) {
    world.fake.keep_messages(false);
    let first = lost(&world, &mobile(1), "oi", SendBehaviour::AcceptThenDrop).await;
    let second = lost(&world, &mobile(1), "oi", SendBehaviour::AcceptThenDrop).await;
    let sent = world.fake.accepted();
    world.takes(&world.fake.webhook_sent(&sent[0].id)).await;
    assert_proved(&world, &first, &sent[0].id).await;
    assert_uncertain(&world, &second).await;
    world.takes(&world.fake.webhook_sent(&sent[0].id)).await;
    assert_uncertain(&world, &second).await;
    world.takes(&world.fake.webhook_sent(&sent[1].id)).await;
    assert_proved(&world, &second, &sent[1].id).await;
}

#[both_stores]
async fn what_is_reported_before_the_answer_is_no_second_message(world: Evolution) {
    world.fake.script([SendBehaviour::AcceptLate(Duration::from_millis(600))]);
    let to = mobile(1);
    let reported = async {
        let sent = eventually("it is taken", || async { world.fake.accepted().pop() }).await;
        world.takes(&world.fake.webhook_sent(&sent.id)).await;
        world.takes(&world.fake.acknowledge(&sent.id, "READ")).await;
    };
    let (data, ()) = tokio::join!(world.sent(&to, "oi"), reported);
    let message = world.message(&text(&data["message_id"])).await;
    assert_eq!(message["status"], "read", "{message}");
    assert_eq!(world.all_messages().await.len(), 1);
}

#[both_stores]
async fn the_same_words_that_were_sent_before_or_after_prove_nothing(world: Evolution) {
    world.jobs().await;
    let before = world.sends(&mobile(1), "oi").await;
    let id = lost(&world, &mobile(1), "oi", SendBehaviour::Broken(500)).await;
    let after = world.sends(&mobile(1), "oi").await;
    for sent in [&before, &after] {
        world.takes(&world.fake.webhook_sent(sent)).await;
    }
    look_four_times(&world).await;
    // The regular pull finds them, too.
    world.later(SECOND * 900).await;
    assert_uncertain(&world, &id).await;
    for sent in [&before, &after] {
        assert_eq!(world.known(sent).await["status"], "sent");
    }
    world.well_behaved();
}

#[both_stores]
async fn a_lost_text_that_somebody_sent_again_is_proved_by_the_next_pull(world: Evolution) {
    world.jobs().await;
    let id = lost(&world, &mobile(1), "oi", SendBehaviour::AcceptThenDrop).await;
    world.pass(SECOND * 2);
    let again = world.sends(&mobile(1), "oi").await;
    look_four_times(&world).await;
    world.later(SECOND * 900).await;
    let sent = world.fake.accepted();
    assert_eq!(sent[1].id, again);
    assert_proved(&world, &id, &sent[0].id).await;
    assert_eq!(sent.len(), 2);
}

#[both_stores]
async fn a_repeated_call_gets_the_same_answer_and_sends_nothing(world: Evolution) {
    let body = json!({"to": mobile(1), "message": "oi"});
    world.fake.script([SendBehaviour::AcceptThenDrop]);
    let first = world.world.send(world.keyed("/api/v1/send/message", "k1", &body)).await;
    let reported = first.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(reported["error_type"], "delivery_uncertain");
    let second = world.world.send(world.keyed("/api/v1/send/message", "k1", &body)).await;
    assert_eq!(second.expect_error(502, "PROVIDER_ERROR"), reported);
    assert_eq!((world.fake.accepted().len(), world.all_messages().await.len()), (1, 1));
}

#[both_stores]
async fn an_agents_lost_reply_is_never_sent_again(world: Evolution) {
    let contact = text(&world.hears(&mobile(1), "oi").await["contact_id"]);
    world.fake.script([SendBehaviour::AcceptThenDrop]);
    let answer = world.act(&contact, "reply", json!({"message": "olá"})).await;
    let reported = answer.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(reported["error_type"], "delivery_uncertain", "{}", answer.show());
    world.later(SECOND * 5).await;
    let sent = world.fake.accepted();
    assert_eq!(sent.len(), 1);
    let message = world.known(&sent[0].id).await;
    assert_eq!((&message["status"], &message["sender_type"]), (&json!("sent"), &json!("agent")));
}
