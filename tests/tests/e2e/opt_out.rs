//! Contacts that ask not to receive messages: 3.4, 6.1; D43, D44, D65, D70.

use std::time::Duration;

use recado_tests::{World, both_stores, digits, keys, mobile, text, wamid, with};
use serde_json::{Value, json};

const EVENT: &str = "contact.opted_out";

/// The default list.
const WORDS: [&str; 12] = [
    "sair",
    "parar",
    "pare",
    "stop",
    "cancelar",
    "descadastrar",
    "remover",
    "unsubscribe",
    "nao quero receber",
    "nao quero mais receber",
    "nao quero receber mensagens",
    "pare de enviar mensagens",
];

async fn blocked_since(world: &World, contact: &str) -> Value {
    world.full(contact).await["opted_out_at"].clone()
}

fn pressed(world: &World, phone: &str, button: Value) -> Value {
    json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": world.time(),
        "from": digits(phone), "type": "interactive", "button": button,
    })
}

fn prefers(world: &World, phone: &str, preference: &str) -> Value {
    json!({
        "kind": "preference", "from": digits(phone), "preference": preference,
        "timestamp": world.time(),
    })
}

/// Imports a campaign's message to the contact.
async fn campaign_message(world: &World, contact: &str, connection: &str) -> String {
    let wamid = wamid();
    world
        .import_message(json!({
            "contact_id": contact, "connection_id": connection, "direction": "outbound",
            "type": "template", "content": "Promoção!", "sender_type": "campaign",
            "status": "delivered", "wamid": wamid,
        }))
        .await;
    wamid
}

async fn sources(world: &World) -> Vec<String> {
    world.events_of(EVENT).await.iter().map(|data| text(&data["source"])).collect()
}

#[both_stores]
async fn every_stop_word_blocks_in_any_dress(world: World) {
    let cloud = world.cloud().await;
    for (n, word) in (0..).zip(WORDS) {
        let dressed = [
            word.to_owned(),
            format!("  {}!! ", word.to_uppercase()),
            format!("{}.", word.replace("nao", "Não")),
        ];
        for (m, said) in (0..).zip(dressed) {
            let contact = world.contact_by_message(&cloud, &mobile(n * 10 + m)).await;
            world.receive(&cloud, &digits(&mobile(n * 10 + m)), &said).await;
            assert_eq!(blocked_since(&world, &contact).await, world.time(), "{said:?}");
        }
    }
    assert_eq!(world.events_of(EVENT).await.len(), WORDS.len() * 3);
}

#[both_stores]
async fn the_event_reports_who_where_when_and_how(world: World) {
    for (kind, source) in [("official_cloud", "official_cloud_inbound"), ("qr", "qr_inbound")] {
        let n = if kind == "qr" { 1 } else { 2 };
        let connection = world.connection(kind, json!({})).await;
        let contact = world.create_id(json!({"phone": mobile(n), "name": "Ana"})).await;
        let at = world.time_ago(5_000);
        let event = with(world.inbound(&digits(&mobile(n)), "SAIR"), json!({"timestamp": at}));
        world.stored(&connection, event).await;
        let events = world.events_of(EVENT).await;
        let data = events.last().expect("an event");
        assert_eq!(
            *data,
            json!({
                "contact_id": contact, "phone": mobile(n), "name": "Ana",
                "source_platform": "whatsapp", "connection_id": connection,
                "opted_out_at": at, "source": source,
            })
        );
        assert_eq!(blocked_since(&world, &contact).await, at, "the provider's time");
    }
}

#[both_stores]
async fn opting_out_switches_the_external_ai_off_only(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    world.receive(&qr, &digits(&mobile(1)), "parar").await;
    let full = world.full(&contact).await;
    assert_eq!(full["external_ai_enabled"], false);
    assert_eq!(full["is_ai_enabled"], true);
    assert_eq!(full["inbox_status"], "open");
    assert_eq!(full["is_blocked"], false);
}

// Buttons.

