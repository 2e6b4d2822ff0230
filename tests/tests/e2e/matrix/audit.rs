//! Every route that changes something, and the entries of the audit log.

use recado_tests::{Request, StoreKind, both_stores, text};
use serde_json::Value;

use super::routes::{Guard, Route};
use super::{Matrix, needed_last, scopes};

/// Calls whose documented example changes nothing that is stored: it asks a gateway, or what it
/// sets is so already.
const CHANGE_NOTHING: [&str; 13] = [
    "showTyping",
    "updateCompany",
    "pauseCampaign",
    "checkConnection",
    "syncGroups",
    "assignConversation",
    "optInContact",
    "readConversation",
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
/// with a refusal has none as done.
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
    for route in routes {
        let what = format!("{} {} {}", route.operation, route.method, route.path);
        let before = entries(&matrix, &route.operation).await.len();
        let answer = matrix.rightly(route, &key, route.request(ours, None)).await;
        let after = entries(&matrix, &route.operation).await;
        if answer.status >= 300 {
            continue;
        }
        if after.len() == before {
            if !CHANGE_NOTHING.contains(&route.operation.as_str()) {
                wrong.push(format!("{what}: no entry"));
            }
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
    assert!(logged > 60, "{logged} are too few to be all");
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
