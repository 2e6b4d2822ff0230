//! The events of messages and contacts that receivers get, header by header and field by field:
//! 6.1, 6.2, D52, D53, D57, D65.

use recado_core::Cell;
use recado_tests::{
    Hooks, Received, Reply, both_stores, digits, keys, mobile, no_blocks, phone, text, wamid, with,
};
use serde_json::{Value, json};

/// The only request of this event to `/a`.
fn only(hooks: &Hooks, event: &str) -> Received {
    let mut all = hooks.receiver.to("/a");
    all.retain(|request| request.event() == event);
    assert_eq!(all.len(), 1, "one {event} was expected: {all:?}");
    all.remove(0)
}

/// Asserts that the envelope of a request has the current time, and returns its `data`.
fn data(hooks: &Hooks, request: &Received) -> Value {
    let body = request.json();
    assert_eq!(keys(&body), ["company_id", "data", "delivery_id", "event", "timestamp"]);
    assert_eq!(body["timestamp"], hooks.time(), "the time of the change");
    assert_eq!(body["company_id"], hooks.us.id);
    body["data"].clone()
}

fn events(hooks: &Hooks) -> Vec<String> {
    hooks.receiver.to("/a").iter().map(Received::event).collect()
}

#[both_stores]
async fn a_delivery_is_a_post_of_json_with_the_headers_that_name_it(hooks: Hooks) {
    hooks.hook("/a?tenant=7&x=%20", &["*"]).await;
    hooks.create(json!({"phone": phone(1), "name": "Zé 🦜"})).await;
    hooks.drain().await;
    let request = hooks.receiver.only("/a?tenant=7&x=%20");
    assert_eq!(request.method, "POST");
    assert_eq!(request.header("content-type"), Some("application/json"));
    let agent = format!("Recado-Webhooks/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(request.header("user-agent"), Some(agent.as_str()));
    assert_eq!(request.header("host"), Some(hooks.receiver.addr.to_string().as_str()));
    assert_eq!(request.header("content-length"), Some(request.body.len().to_string().as_str()));
    assert_eq!(request.header("x-service-event"), Some("contact.created"));
    let delivery = text(&hooks.only_delivery().await["id"]);
    assert_eq!(request.header("x-service-delivery"), Some(delivery.as_str()));
    assert_eq!(request.json()["delivery_id"], delivery);
    assert!(request.header("x-service-signature").is_some());
    assert_eq!(request.header("authorization"), None);
    let cell = Cell::of_uuid(delivery.parse().expect("a UUID"));
    assert_eq!(cell, Some(hooks.server.cell()));
}

#[both_stores]
async fn message_received_reports_the_message_its_contact_and_its_connection(hooks: Hooks) {
    hooks.hook("/a", &["message.received"]).await;
    let qr = hooks.qr().await;
    let contact = hooks.create_id(json!({"phone": mobile(1), "name": "Zé"})).await;
    let until = hooks.time_in(60_000);
    hooks.act(&contact, "pause-ai", json!({"until": until})).await.expect(200);
    let message = hooks.receive(&qr, &digits(&mobile(1)), "olá, \"você\" 🦜\n2ª linha").await;
    hooks.drain().await;
    let request = only(&hooks, "message.received");
    assert_eq!(
        data(&hooks, &request),
        with(
            json!({
                "message_id": message, "type": "text", "content": "olá, \"você\" 🦜\n2ª linha",
                "media_url": null, "media_mimetype": null, "media_caption": null,
                "direction": "inbound", "sender_type": "contact", "status": "received",
                "participant": null, "created_at": hooks.time(),
                "contact": {
                    "id": contact, "phone": mobile(1), "name": "Zé",
                    "display_name": "Zé", "source_platform": "whatsapp",
                    "is_ai_enabled": true, "external_ai_enabled": false,
                    "ai_paused_until": until, "opted_out_at": null,
                },
                "connection": {"id": qr, "type": "whatsapp", "name": "the qr"},
            }),
            no_blocks(),
        )
    );
}

#[both_stores]
async fn message_received_reports_what_media_came(hooks: Hooks) {
    hooks.hook("/a", &["message.received"]).await;
    let qr = hooks.qr().await;
    let url = hooks.receiver.url("/media");
    let media = json!({"url": url, "mimetype": "image/jpeg", "caption": "olha só: é"});
    let event = json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": hooks.time(),
        "from": digits(&mobile(1)), "type": "image", "media": media,
    });
    let id = hooks.stored(&qr, event).await;
    hooks.drain().await;
    let data = data(&hooks, &only(&hooks, "message.received"));
    assert_eq!(data["type"], "image");
    assert_eq!(data["media_mimetype"], "image/jpeg");
    assert_eq!(data["media_caption"], "olha só: é");
    assert_eq!(data["media_url"], hooks.message(&id).await["media_url"], "from the first moment");
    assert!(text(&data["media_url"]).contains("/media/"));
}

