//! The effects of a campaign's messages on the inbox, the ledger, the events and the campaign's
//! counts: 2.4, 3.1, 3.4; D26, D31a, D38, D43, D58, D59, D66.

use std::time::Duration;

use recado_tests::campaigns::{RENDERED, exact, micros};
use recado_tests::{
    Campaigning, Outside, Receiver, Setup, StoreKind, both_stores, eventually, keys, mobile,
    steered, text, with,
};
use serde_json::{Value, json};

/// The price of a message in these tests.
fn priced() -> Value {
    json!({"prosas_per_message": exact("1.5"), "cost_brl_per_message": exact("0.350001")})
}

/// Runs a campaign to one contact to its end; returns its id and the message's.
async fn one_message(world: &Campaigning, contact: &str, more: Value) -> (String, String) {
    let list = world.list_of(&[contact.to_owned()]).await;
    let id = world.campaign(&list, more).await;
    assert_eq!(world.start_and_run(&id).await["status"], "finished");
    let message = text(&world.recipient(&id, contact).await["message_id"]);
    (id, message)
}

// Messages.

#[both_stores]
async fn its_message_is_a_template_of_a_campaign_without_a_debit(world: Campaigning) {
    let contact = world.contact(&mobile(1)).await;
    let (_, id) = one_message(&world, &contact, priced()).await;
    let message = world.message(&id).await;
    assert_eq!(message["contact_id"], contact.as_str());
    assert_eq!(message["direction"], "outbound");
    assert_eq!(message["type"], "template");
    assert_eq!(message["sender_type"], "campaign");
    assert_eq!(message["content"], RENDERED);
    assert_eq!(message["status"], "sent");
    assert_eq!(message["prosa"], Value::Null);
    assert_eq!(message["official_template_category"], "MARKETING");
    assert_eq!(message["connection_id"], world.connection.as_str());
    assert!(text(&message["wamid"]).starts_with("sim."), "{message}");
    assert_eq!(message["created_at"], world.time());
    let of_contact = world.messages_of(&contact).await;
    assert_eq!(of_contact.len(), 1);
    assert_eq!(of_contact[0]["prosa"], Value::Null);
}

#[both_stores]
async fn it_reopens_a_resolved_conversation(world: Campaigning) {
    let contact = world.contact_by_message(&world.connection, &mobile(1)).await;
    let reason = text(&world.make("C/close-reasons", json!({"name": "r"})).await["id"]);
    world.act(&contact, "close", json!({"close_reason_id": reason})).await.expect(200);
    let closed = world.full(&contact).await;
    assert_eq!(closed["inbox_status"], "resolved");
    world.advance(Duration::from_secs(60));
    one_message(&world, &contact, json!({})).await;
    let open = world.full(&contact).await;
    assert_eq!(open["inbox_status"], "open");
    for kept in ["is_ai_enabled", "external_ai_enabled", "last_closed_at", "last_close_reason_id"] {
        assert_eq!(open[kept], closed[kept], "{kept}");
    }
    assert_eq!(open["last_message_at"], world.time());
    assert_eq!(open["last_connection_id"], world.connection.as_str());
}

// Endings.

#[both_stores]
async fn a_refused_message_has_failed_and_its_debit_is_given_back(world: Campaigning) {
    let contact = world.contact(&steered(1)).await;
    let (id, message) = one_message(&world, &contact, priced()).await;
    let shown = world.message(&message).await;
    assert_eq!(shown["status"], "failed");
    assert_eq!(shown["delivery_error"]["code"], "RECIPIENT_UNREACHABLE");
    let recipient = world.recipient(&id, &contact).await;
    assert_eq!(recipient["status"], "failed");
    assert_eq!(recipient["error_code"], "RECIPIENT_UNREACHABLE");
    assert_eq!(recipient["sent_at"], Value::Null);
    let ledger = world.ledger().await;
    assert_eq!(ledger.lines.len(), 2);
    let (debit, refund) = (ledger.of("debit")[0], ledger.of("refund")[0]);
    assert_eq!(refund["consumption_id"], debit["consumption_id"]);
    assert_eq!((micros(&debit["prosas"]), micros(&debit["cost_brl"])), (1_500_000, 350_001));
    assert_eq!((micros(&refund["prosas"]), micros(&refund["cost_brl"])), (-1_500_000, -350_001));
    for line in [debit, refund] {
        assert_eq!(line["contact_id"], contact.as_str(), "{line}");
        assert_eq!(line["campaign_id"], id.as_str(), "{line}");
    }
    assert_eq!((ledger.prosas, ledger.cost), (0, 0));
}

#[both_stores]
async fn an_uncertain_message_has_failed_and_its_debit_stands(world: Campaigning) {
    let contact = world.contact(&steered(2)).await;
    let (id, message) = one_message(&world, &contact, priced()).await;
    let shown = world.message(&message).await;
    assert_eq!(
        (&shown["status"], &shown["error_type"]),
        (&json!("failed"), &json!("delivery_uncertain"))
    );
    let recipient = world.recipient(&id, &contact).await;
    assert_eq!(recipient["status"], "failed");
    assert_eq!(recipient["error_code"], "DELIVERY_UNCERTAIN");
    let ledger = world.ledger().await;
    assert_eq!(ledger.lines.len(), 1, "{:?}", ledger.lines);
    assert_eq!((ledger.prosas, ledger.cost), (1_500_000, 350_001));
    assert_eq!(world.messages_of(&contact).await.len(), 1, "it is not sent again");
}

