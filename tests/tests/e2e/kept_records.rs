//! How long messages, clicks and ledger lines are kept, and organizations without contacts: R210,
//! R211, R212, R213.

use std::time::Duration;

use recado_core::transport::OutboundResponse;
use recado_tests::{
    Campaigning, Request, Setup, StoreKind, World, both_stores, digits, eventually, mobile,
    path_of, phone, text, wamid, with,
};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// A world that keeps messages, clicks and ledger lines for so long.
async fn keeping(kind: StoreKind, kept: [Option<Duration>; 3]) -> World {
    World::with(kind, Setup { kept, ..Setup::default() }).await
}

fn photo(world: &World) -> Value {
    json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": world.time(),
        "from": digits(&mobile(1)), "type": "image", "media": {"url": "https://gateway.example/1"},
    })
}

/// R210.
#[both_stores]
async fn messages_go_with_their_files_after_their_retention(kind: StoreKind) {
    let world = keeping(kind, [Some(DAY * 2), None, None]).await;
    world.server.transport.otherwise(Ok(OutboundResponse::new(200, b"bytes".to_vec())));
    let qr = world.qr().await;
    let old = world.stored(&qr, photo(&world)).await;
    let media = path_of(&world.message(&old).await["media_url"]);
    eventually("the file is here", || async {
        (world.send(Request::new("GET", &media)).await.status == 200).then_some(())
    })
    .await;
    let contact = text(&world.message(&old).await["contact_id"]);
    world.advance(DAY);
    let young = world.receive(&qr, &digits(&mobile(1)), "oi").await;
    let before = world.detail(&contact).await;
    world.server.sweep_records().await;
    assert_eq!(world.message_ids("").await.len(), 2, "two days are not over");
    world.advance(DAY);
    world.server.sweep_records().await;
    assert_eq!(world.message_ids("").await, [young]);
    assert_eq!(world.get("/api/v1/messages?limit=1").await.json()["pagination"]["total"], 1);
    assert_eq!(world.send(Request::new("GET", &media)).await.status, 404);
    assert!(world.server.files_on_disk().is_empty());
    assert_eq!(world.detail(&contact).await, before, "its conversation stays");
}

/// R210.
#[both_stores]
async fn everything_is_kept_where_nothing_else_was_said(world: World) {
    let qr = world.qr().await;
    world.receive(&qr, &digits(&mobile(1)), "oi").await;
    world.advance(DAY * 4_000);
    world.server.sweep_records().await;
    assert_eq!(world.message_ids("").await.len(), 1);
}

/// R210.
#[both_stores]
async fn a_quote_stays_as_it_was_after_the_quoted_message_went(kind: StoreKind) {
    let world = keeping(kind, [Some(DAY * 2), None, None]).await;
    let (qr, from) = (world.qr().await, digits(&mobile(1)));
    let first = world.inbound(&from, "the first");
    let provider_id = text(&first["provider_message_id"]);
    let old = world.stored(&qr, first).await;
    world.advance(DAY);
    let quotes = json!({"quoted_provider_message_id": provider_id});
    let young = world.stored(&qr, with(world.inbound(&from, "the second"), quotes)).await;
    let before = world.message(&young).await;
    assert_eq!(before["quoted_message_id"], old);
    assert_eq!(before["quoted_content"], "the first");
    world.advance(DAY);
    world.server.sweep_records().await;
    assert_eq!(world.message_ids("").await, [young.clone()]);
    assert_eq!(world.message(&young).await, before);
    // Of one that comes later, the gateway says what it quotes.
    let quotes = json!({
        "quoted_provider_message_id": provider_id, "quoted_content": "the first, too",
        "quoted_type": "text",
    });
    let late = world.stored(&qr, with(world.inbound(&from, "the third"), quotes)).await;
    let late = world.message(&late).await;
    assert_eq!(late["quoted_message_id"], Value::Null);
    assert_eq!(late["quoted_content"], "the first, too");
}

