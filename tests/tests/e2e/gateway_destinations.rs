//! Where gateways may be, and where files of messages are fetched from: R230, R231; D54, R107.

use std::time::Duration;

use recado_core::gateway::GatewayDestinations;
use recado_testkit::gateways::WahaEngine;
use recado_tests::backend::{Outside, Setup};
use recado_tests::{Receiver, Reply, StoreKind, World, both_stores, mobile, text, with};
use serde_json::{Value, json};

use crate::gateway_waha::{Waha, chat};

fn waha(base: &str) -> Value {
    json!({
        "kind": "qr", "name": "Loja", "identifier": "+551140000001", "gateway": "waha",
        "settings": {"base_url": base, "session": "s", "api_key": "the-secret-api-key",
            "webhook_hmac_key": "the-secret-hmac-key"},
    })
}

fn cloud(base: &str) -> Value {
    json!({
        "kind": "official_cloud", "name": "Loja", "identifier": "+551140000002",
        "gateway": "cloud_api",
        "settings": {"phone_number_id": "1", "access_token": "t", "app_secret": "s",
            "verify_token": "v", "api_base": base},
    })
}

fn only(text: &str) -> Setup {
    Setup { gateway_destinations: text.parse().expect(text), ..Setup::default() }
}

/// What is wrong with a body that makes a connection.
async fn refused(world: &World, body: Value) -> Vec<String> {
    world.operator("POST", "C/connections", body).await.expect_invalid()
}

/// R230.
#[both_stores]
async fn settings_name_no_address_of_the_link_and_no_metadata_service(world: World) {
    for base in
        ["http://169.254.169.254", "http://[fe80::1]:3000", "http://metadata.google.internal"]
    {
        assert_eq!(refused(&world, waha(base)).await, ["settings.base_url"], "{base}");
        assert_eq!(refused(&world, cloud(base)).await, ["settings.api_base"], "{base}");
    }
    let made = world.make("C/connections", waha("http://10.1.2.3:3000")).await;
    let path = format!("C/connections/{}", text(&made["id"]));
    let change = json!({"settings": {"base_url": "http://[fd00:ec2::254]"}});
    let answer = world.operator("PATCH", &path, change).await;
    assert_eq!(answer.expect_invalid(), ["settings.base_url"]);
    assert_eq!(world.operator_get(&path).await["settings"], made["settings"]);
}

/// R230.
#[both_stores]
async fn settings_name_only_what_the_installation_allows(kind: StoreKind) {
    let world = World::with(kind, only("127.0.0.1:3000,gw.example.com,public:443")).await;
    for base in ["http://127.0.0.1:3001", "http://10.0.0.1:443", "http://gw.example.org"] {
        assert_eq!(refused(&world, waha(base)).await, ["settings.base_url"], "{base}");
        assert_eq!(refused(&world, cloud(base)).await, ["settings.api_base"], "{base}");
    }
    for base in ["http://127.0.0.1:3000", "http://gw.example.com:81/waha", "https://gw.example.org"]
    {
        world.make("C/connections", waha(base)).await;
        world.make("C/connections", cloud(base)).await;
    }
}

/// R230.
#[both_stores]
async fn a_connection_that_was_made_before_is_not_called_where_it_may_not_be(kind: StoreKind) {
    let mut waha = Waha::on(kind, WahaEngine::Gows).await;
    let port = waha.gateway.addr.port();
    waha.sent(&mobile(1), "oi").await;
    for (allowed, is_called) in [
        ("public".to_owned(), false),
        (format!("127.0.0.1:{}", port ^ 1), false),
        (format!("127.0.0.0/8:{port}"), true),
    ] {
        let destinations: GatewayDestinations = allowed.parse().expect("places");
        waha.server.set_gateway_destinations(destinations);
        waha.restart().await;
        let before = waha.gateway.requests();
        let answer = waha.send_text(&mobile(1), "de novo").await;
        if is_called {
            answer.expect(200);
        } else {
            answer.expect_error(502, "PROVIDER_ERROR");
        }
        assert_eq!(waha.gateway.requests() > before, is_called, "{allowed}");
    }
}

/// The reported photo of a message, whose file is at this address.
fn photo(waha: &Waha, url: &str) -> Value {
    let message = waha.fake.receive(&chat(&mobile(1)), "Maria", "olha");
    let media = json!({"url": url, "mimetype": "image/jpeg", "filename": "a.jpg", "error": null});
    with(message, json!({"hasMedia": true, "media": media}))
}

/// R231, D54.
#[both_stores]
async fn a_file_on_another_port_of_this_machine_is_never_fetched(kind: StoreKind) {
    let setup = Setup { outside: Outside::Guarded, no_background: true, ..Setup::default() };
    let waha = Waha::with(kind, WahaEngine::Gows, setup, json!({"status": "connected"})).await;
    let inner = Receiver::start().await;
    inner.answers("/secret", Reply::body(200, "what only this machine may read"));
    let message = waha.brings(&photo(&waha, &inner.url("/secret"))).await;
    for _ in 0..3 {
        waha.later(Duration::from_secs(600)).await;
    }
    assert_eq!(inner.connections(), 0);
    assert!(waha.server.files_on_disk().is_empty());
    let shown = waha.message(&text(&message["id"])).await;
    let early =
        waha.send(recado_tests::Request::new("GET", recado_tests::path_of(&shown["media_url"])));
    assert_eq!(early.await.status, 503);
    // That of the gateway itself is.
    let own = waha.fake.add_file("x.jpg", b"a photo");
    waha.brings(&photo(&waha, &own)).await;
    waha.jobs().await;
    assert_eq!(waha.server.files_on_disk().len(), 1);
}

/// R107.
#[both_stores]
async fn a_file_at_another_origin_is_asked_for_without_the_key(kind: StoreKind) {
    let setup = Setup { outside: Outside::Open, no_background: true, ..Setup::default() };
    let waha = Waha::with(kind, WahaEngine::Gows, setup, json!({"status": "connected"})).await;
    let bucket = Receiver::start().await;
    bucket.answers("/file", Reply::header(302, "location", &format!("{}/led", waha.gateway.url())));
    waha.brings(&photo(&waha, &bucket.url("/file"))).await;
    waha.jobs().await;
    let asked = bucket.only("/file");
    assert_eq!(asked.header("x-api-key"), None);
    assert!(!format!("{asked:?}").contains("waha-api-key"), "{asked:?}");
    let led = waha.fake.requests().into_iter().find(|request| request.path.contains("led"));
    assert!(led.is_none(), "no redirect is followed: {led:?}");
}