#[both_stores]
async fn message_received_shows_the_contact_after_the_message(hooks: Hooks) {
    hooks.hook("/a", &["message.received"]).await;
    let qr = hooks.qr().await;
    let contact = hooks.contact_by_message(&qr, &mobile(1)).await;
    hooks.close(&contact).await;
    hooks.receive(&qr, &digits(&mobile(1)), "voltei").await;
    hooks.receive(&qr, &digits(&mobile(1)), "parar").await;
    // Later changes do not change the data of an earlier event.
    hooks.act(&contact, "opt-in", Value::Null).await.expect(200);
    hooks.patch_contact(&contact, json!({"name": "outro nome"})).await.expect(200);
    hooks.drain().await;
    let contacts: Vec<Value> =
        hooks.receiver.to("/a").iter().map(|one| one.data()["contact"].clone()).collect();
    let state = |n: usize| {
        let contact: &Value = &contacts[n];
        (&contact["is_ai_enabled"], &contact["external_ai_enabled"], &contact["opted_out_at"])
    };
    let (yes, no, none, now) = (json!(true), json!(false), Value::Null, json!(hooks.time()));
    assert_eq!(state(0), (&yes, &yes, &none));
    assert_eq!(state(1), (&no, &yes, &none), "who comes back meets no AI");
    assert_eq!(state(2), (&no, &no, &now));
    assert!(contacts.iter().all(|contact| contact["name"] == ""), "{contacts:?}");
}

#[both_stores]
async fn message_sent_reports_the_message_as_the_channel_took_it(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    let cloud = hooks.silent("official_cloud").await;
    let contact = hooks.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    let sent = hooks.sent(&mobile(1), "até amanhã ✓").await;
    hooks.drain().await;
    let request = only(&hooks, "message.sent");
    assert_eq!(
        data(&hooks, &request),
        with(
            json!({
                "message_id": sent["message_id"], "type": "text", "content": "até amanhã ✓",
                "media_url": null, "media_mimetype": null, "media_caption": null,
                "direction": "outbound", "sender_type": "system", "status": "sent",
                "participant": null, "created_at": hooks.time(), "wamid": sent["wamid"],
                "error_type": null, "delivery_error": null,
                "contact": {
                    "id": contact, "phone": mobile(1), "name": "Ana", "display_name": "Ana",
                    "source_platform": "whatsapp", "is_ai_enabled": true,
                    "external_ai_enabled": true, "ai_paused_until": null, "opted_out_at": null,
                },
                "connection": {"id": cloud, "type": "whatsapp", "name": "the official_cloud"},
            }),
            no_blocks(),
        )
    );
    assert_eq!(events(&hooks), ["contact.created", "message.sent"], "no status_updated");
}

#[both_stores]
async fn message_sent_reports_who_wrote(hooks: Hooks) {
    hooks.hook("/a", &["message.sent"]).await;
    let qr = hooks.silent("qr").await;
    let contact = hooks.contact_by_message(&qr, &mobile(1)).await;
    hooks.sent(&mobile(1), "do sistema").await;
    hooks
        .act(
            &contact,
            "ai-turn",
            json!({
                "messages": ["da IA", "da IA de novo"], "prosas": 1, "cost_brl": 0.5,
            }),
        )
        .await
        .expect(200);
    hooks.act(&contact, "reply", json!({"message": "do atendente"})).await.expect(200);
    hooks.stored(&qr, hooks.echo(&digits(&mobile(1)), "do celular")).await;
    hooks.drain().await;
    let reported: Vec<(String, String)> = hooks
        .receiver
        .to("/a")
        .iter()
        .map(|one| (text(&one.data()["content"]), text(&one.data()["sender_type"])))
        .collect();
    let reported: Vec<(&str, &str)> =
        reported.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(
        reported,
        [
            ("do sistema", "system"),
            ("da IA", "ai"),
            ("da IA de novo", "ai"),
            ("do atendente", "agent"),
            ("do celular", "agent"),
        ]
    );
}

