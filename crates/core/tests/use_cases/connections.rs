//! Connections, as the operator sets them up and gateways report on them.

use std::sync::Arc;
use std::time::Duration;

use recado_core::connections::{ConnectionStatus, STATUS_SHOWN, StatusSince};
use recado_core::ids::{CompanyId, ConnectionId, ContactId};
use recado_core::jobs::JobKind;
use recado_testkit::kit::body;
use recado_testkit::{Kit, MemoryStore};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{code, create_phone, refused, shown};

/// Makes a connection of this gateway for QR codes and answers its id.
pub(super) async fn connect(kit: &Kit, gateway: &str, more: Value) -> ConnectionId {
    let settings = match gateway {
        "waha" | "evolution" => super::gateway_scene::settings(gateway),
        _ => json!({}),
    };
    let mut new = body(json!({ "kind": "qr", "name": "Loja", "identifier": "5511900000000",
        "gateway": gateway, "settings": settings }));
    new.extend(body(more));
    let made = kit.app.connections().create(kit.company.id, &new).await.unwrap();
    id_of(&serde_json::to_value(made).unwrap())
}

fn id_of(connection: &Value) -> ConnectionId {
    ConnectionId::parse(connection["id"].as_str().unwrap()).unwrap()
}

async fn connection(kit: &Kit, id: ConnectionId) -> Value {
    serde_json::to_value(kit.app.connections().get(kit.company.id, id).await.unwrap()).unwrap()
}

async fn change(kit: &Kit, id: ConnectionId, change: Value) -> Value {
    let changed = kit.app.connections().change(kit.company.id, id, &body(change)).await;
    serde_json::to_value(changed.unwrap()).unwrap()
}

/// How many readings of groups wait: hourly ones, and ones after a connect.
fn waiting(store: &MemoryStore, company: CompanyId) -> (usize, usize) {
    let jobs = store.jobs(company);
    let count = |is: fn(&JobKind) -> bool| jobs.iter().filter(|job| is(&job.kind)).count();
    (
        count(|kind| matches!(kind, JobKind::SyncGroups { .. })),
        count(|kind| matches!(kind, JobKind::SyncGroupsOnce { .. })),
    )
}

#[tokio::test]
async fn a_connection_is_shown_whole_but_for_its_secrets() {
    let kit = Kit::new().await;
    let id = connect(&kit, "waha", json!({})).await;
    let shown = connection(&kit, id).await;
    assert_eq!(shown["settings"], json!({ "base_url": "http://waha", "session": "s" }));
    assert!(!shown.to_string().contains("top-secret"), "{shown}");
    for (field, value) in [
        ("kind", "qr"),
        ("type", "whatsapp"),
        ("provider", "qr"),
        ("name", "Loja"),
        ("identifier", "5511900000000"),
        ("gateway", "waha"),
        ("status", "disconnected"),
    ] {
        assert_eq!(shown[field], value, "{field}");
    }
    let all = kit.app.connections().all(kit.company.id).await.unwrap();
    assert_eq!(serde_json::to_value(all).unwrap(), json!([shown]));
}

#[tokio::test]
async fn a_connection_of_another_company_is_not_there() {
    let kit = Kit::new().await;
    let id = connect(&kit, "simulated", json!({})).await;
    let (other, _) = kit.another_company("Outra").await;
    let connections = kit.app.connections();
    assert_eq!(code(connections.get(other.id, id).await), "NOT_FOUND");
    assert_eq!(code(connections.change(other.id, id, &body(json!({}))).await), "NOT_FOUND");
    assert_eq!(code(connections.delete(other.id, id).await), "NOT_FOUND");
    let reported = connections.set_status(other.id, id, ConnectionStatus::Disconnected).await;
    assert_eq!(code(reported), "NOT_FOUND");
    assert_eq!(connections.all(other.id).await.unwrap(), []);
    assert_eq!(connection(&kit, id).await["status"], "connected");
}

#[tokio::test]
async fn a_refused_change_leaves_the_connection() {
    let kit = Kit::new().await;
    let id = connect(&kit, "waha", json!({})).await;
    let before = connection(&kit, id).await;
    let wrong = body(json!({ "name": "Nova", "kind": "qr", "settings": { "api_key": null } }));
    let (code, details) = refused(kit.app.connections().change(kit.company.id, id, &wrong).await);
    assert_eq!(code, "VALIDATION_ERROR");
    assert_eq!(details["fields"], json!(["kind", "settings.api_key"]));
    assert_eq!(connection(&kit, id).await, before);
}

#[tokio::test]
async fn a_gateway_that_lists_groups_is_asked_every_hour_and_at_every_connect() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    connect(&kit, "simulated", json!({})).await;
    assert_eq!(waiting(&store, kit.company.id), (0, 0));
    let id = connect(&kit, "waha", json!({})).await;
    assert_eq!(waiting(&store, kit.company.id), (1, 0));
    let tell =
        async |status| kit.app.connections().set_status(kit.company.id, id, status).await.unwrap();
    assert!(tell(ConnectionStatus::Connected).await);
    assert_eq!(waiting(&store, kit.company.id), (1, 1));
    assert!(!tell(ConnectionStatus::Connected).await, "it is no news");
    assert!(tell(ConnectionStatus::Disconnected).await);
    assert!(tell(ConnectionStatus::Connected).await);
    assert_eq!(waiting(&store, kit.company.id), (1, 1), "one waits already");
    assert_eq!(connection(&kit, id).await["status"], "connected");
}

