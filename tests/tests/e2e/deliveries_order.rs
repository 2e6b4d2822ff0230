//! Order, limits and isolation of deliveries: D55.

use std::collections::BTreeMap;
use std::time::Duration;

use recado_tests::{
    Hooks, Received, Reply, Setup, StoreKind, both_stores, digits, eventually, mobile, phone, text,
};
use serde_json::json;

/// Receives this many messages from each of these contacts, alternating between them.
async fn messaging(hooks: &Hooks, contacts: std::ops::Range<u32>, messages: u32) {
    let qr = hooks.qr().await;
    let mut events = Vec::new();
    for n in 0..messages {
        for contact in contacts.clone() {
            events.push(hooks.inbound(&digits(&mobile(contact)), &format!("{n}")));
        }
    }
    for some in events.chunks(500) {
        hooks.gateway(&qr, some.to_vec()).await;
    }
}

/// The messages in the requests by contact, in the order of their first arrival.
fn by_contact(requests: &[Received]) -> BTreeMap<String, Vec<String>> {
    let mut seen = std::collections::BTreeSet::new();
    let mut reported: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for request in requests.iter().filter(|request| seen.insert(request.delivery())) {
        let data = request.data();
        let (contact, what) = match request.event().as_str() {
            "contact.created" => (text(&data["id"]), "created".to_owned()),
            _ => (text(&data["contact"]["id"]), text(&data["content"])),
        };
        reported.entry(contact).or_default().push(what);
    }
    reported
}

fn in_order(messages: u32) -> Vec<String> {
    std::iter::once("created".to_owned()).chain((0..messages).map(|n| n.to_string())).collect()
}

#[both_stores]
async fn the_events_of_each_contact_come_in_their_order(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    hooks.receiver.answers("/a", Reply::After(Duration::from_millis(2), 200));
    messaging(&hooks, 0..20, 12).await;
    hooks.drain().await;
    let reported = by_contact(&hooks.receiver.to("/a"));
    assert_eq!(reported.len(), 20);
    for (contact, reported) in reported {
        assert_eq!(reported, in_order(12), "{contact}");
    }
    assert!(hooks.receiver.most_in_flight("/a") > 1, "contacts do not wait for each other");
}

#[both_stores]
async fn a_webhook_has_16_attempts_in_flight_at_most(hooks: Hooks) {
    hooks.hook("/a", &["contact.created"]).await;
    hooks.hook("/b", &["contact.created"]).await;
    hooks.receiver.answers("/a", Reply::Held(200));
    for n in 0..40 {
        hooks.create(json!({"phone": phone(n)})).await;
    }
    let draining = hooks.draining();
    hooks.receiver.reaches("/b", 40).await;
    hooks.receiver.reaches("/a", 16).await;
    assert_eq!(hooks.receiver.in_flight("/a"), 16);
    eventually("everything came", || async {
        hooks.receiver.release();
        (hooks.receiver.count("/a") == 40 && hooks.receiver.in_flight("/a") == 0).then_some(())
    })
    .await;
    draining.await.expect("it ends");
    assert_eq!(hooks.receiver.most_in_flight("/a"), 16);
    assert_eq!(hooks.deliveries("status=delivered&limit=100").await.len(), 80);
}

#[both_stores]
async fn receivers_that_hang_fail_or_flood_do_not_delay_the_others(kind: StoreKind) {
    let timeout = Some(Duration::from_secs(120));
    let hooks = Hooks::with(kind, Setup { webhook_timeout: timeout, ..Setup::default() }).await;
    // The receivers that never answer have more attempts than the limit for all webhooks.
    for n in 0..40 {
        let path = format!("/never{n}");
        hooks.receiver.answers(&path, Reply::Never);
        hooks.hook(&path, &["contact.created"]).await;
    }
    for (path, reply) in [
        ("/fails", Reply::status(500)),
        ("/hangs-up", Reply::Hangup),
        ("/floods", Reply::Flood(200)),
        ("/stalls", Reply::StallAfterHeaders(200)),
    ] {
        hooks.receiver.answers(path, reply);
        hooks.hook(path, &["contact.created"]).await;
    }
    for n in 0..5 {
        hooks.hook(&format!("/good{n}"), &["contact.created"]).await;
    }
    for n in 0..20 {
        hooks.create(json!({"phone": phone(n)})).await;
    }
    for n in 0..5 {
        hooks.receiver.reaches(&format!("/good{n}"), 20).await;
    }
    let given_up = hooks.deliveries("status=failed").await;
    assert!(given_up.is_empty(), "{given_up:?}");
    let waiting = (0..40).filter(|n| hooks.receiver.in_flight(&format!("/never{n}")) > 0);
    assert!(waiting.count() > 20, "those who never answer are still being waited for");
    eventually("the good ones are recorded", || async {
        let all = hooks.list_deliveries("status=delivered&limit=1").await;
        (all.json()["pagination"]["total"].as_u64() >= Some(100)).then_some(())
    })
    .await;
}
