//! The ends of API keys, and when they were last used.

use std::sync::Arc;
use std::time::Duration;

use recado_core::access::{ApiKey, NewKey};
use recado_core::store::{RecordsExt, Stored};
use recado_core::{Clock as _, Error};
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure, StoreOp};
use serde_json::{Value, json};

use super::{code, refused};

const HOUR: Duration = Duration::from_secs(60 * 60);

async fn key(kit: &Kit, more: Value) -> NewKey {
    let mut new = body(json!({ "name": "CRM", "scopes": ["contacts:read"] }));
    new.extend(body(more));
    kit.app.access().create_key(kit.company.id, &new).await.unwrap()
}

async fn stored(kit: &Kit, key: &NewKey) -> Stored<ApiKey> {
    kit.store.get::<ApiKey>((kit.company.id, key.key.id)).await.unwrap().unwrap()
}

async fn is_known(kit: &Kit, key: &NewKey) -> bool {
    match kit.app.access().authenticate(key.secret.expose()).await {
        Ok(_) => true,
        refused => {
            assert_eq!(code(refused), "UNAUTHORIZED");
            false
        }
    }
}

/// R220.
#[tokio::test]
async fn a_key_is_refused_from_the_moment_of_its_end_on() {
    let kit = Kit::new().await;
    let end = kit.clock.now().plus(HOUR);
    let ending = key(&kit, json!({ "expires_at": end })).await;
    let endless = key(&kit, json!({ "expires_at": null })).await;
    assert_eq!((ending.key.expires_at, endless.key.expires_at), (Some(end), None));
    kit.clock.advance(HOUR - Duration::from_millis(1));
    assert!(is_known(&kit, &ending).await);
    kit.clock.advance(Duration::from_millis(1));
    assert!(!is_known(&kit, &ending).await);
    assert!(is_known(&kit, &endless).await);
}

/// R220.
#[tokio::test]
async fn an_end_lies_in_the_future_and_can_be_moved_or_taken_away() {
    let kit = Kit::new().await;
    let (access, company) = (kit.app.access(), kit.company.id);
    let now = kit.clock.now();
    let known = key(&kit, json!({ "expires_at": now.plus(HOUR) })).await;
    for past in [now, now.minus(HOUR)] {
        let new = body(json!({ "name": "a", "scopes": [], "expires_at": past }));
        let (code, details) = refused(access.create_key(company, &new).await);
        assert_eq!(code, "VALIDATION_ERROR");
        assert!(details["reasons"]["expires_at"].is_string(), "{details}");
        let change = body(json!({ "expires_at": past }));
        assert_eq!(refused(access.change_key(company, known.key.id, &change).await).1, details);
    }
    let change = async |change: Value| {
        access.change_key(company, known.key.id, &body(change)).await.unwrap().expires_at
    };
    assert_eq!(change(json!({ "name": "b" })).await, Some(now.plus(HOUR)));
    kit.clock.advance(HOUR);
    assert!(!is_known(&kit, &known).await);
    assert_eq!(change(json!({ "expires_at": now.plus(3 * HOUR) })).await, Some(now.plus(3 * HOUR)));
    assert!(is_known(&kit, &known).await, "it has another end");
    assert_eq!(change(json!({ "expires_at": null })).await, None);
}

/// R221.
#[tokio::test]
async fn the_use_of_a_key_is_written_once_an_hour_and_rounded_down_to_it() {
    let kit = Kit::new().await;
    let key = key(&kit, json!({})).await;
    let start = kit.clock.now();
    let used = async || {
        kit.app.upkeep().await.unwrap();
        let key = stored(&kit, &key).await;
        (key.last_used_at, key.version().number())
    };
    assert_eq!(used().await, (None, 1), "it was not used");
    kit.clock.advance(Duration::from_secs(59 * 60));
    for _ in 0..3 {
        assert!(is_known(&kit, &key).await);
        assert_eq!(used().await, (Some(start), 2));
    }
    kit.clock.advance(Duration::from_secs(60));
    assert_eq!(used().await, (Some(start), 2), "it was not used in this hour");
    for _ in 0..3 {
        assert!(is_known(&kit, &key).await);
    }
    assert_eq!(stored(&kit, &key).await.version().number(), 2, "a call writes nothing");
    assert_eq!(used().await, (Some(start.plus(HOUR)), 3));
    kit.clock.set_back(HOUR);
    assert!(is_known(&kit, &key).await);
    assert_eq!(used().await, (Some(start.plus(HOUR)), 3));
}

/// R221: of two processes one writes.
#[tokio::test]
async fn what_another_process_wrote_is_not_written_again() {
    let kit = Kit::new().await;
    let key = key(&kit, json!({})).await;
    let other = Kit::builder().store(Arc::clone(&kit.store)).clock(kit.clock.clone());
    let other = other.start().await;
    assert!(is_known(&kit, &key).await);
    other.access().authenticate(key.secret.expose()).await.unwrap();
    kit.app.upkeep().await.unwrap();
    other.upkeep().await.unwrap();
    assert_eq!(stored(&kit, &key).await.version().number(), 2);
}

/// R221: neither a deletion nor a failing store makes a call fail.
#[tokio::test]
async fn a_use_that_cannot_be_written_is_noted_by_a_later_call() {
    let model = MemoryStore::new();
    let store = FaultyStore::new(Arc::new(model.clone()));
    let kit = Kit::on(Arc::new(store.clone())).await;
    kit.app.upkeep().await.unwrap();
    let (gone, key) = (key(&kit, json!({})).await, key(&kit, json!({})).await);
    assert!(is_known(&kit, &gone).await && is_known(&kit, &key).await);
    kit.app.access().revoke_key(kit.company.id, gone.key.id).await.unwrap();
    store.fail_nth(StoreOp::Presence, 0, StoreFailure::Unavailable);
    let failed = kit.app.upkeep().await;
    assert!(failed.is_err(), "{failed:?}");
    assert!(is_known(&kit, &key).await);
    kit.app.upkeep().await.unwrap();
    assert!(stored(&kit, &key).await.last_used_at.is_some());
    let change = body(json!({ "name": "b" }));
    let changed = kit.app.access().change_key(kit.company.id, key.key.id, &change).await;
    assert!(!matches!(changed, Err(Error::Busy)) && changed.unwrap().last_used_at.is_some());
}
