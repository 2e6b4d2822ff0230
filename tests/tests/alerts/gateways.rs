//! Alerts about connections, gateways and what is sent through them.

use std::time::Duration;

use recado_core::gateway::Received;
use recado_testkit::ScriptedProvider;
use recado_testkit::gateways::{FakeWaha, WahaEngine};
use recado_tests::{Campaigning, Gated, Setup, StoreKind, World, both_stores, mobile, steered};
use serde_json::json;

use crate::watched::{Scrapes, alone};

const MINUTE: Duration = Duration::from_secs(60);

async fn quiet(kind: StoreKind) -> World {
    World::with(kind, Setup { no_background: true, ..Setup::default() }).await
}

/// R282: the phone of a connection is off.
#[both_stores]
async fn a_connection_that_is_down_is_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    let (connection, _other) = (world.qr().await, world.cloud().await);
    let mut scrapes = Scrapes::of(&world.server).await;
    world.gateway(&connection, vec![json!({"kind": "connection", "status": "disconnected"})]).await;
    world.advance(11 * MINUTE);
    let scrape = scrapes.read(&world.server).await;
    let labels = ["gateway=\"simulated\"", "kind=\"qr\"", "state=\"disconnected\""];
    assert_eq!(scrape.value("recado_connections", &labels), 1.0);
    assert_eq!(scrape.value("recado_connection_state_age_seconds", &labels), 660.0);
    let cloud = ["gateway=\"simulated\"", "kind=\"official_cloud\"", "state=\"connected\""];
    assert_eq!(scrape.value("recado_connections", &cloud), 1.0);
    scrapes.fires("RecadoConnectionDown");
}

/// R282: nothing comes from a gateway any more.
#[both_stores]
async fn a_connection_that_is_silent_is_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    let connection = world.qr().await;
    let mut scrapes = Scrapes::of(&world.server).await;
    world.advance(10 * MINUTE);
    world.receive(&connection, "5511987654321", "oi").await;
    world.advance(25 * 60 * MINUTE);
    let scrape = scrapes.read(&world.server).await;
    let labels = ["gateway=\"simulated\"", "kind=\"qr\""];
    let silence = scrape.value("recado_connection_silence_seconds", &labels);
    assert_eq!(silence, (25 * 60 * MINUTE).as_secs_f64());
    scrapes.fires("RecadoConnectionSilent");
}

/// R282: a gateway does not run.
#[both_stores]
async fn a_gateway_that_is_gone_is_reported(kind: StoreKind) {
    let _alone = alone().await;
    let gated = Gated::<FakeWaha>::with(
        kind,
        Setup::default(),
        ("waha", FakeWaha::new(WahaEngine::Gows)),
        |fake, server| {
            let settings = fake.settings_at(&server.url());
            settings.as_object().expect("an object").clone()
        },
        json!({"status": "connected"}),
    )
    .await;
    gated.sends(&mobile(1), "oi").await;
    let mut scrapes = Scrapes::of(&gated.server).await;
    gated.gateway.stop().await;
    for n in 2..5 {
        assert_eq!(gated.send_text(&mobile(n), "oi").await.status, 502);
        scrapes.scrape(gated.addr).await;
    }
    scrapes.fires("RecadoSendsFail");
}

/// R282: a gateway takes messages and does not answer.
#[both_stores]
async fn sends_with_an_unknown_outcome_are_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    world.silent("qr").await;
    let mut scrapes = Scrapes::of(&world.server).await;
    for _ in 0..3 {
        assert_eq!(world.send_text(&steered(2), "oi").await.status, 502);
        world.advance(MINUTE);
    }
    let scrape = scrapes.scrape(world.addr).await;
    let labels = ["gateway=\"simulated\"", "outcome=\"uncertain\""];
    assert!(scrape.value("recado_sends_total", &labels) >= 3.0);
    scrapes.fires("RecadoSendsUncertain");
}

/// R282: a phone accepts messages and delivers none.
#[both_stores]
async fn messages_that_come_no_further_are_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    world.silent("qr").await;
    let mut scrapes = Scrapes::of(&world.server).await;
    for n in 0..21 {
        world.sent(&mobile(n), "oi").await;
    }
    world.advance(11 * MINUTE);
    let scrape = scrapes.read(&world.server).await;
    assert_eq!(scrape.value("recado_messages_left_sent", &[]), 21.0);
    scrapes.fires("RecadoMessagesLeftSent");
}

/// R282: a campaign was started and nothing runs it.
#[both_stores]
async fn a_campaign_that_sends_nothing_is_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = Campaigning::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    let (campaign, _) = world.campaign_to(3, json!({})).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    world.start(&campaign).await;
    let scrape = scrapes.read(&world.server).await;
    assert_eq!(scrape.value("recado_campaigns_running", &[]), 1.0);
    scrapes.fires("RecadoCampaignStalled");
}

/// R282: a gateway sends events that cannot be taken.
#[both_stores]
async fn events_that_are_refused_are_reported(kind: StoreKind) {
    let _alone = alone().await;
    let provider = ScriptedProvider::new();
    let setup =
        Setup { no_background: true, providers: Some(provider.everywhere()), ..Setup::default() };
    let world = World::with(kind, setup).await;
    let settings = json!({"base_url": "http://127.0.0.1:9", "session": "loja", "api_key": "k",
        "webhook_hmac_key": "h"});
    let settings = settings.as_object().expect("an object").clone();
    let more = json!({"status": "connected"});
    let connection = world.gateway_connection("qr", "waha", settings, more).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    provider.set_received(Ok(vec![Received::here(Err("it has no id".to_owned()))]));
    let path = format!("/api/webhooks/provider/{connection}");
    let call = recado_tests::Request::new("POST", path).json(&json!({}));
    assert_eq!(world.send(call).await.status, 200);
    scrapes.scrape(world.addr).await;
    scrapes.fires("RecadoGatewayEventsRefused");
}

/// A message of a kind that nobody knows.
pub(crate) fn unknown(world: &World, kind: &str) -> serde_json::Value {
    json!({
        "kind": "message", "provider_message_id": "m1", "timestamp": world.time(),
        "from": "5511940028922", "type": "unsupported",
        "unsupported": {"reason": "new", "provider_type": kind},
    })
}

/// R282: a gateway sends events of a kind that nobody knows; the first one counts.
#[both_stores]
async fn events_that_are_not_understood_are_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    let connection = world.qr().await;
    let mut scrapes = Scrapes::of(&world.server).await;
    // A kind that no other test of this process has met.
    world.stored(&connection, unknown(&world, &format!("dance_{kind:?}").to_lowercase())).await;
    scrapes.scrape(world.addr).await;
    scrapes.fires("RecadoGatewayNotUnderstood");
}