#[both_stores]
async fn message_status_updated_reports_the_change(hooks: Hooks) {
    let cloud = hooks.silent("official_cloud").await;
    let contact = hooks.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    hooks.hook("/a", &["message.status_updated"]).await;
    let sent = hooks.sent(&mobile(1), "oi").await;
    let wamid = text(&sent["wamid"]);
    hooks.advance(std::time::Duration::from_secs(5));
    // Repeated and late reports change nothing.
    for status in ["sent", "delivered", "delivered", "sent"] {
        hooks.gateway_one(&cloud, hooks.report(&wamid, status)).await;
    }
    hooks.drain().await;
    let request = only(&hooks, "message.status_updated");
    let mut expected = json!({
        "message_id": sent["message_id"], "wamid": wamid, "status": "delivered",
        "previous_status": "sent", "error_type": null, "delivery_error": null,
        "updated_at": hooks.time(),
        "contact": {
            "id": contact, "phone": mobile(1), "name": "Ana", "display_name": "Ana",
            "source_platform": "whatsapp",
            "is_ai_enabled": true, "external_ai_enabled": true, "ai_paused_until": null,
            "opted_out_at": null,
        },
        "connection": {"id": cloud, "type": "whatsapp", "name": "the official_cloud"},
    });
    assert_eq!(data(&hooks, &request), expected);
    hooks.gateway_one(&cloud, hooks.report(&wamid, "read")).await;
    hooks.drain().await;
    let second = hooks.receiver.to("/a").pop().expect("a request");
    expected["status"] = json!("read");
    expected["previous_status"] = json!("delivered");
    assert_eq!(data(&hooks, &second), expected);
}

#[both_stores]
async fn a_message_that_fails_later_reports_why(hooks: Hooks) {
    let cloud = hooks.silent("official_cloud").await;
    hooks.hook("/a", &["message.status_updated"]).await;
    let sent = hooks.sent(&mobile(1), "oi").await;
    let error = json!({"error": {"code": 131_026, "title": "Message undeliverable"}});
    let report = with(hooks.report(&text(&sent["wamid"]), "failed"), error);
    hooks.gateway_one(&cloud, report).await;
    hooks.drain().await;
    let data = data(&hooks, &only(&hooks, "message.status_updated"));
    assert_eq!(data["status"], "failed");
    assert_eq!(data["previous_status"], "sent");
    let message = hooks.message(&text(&sent["message_id"])).await;
    assert_eq!(data["error_type"], message["error_type"]);
    assert_ne!(data["error_type"], Value::Null);
    assert_eq!(data["delivery_error"], message["delivery_error"]);
    assert!(data["delivery_error"]["code"].is_string(), "{data}");
}

#[both_stores]
async fn a_send_that_fails_reports_a_failed_status_and_no_message_sent(hooks: Hooks) {
    hooks.silent("qr").await;
    hooks.hook("/a", &["message.sent", "message.status_updated"]).await;
    hooks.send_text(&recado_tests::steered(1), "oi").await.expect_error(502, "PROVIDER_ERROR");
    hooks.drain().await;
    let data = data(&hooks, &only(&hooks, "message.status_updated"));
    assert_eq!(data["previous_status"], "pending");
    assert_eq!(data["status"], "failed");
    assert_eq!(data["wamid"], Value::Null);
    assert!(data["delivery_error"]["code"].is_string(), "{data}");
    assert_eq!(events(&hooks), ["message.status_updated"]);
}

#[both_stores]
async fn contact_created_reports_the_contact_as_its_creation_answered(hooks: Hooks) {
    hooks.hook("/a", &["contact.created"]).await;
    let answered = hooks
        .create(json!({
            "phone": phone(1), "name": "Ana Luísa", "email": "ana@example.com",
            "city": "São Paulo",
        }))
        .await;
    hooks.drain().await;
    assert_eq!(data(&hooks, &only(&hooks, "contact.created")), answered);
}

#[both_stores]
async fn every_way_to_a_new_contact_reports_contact_created_once(hooks: Hooks) {
    hooks.hook("/a", &["contact.created"]).await;
    let qr = hooks.silent("qr").await;
    let created = hooks.create(json!({"phone": phone(1)})).await;
    hooks.contact_by_message(&qr, &mobile(2)).await;
    hooks.receive(&qr, &digits(&mobile(2)), "de novo").await;
    hooks.sent(&mobile(3), "oi").await;
    hooks.sent(&mobile(3), "oi de novo").await;
    hooks.post_contact(json!({"phone": phone(1)})).await.expect_error(409, "CONTACT_EXISTS");
    hooks.post_contact(json!({"phone": "x"})).await.expect_invalid();
    hooks.drain().await;
    let reported: Vec<Value> = hooks.receiver.to("/a").iter().map(Received::data).collect();
    let mut phones: Vec<String> = reported.iter().map(|one| text(&one["phone"])).collect();
    phones.sort();
    assert_eq!(phones, [phone(1), mobile(2), mobile(3)]);
    for one in &reported {
        assert_eq!(keys(one), keys(&created), "the same form, whichever way");
    }
}

