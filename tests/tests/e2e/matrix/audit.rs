//! Every route that changes something, and the entries of the audit log.

use std::collections::BTreeSet;

use recado_tests::{Request, StoreKind, both_stores, text};
use serde_json::{Value, json};

use super::routes::{Guard, Route};
use super::{Matrix, needed_last, scopes};

/// Calls whose documented example changes nothing that is stored: it asks a gateway, or what it
/// sets is so already. `entries_of_every_change` proves it of each.
const CHANGE_NOTHING: [&str; 10] = [
    "showTyping",
    "updateCompany",
    "pauseCampaign",
    "checkConnection",
    "syncGroups",
    "typeToContact",
    "updateInboundEndpoint",
    "addToList",
    "readMessage",
    "updateOperatorToken",
];

/// The newest entries of an operation.
async fn entries(matrix: &Matrix, operation: &str) -> Vec<Value> {
    let path = format!("/operator/v1/audit?operation={operation}");
    let answer = matrix.world.send(Request::new("GET", &path).bearer(recado_tests::OPERATOR)).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    answer.json()["data"].as_array().expect("entries").clone()
}

/// Each route that changes something has an entry with its operation and who called it. An answer
/// with a refusal has none as done. Where there is no entry, every row is as it was.
///
/// R384, R385.
#[both_stores]
async fn entries_of_every_change(kind: StoreKind) {
    let matrix = Matrix::on(kind).await;
    let ours = &matrix.ours;
    let (key_id, key) = matrix.key(ours, &scopes()).await;
    let mut routes: Vec<&Route> =
        matrix.routes.iter().filter(|route| route.guard != Guard::Open).collect();
    routes.retain(|route| route.method != "GET");
    needed_last(&mut routes);
    assert!(routes.len() > 80, "{} routes are too few to be all", routes.len());
    let (mut wrong, mut logged) = (Vec::new(), 0);
    let mut unchanged = BTreeSet::new();
    for route in routes {
        let what = format!("{} {} {}", route.operation, route.method, route.path);
        let changes_nothing = CHANGE_NOTHING.contains(&route.operation.as_str());
        let before = entries(&matrix, &route.operation).await.len();
        let rows = match changes_nothing {
            true => Some(matrix.world.database.rows_of(&ours.tenant.id).await),
            false => None,
        };
        let answer = matrix.rightly(route, &key, route.request(ours, None)).await;
        let after = entries(&matrix, &route.operation).await;
        if let Some(rows) = rows {
            let now = matrix.world.database.rows_of(&ours.tenant.id).await;
            if answer.status >= 300 || after.len() != before || now != rows {
                wrong.push(format!("{what}: it changes something: {}", answer.show()));
            }
            unchanged.insert(route.operation.as_str());
            continue;
        }
        if answer.status >= 300 {
            continue;
        }
        if after.len() == before {
            wrong.push(format!("{what}: no entry"));
            continue;
        }
        logged += 1;
        let (actor, id) = match route.guard {
            Guard::Key(_) => ("key", Value::from(key_id.as_str())),
            _ => ("root", Value::Null),
        };
        let entry = &after[0];
        if entry["actor"] != actor || entry["actor_id"] != id || text(&entry["from"]).is_empty() {
            wrong.push(format!("{what}: {entry}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(unchanged, BTreeSet::from(CHANGE_NOTHING));
    assert!(logged > 60, "{logged} are too few to be all");
}

/// The same calls, where what they set is not so already.
///
/// R384, R385.
#[both_stores]
async fn entries_of_calls_whose_example_changes_nothing(kind: StoreKind) {
    let matrix = Matrix::on(kind).await;
    let ours = &matrix.ours;
    let send = async |method: &str, path: &str, body: Value| {
        matrix.world.operator_for(&ours.tenant, method, path, body).await
    };
    let list = text(&send("POST", "C/lists", json!({"name": "Nova"})).await.expect(201)["id"]);
    let (list, other) = (format!("C/lists/{list}/contacts"), ours.id("OtherContact"));
    let token = format!("/operator-tokens/{}", ours.id("OperatorToken"));
    let endpoint = format!("C/inbound-endpoints/{}", ours.id("InboundEndpoint"));
    let company = format!("/companies/{}", ours.tenant.id);
    for (operation, method, path, body) in [
        ("updateCompany", "PATCH", company, json!({"name": "Outra"})),
        ("updateInboundEndpoint", "PATCH", endpoint, json!({"is_active": false})),
        ("addToList", "POST", list, json!({"contact_ids": [other]})),
        ("updateOperatorToken", "PATCH", token, json!({"role": "agent"})),
    ] {
        assert!(CHANGE_NOTHING.contains(&operation), "{operation}");
        let before = entries(&matrix, operation).await.len();
        send(method, &path, body).await.expect(200);
        assert_eq!(entries(&matrix, operation).await.len(), before + 1, "{operation}");
    }
}

/// A refusal for want of a right has an entry, and no more than one for many.
///
/// R387.
#[both_stores]
async fn entries_of_refusals(kind: StoreKind) {
    let matrix = Matrix::on(kind).await;
    let (key_id, key) = matrix.key(&matrix.ours, &["contacts:read"]).await;
    for _ in 0..5 {
        let request = Request::new("POST", "/api/v1/contacts").bearer(&key);
        assert_eq!(matrix.world.send(request).await.status, 403);
    }
    let denied = entries(&matrix, "createContact&outcome=denied").await;
    assert_eq!(denied.len(), 1, "{denied:?}");
    assert_eq!(denied[0]["actor_id"], Value::from(key_id));
    assert_eq!(denied[0]["code"], "INSUFFICIENT_SCOPE");
}
