//! Sends are completed although their callers have stopped waiting.

use recado_core::ids::ContactId;
use recado_core::query::Params;
use recado_runtime::TokioSpawner;
use recado_testkit::{Kit, kit::body};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const PHONE: &str = "+5534991230001";

/// A test kit with a connection that runs sends as a program does.
async fn kit() -> Kit {
    let kit = Kit::builder().spawner(TokioSpawner).build().await;
    let connection = body(json!({
        "kind": "qr", "name": "Loja", "identifier": "5511940028922", "gateway": "simulated",
    }));
    kit.app.connections().create(kit.company.id, &connection).await.expect("made");
    kit
}

/// Begins `send`, drops it while its gateway is being called, lets the gateway answer, and waits
/// for the work under way. Returns the status of every message, newest first.
async fn dropped<T: Send + 'static>(
    kit: &Kit,
    calls: usize,
    send: impl FnOnce(Kit) -> JoinHandle<T>,
) -> Vec<Value> {
    let gate = kit.provider.hold();
    let waiting = send(kit.clone());
    gate.reached(calls).await;
    waiting.abort();
    assert!(waiting.await.is_err_and(|error| error.is_cancelled()), "it waited for the gateway");
    gate.open();
    kit.app.tasks().finished().await;
    let listed = kit.app.messages().list(&kit.caller, &Params::new(Vec::new())).await;
    let shown = listed.expect("a page").items.into_iter();
    shown.map(|one| serde_json::to_value(one).expect("JSON")["status"].clone()).collect()
}

async fn contact(kit: &Kit) -> ContactId {
    let new = body(json!({"phone": PHONE, "name": "Ana"}));
    let made = kit.app.contacts().create(&kit.caller, &new).await.expect("made");
    made.contact.id
}

#[tokio::test]
async fn a_text_is_sent_to_its_end() {
    let kit = kit().await;
    let statuses = dropped(&kit, 1, |kit| {
        tokio::spawn(async move {
            let text = body(json!({"to": PHONE, "message": "Oi"}));
            kit.app.sending().send_text(&kit.caller, &text).await
        })
    });
    assert_eq!(statuses.await, ["sent"]);
}

#[tokio::test]
async fn a_reply_of_an_operator_is_sent_to_its_end() {
    let kit = kit().await;
    let contact = contact(&kit).await;
    let statuses = dropped(&kit, 1, |kit| {
        tokio::spawn(async move {
            let text = body(json!({"message": "Oi"}));
            kit.app.conversations().reply(kit.company.id, contact, &text).await
        })
    });
    assert_eq!(statuses.await, ["sent"]);
}

#[tokio::test]
async fn a_turn_of_the_ai_is_sent_to_its_last_bubble() {
    let kit = kit().await;
    let contact = contact(&kit).await;
    let statuses = dropped(&kit, 1, |kit| {
        tokio::spawn(async move {
            let turn = body(json!({"messages": ["Oi", "Tudo bem?"], "prosas": 1, "cost_brl": 1}));
            kit.app.conversations().ai_turn(kit.company.id, contact, &turn).await
        })
    });
    assert_eq!(statuses.await, ["sent", "sent"]);
}
