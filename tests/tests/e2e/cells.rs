//! An installation that is one of several says so in its identifiers and keys (D3, D11).

use std::collections::BTreeSet;

use recado_core::Cell;
use recado_tests::backend::Database;
use recado_tests::binary::{Process, run_recado};
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{Request, StoreKind, both_stores, mobile, phone, text};
use serde_json::{Value, json};
use uuid::Uuid;

const CELL: &str = "417";

/// All identifiers in an answer. The token of a template is none: it is random (D3).
fn ids(answer: &Value, all: &mut BTreeSet<Uuid>) {
    match answer {
        Value::String(text) => all.extend(text.parse::<Uuid>()),
        Value::Array(items) => items.iter().for_each(|item| ids(item, all)),
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "token").for_each(|(_, item)| ids(item, all));
        }
        _ => {}
    }
}

fn cell_of(id: Uuid) -> Option<u16> {
    Cell::of_uuid(id).map(Cell::number)
}

/// D3, D11.
#[both_stores]
async fn a_cell_is_in_each_id_and_in_each_key(kind: StoreKind) {
    let database = Database::fresh(kind);
    let process =
        Process::serve(&database, &["--cell", CELL, "--allow-private-destinations"]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    assert!(us.key.starts_with("rk417_"), "{}", us.key);
    assert_eq!(us.key.len(), "rk417_".len() + 43);
    let make = async |path: &str, body: Value| {
        operator_at(process.addr, &us.id, "POST", path, body).await.expect(201)
    };
    let call = async |method: &str, path: &str, body: Value| {
        let request = Request::new(method, path).bearer(&us.key).json(&body);
        request.send(process.addr).await.json()
    };
    let connection = json!({"kind": "qr", "name": "c", "identifier": "551140028922",
        "gateway": "simulated"});
    let connection = text(&make("C/connections", connection).await["id"]);
    let mut answers = vec![
        make("C/webhooks", json!({"url": "http://127.0.0.1:9/", "events": ["*"]})).await,
        make("C/members", json!({"display_name": "Ana"})).await,
        make("C/tags", json!({"name": "VIP", "color": "#112233"})).await,
        make("C/templates", json!({"name": "promo", "category": "MARKETING", "body": "Oi"})).await,
        make("C/keys", json!({"name": "another", "scopes": ["events:read"]})).await,
    ];
    let contact = json!({"phone": phone(1)});
    answers.push(call("POST", "/api/v1/contacts", contact).await);
    let message = json!({"to": mobile(2), "message": "oi", "connection_id": connection});
    answers.push(call("POST", "/api/v1/send/message", message).await);
    let messages = call("GET", "/api/v1/messages", Value::Null).await;
    assert_eq!(messages["data"].as_array().map(Vec::len), Some(1));
    answers.push(messages);
    answers
        .push(operator_at(process.addr, &us.id, "GET", "C/deliveries", Value::Null).await.json());
    for answer in &answers {
        let mut found = BTreeSet::new();
        ids(answer, &mut found);
        assert!(!found.is_empty(), "{answer}");
        found.into_iter().for_each(|id| assert_eq!(cell_of(id), Some(417), "{id} in {answer}"));
    }
    let key = text(&answers[4]["key"]);
    assert_eq!(Cell::of_key(&key).map(Cell::number), Some(417), "{key}");
}

/// D3, D11: what commands make is of the cell that they are given, in the file of the configuration
/// too; records of other cells stay what they are.
#[both_stores]
async fn commands_make_records_of_their_cell(kind: StoreKind) {
    let (database, folder) = (Database::fresh(kind), tempfile::tempdir().expect("a folder"));
    let (url, config) = (database.url(), folder.path().join("recado.toml"));
    std::fs::write(&config, format!("database = \"{url}\"\ncell = 9\n")).expect("written");
    let config = config.display().to_string();
    let run = async |args: &[&str]| {
        let ended = run_recado([args, &["--json"]].concat(), &[]).await;
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
        serde_json::from_str::<Value>(&ended.stdout).expect("JSON")
    };
    run_recado(["migrate", "--database", &url], &[]).await;
    let older = run(&["company", "create", "Zero", "--database", &url]).await;
    let newer = run(&["company", "create", "Nine", "--config", &config]).await;
    let cell = |made: &Value| cell_of(text(&made["id"]).parse().expect("an id"));
    assert_eq!((cell(&older), cell(&newer)), (Some(0), Some(9)));
    let older = text(&older["id"]);
    let key = ["key", "create", "--company", &older, "--name", "k", "--scopes", "contacts:read"];
    let key = run(&[&key[..], &["--config", &config]].concat()).await;
    assert!(text(&key["key"]).starts_with("rk9_"), "{key}");
    assert_eq!(cell(&key), Some(9));

    let process = Process::serve(&database, &["--cell", "9"]).await;
    let call = Request::new("GET", "/api/v1/contacts").bearer(&text(&key["key"]));
    call.send(process.addr).await.expect(200);
}

/// D3: a number that no cell has is refused before anything is opened.
#[tokio::test]
async fn a_cell_is_at_most_999() {
    let ended = run_recado(["serve", "--cell", "1000"], &[]).await;
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("--cell must be a number from 0 to 999"), "{}", ended.stderr);
}
