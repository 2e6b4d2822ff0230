//! The events of contacts that block messages: 3.4, 6.1, D43, D44, D65, D70.

use std::time::Duration;

use recado_tests::{Hooks, Received, both_stores, digits, mobile, text, wamid, with};
use serde_json::{Value, json};

/// The `data` of all events so far.
fn reported(hooks: &Hooks) -> Vec<Value> {
    hooks.receiver.to("/a").iter().map(Received::data).collect()
}

fn sources(hooks: &Hooks) -> Vec<String> {
    reported(hooks).iter().map(|data| text(&data["source"])).collect()
}

async fn subscribed(hooks: &Hooks) {
    hooks.hook("/a", &["contact.opted_out"]).await;
}

async fn says(hooks: &Hooks, connection: &str, n: u32, more: Value) {
    let event = with(hooks.inbound(&digits(&mobile(n)), "Parar!"), more);
    hooks.stored(connection, event).await;
}

#[both_stores]
async fn a_request_on_the_official_cloud_is_reported_with_the_time_of_the_request(hooks: Hooks) {
    subscribed(&hooks).await;
    let cloud = hooks.cloud().await;
    let contact = hooks.create_id(json!({"phone": mobile(1), "name": "Zé"})).await;
    let asked = hooks.time_ago(5_000);
    says(&hooks, &cloud, 1, json!({"timestamp": asked})).await;
    hooks.drain().await;
    let request = hooks.receiver.only("/a");
    assert_eq!(request.event(), "contact.opted_out");
    assert_eq!(request.json()["timestamp"], hooks.time());
    assert_eq!(
        request.data(),
        json!({
            "contact_id": contact, "phone": mobile(1), "name": "Zé",
            "source_platform": "whatsapp", "connection_id": cloud, "opted_out_at": asked,
            "source": "official_cloud_inbound",
        })
    );
}

#[both_stores]
async fn a_button_and_a_preference_are_reported_as_requests_of_the_official_cloud(hooks: Hooks) {
    subscribed(&hooks).await;
    let cloud = hooks.cloud().await;
    hooks.contact_by_message(&cloud, &mobile(1)).await;
    hooks.contact_by_message(&cloud, &mobile(2)).await;
    let button = json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": hooks.time(),
        "from": digits(&mobile(1)), "type": "interactive",
        "button": {"title": "Bloquear mensagens"},
    });
    hooks.stored(&cloud, button).await;
    let preference = json!({
        "kind": "preference", "from": digits(&mobile(2)), "preference": "stop",
        "timestamp": hooks.time(),
    });
    hooks.gateway_one(&cloud, preference).await;
    hooks.drain().await;
    assert_eq!(sources(&hooks), ["official_cloud_inbound", "official_cloud_inbound"]);
}

#[both_stores]
async fn a_request_on_a_qr_connection_is_reported_from_a_message_and_from_the_history(
    hooks: Hooks,
) {
    subscribed(&hooks).await;
    let qr = hooks.qr().await;
    says(&hooks, &qr, 1, json!({})).await;
    let old = hooks.time_ago(86_400_000);
    hooks.contact_by_message(&qr, &mobile(2)).await;
    says(&hooks, &qr, 2, json!({"history": true, "timestamp": old})).await;
    hooks.drain().await;
    assert_eq!(sources(&hooks), ["qr_inbound", "qr_inbound"]);
    let reported = reported(&hooks);
    let found = reported.iter().find(|data| data["phone"] == mobile(2)).expect("it is told");
    assert_eq!(found["opted_out_at"], old);
    assert_eq!(found["connection_id"], qr.as_str());
}

#[both_stores]
async fn a_reply_to_a_campaign_is_reported_as_one(hooks: Hooks) {
    subscribed(&hooks).await;
    let cloud = hooks.cloud().await;
    let contact = hooks.contact_by_message(&cloud, &mobile(1)).await;
    hooks
        .import_message(json!({
            "contact_id": contact, "connection_id": cloud, "direction": "outbound",
            "type": "template", "content": "Promoção!", "sender_type": "campaign",
            "status": "delivered", "wamid": wamid(),
        }))
        .await;
    hooks.advance(Duration::from_secs(60));
    says(&hooks, &cloud, 1, json!({})).await;
    hooks.drain().await;
    assert_eq!(sources(&hooks), ["campaign_reply"]);
}