#[both_stores]
async fn a_button_blocks_by_its_id_payload_or_title_on_every_kind(world: World) {
    let mut n = 0;
    for kind in ["qr", "official_cloud"] {
        let connection = world.connection(kind, json!({})).await;
        for button in [
            json!({"id": "STOP"}),
            json!({"payload": "sair"}),
            json!({"title": "Não quero mais receber"}),
            json!({"id": "7", "payload": "p", "title": "Bloquear mensagens"}),
            json!({"title": "Parar mensagens"}),
            json!({"title": "Parar promoções"}),
            json!({"title": "Stop promotions"}),
        ] {
            n += 1;
            let contact = world.contact_by_message(&connection, &mobile(n)).await;
            world.stored(&connection, pressed(&world, &mobile(n), button.clone())).await;
            assert_eq!(blocked_since(&world, &contact).await, world.time(), "{kind} {button}");
        }
    }
}

// Groups.

#[both_stores]
async fn a_group_never_opts_out_by_a_message(world: World) {
    let qr = world.qr().await;
    let event = with(world.inbound("1@g.us", "sair"), json!({"participant": digits(&mobile(1))}));
    world.stored(&qr, event).await;
    let contact = text(&world.group_contact("1@g.us").await["id"]);
    assert_eq!(blocked_since(&world, &contact).await, Value::Null);
    assert!(world.events_of(EVENT).await.is_empty());
}

// Preferences.

#[both_stores]
async fn the_preference_stop_blocks_on_the_official_cloud(world: World) {
    let cloud = world.cloud().await;
    let contact = world.contact_by_message(&cloud, &mobile(1)).await;
    let result = world.gateway_one(&cloud, prefers(&world, &mobile(1), "stop")).await;
    assert_eq!(result["result"], "stored", "{result}");
    assert_eq!(blocked_since(&world, &contact).await, world.time());
    assert_eq!(sources(&world).await, ["official_cloud_inbound"]);
    let again = world.gateway_one(&cloud, prefers(&world, &mobile(1), "stop")).await;
    assert_ne!(again["result"], "refused");
    assert_eq!(sources(&world).await.len(), 1);
}

#[both_stores]
async fn a_preference_is_ignored_on_a_qr_connection(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let result = world.gateway_one(&qr, prefers(&world, &mobile(1), "stop")).await;
    assert_eq!(result["result"], "ignored", "{result}");
    assert_eq!(blocked_since(&world, &contact).await, Value::Null);
}

#[both_stores]
async fn the_preference_resume_lifts_the_block_and_a_later_request_is_a_new_one(world: World) {
    let cloud = world.cloud().await;
    let contact = world.contact_by_message(&cloud, &mobile(1)).await;
    world.gateway_one(&cloud, prefers(&world, &mobile(1), "stop")).await;
    world.advance(Duration::from_secs(60));
    world.gateway_one(&cloud, prefers(&world, &mobile(1), "resume")).await;
    let full = world.full(&contact).await;
    assert_eq!(full["opted_out_at"], Value::Null);
    assert_eq!(full["external_ai_enabled"], false, "it stays as it is");
    assert_eq!(sources(&world).await.len(), 1);
    world.advance(Duration::from_secs(60));
    world.receive(&cloud, &digits(&mobile(1)), "sair").await;
    assert_eq!(blocked_since(&world, &contact).await, world.time());
    assert_eq!(sources(&world).await.len(), 2);
}

// Campaigns.

#[both_stores]
async fn a_request_after_a_campaign_is_a_reply_to_it(world: World) {
    let cloud = world.cloud().await;
    let contact = world.contact_by_message(&cloud, &mobile(1)).await;
    campaign_message(&world, &contact, &cloud).await;
    world.advance(Duration::from_secs(60));
    world.receive(&cloud, &digits(&mobile(1)), "sair").await;
    assert_eq!(sources(&world).await, ["campaign_reply"]);
}

