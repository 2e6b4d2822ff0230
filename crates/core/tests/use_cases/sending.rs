//! Sends: one provider call for each, and an outcome for every intent (4.8, D28, D34–D39).

use std::sync::Arc;

use recado_core::gateway::{Accepted, GatewayEvent, SendFailure, StatusEvent};
use recado_core::messages::{DeliveryCode, MessageStatus, ProviderMessageId};
use recado_core::sending::SendError;
use recado_core::workers::LEASE;
use recado_core::{Code, Error, Kind, Rejection};
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, ScriptedProvider, StoreFailure, StoreOp};
use serde_json::{Value, json};

use super::{create_phone, messaging::Messaging};

const PHONE: &str = "+5534991230001";

async fn kit() -> (Messaging, MemoryStore, FaultyStore) {
    let model = MemoryStore::new();
    let store = FaultyStore::new(Arc::new(model.clone()));
    let messaging =
        Messaging::on(Kit::builder().store(Arc::new(store.clone())).build().await).await;
    (messaging, model, store)
}

/// 4.8.
#[tokio::test]
async fn a_send_reports_message_sent_once_and_is_stored_as_sent() {
    let (messaging, model, _) = kit().await;
    let sent = messaging.send(PHONE, "Oi").await.unwrap();
    let events: Vec<String> = model
        .events(messaging.kit.company.id)
        .iter()
        .map(|event| event.event_type.to_string())
        .collect();
    assert_eq!(events, ["contact.created", "message.sent"]);
    let message = messaging.newest().await;
    assert_eq!(message["status"], "sent");
    assert_eq!(message["wamid"], json!(sent.wamid));
    assert_eq!(message["sender_type"], "system");
}

/// D34.
#[tokio::test]
async fn a_refusal_before_the_provider_leaves_nothing() {
    let (messaging, model, _) = kit().await;
    messaging.set_connected(false).await;
    // The first send of a process registers it.
    messaging.send("+5534991230009", "Oi").await.unwrap_err();
    let rows = model.row_count();
    let refused = messaging.send(PHONE, "Oi").await.unwrap_err();
    assert_eq!(code(&refused), "CONNECTION_REQUIRED");
    assert_eq!(model.row_count(), rows);
    assert_eq!(messaging.kit.provider.sent(), []);
}

/// 7.1, D38.
#[tokio::test]
async fn what_may_have_arrived_is_uncertain_on_every_kind_of_connection() {
    for (kind, expected) in [("qr", "PROVIDER_ERROR"), ("official_cloud", "DELIVERY_UNCERTAIN")] {
        let messaging = Messaging::of_kind(Kit::new().await, kind).await;
        let failures = [
            SendFailure::uncertain("timed out"),
            SendFailure::refused(DeliveryCode::Unknown, "no"),
        ];
        for (failure, may_have_arrived) in failures.into_iter().zip([true, false]) {
            messaging.kit.provider.then(Err(failure));
            let refused = messaging.send(PHONE, "Oi").await.unwrap_err();
            assert_eq!(refused.may_have_arrived(), may_have_arrived, "{kind}");
            let is_uncertain = matches!(refused, Error::Rejected(SendError::Uncertain { .. }));
            assert_eq!(is_uncertain, may_have_arrived, "{kind}");
            let answered = if may_have_arrived { expected } else { "PROVIDER_ERROR" };
            assert_eq!(code(&refused), answered, "{kind}");
        }
    }
}

/// D38.
#[tokio::test]
async fn an_uncertain_send_is_recorded_as_failed_and_never_repeated() {
    let (messaging, _, _) = kit().await;
    messaging.kit.provider.then(Err(SendFailure::uncertain("timed out")));
    let refused = messaging.send(PHONE, "Oi").await.unwrap_err();
    assert_eq!(code(&refused), "PROVIDER_ERROR");
    let message = messaging.newest().await;
    assert_eq!(
        (&message["status"], &message["error_type"]),
        (&json!("failed"), &json!("delivery_uncertain"))
    );
    while messaging.kit.app.sending().recover().await.unwrap() {}
    assert_eq!(messaging.kit.provider.sent().len(), 1);
}