// D65
#[both_stores]
async fn imports_tell_nothing_and_neither_does_history_of_whom_we_know(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    let qr = hooks.silent("qr").await;
    let contact = hooks.import(json!({"phone": mobile(1), "opted_out_at": hooks.time()})).await;
    hooks
        .import_message(json!({
            "contact_id": contact, "connection_id": qr, "direction": "inbound",
            "type": "text", "content": "parar", "status": "received", "wamid": wamid(),
        }))
        .await;
    let old = json!({"history": true, "timestamp": hooks.time_ago(86_400_000)});
    hooks.stored(&qr, with(hooks.inbound(&digits(&mobile(1)), "oi"), old.clone())).await;
    hooks.stored(&qr, with(hooks.echo(&digits(&mobile(1)), "oi"), old.clone())).await;
    hooks.stored(&qr, with(hooks.inbound(&digits(&mobile(1)), "sair"), old)).await;
    hooks.patch_contact(&contact, json!({"name": "Ana"})).await.expect(200);
    hooks.drain().await;
    assert!(hooks.receiver.all().is_empty(), "{:?}", events(&hooks));
    assert!(hooks.deliveries("").await.is_empty());
}

// D65
#[both_stores]
async fn a_contact_first_met_in_history_events_is_new_and_fires_contact_created(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    let qr = hooks.silent("qr").await;
    let old = json!({"history": true, "timestamp": hooks.time_ago(86_400_000)});
    let met = [
        hooks.inbound(&digits(&mobile(1)), "oi"),
        hooks.inbound(&digits(&mobile(1)), "tudo bem?"),
        hooks.echo(&digits(&mobile(2)), "oi"),
        hooks.inbound("7@g.us", "bom dia"),
        hooks.inbound(&digits(&mobile(3)), "sair"),
    ];
    let met = met.into_iter().map(|event| with(event, old.clone())).collect();
    hooks.gateway(&qr, met).await;
    hooks.drain().await;
    let mut fired = events(&hooks);
    fired.sort();
    let created = ["contact.created"; 4];
    assert_eq!(fired[..4], created, "once each, of people and of groups");
    assert_eq!(fired[4..], ["contact.opted_out"]);
    let created: Vec<Value> = hooks.receiver.to("/a").iter().map(Received::data).collect();
    for contact in hooks.get("/api/v1/contacts").await.items() {
        let told = created.iter().find(|data| data["id"] == contact["id"]).expect("it is told of");
        assert_eq!(told["identifier"], contact["identifier"]);
        for field in ["first_message_at", "last_message_at", "last_inbound_at"] {
            assert_eq!((&contact[field], &told[field]), (&Value::Null, &Value::Null), "{field}");
        }
        let detail = hooks.detail(&text(&contact["id"])).await;
        for connection in detail["connections"].as_array().expect("an array") {
            assert_eq!(connection["unread_count"], 0);
        }
    }
    // They are known by now: what they write is a message and nothing else.
    hooks.receive(&qr, &digits(&mobile(1)), "voltei").await;
    hooks.drain().await;
    let mut fired = events(&hooks);
    fired.sort();
    assert_eq!(fired[5..], ["message.received"]);
}

#[both_stores]
async fn a_message_repeated_by_the_channel_is_reported_once(hooks: Hooks) {
    hooks.hook("/a", &["*"]).await;
    let qr = hooks.qr().await;
    let event = hooks.inbound(&digits(&mobile(1)), "oi");
    let calls = (0..10).map(|_| hooks.gateway_one(&qr, event.clone()));
    recado_tests::join_all(calls.collect()).await;
    hooks.drain().await;
    assert_eq!(events(&hooks), ["contact.created", "message.received"]);
}

#[both_stores]
async fn an_event_of_many_webhooks_has_a_delivery_for_each_with_the_same_data(hooks: Hooks) {
    let mut made = Vec::new();
    for n in 0..12 {
        made.push(hooks.hook(&format!("/{n}"), &["*"]).await);
    }
    hooks.receiver.answers("/3", Reply::status(500));
    hooks.create(json!({"phone": phone(1), "name": "Zé"})).await;
    hooks.drain().await;
    let first = hooks.receiver.only("/0");
    for (n, hook) in made.iter().enumerate() {
        let request = hooks.receiver.only(&format!("/{n}"));
        assert_eq!(request.data(), first.data());
        assert!(request.is_signed("x-service-signature", &hook.secret));
        let delivery = hooks.delivery(&request.delivery()).await;
        assert_eq!(delivery["webhook_id"], hook.id.as_str());
        assert_eq!(delivery["body"], request.text());
        let wanted = if n == 3 { "pending" } else { "delivered" };
        assert_eq!(delivery["status"], wanted);
    }
    assert_eq!(hooks.receiver.deliveries(), 12);
}