#[both_stores]
async fn a_backfill_is_reported_once_per_block_with_the_original_date(hooks: Hooks) {
    subscribed(&hooks).await;
    let original = "2024-05-06T07:08:09.000Z";
    let body = json!({"source": "backfill", "opted_out_at": original});
    let blocked = hooks.import(json!({"phone": mobile(1), "opted_out_at": original})).await;
    let cloud = hooks.cloud().await;
    let free = hooks.contact_by_message(&cloud, &mobile(2)).await;
    for contact in [&blocked, &blocked, &free, &free] {
        hooks.act(contact, "opt-out", body.clone()).await.expect(200);
    }
    hooks.drain().await;
    let reported = reported(&hooks);
    assert_eq!(
        reported.len(),
        2,
        "a second backfill of the same block tells nothing: {reported:?}"
    );
    let of = |contact: &str| {
        reported.iter().find(|data| data["contact_id"] == contact).expect("it is told").clone()
    };
    assert_eq!(
        of(&blocked),
        json!({
            "contact_id": blocked, "phone": mobile(1), "name": "",
            "source_platform": "whatsapp", "connection_id": null, "opted_out_at": original,
            "source": "backfill",
        })
    );
    assert_eq!(of(&free)["connection_id"], cloud.as_str(), "the contact's last connection");
    assert_eq!(of(&free)["opted_out_at"], original);
}

#[both_stores]
async fn a_block_is_reported_once_and_a_new_block_again(hooks: Hooks) {
    subscribed(&hooks).await;
    let qr = hooks.qr().await;
    let contact = hooks.contact_by_message(&qr, &mobile(1)).await;
    for _ in 0..3 {
        says(&hooks, &qr, 1, json!({})).await;
    }
    let at_once = (0..10).map(|_| says(&hooks, &qr, 2, json!({})));
    recado_tests::join_all(at_once.collect()).await;
    hooks.drain().await;
    assert_eq!(reported(&hooks).len(), 2);
    hooks.act(&contact, "opt-in", Value::Null).await.expect(200);
    hooks.advance(Duration::from_secs(60));
    says(&hooks, &qr, 1, json!({})).await;
    hooks.drain().await;
    let reported = reported(&hooks);
    assert_eq!(reported.len(), 3);
    assert_eq!(reported[2]["opted_out_at"], hooks.time());
}

/// D43.
#[both_stores]
async fn a_repeated_request_takes_the_external_ai_again_and_moves_nothing_else(hooks: Hooks) {
    subscribed(&hooks).await;
    let cloud = hooks.cloud().await;
    let contact = hooks.contact_by_message(&cloud, &mobile(1)).await;
    says(&hooks, &cloud, 1, json!({})).await;
    let since = hooks.full(&contact).await["opted_out_at"].clone();
    let button = json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": hooks.time(),
        "from": digits(&mobile(1)), "type": "interactive",
        "button": {"title": "Bloquear mensagens"},
    });
    let preference = json!({
        "kind": "preference", "from": digits(&mobile(1)), "preference": "stop",
        "timestamp": hooks.time(),
    });
    let message = with(hooks.inbound(&digits(&mobile(1)), "Parar!"), json!({}));
    for again in [message, button, preference] {
        hooks.advance(Duration::from_secs(60));
        hooks.act(&contact, "enable-external-ai", Value::Null).await.expect(200);
        hooks.gateway_one(&cloud, again.clone()).await;
        let full = hooks.full(&contact).await;
        assert_eq!(
            (&full["external_ai_enabled"], &full["opted_out_at"]),
            (&json!(false), &since),
            "{again}"
        );
    }
    hooks.drain().await;
    assert_eq!(reported(&hooks).len(), 1);
}

#[both_stores]
async fn where_no_phone_is_stored_the_identifier_is_reported(hooks: Hooks) {
    subscribed(&hooks).await;
    let contact = hooks.import(json!({"identifier": "lid-7788", "name": "Sem fone"})).await;
    let body = json!({"source": "backfill", "opted_out_at": hooks.time()});
    hooks.act(&contact, "opt-out", body).await.expect(200);
    hooks.drain().await;
    assert_eq!(reported(&hooks)[0]["phone"], "lid-7788");
}

#[both_stores]
async fn a_receiver_that_fails_never_undoes_the_block(hooks: Hooks) {
    subscribed(&hooks).await;
    hooks.receiver.answers("/a", recado_tests::Reply::status(500));
    let qr = hooks.qr().await;
    let contact = hooks.contact_by_message(&qr, &mobile(1)).await;
    says(&hooks, &qr, 1, json!({})).await;
    let since = hooks.full(&contact).await["opted_out_at"].clone();
    for _ in 0..5 {
        hooks.pass(Duration::from_secs(1_800)).await;
    }
    assert_eq!(hooks.deliveries("status=failed").await.len(), 1);
    assert_eq!(hooks.full(&contact).await["opted_out_at"], since);
    hooks.send_text(&mobile(1), "oi").await.expect_error(403, "CONTACT_OPTED_OUT");
}