#[tokio::test]
async fn a_report_that_proves_an_uncertain_send_moves_it_on() {
    let (messaging, _, _) = kit().await;
    messaging.kit.provider.then(Err(SendFailure::uncertain("timed out")));
    messaging.send(PHONE, "Oi").await.unwrap_err();
    let id = messaging.kit.provider.sent()[0].outgoing.reference;
    let late = ProviderMessageId::parse("late").unwrap();
    let report =
        StatusEvent { reference: Some(id), ..StatusEvent::new(late, MessageStatus::Delivered) };
    messaging.receive(vec![Ok(GatewayEvent::Status(report))]).await;
    let message = messaging.newest().await;
    assert_eq!(message["status"], "delivered");
    assert_eq!((&message["error_type"], &message["wamid"]), (&Value::Null, &json!("late")));
}

/// R31.
#[tokio::test]
async fn a_report_that_comes_before_the_answer_is_applied_when_the_id_is_known() {
    let (messaging, model, _) = kit().await;
    let gate = messaging.kit.provider.hold();
    let send = messaging.send(PHONE, "Oi");
    let report = async {
        gate.reached(1).await;
        let first = ScriptedProvider::id(1);
        messaging.status(first.as_str(), "delivered").await;
        gate.open();
    };
    let (sent, ()) = tokio::join!(send, report);
    assert_eq!(sent.unwrap().wamid.as_deref(), Some(ScriptedProvider::id(1).as_str()));
    assert_eq!(messaging.newest().await["status"], "delivered");
    let reported: Vec<String> = model
        .events(messaging.kit.company.id)
        .iter()
        .map(|event| event.event_type.to_string())
        .collect();
    assert_eq!(reported, ["contact.created", "message.sent", "message.status_updated"]);
    let events = model.events(messaging.kit.company.id);
    let last: Value = serde_json::from_str(&events[2].data).unwrap();
    assert_eq!((&last["previous_status"], &last["status"]), (&json!("sent"), &json!("delivered")));
}

#[tokio::test]
async fn a_report_is_kept_for_ten_minutes_and_no_longer() {
    let (messaging, _, _) = kit().await;
    messaging.status(ScriptedProvider::id(1).as_str(), "delivered").await;
    messaging.kit.clock.advance(recado_core::inbox::REPORT_KEPT);
    messaging.send(PHONE, "Oi").await.unwrap();
    assert_eq!(messaging.newest().await["status"], "sent");
}

/// R28.
#[tokio::test]
async fn what_a_dead_process_left_pending_becomes_uncertain_once_its_lease_lapsed() {
    let (messaging, model, _) = kit().await;
    let _gate = messaging.kit.provider.hold();
    // Polled once past the intent and dropped: the process died while it called the provider.
    let send = messaging.send(PHONE, "Oi");
    tokio::select! {
        biased;
        _ = send => panic!("the provider holds it back"),
        () = async { _gate.reached(1).await } => {}
    }
    let other = Kit::builder()
        .store(Arc::new(model.clone()))
        .clock(messaging.kit.clock.clone())
        .ids(recado_testkit::SeededIds::new(7))
        .provider(messaging.kit.provider.clone())
        .start()
        .await;
    other.sending().recover().await.unwrap();
    assert_eq!(messaging.newest().await["status"], "pending");
    messaging.kit.clock.advance(LEASE);
    other.sending().recover().await.unwrap();
    let message = messaging.newest().await;
    assert_eq!(
        (&message["status"], &message["error_type"]),
        (&json!("failed"), &json!("delivery_uncertain"))
    );
    assert_eq!(messaging.kit.provider.sent().len(), 1);
}

#[tokio::test]
async fn a_send_that_is_dropped_at_any_step_does_not_stay_pending() {
    let (messaging, _, _) = kit().await;
    messaging.send(PHONE, "primeira").await.unwrap();
    let _gate = messaging.kit.provider.hold();
    for steps in 1..100 {
        let mut send = Box::pin(messaging.send(PHONE, "Oi"));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        for _ in 0..steps {
            assert!(send.as_mut().poll(&mut context).is_pending(), "the provider holds it back");
        }
        drop(send);
        messaging.kit.app.sending().recover().await.unwrap();
        let newest = messaging.newest().await;
        assert_ne!(newest["status"], "pending", "after {steps} steps");
        if messaging.kit.provider.sent().len() == 2 {
            assert_eq!(newest["error_type"], "delivery_uncertain");
            return;
        }
    }
    panic!("no send ever reached its provider");
}

/// R28.
#[tokio::test]
async fn a_process_that_ends_finishes_what_it_still_has_in_flight() {
    let (messaging, _, _) = kit().await;
    let gate = messaging.kit.provider.hold();
    let send = messaging.send(PHONE, "Oi");
    tokio::select! {
        biased;
        _ = send => panic!("the provider holds it back"),
        () = async { gate.reached(1).await } => {}
    }
    messaging.kit.app.sending().abandon_own().await.unwrap();
    assert_eq!(messaging.newest().await["error_type"], "delivery_uncertain");
    messaging.kit.app.workers().release().await.unwrap();
}