/// R428.
#[tokio::test]
async fn the_statuses_of_the_last_day_are_kept_with_each_change() {
    use ConnectionStatus::{Connected, Disconnected};
    let kit = Kit::new().await;
    let made = kit.app.now();
    let id = connect(&kit, "waha", json!({})).await;
    let connections = kit.app.connections();
    let statuses = async || {
        let statuses = connections.statuses(kit.company.id, id).await.unwrap();
        let shown = |since: &StatusSince| (since.at, since.status);
        statuses.iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(statuses().await, [(made, Disconnected)], "nothing is known of the time before");

    kit.clock.advance(Duration::from_hours(1));
    let paired = kit.app.now();
    connections.set_status(kit.company.id, id, Connected).await.unwrap();
    connections.set_status(kit.company.id, id, Connected).await.unwrap();
    change(&kit, id, json!({ "name": "Nova" })).await;
    assert_eq!(statuses().await, [(made, Disconnected), (paired, Connected)]);

    kit.clock.advance(Duration::from_hours(23) + Duration::from_mins(30));
    let lost = kit.app.now();
    change(&kit, id, json!({ "status": "disconnected" })).await;
    let from = made.plus(Duration::from_mins(30));
    let day = [(from, Disconnected), (paired, Connected), (lost, Disconnected)];
    assert_eq!(statuses().await, day);

    kit.clock.advance(Duration::from_hours(48));
    let from = kit.app.now().minus(STATUS_SHOWN);
    assert_eq!(statuses().await, [(from, Disconnected)]);
    let (other, _) = kit.another_company("Outra").await;
    assert_eq!(code(connections.statuses(other.id, id).await), "NOT_FOUND");
}

#[tokio::test]
async fn an_operator_who_activates_or_repoints_a_connection_has_its_groups_read() {
    for patch in [json!({ "is_active": true }), json!({ "status": "connected" })] {
        let store = MemoryStore::new();
        let kit = Kit::on(Arc::new(store.clone())).await;
        let off = match patch.get("is_active") {
            Some(_) => json!({ "is_active": false, "status": "connected" }),
            None => json!({}),
        };
        let id = connect(&kit, "waha", off).await;
        change(&kit, id, json!({ "name": "Nova" })).await;
        assert_eq!(waiting(&store, kit.company.id).1, 0, "a name says nothing about groups");
        change(&kit, id, patch).await;
        assert_eq!(waiting(&store, kit.company.id).1, 1);
    }
}

#[tokio::test]
async fn a_connection_that_nothing_refers_to_is_deleted() {
    let kit = Kit::new().await;
    let id = connect(&kit, "simulated", json!({})).await;
    kit.app.connections().delete(kit.company.id, id).await.unwrap();
    assert_eq!(code(kit.app.connections().get(kit.company.id, id).await), "NOT_FOUND");
    assert_eq!(code(kit.app.connections().delete(kit.company.id, id).await), "NOT_FOUND");
}

/// R54.
#[tokio::test]
async fn a_connection_that_a_contact_refers_to_is_deactivated_instead() {
    let kit = Kit::new().await;
    let id = connect(&kit, "simulated", json!({})).await;
    let contact = create_phone(&kit, "34991230001").await;
    let point = body(json!({ "last_connection_id": id }));
    kit.app.contacts().patch_as_operator(kit.company.id, contact, &point).await.unwrap();
    kit.app.connections().delete(kit.company.id, id).await.unwrap();
    let left = connection(&kit, id).await;
    assert_eq!((&left["is_active"], &left["status"]), (&json!(false), &json!("connected")));
    kit.app.connections().delete(kit.company.id, id).await.unwrap();
    assert_eq!(shown(&kit, contact).await["last_connection_id"], json!(id));
}

#[tokio::test]
async fn the_operator_sets_and_removes_the_last_connection_of_a_contact() {
    let kit = Kit::new().await;
    let id = connect(&kit, "simulated", json!({})).await;
    let contact = create_phone(&kit, "34991230001").await;
    let patch = async |contact: ContactId, connection: Value| {
        let patch = body(json!({ "last_connection_id": connection, "is_muted": true }));
        kit.app.contacts().patch_as_operator(kit.company.id, contact, &patch).await
    };
    let (code, details) = refused(patch(contact, json!(Uuid::from_u128(1))).await);
    assert_eq!(code, "VALIDATION_ERROR");
    assert_eq!(details["fields"], json!(["last_connection_id"]));
    assert_eq!(shown(&kit, contact).await["is_muted"], false);
    patch(contact, json!(id)).await.unwrap();
    assert_eq!(shown(&kit, contact).await["last_connection_id"], json!(id));
    patch(contact, Value::Null).await.unwrap();
    assert_eq!(shown(&kit, contact).await["last_connection_id"], Value::Null);
    kit.app.connections().delete(kit.company.id, id).await.unwrap();
    let gone = kit.app.connections().get(kit.company.id, id).await;
    assert_eq!(super::code(gone), "NOT_FOUND", "nothing refers to it any more");
}

#[tokio::test]
async fn an_import_may_name_a_connection_of_the_company() {
    let kit = Kit::new().await;
    let id = connect(&kit, "simulated", json!({})).await;
    let import = async |connection: Value| {
        let new = body(json!({ "phone": "34991230001", "last_connection_id": connection }));
        kit.app.contacts().import(&kit.company, &new).await
    };
    let (code, details) = refused(import(json!(Uuid::from_u128(1))).await);
    assert_eq!(code, "VALIDATION_ERROR");
    assert_eq!(details["fields"], json!(["last_connection_id"]));
    let (contact, _) = import(json!(id)).await.unwrap();
    assert_eq!(shown(&kit, contact).await["last_connection_id"], json!(id));
}
