//! Secrets in the database: sealed with a key, or clear without one: docs/operations.md, R215 to
//! R218.

use std::error::Error;
use std::time::Duration;

use recado_server::{Options, Overrides, StartError, start};
use recado_store_postgres::{Options as PostgresOptions, PostgresStore};
use recado_store_sqlite::{SealedCounts, Sealer, SqliteOptions, SqliteStore};
use recado_tests::backend::{Database, Setup, TestServer};
use recado_tests::{StoreKind, World, both_stores, digits, mobile, text};
use serde_json::{Value, json};

const OLD: &str = "b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQgb2xkIG9sZC4=";
const NEW: &str = "bmV3IG5ldyBuZXcgbmV3IG5ldyBuZXcgbmV3IG5ldy4=";

/// What must not be found in a sealed database.
const SECRETS: [&str; 6] = [
    "segredo-do-webhook",
    "segredo-da-rotacao",
    "chave-da-api-do-waha",
    "chave-hmac-do-waha",
    "corpo-guardado",
    "token-do-arquivo",
];

fn setup(keys: &str) -> Setup {
    Setup { secret_keys: Some(keys.to_owned()), ..Setup::default() }
}

fn id_of(key: &str) -> String {
    Sealer::parse(key).expect("a key").current().expect("a key").to_string()
}

/// How many secrets of a database are sealed with which key.
async fn counts(database: &Database, keys: &str) -> SealedCounts {
    let sealer = Sealer::parse(keys).expect("keys");
    match database {
        Database::Sqlite(folder) => {
            let path = folder.path().join("recado.db");
            let store = SqliteStore::open_with(path, SqliteOptions { sealer }).expect("it opens");
            let counts = store.sealed_counts().await.expect("counted");
            store.close().await;
            counts
        }
        Database::Postgres(database) => {
            let options = PostgresOptions { sealer, pool_size: 1, ..PostgresOptions::default() };
            let store = PostgresStore::connect(database.url(), options).await.expect("it opens");
            store.sealed_counts().await.expect("counted")
        }
    }
}

fn only(key: &str, counts: &SealedCounts) -> bool {
    let keys: Vec<String> = counts.sealed.keys().map(ToString::to_string).collect();
    counts.clear == 0 && keys == [id_of(key)]
}

/// A webhook whose secret was replaced, a connection with secrets, a kept event, and a message with
/// a file.
struct Scene {
    webhook: String,
    waha: String,
    qr: String,
}

async fn make_secrets(world: &World) -> Scene {
    let body = json!({"url": "https://a.example/", "events": ["*"], "secret": SECRETS[0], "is_active": false});
    let webhook = text(&world.make("C/webhooks", body).await["id"]);
    let rotate = format!("C/webhooks/{webhook}/rotate-secret");
    world.operator("POST", &rotate, json!({"secret": SECRETS[1]})).await.expect(200);
    let waha = json!({
        "kind": "qr", "name": "w", "identifier": "5511988887777", "gateway": "waha",
        "is_active": false,
        "settings": {"base_url": "http://waha.example", "session": "s", "api_key": SECRETS[2],
            "webhook_hmac_key": SECRETS[3]},
    });
    let waha = text(&world.make("C/connections", waha).await["id"]);
    let qr = world.qr().await;
    let event = json!({
        "kind": "message", "provider_message_id": "m1", "timestamp": world.time(),
        "from": digits(&mobile(1)), "type": "unsupported",
        "unsupported": {"reason": "new", "provider_type": "sketch"}, "drawn": SECRETS[4],
    });
    world.gateway_one(&qr, event).await;
    let address = format!("https://gateway.example/file?token={}", SECRETS[5]);
    let photo = json!({
        "kind": "message", "provider_message_id": "m2", "timestamp": world.time(),
        "from": digits(&mobile(1)), "type": "image", "media": {"url": address},
    });
    world.stored(&qr, photo).await;
    // Makes the key of cursors.
    world.create(json!({"phone": mobile(2), "name": "A"})).await;
    world.create(json!({"phone": mobile(3), "name": "B"})).await;
    world.export(1).await;
    Scene { webhook, waha, qr }
}