/// R26.
#[tokio::test]
async fn an_outcome_that_cannot_be_recorded_is_uncertain_now_and_true_later() {
    let (messaging, _, store) = kit().await;
    messaging.kit.app.workers().renew().await.unwrap();
    messaging.send(PHONE, "primeira").await.unwrap();
    // The first commit is the intent, those that follow try to record the outcome.
    let mut commits = 0;
    store.plan(move |op| {
        commits += u32::from(op == StoreOp::Commit);
        (op == StoreOp::Commit && commits > 1).then_some(StoreFailure::Unavailable)
    });
    let refused = messaging.send(PHONE, "segunda").await.unwrap_err();
    assert_eq!(code(&refused), "PROVIDER_ERROR");
    assert_eq!(messaging.newest().await["status"], "pending");
    store.heal();
    messaging.kit.app.sending().recover().await.unwrap();
    assert_eq!(messaging.newest().await["status"], "sent");
    assert_eq!(messaging.kit.provider.sent().len(), 2);
}

#[tokio::test]
async fn an_outcome_survives_one_failure_of_the_store() {
    let (messaging, model, store) = kit().await;
    messaging.send(PHONE, "primeira").await.unwrap();
    for failure in [StoreFailure::Unavailable, StoreFailure::UnknownAfter] {
        store.fail_nth(StoreOp::Commit, 1, failure);
        messaging.send(PHONE, "segunda").await.unwrap();
        assert_eq!(messaging.newest().await["status"], "sent");
    }
    let reported = model.events(messaging.kit.company.id);
    assert_eq!(reported.iter().filter(|e| e.event_type.as_str() == "message.sent").count(), 3);
}

/// R27.
#[tokio::test]
async fn an_intent_of_unknown_fate_is_never_handed_to_the_provider() {
    let (messaging, _, store) = kit().await;
    messaging.send(PHONE, "primeira").await.unwrap();
    store.fail_nth(StoreOp::Commit, 0, StoreFailure::UnknownAfter);
    assert_eq!(code(&messaging.send(PHONE, "Oi").await.unwrap_err()), "UNAVAILABLE");
    store.heal();
    messaging.kit.app.sending().recover().await.unwrap();
    let message = messaging.newest().await;
    assert_eq!((&message["status"], &message["error_type"]), (&json!("failed"), &json!("unknown")));
    assert_eq!(messaging.kit.provider.sent().len(), 1);
}

#[tokio::test]
async fn a_message_that_could_not_be_stored_is_distinguished_from_a_store_that_is_away() {
    for failure in
        [StoreFailure::Unavailable, StoreFailure::UnknownBefore, StoreFailure::UnknownAfter]
    {
        let (messaging, _, store) = kit().await;
        messaging.send(PHONE, "primeira").await.unwrap();
        store.fail_nth(StoreOp::Commit, 0, failure);
        let refused = messaging.send(PHONE, "Oi").await.unwrap_err();
        assert!(matches!(refused, Error::Rejected(SendError::NotStored(_))), "{refused:?}");
        let Error::Rejected(refused) = refused else { panic!("it was rejected") };
        assert_eq!((refused.code(), refused.kind()), (Code::Unavailable, Kind::Unavailable));
        store.fail_nth(StoreOp::Read, 0, StoreFailure::Unavailable);
        assert!(matches!(messaging.send(PHONE, "Oi").await, Err(Error::Store(_))), "{failure:?}");
        assert_eq!(messaging.kit.provider.sent().len(), 1, "{failure:?}");
    }
}

/// R27.
#[tokio::test]
async fn a_message_that_lands_after_its_connection_broke_fails_and_is_never_sent() {
    for seconds in [0, 59] {
        let (messaging, _, store) = kit().await;
        messaging.send(PHONE, "primeira").await.unwrap();
        store.fail_nth(StoreOp::Commit, 0, StoreFailure::UnknownLate);
        messaging.send(PHONE, "Oi").await.unwrap_err();
        store.heal();
        messaging.kit.app.sending().recover().await.unwrap();
        messaging.kit.clock.advance(std::time::Duration::from_secs(seconds));
        assert_eq!(store.land().await.unwrap(), 1);
        assert_eq!(messaging.newest().await["status"], "pending");
        messaging.kit.app.sending().recover().await.unwrap();
        let message = messaging.newest().await;
        assert_eq!(
            (&message["status"], &message["error_type"]),
            (&json!("failed"), &json!("unknown")),
            "after {seconds} seconds"
        );
        assert_eq!(messaging.kit.provider.sent().len(), 1);
    }
}

