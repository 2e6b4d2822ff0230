//! Every route of the operator API, with tokens of every role and with the reach of one company.

use recado_tests::{Request, StoreKind, both_stores, text, unknown_id};
use serde_json::{Value, json};

use super::routes::{AUDIT, Guard, Route, TOKENS};
use super::{Matrix, assert_nothing_of, assert_refused, needed_last, seen};

/// The roles, the least first.
const ROLES: [&str; 4] = ["viewer", "agent", "manager", "owner"];

impl Matrix {
    /// A token with this role, for one company or for all.
    async fn operator_token(&self, role: &str, company: Option<&str>) -> String {
        let body = json!({"name": role, "role": role, "company_id": company});
        let made = self.world.operator("POST", "/operator-tokens", body).await.expect(201);
        text(&made["token"])
    }

    /// The routes of the operator API, each with the least role that may call it.
    fn of_operators(&self) -> Vec<(&Route, &'static str)> {
        self.routes.iter().filter_map(|route| Some((route, least_role(route)?))).collect()
    }
}

fn least_role(route: &Route) -> Option<&'static str> {
    match &route.guard {
        Guard::Operator(role) => ROLES.into_iter().find(|known| known == role),
        Guard::Key(_) | Guard::Open => None,
    }
}

/// Whether an answer says that the role or the reach does not suffice.
fn is_denied(status: u16, body: &Value) -> bool {
    status == 401 || (status == 403 && body["code"] == "INSUFFICIENT_ROLE")
}

/// A token does what its role allows, at every route, and nothing else.
///
/// R380.
#[both_stores]
async fn roles(kind: StoreKind) {
    let matrix = Matrix::on(kind).await;
    let ours = &matrix.ours;
    let mut tokens = Vec::new();
    for role in ROLES {
        tokens.push((role, matrix.operator_token(role, None).await));
    }
    let before = matrix.world.database.rows_of(&ours.tenant.id).await;
    let all = matrix.of_operators();
    assert!(all.len() > 120, "{} routes are too few to be all", all.len());
    for (route, least) in &all {
        for (role, token) in tokens.iter().take_while(|(role, _)| role != least) {
            let answer = matrix.world.send(route.request(ours, None).bearer(token)).await;
            let what = format!("{} {} by a {role}", route.method, route.path);
            assert_refused(&answer, 403, "INSUFFICIENT_ROLE", &what);
            assert_eq!(answer.json()["details"]["required_role"], *least, "{what}");
            assert_nothing_of(ours, "", &answer);
        }
    }
    assert_eq!(matrix.world.database.rows_of(&ours.tenant.id).await, before);
    let mut routes: Vec<&Route> = all.iter().map(|(route, _)| *route).collect();
    needed_last(&mut routes);
    let mut wrong = Vec::new();
    for route in routes {
        let least = least_role(route).expect("it is for operators");
        let (_, token) = tokens.iter().find(|(role, _)| *role == least).expect("a role");
        let answer = matrix.world.send(route.request(ours, None).bearer(token)).await;
        let body = serde_json::from_slice(&answer.body).unwrap_or_default();
        if is_denied(answer.status, &body) || answer.status >= 500 {
            wrong.push(format!("{} {}: {}", route.method, route.path, answer.show()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// With a token for one company every other company is unknown, and nothing is done for the
/// installation.
///
/// R381.
#[both_stores]
async fn reach(kind: StoreKind) {
    let matrix = Matrix::on(kind).await;
    let (ours, theirs) = (&matrix.ours, &matrix.theirs);
    let token = matrix.operator_token("owner", Some(&ours.tenant.id)).await;
    let before = matrix.world.database.rows_of(&theirs.tenant.id).await;
    let mut tried = 0;
    for (route, _) in matrix.of_operators() {
        let what = format!("{} {}", route.method, route.path);
        let with = |owner| matrix.world.send(route.request(owner, None).bearer(&token));
        if route.path.contains("{company_id}") {
            let found = with(theirs).await;
            let is_for_all = route.method == "DELETE" && route.path.ends_with("{company_id}");
            let (status, code) =
                if is_for_all { (403, "INSUFFICIENT_ROLE") } else { (404, "NOT_FOUND") };
            assert_refused(&found, status, code, &what);
            let mut unknown = route.request(theirs, None);
            unknown.path = unknown.path.replace(&theirs.tenant.id, &unknown_id());
            let nothing = matrix.world.send(unknown.bearer(&token)).await;
            assert_eq!(seen(&found), seen(&nothing), "{what}");
            assert_nothing_of(theirs, "", &found);
            tried += 1;
        } else if route.path.starts_with(TOKENS) && route.path.ends_with("{id}") {
            assert_refused(&with(theirs).await, 404, "NOT_FOUND", &what);
        } else if route.path == AUDIT {
            // A company's own part of it has an address of its own.
            assert_refused(&with(ours).await, 403, "INSUFFICIENT_ROLE", &what);
        } else if route.method == "GET" {
            let answer = with(ours).await;
            assert_eq!(answer.status, 200, "{what}: {}", answer.show());
            assert_nothing_of(theirs, "", &answer);
        }
    }
    assert!(tried > 120, "{tried} routes are too few to be all");
    let make = |path: &str, body: Value| Request::new("POST", path).bearer(&token).json(&body);
    let company = matrix.world.send(make("/operator/v1/companies", json!({"name": "Nova"}))).await;
    assert_refused(&company, 403, "INSUFFICIENT_ROLE", "a company");
    assert_eq!(company.json()["details"]["required_reach"], "installation");
    for (company, status) in [(Some(&theirs.tenant.id), 422), (None, 201)] {
        let body = json!({"name": "Ana", "role": "agent", "company_id": company});
        let made = matrix.world.send(make(TOKENS, body)).await;
        assert_eq!(made.status, status, "{}", made.show());
        if status == 201 {
            assert_eq!(made.json()["data"]["company_id"], ours.tenant.id.as_str());
        }
    }
    assert_eq!(matrix.world.database.rows_of(&theirs.tenant.id).await, before);
}