/// R210.
#[both_stores]
async fn recipients_of_a_campaign_stay_as_they_were_after_their_messages_went(kind: StoreKind) {
    let kept = [Some(DAY * 2), None, None];
    let setup = Setup { kept, no_background: true, ..Setup::default() };
    let world = Campaigning::with(kind, setup).await;
    let (campaign, _) = world.campaign_to(3, json!({})).await;
    world.start_and_run(&campaign).await;
    let sent = world.all_messages().await;
    let wamids: Vec<String> = sent.iter().map(|one| text(&one["wamid"])).collect();
    let reports = vec![world.report(&wamids[0], "read"), world.report(&wamids[1], "delivered")];
    world.gateway(&world.connection, reports).await;
    let seen = async || (world.record(&campaign).await, world.recipients(&campaign).await);
    let before = seen().await;
    assert_eq!(before.0["counts"]["total"], 3);
    world.advance(DAY * 2);
    world.server.sweep_records().await;
    assert!(world.all_messages().await.is_empty());
    assert_eq!(seen().await, before);
    // A report that comes now is about nothing that is there.
    world.gateway(&world.connection, vec![world.report(&wamids[2], "read")]).await;
    assert_eq!(seen().await, before);
    let ledger = world.ledger().await;
    assert_eq!(ledger.of("debit").len(), 3);
}

/// R207, R211.
#[both_stores]
async fn clicks_go_and_their_count_stays(kind: StoreKind) {
    let world = keeping(kind, [None, Some(DAY), None]).await;
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let link = json!({"contact_id": id, "url": "https://example.com/"});
    let code = text(&world.make("C/links", link).await["code"]);
    let click = Request::new("GET", format!("/l/{code}")).header("user-agent", BROWSER);
    assert_eq!(world.send(click).await.status, 302);
    let shown = async || {
        let listed = world.get("/api/v1/contacts?include=link_clicks").await;
        listed.items()[0]["link_clicks"].clone()
    };
    let before = shown().await;
    assert_eq!(before["total"], 1);
    world.advance(DAY);
    world.server.sweep_records().await;
    assert_eq!(shown().await, before);
    assert_eq!(world.get("/api/v1/contacts").await.items().len(), 1);
}

/// R212.
#[both_stores]
async fn a_debit_goes_with_its_refunds_and_out_of_the_totals(kind: StoreKind) {
    let world = keeping(kind, [None, None, Some(DAY * 2)]).await;
    let debit = |prosas: u32| json!({"scope": "turn", "prosas": prosas, "cost_brl": 1});
    let made = world.operator("POST", "C/prosas/debits", debit(3)).await.expect(201);
    let refunded = world.operator("POST", "C/prosas/debits", debit(5)).await.expect(201);
    world.advance(DAY);
    let refund = json!({
        "consumption_id": refunded["consumption_id"], "prosas": 5, "cost_brl": 1,
    });
    world.operator("POST", "C/prosas/refunds", refund).await.expect(201);
    world.advance(DAY);
    world.server.sweep_records().await;
    let ledger = async || world.get("/api/v1/prosas/consumption").await.json();
    let left = ledger().await;
    let ids: Vec<&Value> =
        left["data"].as_array().expect("lines").iter().map(|l| &l["consumption_id"]).collect();
    assert_eq!(ids, [&refunded["consumption_id"]; 2], "the refund is a day old");
    assert!(!ids.contains(&&made["consumption_id"]));
    assert_eq!(left["totals"]["prosas"].as_f64(), Some(0.0));
    world.advance(DAY);
    world.server.sweep_records().await;
    assert_eq!(ledger().await["data"], json!([]));
}

/// R213.
#[both_stores]
async fn an_organization_goes_after_its_last_contact(world: World) {
    let cnpj = "19131243000197";
    let one = world.create_id(json!({"phone": phone(1), "cnpj": cnpj})).await;
    let two = world.create_id(json!({"phone": phone(2), "cnpj": cnpj})).await;
    let organizations = async || world.operator_get("C/organizations").await;
    let before = organizations().await;
    world.delete(&format!("/api/v1/contacts/{one}")).await.expect_deleted();
    world.server.sweep_records().await;
    assert_eq!(organizations().await.as_array().map(Vec::len), Some(1));
    world.delete(&format!("/api/v1/contacts/{two}")).await.expect_deleted();
    world.server.sweep_records().await;
    assert_eq!(organizations().await.as_array().map(Vec::len), Some(0), "{before}");
}
