//! Client organizations and the registry behind them: 2.1, 4.3 (`cnpj`), 4.4.3; D21, D22.

use std::time::Duration;

use recado_core::transport::TransportError;
use recado_testkit::transport::json_answer;
use recado_tests::{Setup, StoreKind, World, both_stores, eventually, phone, text};
use serde_json::{Value, json};

const CNPJ: &str = "19131243000197";

async fn organization(world: &World, id: &str) -> Value {
    world.listed(id).await["organization"].clone()
}

/// Waits until the registry was asked `count` times.
async fn asked(world: &World, count: usize) {
    let transport = &world.server.transport;
    eventually(&format!("{count} questions"), || async {
        (transport.requests().len() >= count).then_some(())
    })
    .await;
}

async fn enriched(world: &World, id: &str) -> Value {
    eventually("enrichment", || async {
        let organization = organization(world, id).await;
        (!organization["enriched_at"].is_null()).then_some(organization)
    })
    .await
}

/// A world without background loops; the test runs the jobs.
async fn stepped(kind: StoreKind) -> World {
    World::with(kind, Setup { no_background: true, ..Setup::default() }).await
}

#[both_stores]
async fn a_cnpj_makes_an_organization_named_by_its_number_at_once(world: World) {
    let id = world.create_id(json!({"phone": phone(1), "cnpj": "19.131.243/0001-97"})).await;
    let contact = world.listed(&id).await;
    assert_eq!(
        contact["organization"],
        json!({
            "id": contact["organization_id"], "name": CNPJ, "cnpj": CNPJ, "razao_social": null, "enriched_at": null,
        })
    );
    assert!(contact["organization_id"].is_string());
}

#[both_stores]
async fn the_same_cnpj_links_the_same_organization_within_a_company_only(world: World) {
    let a = world.create_id(json!({"phone": phone(1), "cnpj": CNPJ})).await;
    let b = world.create_id(json!({"phone": phone(2), "cnpj": "19.131.243/0001-97"})).await;
    assert_eq!(organization(&world, &a).await["id"], organization(&world, &b).await["id"]);
    let other = world.tenant("Other").await;
    world.create_as(&other, json!({"phone": phone(1), "cnpj": CNPJ})).await;
    let theirs =
        world.get_as(&other.key, "/api/v1/contacts").await.items()[0]["organization_id"].clone();
    assert_ne!(theirs, organization(&world, &a).await["id"]);
}

#[both_stores]
async fn the_registry_fills_names_and_the_trade_name_comes_first(world: World) {
    world
        .server
        .transport
        .then_json(200, &json!({"razao_social": "OPEN KNOWLEDGE BRASIL", "nome_fantasia": "Rede"}));
    let id = world.create_id(json!({"phone": phone(1), "cnpj": CNPJ})).await;
    let organization = enriched(&world, &id).await;
    assert_eq!(organization["name"], "Rede");
    assert_eq!(organization["razao_social"], "OPEN KNOWLEDGE BRASIL");
    assert!(text(&organization["enriched_at"]).ends_with('Z'));
    let asked = world.server.transport.requests();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].url.ends_with(&format!("/api/cnpj/v1/{CNPJ}")), "{}", asked[0].url);
}

#[both_stores]
async fn a_registry_that_is_down_is_asked_again_after_growing_waits(kind: StoreKind) {
    let world = stepped(kind).await;
    let transport = &world.server.transport;
    transport
        .then(Err(TransportError::Refused))
        .then(json_answer(500, &json!({})))
        .then(json_answer(429, &json!({})))
        .then(json_answer(200, &json!("not an object")))
        .then_json(200, &json!({"razao_social": "EMPRESA LTDA", "nome_fantasia": "E"}));
    let id = world.create_id(json!({"phone": phone(1), "cnpj": CNPJ})).await;
    world.server.run_due_jobs().await;
    for (n, wait) in [(1, 5), (2, 30), (3, 120), (4, 600)] {
        assert_eq!(transport.requests().len(), n);
        world.advance(Duration::from_secs(wait) - Duration::from_millis(1));
        world.server.run_due_jobs().await;
        assert_eq!(transport.requests().len(), n, "not before {wait} s");
        assert!(organization(&world, &id).await["enriched_at"].is_null());
        world.advance(Duration::from_millis(1));
        world.server.run_due_jobs().await;
    }
    assert_eq!(transport.requests().len(), 5);
    assert_eq!(organization(&world, &id).await["name"], "E");
}

#[both_stores]
async fn enrichment_survives_a_restart(world: World) {
    let mut world = world;
    let id = world.create_id(json!({"phone": phone(1), "cnpj": CNPJ})).await;
    asked(&world, 1).await;
    world.restart().await;
    world
        .server
        .transport
        .otherwise(json_answer(200, &json!({"razao_social": "A", "nome_fantasia": "B"})));
    world.advance(Duration::from_secs(30));
    assert_eq!(enriched(&world, &id).await["name"], "B");
}

/// R172.
#[both_stores]
async fn without_the_option_no_registry_is_asked(kind: StoreKind) {
    let setup = Setup { no_background: true, no_registry: true, ..Setup::default() };
    let world = World::with(kind, setup).await;
    let id = world.create_id(json!({"phone": phone(1), "cnpj": CNPJ})).await;
    world.server.run_due_jobs().await;
    world.advance(Duration::from_secs(7 * 24 * 60 * 60));
    world.server.run_due_jobs().await;
    assert_eq!(world.server.transport.requests(), []);
    let organization = organization(&world, &id).await;
    assert_eq!(organization["name"], CNPJ);
    assert_eq!(
        (&organization["razao_social"], &organization["enriched_at"]),
        (&Value::Null, &Value::Null)
    );
}