#[tokio::test]
async fn an_unreadable_contact_is_a_503_and_nothing_is_sent() {
    let (messaging, _, store) = kit().await;
    create_phone(&messaging.kit, PHONE).await;
    messaging.kit.app.workers().renew().await.unwrap();
    store.fail_contact_reads();
    let refused = messaging.send(PHONE, "Oi").await.unwrap_err();
    assert_eq!(code(&refused), "CONTACT_STATE_UNAVAILABLE");
    store.heal();
    assert_eq!(messaging.kit.provider.sent(), []);
}

#[tokio::test]
async fn an_outcome_is_recorded_without_the_contact_and_both_ais_count_as_on() {
    let (messaging, model, store) = kit().await;
    let contact = create_phone(&messaging.kit, PHONE).await;
    let gate = messaging.kit.provider.hold();
    let send = messaging.send(PHONE, "Oi");
    let fail = async {
        gate.reached(1).await;
        // Changed since the intent, so that it has to be read again.
        super::update(&messaging.kit, contact, json!({ "name": "Ana" })).await;
        store.fail_contact_reads();
        gate.open();
    };
    let (sent, ()) = tokio::join!(send, fail);
    store.heal();
    sent.unwrap();
    let event = model.events(messaging.kit.company.id).pop().unwrap();
    let data: Value = serde_json::from_str(&event.data).unwrap();
    assert_eq!(data["status"], "sent");
    assert_eq!(data["contact"]["id"], contact.to_string());
    assert_eq!(data["contact"]["is_ai_enabled"], true);
    assert_eq!(data["contact"]["external_ai_enabled"], true);
}

#[tokio::test]
async fn a_contact_that_changes_during_a_send_is_reported_of_as_it_is_after() {
    let (messaging, model, _) = kit().await;
    create_phone(&messaging.kit, PHONE).await;
    for text in ["um", "dois"] {
        let gate = messaging.kit.provider.hold();
        let sent = messaging.kit.provider.sent().len();
        let send = messaging.send(PHONE, text);
        let stop = async {
            gate.reached(sent + 1).await;
            messaging.hear(&format!("in {text}"), "5534991230001", "sair").await;
            gate.open();
        };
        let (sent, ()) = tokio::join!(send, stop);
        let contact = sent.unwrap().contact_id;
        let event = model.events(messaging.kit.company.id).pop().unwrap();
        let data: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(event.event_type.as_str(), "message.sent");
        assert_ne!(data["contact"]["opted_out_at"], Value::Null);
        let lift = recado_core::conversations::ActionName::OptIn;
        let (company, nothing) = (messaging.kit.company.id, body(json!({})));
        let conversations = messaging.kit.app.conversations();
        conversations.act(company, contact, lift, &nothing).await.unwrap();
        let enable = recado_core::conversations::ActionName::EnableExternalAi;
        conversations.act(company, contact, enable, &nothing).await.unwrap();
    }
}

/// R49.
#[tokio::test]
async fn an_echo_of_a_send_that_outran_its_answer_does_not_stay_beside_it() {
    let (messaging, _, _) = kit().await;
    let gate = messaging.kit.provider.hold();
    let send = messaging.send(PHONE, "Oi");
    let echo = async {
        gate.reached(1).await;
        messaging.echo(ScriptedProvider::id(1).as_str(), "5534991230001", "Oi").await;
        gate.open();
    };
    let (sent, ()) = tokio::join!(send, echo);
    let sent = sent.unwrap();
    let messages = messaging.messages().await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0]["id"], sent.message_id.to_string());
}

#[tokio::test]
async fn a_provider_that_gives_an_id_twice_costs_no_message() {
    let (messaging, _, _) = kit().await;
    messaging.hear("twice", "5534991230001", "Oi").await;
    messaging.kit.provider.then_accept("twice").then_accept("again").then_accept("again");
    for text in ["um", "dois", "três"] {
        messaging.send(PHONE, text).await.unwrap();
    }
    let messages = messaging.messages().await;
    let contents: Vec<&str> = messages.iter().map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!(contents, ["três", "dois", "um", "Oi"]);
    assert!(messages[..3].iter().all(|message| message["status"] == "sent"));
}