/// All of it can still be read and used.
async fn assert_readable(world: &World, scene: &Scene) {
    let kept = format!("C/connections/{}/unknown-events", scene.qr);
    let kept = world.operator_get(&kept).await;
    assert_eq!(kept[0]["body"]["drawn"], SECRETS[4], "{kept}");
    let photo = world.all_messages().await.into_iter().find(|one| one["type"] == "image");
    assert_ne!(photo.expect("it is listed")["media_url"], Value::Null);
    let waha = world.operator_get(&format!("C/connections/{}", scene.waha)).await;
    assert_eq!(waha["settings"]["session"], "s", "{waha}");
    let rename = json!({"is_active": false});
    let path = format!("C/webhooks/{}", scene.webhook);
    world.operator("PATCH", &path, rename).await.expect(200);
    world.export(1).await;
}

/// R215.
#[both_stores]
async fn with_a_key_no_file_and_no_table_holds_a_secret(kind: StoreKind) {
    let mut world = World::with(kind, setup(NEW)).await;
    let scene = make_secrets(&world).await;
    assert_readable(&world, &scene).await;
    world.restart().await;
    assert_readable(&world, &scene).await;
    let stored = world.database.everything().await;
    for secret in SECRETS {
        assert!(!stored.contains(secret), "{secret}");
    }
    let counts = counts(&world.database, NEW).await;
    assert!(only(NEW, &counts) && counts.sealed.values().sum::<u64>() >= 7, "{counts:?}");
}

/// R216.
#[both_stores]
async fn a_server_without_the_key_of_a_secret_does_not_start(kind: StoreKind) {
    let world = World::with(kind, setup(OLD)).await;
    make_secrets(&world).await;
    for keys in [None, Some(NEW)] {
        let options = Options {
            database: world.database.url().parse().expect("a database"),
            secret_key: keys.map(recado_core::secret::SecretText::new),
            listen: "127.0.0.1:0".parse().expect("an address"),
            ..Options::default()
        };
        let error = start(options, Overrides::default()).await.expect_err("no key");
        let StartError::Open(cause) = &error else { panic!("{error:?}") };
        let mut causes = vec![cause.to_string()];
        let mut next: Option<&(dyn Error + 'static)> = cause.source();
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        let causes = causes.join(": ");
        assert!(causes.contains(&id_of(OLD)) && !causes.contains(OLD), "{causes}");
    }
}

/// R218.
#[both_stores]
async fn a_database_that_was_written_without_a_key_is_sealed(kind: StoreKind) {
    let mut world = World::start(kind).await;
    let scene = make_secrets(&world).await;
    let path = format!("C/webhooks/{}", scene.webhook);
    let before = world.operator_get(&path).await;
    assert!(counts(&world.database, NEW).await.clear >= 7);
    world.server.set_secret_keys(NEW);
    world.restart().await;
    world.server.upkeep().await;
    let counts = counts(&world.database, NEW).await;
    assert!(only(NEW, &counts), "{counts:?}");
    assert_eq!(world.operator_get(&path).await, before, "nothing else changes");
    assert_readable(&world, &scene).await;
    if let Database::Postgres(_) = &world.database {
        let stored = world.database.everything().await;
        assert!(SECRETS.iter().all(|secret| !stored.contains(secret)));
    }
}

/// R218.
#[both_stores]
async fn keys_are_rotated_while_servers_work(kind: StoreKind) {
    // Its upkeep would seal again with the old key.
    let first = Setup { no_background: true, ..setup(&format!("{OLD}\n{NEW}")) };
    let mut world = World::with(kind, first).await;
    let scene = make_secrets(&world).await;
    assert!(only(OLD, &counts(&world.database, OLD).await));
    let clock = Some(world.server.clock.clone());
    let both = format!("{NEW}\n{OLD}");
    let setup = Setup { clock, ..setup(&both) };
    let second = TestServer::start(&world.database, setup).await;
    second.upkeep().await;
    assert!(only(NEW, &counts(&world.database, &both).await));
    assert_readable(&world, &scene).await;
    // The first server still seals with the old key, and the second one notices.
    let body = json!({"url": "https://b.example/", "events": ["*"], "is_active": false});
    world.make("C/webhooks", body).await;
    let counted = counts(&world.database, &both).await;
    assert_eq!(counted.sealed.len(), 2, "{counted:?}");
    world.advance(Duration::from_secs(10 * 60));
    second.upkeep().await;
    assert!(only(NEW, &counts(&world.database, &both).await));
    drop(second);
    world.server.set_secret_keys(NEW);
    world.restart().await;
    assert_readable(&world, &scene).await;
    let webhooks: Value = world.operator_get("C/webhooks").await;
    assert_eq!(webhooks.as_array().map(Vec::len), Some(2), "{webhooks}");
}
