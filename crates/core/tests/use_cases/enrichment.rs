//! The background look-up of organizations (D22).

use std::sync::Arc;
use std::time::Duration;

use recado_core::Settings;
use recado_core::organizations::{Organization, RETRY_WAITS};
use recado_core::store::RecordsExt;
use recado_core::transport::TransportError;
use recado_testkit::{Kit, MemoryStore};
use serde_json::{Value, json};

use super::{create, shown};

const CNPJ: &str = "19.131.243/0001-97";

fn found() -> Value {
    json!({ "razao_social": "PADARIA LTDA", "nome_fantasia": "Padaria" })
}

async fn kit_with(registry: Option<&str>) -> (Kit, MemoryStore) {
    let store = MemoryStore::new();
    let mut settings = Settings::new("http://127.0.0.1:8080");
    settings.registry_url = registry.map(str::to_owned);
    let kit = Kit::builder().store(Arc::new(store.clone())).settings(settings).build().await;
    (kit, store)
}

async fn kit() -> (Kit, MemoryStore) {
    kit_with(Some("https://registry.example")).await
}

/// R172.
#[tokio::test]
async fn without_a_registry_nobody_is_asked_and_with_one_later_the_job_runs() {
    assert_eq!(Settings::new("http://127.0.0.1:8080").registry_url, None);
    let (kit, store) = kit_with(None).await;
    let id = create(&kit, json!({ "phone": "34991230001", "cnpj": CNPJ })).await.contact.id;
    let day = Duration::from_secs(24 * 60 * 60);
    for _ in 0..3 {
        assert!(kit.app.jobs().run_one().await.unwrap());
        kit.clock.advance(day - Duration::from_millis(1));
        assert!(!kit.app.jobs().run_one().await.unwrap(), "it rests for a day");
        kit.clock.advance(Duration::from_millis(1));
    }
    assert_eq!(kit.transport.requests(), []);
    let organization = shown(&kit, id).await["organization"].clone();
    assert_eq!(organization["name"], "19131243000197");
    assert_eq!(organization["enriched_at"], Value::Null);
    assert_eq!(store.jobs(kit.company.id)[0].attempts, 0, "waiting is no failure");

    // The operator configures an address and starts anew.
    let mut settings = Settings::new("http://127.0.0.1:8080");
    settings.registry_url = Some("https://registry.example".to_owned());
    let again = Kit::builder()
        .store(Arc::new(store.clone()))
        .clock(kit.clock.clone())
        .transport(kit.transport.clone())
        .settings(settings)
        .start()
        .await;
    kit.transport.then_json(200, &found());
    assert!(again.jobs().run_one().await.unwrap());
    assert_eq!(store.jobs(kit.company.id), []);
}

#[tokio::test]
async fn creating_never_waits_and_the_job_fills_the_names() {
    let (kit, store) = kit().await;
    let id = create(&kit, json!({ "phone": "34991230001", "cnpj": CNPJ })).await.contact.id;
    assert_eq!(kit.transport.requests(), []);
    let before = shown(&kit, id).await["organization"].clone();
    assert_eq!(before["name"], "19131243000197");
    assert_eq!((&before["razao_social"], &before["enriched_at"]), (&Value::Null, &Value::Null));
    kit.transport.then_json(200, &found());
    assert!(kit.app.jobs().run_one().await.unwrap());
    let after = shown(&kit, id).await["organization"].clone();
    assert_eq!(
        (&after["name"], &after["razao_social"]),
        (&json!("Padaria"), &json!("PADARIA LTDA"))
    );
    assert!(after["enriched_at"].is_string());
    assert_eq!(
        kit.transport.requests()[0].url,
        "https://registry.example/api/cnpj/v1/19131243000197"
    );
    assert_eq!(store.jobs(kit.company.id), []);
    assert!(!kit.app.jobs().run_one().await.unwrap());
}

#[tokio::test]
async fn an_organization_is_shared_and_an_existing_link_stays() {
    let (kit, store) = kit().await;
    let first = create(&kit, json!({ "phone": "34991230001", "cnpj": CNPJ })).await.contact;
    let second = create(&kit, json!({ "phone": "34991230002", "cnpj": CNPJ })).await.contact;
    assert_eq!(first.organization_id, second.organization_id);
    assert_eq!(store.jobs(kit.company.id).len(), 1);
    let kept = super::update(&kit, first.id, json!({ "cnpj": "00000000000191" })).await;
    assert_eq!(kept.contact.organization_id, first.organization_id);
    assert_eq!(store.jobs(kit.company.id).len(), 1, "no organization is made for nothing");
}

#[tokio::test]
async fn a_failing_registry_is_asked_again_after_growing_waits() {
    let (kit, store) = kit().await;
    create(&kit, json!({ "phone": "34991230001", "cnpj": CNPJ })).await;
    kit.transport
        .then_json(503, &json!({}))
        .then_json(429, &json!({}))
        .then(Err(TransportError::TimedOut { after_sending: true }));
    for (n, wait) in RETRY_WAITS.iter().chain([&RETRY_WAITS[5]]).enumerate() {
        assert!(kit.app.jobs().run_one().await.unwrap(), "attempt {n}");
        kit.clock.advance(*wait - Duration::from_millis(1));
        assert!(!kit.app.jobs().run_one().await.unwrap(), "asked before {wait:?} had passed");
        kit.clock.advance(Duration::from_millis(1));
    }
    kit.transport.then_json(200, &found());
    assert!(kit.app.jobs().run_one().await.unwrap());
    assert_eq!(store.jobs(kit.company.id), []);
    assert_eq!(kit.transport.requests().len(), RETRY_WAITS.len() + 2);
}

#[tokio::test]
async fn an_unknown_number_is_asked_for_once() {
    for status in [400, 404] {
        let (kit, store) = kit().await;
        let id = create(&kit, json!({ "phone": "34991230001", "cnpj": CNPJ })).await.contact.id;
        kit.transport.then_json(status, &json!({}));
        assert!(kit.app.jobs().run_one().await.unwrap());
        assert_eq!(store.jobs(kit.company.id), []);
        assert_eq!(shown(&kit, id).await["organization"]["name"], "19131243000197");
    }
}

#[tokio::test]
async fn a_look_up_that_died_is_taken_up_again() {
    let (kit, store) = kit().await;
    create(&kit, json!({ "phone": "34991230001", "cnpj": CNPJ })).await;
    // Another process claimed the job and was killed before the registry answered.
    let now = kit.app.now();
    let lease = now.plus(Duration::from_secs(8));
    kit.store.claim_jobs(now, lease, 1, &[]).await.unwrap();
    assert!(!kit.app.jobs().run_one().await.unwrap());
    kit.clock.advance(Duration::from_secs(8));
    kit.transport.then_json(200, &found());
    assert!(kit.app.jobs().run_one().await.unwrap());
    assert_eq!(store.jobs(kit.company.id), []);
    let organizations = kit.app.store().all::<Organization>(kit.company.id).await.unwrap();
    assert!(organizations[0].enriched_at.is_some());
}
