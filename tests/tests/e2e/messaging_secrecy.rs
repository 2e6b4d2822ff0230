//! Data of conversations that logs, metrics and other calls after a deletion must not show: D26,
//! D70.

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{Request, StoreKind, World, both_stores, digits, mobile, text, with};
use serde_json::json;

#[both_stores]
async fn no_log_line_shows_what_was_said_or_who_said_it(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &["--log", "trace"]).await;
    let addr = process.addr;
    let us = tenant_at(addr, "Acme", "enterprise").await;
    let body = json!({
        "kind": "qr", "name": "c", "identifier": "+551140000000", "gateway": "simulated",
    });
    let qr =
        text(&operator_at(addr, &us.id, "POST", "C/connections", body).await.expect(201)["id"]);
    let waha = json!({
        "kind": "qr", "name": "w", "identifier": "+551140000001", "gateway": "waha",
        "settings": {
            "base_url": "https://waha.example", "session": "default",
            "api_key": "chave-secreta-da-waha", "webhook_hmac_key": "hmac-secreto-da-waha",
        },
    });
    operator_at(addr, &us.id, "POST", "C/connections", waha).await.expect(201);
    let event = json!({
        "kind": "message", "provider_message_id": "wamid.1",
        "timestamp": "2026-11-20T12:00:00.000Z", "from": "5511987654321",
        "push_name": "Fulana Sigilosa", "type": "text", "content": "segredo-da-mensagem",
    });
    let path = format!("C/connections/{qr}/events");
    operator_at(addr, &us.id, "POST", &path, json!({"events": [event]})).await.expect(200);
    for (to, message) in [
        ("+5511987654321", "segredo-da-resposta"),
        ("+5511980000001", "segredo-da-recusa"),
        ("11 98765-4321 x", "segredo-do-erro"),
    ] {
        let body = json!({"to": to, "message": message});
        Request::new("POST", "/api/v1/send/message")
            .bearer(&us.key)
            .header("idempotency-key", format!("chave-de-repeticao-{message}"))
            .json(&body)
            .send(addr)
            .await;
    }
    let list = Request::new("GET", "/api/v1/messages").bearer(&us.key).send(addr).await;
    assert_eq!(list.items().len(), 3);
    let contact = text(&list.items()[2]["contact_id"]);
    for (rest, body) in [
        ("lead-memory", json!({"summary": "segredo-da-memoria"})),
        ("reply", json!({"message": "segredo-do-agente"})),
    ] {
        let path = format!("C/contacts/{contact}/{rest}");
        operator_at(addr, &us.id, "POST", &path, body).await;
    }
    let log = process.kill_and_read().await;
    assert!(log.contains("/api/v1/send/message"), "there is a log");
    for secret in [
        "segredo",
        "Sigilosa",
        "5511987654321",
        "98765-4321",
        "987654321",
        "5511980000001",
        "secreta",
        "hmac-secreto",
        &us.key,
        "chave-de-repeticao",
    ] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}

#[both_stores]
async fn nothing_of_a_deleted_contact_stays_in_the_messages(world: World) {
    let qr = world.qr().await;
    let event = with(
        world.inbound(&digits(&mobile(1)), "segredo-da-mensagem"),
        json!({"push_name": "Fulana Sigilosa"}),
    );
    let message = world.stored(&qr, event).await;
    let contact = text(&world.message(&message).await["contact_id"]);
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    assert!(world.all_messages().await.is_empty());
    // A later message from the same person makes a new contact.
    let again = world.contact_by_message(&qr, &mobile(1)).await;
    assert_ne!(again, contact);
    assert_eq!(world.messages_of(&again).await.len(), 1);
    assert_eq!(world.detail(&again).await["connections"][0]["unread_count"], 1);
}