#[tokio::test]
async fn the_name_that_the_channel_answers_with_is_used_from_then_on() {
    let (messaging, _, _) = kit().await;
    let accepted = Accepted {
        provider_id: ProviderMessageId::parse("a1").unwrap(),
        recipient: Some("553491230001".to_owned()),
        aliases: Vec::new(),
    };
    messaging.kit.provider.then(Ok(accepted));
    messaging.send(PHONE, "um").await.unwrap();
    messaging.send("+55 34 9123-0001", "dois").await.unwrap();
    let recipients: Vec<String> =
        messaging.kit.provider.sent().into_iter().map(|sent| sent.outgoing.recipient).collect();
    assert_eq!(recipients, ["5534991230001", "553491230001"]);
}

/// R55.
#[tokio::test]
async fn a_message_to_a_contact_deleted_meanwhile_leaves_nothing_behind() {
    let (messaging, model, _) = kit().await;
    let contact = create_phone(&messaging.kit, PHONE).await;
    let gate = messaging.kit.provider.hold();
    let send = messaging.send(PHONE, "Oi");
    let delete = async {
        gate.reached(1).await;
        messaging.kit.app.contacts().delete(&messaging.kit.caller, contact).await.unwrap();
        gate.open();
    };
    let (sent, ()) = tokio::join!(send, delete);
    assert!(sent.unwrap().wamid.is_some());
    let about: Vec<_> = model
        .events(messaging.kit.company.id)
        .into_iter()
        .filter(|event| event.event_type.as_str() == "message.sent")
        .collect();
    assert_eq!(about, []);
}

#[tokio::test]
async fn many_sends_to_one_unknown_person_at_once_make_one_contact() {
    let (messaging, model, _) = kit().await;
    let forms = ["+5534991230001", "+553491230001", "34 99123-0001", "(34) 9123-0001"];
    let sends = forms.iter().cycle().take(20).map(|form| messaging.send(form, "Oi"));
    for sent in futures_util::future::join_all(sends).await {
        sent.unwrap();
    }
    let created = model
        .events(messaging.kit.company.id)
        .into_iter()
        .filter(|event| event.event_type.as_str() == "contact.created")
        .count();
    assert_eq!(created, 1);
    assert_eq!(messaging.messages().await.len(), 20);
}

/// R41.
#[tokio::test]
async fn a_provider_refusal_names_the_stored_message() {
    let (messaging, _, _) = kit().await;
    let failure = SendFailure::refused(DeliveryCode::RecipientUnreachable, "not on WhatsApp");
    messaging.kit.provider.then(Err(failure));
    let Err(Error::Rejected(refused)) = messaging.send(PHONE, "Oi").await else {
        panic!("not refused")
    };
    let details = refused.details().unwrap();
    let message = messaging.newest().await;
    assert_eq!(details["message_id"], message["id"]);
    assert_eq!(message["delivery_error"]["code"], "RECIPIENT_UNREACHABLE");
    assert_eq!(message["failure_reason"], "not on WhatsApp");
}

/// R24.
#[tokio::test]
async fn a_turn_books_one_debit_with_the_first_bubble_that_is_accepted() {
    let (messaging, _, _) = kit().await;
    let contact = create_phone(&messaging.kit, PHONE).await;
    let turn = body(json!({ "messages": ["um", "dois"], "prosas": 1.5, "cost_brl": 0.042 }));
    let conversations = messaging.kit.app.conversations();
    messaging.kit.provider.then(Err(SendFailure::refused(DeliveryCode::Unknown, "no")));
    conversations.ai_turn(messaging.kit.company.id, contact, &turn).await.unwrap_err();
    assert_eq!(messaging.ledger().await.len(), 0);
    conversations.ai_turn(messaging.kit.company.id, contact, &turn).await.unwrap();
    let lines = messaging.ledger().await;
    assert_eq!(lines.len(), 1);
    let ids: Vec<Value> = messaging.messages().await[..2]
        .iter()
        .map(|message| message["prosa"]["consumption_id"].clone())
        .collect();
    assert_eq!(ids, [lines[0]["consumption_id"].clone(), lines[0]["consumption_id"].clone()]);
}

fn code<E: Rejection + std::fmt::Debug>(error: &Error<E>) -> &'static str {
    match error {
        Error::Rejected(refused) => refused.code().as_str(),
        other => panic!("not a refusal: {other:?}"),
    }
}