#[both_stores]
async fn a_request_that_quotes_the_campaign_is_a_reply_to_it_whatever_came_since(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let campaign = campaign_message(&world, &contact, &qr).await;
    world.advance(Duration::from_secs(60));
    world.sent(&mobile(1), "mais uma coisa").await;
    let quoting = json!({"quoted_provider_message_id": campaign});
    world.stored(&qr, with(world.inbound(&digits(&mobile(1)), "sair"), quoting)).await;
    assert_eq!(sources(&world).await, ["campaign_reply"]);
}

// History.

#[both_stores]
async fn a_request_found_in_the_history_blocks_with_its_event(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    campaign_message(&world, &contact, &qr).await;
    let at = world.time_ago(86_400_000);
    let old = json!({"history": true, "timestamp": at});
    world.stored(&qr, with(world.inbound(&digits(&mobile(1)), "sair"), old)).await;
    assert_eq!(blocked_since(&world, &contact).await, at);
    assert_eq!(sources(&world).await, ["qr_inbound"], "history replies by quoting only");
    assert_eq!(world.events_of("message.received").await.len(), 1, "the meeting's only");
}

#[both_stores]
async fn a_request_of_the_history_from_before_the_last_opt_in_does_not_block_again(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let before = world.time_ago(60_000);
    world.receive(&qr, &digits(&mobile(1)), "sair").await;
    world.act(&contact, "opt-in", Value::Null).await.expect(200);
    world.advance(Duration::from_secs(60));
    let old = json!({"history": true, "timestamp": before});
    world.stored(&qr, with(world.inbound(&digits(&mobile(1)), "sair"), old)).await;
    assert_eq!(blocked_since(&world, &contact).await, Value::Null);
    let new = json!({"history": true, "timestamp": world.time()});
    world.stored(&qr, with(world.inbound(&digits(&mobile(1)), "sair"), new)).await;
    assert_eq!(blocked_since(&world, &contact).await, world.time());
    assert_eq!(sources(&world).await.len(), 2);
}

// The operator.

#[both_stores]
async fn a_backfill_blocks_with_the_original_date(world: World) {
    let cloud = world.cloud().await;
    let contact = world.contact_by_message(&cloud, &mobile(1)).await;
    let original = "2024-05-06T07:08:09.000Z";
    let body = json!({"source": "backfill", "opted_out_at": original});
    let full = world.act(&contact, "opt-out", body.clone()).await.expect(200);
    assert_eq!(full["opted_out_at"], original);
    assert_eq!(full["external_ai_enabled"], false);
    let events = world.events_of(EVENT).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["source"], "backfill");
    assert_eq!(events[0]["opted_out_at"], original);
    assert_eq!(events[0]["connection_id"], cloud.as_str(), "the contact's last connection");
    assert_eq!(
        keys(&events[0]),
        [
            "connection_id",
            "contact_id",
            "name",
            "opted_out_at",
            "phone",
            "source",
            "source_platform",
        ]
    );
    world.act(&contact, "opt-out", body).await.expect(200);
    assert_eq!(world.events_of(EVENT).await.len(), 1, "once per block");
}

#[both_stores]
async fn an_opt_out_without_its_date_or_with_another_source_is_refused(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let at = world.time();
    for body in [
        json!({}),
        json!({"source": "backfill"}),
        json!({"opted_out_at": at}),
        json!({"source": "qr_inbound", "opted_out_at": at}),
        json!({"source": "backfill", "opted_out_at": "soon"}),
    ] {
        let answer = world.act(&contact, "opt-out", body.clone()).await;
        assert!(!answer.expect_invalid().is_empty(), "{body}");
    }
    assert_eq!(blocked_since(&world, &contact).await, Value::Null);
}

#[both_stores]
async fn an_operator_lifts_the_block_and_leaves_the_external_ai_off(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    world.receive(&qr, &digits(&mobile(1)), "sair").await;
    let full = world.act(&contact, "opt-in", Value::Null).await.expect(200);
    assert_eq!(full["opted_out_at"], Value::Null);
    assert_eq!(full["external_ai_enabled"], false);
    world.receive(&qr, &digits(&mobile(1)), "sair").await;
    assert_eq!(sources(&world).await, ["qr_inbound", "qr_inbound"]);
}
