//! Sequences of calls of the adapter, against the strict fake.

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::gateway::{GatewayEvent, Provider, SendFailure, StatusEvent};
use recado_core::messages::MessageStatus;
use recado_providers::cloud_api::CloudApi;
use recado_testkit::gateways::{FakeCloud, InProcess, SendBehaviour, SignedWebhook, graph_failure};
use serde_json::json;

use crate::support::*;

fn setup() -> (FakeCloud, Connection) {
    let fake = FakeCloud::new();
    let connection = connection_with(&fake.settings(&FakeCloud::base()));
    (fake, connection)
}

fn statuses(connection: &Connection, webhook: &SignedWebhook) -> Vec<StatusEvent> {
    let received = CloudApi::new().receive(connection, &webhook.webhook()).expect("signed");
    let status = received.into_iter().filter_map(|received| match received.event {
        Ok(GatewayEvent::Status(status)) => Some(status),
        _ => None,
    });
    status.collect()
}

#[tokio::test]
async fn a_send_brings_the_name_without_the_ninth_digit() {
    let (fake, connection) = setup();
    for (to, wa_id) in [("5534991234567", "553491234567"), ("5511987654321", "5511987654321")] {
        let accepted = send(&InProcess(fake.clone()), &connection, &text(to)).await;
        assert_eq!(accepted.expect("accepted").recipient.as_deref(), Some(wa_id));
    }
    let scoped = send(&InProcess(fake.clone()), &connection, &text("BR.134912")).await;
    assert_eq!(scoped.expect("accepted").recipient.as_deref(), Some("BR.134912"));
    assert_eq!(fake.accepted().len(), 3);
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_send_without_an_answer_is_proved_by_its_status() {
    let (fake, connection) = setup();
    let late = Duration::from_secs(20);
    fake.script([
        SendBehaviour::AcceptThenDrop,
        SendBehaviour::AcceptLate(late),
        SendBehaviour::AcceptWithoutId,
        SendBehaviour::AcceptThenError(500, json!("oops")),
    ]);
    for _ in 0..4 {
        let failure = send(&InProcess(fake.clone()), &connection, &text("5534991234567")).await;
        assert!(matches!(failure, Err(SendFailure::Uncertain(_))), "{failure:?}");
    }
    let accepted = fake.accepted();
    assert_eq!(accepted.len(), 4);
    for sent in &accepted {
        let reported =
            statuses(&connection, &fake.webhook_status(sent, "delivered", at(1_760_000_000)));
        assert_eq!(reported.len(), 1);
        assert_eq!(
            (reported[0].reference, reported[0].status),
            (Some(reference()), MessageStatus::Delivered)
        );
        assert_eq!(reported[0].provider_id.as_str(), sent.id);
    }
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn what_the_fake_did_not_take_is_never_uncertain() {
    let (fake, connection) = setup();
    fake.script([
        SendBehaviour::Refuse,
        graph_failure(131_056, "pair rate limit"),
        graph_failure(131_026, "undeliverable"),
        graph_failure(133_010, "not registered"),
        SendBehaviour::Broken(400),
    ]);
    for expected in ["Unreachable", "RecipientLimited", "Refused", "Connection", "Refused"] {
        let failure = send(&InProcess(fake.clone()), &connection, &text("1234567")).await;
        let failure = format!("{:?}", failure.expect_err("refused"));
        assert!(failure.starts_with(expected), "{failure}");
    }
    fake.script([graph_failure(131_000, "unknown"), SendBehaviour::Broken(500)]);
    for _ in 0..2 {
        let failure = send(&InProcess(fake.clone()), &connection, &text("1234567")).await;
        assert!(matches!(failure, Err(SendFailure::Uncertain(_))), "{failure:?}");
    }
    fake.revoke_token(true);
    let failure = send(&InProcess(fake.clone()), &connection, &text("1234567")).await;
    assert!(matches!(failure, Err(SendFailure::Connection(_))), "{failure:?}");
    assert!(fake.accepted().is_empty());
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn templates_are_checked_by_the_account() {
    let (fake, connection) = setup();
    let listed = |name: &str, status: &str| {
        json!({"id": "1", "name": name, "language": "pt_BR",
        "status": status, "category": "UTILITY", "parameter_format": "POSITIONAL",
        "components": [{"type": "BODY", "text": "Olá {{1}}, pedido {{2}}"}]})
    };
    fake.set_templates(vec![listed("pedido_enviado", "APPROVED")], 100);
    let transport = InProcess(fake.clone());
    assert!(send(&transport, &connection, &template("1234567", &["a", "b"])).await.is_ok());
    let failure = send(&transport, &connection, &template("1234567", &["a"])).await;
    assert!(
        failure
            .expect_err("one is missing")
            .failure()
            .message
            .as_deref()
            .expect("a text")
            .starts_with("132000")
    );
    fake.set_templates(vec![listed("pedido_enviado", "PAUSED")], 100);
    let failure = send(&transport, &connection, &template("1234567", &["a", "b"])).await;
    assert!(matches!(failure, Err(SendFailure::Refused(_))), "{failure:?}");
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn duplicates_batches_and_any_order_are_reported_as_they_come() {
    let (fake, connection) = setup();
    for _ in 0..3 {
        send(&InProcess(fake.clone()), &connection, &text("5534991234567"))
            .await
            .expect("accepted");
    }
    let sent = fake.accepted();
    let now = at(1_760_000_000);
    let mut batch: Vec<_> = sent.iter().map(|sent| FakeCloud::status(sent, "read", now)).collect();
    batch.extend(sent.iter().map(|sent| FakeCloud::status(sent, "sent", now)));
    batch.push(batch[0].clone());
    let reported = statuses(&connection, &fake.webhook_statuses(&batch));
    assert_eq!(reported.len(), 7);
    assert_eq!(reported[0], reported[6]);
}

#[test]
fn the_fakes_webhooks_are_taken() {
    let (fake, connection) = setup();
    let now = at(1_760_000_000);
    for webhook in [
        fake.webhook_text("553491234567", "wamid.1", "Oi", now),
        fake.webhook_echo("553491234567", "wamid.2", "Olá", now),
        fake.webhook_preference("553491234567", "stop", now),
        fake.webhook_template("promo", "pt_BR", "PAUSED"),
    ] {
        let received = CloudApi::new().receive(&connection, &webhook.webhook()).expect("signed");
        assert_eq!(received.len(), 1);
        let reported = received[0].event.as_ref().expect("readable");
        assert!(!matches!(reported, GatewayEvent::Unknown(_)), "{reported:?}");
    }
}