#[both_stores]
async fn the_gateways_own_reports_end_in_the_counts(kind: StoreKind) {
    let world = Campaigning::with(kind, Setup::default()).await;
    // Reports that arrive before the answers to the sends.
    let hasty = json!({"settings": {"delay_ms": 1}});
    let cloud = world.connection("official_cloud", hasty).await;
    let mut contacts = world.contacts(20).await;
    for n in 0..3 {
        for steer in [1, 2, 4] {
            contacts.push(world.contact(&steered(10_000 * n + steer)).await);
        }
    }
    let list = world.list_of(&contacts).await;
    let id = world.campaign(&list, with(priced(), json!({"connection_id": cloud}))).await;
    assert_eq!(world.start_and_run(&id).await["status"], "finished");
    let expected =
        json!({"total": 29, "sent": 0, "delivered": 0, "read": 20, "failed": 9, "skipped": 0});
    eventually("everything is reported", || async {
        (world.record(&id).await["counts"] == expected).then_some(())
    })
    .await;
    for (n, contact) in contacts[20..].iter().enumerate() {
        let code = ["RECIPIENT_UNREACHABLE", "DELIVERY_UNCERTAIN", "RECIPIENT_UNREACHABLE"];
        let recipient = world.recipient(&id, contact).await;
        assert_eq!(recipient["error_code"], code[n % 3], "{n}");
        assert_eq!(recipient["sent_at"] == Value::Null, n % 3 != 2, "{n}: only 0004 was accepted");
    }
    for contact in &contacts[..20] {
        let recipient = world.recipient(&id, contact).await;
        let message = world.message(&text(&recipient["message_id"])).await;
        assert_eq!((&recipient["status"], &message["status"]), (&json!("read"), &json!("read")));
    }
    let ledger = world.ledger().await;
    assert_eq!(ledger.of("debit").len(), 29, "one for each message");
    assert_eq!(ledger.of("refund").len(), 3, "of those that were refused");
    assert_eq!(ledger.cost, 26 * 350_001);
    assert_eq!(ledger.prosas, 26 * 1_500_000);
}

// The ledger.

#[both_stores]
async fn one_debit_a_message_names_contact_and_campaign(world: Campaigning) {
    let (id, contacts) =
        world.campaign_to(3, with(priced(), json!({"messages_per_second": 10}))).await;
    world.start(&id).await;
    assert!(world.ledger().await.lines.is_empty(), "who waits has cost nothing");
    world.drain().await;
    assert_eq!(world.ledger().await.lines.len(), 1);
    world.run(&id).await;
    let ledger = world.ledger().await;
    assert_eq!(ledger.lines.len(), 3);
    assert_eq!((ledger.prosas, ledger.cost), (4_500_000, 1_050_003));
    for line in &ledger.lines {
        assert_eq!(
            keys(line),
            [
                "campaign_id",
                "consumption_id",
                "contact_id",
                "cost_brl",
                "created_at",
                "description",
                "id",
                "kind",
                "prosas",
                "scope",
            ]
        );
        assert_eq!((&line["kind"], &line["scope"]), (&json!("debit"), &json!("message")));
        assert_eq!(line["campaign_id"], id.as_str());
        assert_eq!((micros(&line["prosas"]), micros(&line["cost_brl"])), (1_500_000, 350_001));
        let contact = text(&line["contact_id"]);
        assert!(contacts.contains(&contact));
        let message = &world.messages_of(&contact).await[0];
        assert!(text(&line["created_at"]) <= text(&message["created_at"]), "the debit is first");
    }
    let mut named: Vec<String> =
        ledger.lines.iter().map(|line| text(&line["contact_id"])).collect();
    named.sort();
    let mut all = contacts.clone();
    all.sort();
    assert_eq!(named, all);
}

// Events and answers.

#[both_stores]
async fn its_message_is_reported_of_once_when_it_was_sent(kind: StoreKind) {
    let outside = Outside::Open;
    let setup = Setup { no_background: true, outside, ..Setup::default() };
    let world = Campaigning::with(kind, setup).await;
    let receiver = Receiver::start().await;
    let body = json!({"url": receiver.url("/a"), "events": ["*"]});
    world.make("C/webhooks", body).await;
    let contact = world.contact(&mobile(1)).await;
    let refused = world.contact(&steered(1)).await;
    let list = world.list_of(&[contact.clone(), refused.clone()]).await;
    let id = world.campaign(&list, priced()).await;
    world.start_and_run(&id).await;
    let message = text(&world.recipient(&id, &contact).await["message_id"]);
    world.server.drain().await;
    let requests = receiver.to("/a");
    let sent: Vec<Value> =
        requests.iter().filter(|one| one.event() == "message.sent").map(|one| one.data()).collect();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0]["message_id"], message.as_str());
    assert_eq!(sent[0]["sender_type"], "campaign");
    assert_eq!(sent[0]["type"], "template");
    assert_eq!(sent[0]["content"], RENDERED);
    assert_eq!(sent[0]["status"], "sent");
    assert_eq!(sent[0]["contact"]["id"], contact.as_str());
    let updates: Vec<Value> = requests
        .iter()
        .filter(|one| one.event() == "message.status_updated")
        .map(|one| one.data())
        .collect();
    assert_eq!(updates.len(), 1, "{updates:?}");
    assert_eq!(updates[0]["contact"]["id"], refused.as_str());
    assert_eq!(updates[0]["status"], "failed");
}
