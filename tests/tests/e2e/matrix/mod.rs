//! Every route, with every credential and with every kind of foreign id: 1, 5.1; D5, D10. The
//! routes are those that the service lists, so that a new one is here too.

mod audit;
mod operators;
mod records;
mod routes;

use recado_tests::backend::Setup;
use recado_tests::{
    OPERATOR, Request, SCOPES, ScriptedAnswer, StoreKind, World, both_stores, mobile, text,
    unknown_id,
};
use serde_json::{Value, json};

use records::Records;
use routes::{AUDIT, Guard, Place, Route, TOKENS};

/// Routes that anyone may call, with nothing of any company in their answers.
const PUBLIC: [&str; 6] =
    ["/api/openapi.json", "/docs", "/docs/{file}", "/healthz", "/readyz", "/metrics"];
/// Routes that are open to whoever knows what stands in their path, and perhaps a secret beside it.
const BY_SECRET: [&str; 5] = [
    "/api/webhooks/incoming/{slug}",
    "/api/webhooks/provider/{connection_id}",
    "/api/webhooks/template-dispatch/{token}",
    "/l/{code}",
    "/media/{company_id}/{message_id}/{signature}",
];

/// Two companies with records of every kind.
struct Matrix {
    world: World,
    routes: Vec<Route>,
    ours: Records,
    theirs: Records,
}

impl Matrix {
    async fn on(kind: StoreKind) -> Self {
        let world = World::with(kind, Setup { no_background: true, ..Setup::default() }).await;
        let (ours, theirs) =
            (Records::of(&world, "amarela").await, Records::of(&world, "belmarca").await);
        let routes = routes::all(&world).await;
        Self { world, routes, ours, theirs }
    }

    async fn key(&self, owner: &Records, scopes: &[&str]) -> (String, String) {
        let body = json!({"name": "some", "scopes": scopes, "rate_per_minute": 1_000_000,
            "export_rate_per_minute": 1_000_000});
        let made = self.world.make_for(&owner.tenant, "C/keys", body).await;
        (text(&made["id"]), text(&made["key"]))
    }

    /// Sends a request as the one whom the route is for.
    async fn rightly(&self, route: &Route, key: &str, request: Request) -> ScriptedAnswer {
        let request = match route.guard {
            Guard::Key(_) => request.bearer(key),
            Guard::Operator(_) => request.bearer(OPERATOR),
            Guard::Open => request,
        };
        self.world.send(request).await
    }
}

/// All scopes that keys can have.
fn scopes() -> Vec<&'static str> {
    let mut all = SCOPES.to_vec();
    all.push("events:read");
    all
}

/// The visible parts of an answer, without the ids in it.
fn seen(answer: &ScriptedAnswer) -> (u16, Vec<String>, String) {
    let mut headers: Vec<String> = answer
        .headers
        .iter()
        .filter(|(name, _)| !["date", "x-request-id"].contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap_or_default()))
        .collect();
    headers.sort();
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    let parts: Vec<&str> = body.split('"').collect();
    let ids = parts.into_iter().map(|part| if is_id(part) { "<id>" } else { part });
    (answer.status, headers, ids.collect::<Vec<_>>().join("\""))
}

fn is_id(text: &str) -> bool {
    text.len() == 36 && text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}

/// That an answer holds nothing of a company, beside the id that was asked for.
fn assert_nothing_of(owner: &Records, asked: &str, answer: &ScriptedAnswer) {
    let all = format!("{:?} {}", answer.headers, String::from_utf8_lossy(&answer.body));
    assert!(!all.to_lowercase().contains(owner.word), "{} is shown: {}", owner.word, answer.show());
    let shown = owner.ids_but(asked).find(|id| id.len() > 20 && all.contains(*id));
    assert_eq!(shown, None, "an id of theirs is shown: {}", answer.show());
}

fn assert_refused(answer: &ScriptedAnswer, status: u16, code: &str, what: &str) {
    assert_eq!(answer.status, status, "{what}: {}", answer.show());
    assert_eq!(answer.json()["code"], code, "{what}: {}", answer.show());
}

/// An id of another company is an id that no record has: in the path, in the query and in each
/// field of a body.
///
/// 1.
#[both_stores]
async fn foreign_ids(kind: StoreKind) {
    let matrix = Matrix::on(kind).await;
    let (ours, theirs) = (&matrix.ours, &matrix.theirs);
    let (_, key) = matrix.key(ours, &scopes()).await;
    let before = matrix.world.database.rows_of(&theirs.tenant.id).await;
    let (mut tried, mut wrong) = (0, Vec::new());
    for route in matrix.routes.iter().filter(|route| route.guard != Guard::Open) {
        for (place, kind) in route.places() {
            let what = format!("{} {} {place:?}", route.method, route.path);
            let foreign = theirs.id(&kind);
            let ask = async |id: &str| {
                matrix.rightly(route, &key, route.request(ours, Some((&place, id)))).await
            };
            let never = unknown_id();
            let (found, nothing) = (ask(&foreign).await, ask(&never).await);
            assert_nothing_of(theirs, &foreign, &found);
            let in_path = matches!(place, Place::Path(_));
            let is_right = found.status < 500 && (found.status == 404 || !in_path);
            if !is_right || seen(&found) != seen(&nothing) {
                wrong.push(format!("{what}\n{}\n{}", found.show(), nothing.show()));
            }
            tried += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(tried > 100, "{tried} places are too few to be all");
    assert_eq!(matrix.world.database.rows_of(&theirs.tenant.id).await, before);
}

/// Without the right credential no route does or tells anything.
///
/// 5.1, D5, D10.
#[both_stores]
async fn wrong_credentials(kind: StoreKind) {
    let matrix = Matrix::on(kind).await;
    let (ours, theirs) = (&matrix.ours, &matrix.theirs);
    let (_, whole) = matrix.key(ours, &scopes()).await;
    let (_, of_others) = matrix.key(theirs, &scopes()).await;
    let (revoked_id, revoked) = matrix.key(ours, &scopes()).await;
    let path = format!("C/keys/{revoked_id}");
    matrix.world.operator_for(&ours.tenant, "DELETE", &path, Value::Null).await;
    let mut lacking = Vec::new();
    for scope in scopes() {
        let others: Vec<&str> = scopes().into_iter().filter(|other| *other != scope).collect();
        lacking.push((scope, matrix.key(ours, &others).await.1));
    }
    let unknown = format!("rk_{}", "A".repeat(43));
    let wrong_token = format!("{}x", OPERATOR);
    let dump = async || {
        let database = &matrix.world.database;
        (database.rows_of(&ours.tenant.id).await, database.rows_of(&theirs.tenant.id).await)
    };
    let before = dump().await;
    for route in &matrix.routes {
        let what = format!("{} {}", route.method, route.path);
        let request = || route.request(ours, None);
        let wrong: Vec<&str> = match &route.guard {
            Guard::Key(_) => vec![&unknown, &revoked, OPERATOR],
            Guard::Operator(_) => vec![&unknown, &wrong_token, &whole, &of_others],
            Guard::Open => Vec::new(),
        };
        for credential in wrong {
            // Wrong operator tokens are limited (R181).
            matrix.world.advance(std::time::Duration::from_secs(3));
            let answer = matrix.world.send(request().bearer(credential)).await;
            assert_refused(&answer, 401, "UNAUTHORIZED", &what);
            assert_nothing_of(ours, "", &answer);
        }
        match &route.guard {
            Guard::Open => assert_open(&matrix, route).await,
            guard => {
                let answer = matrix.world.send(request()).await;
                assert_refused(&answer, 401, "UNAUTHORIZED", &what);
                let Guard::Key(scope) = guard else { continue };
                let (_, key) = lacking.iter().find(|(lacks, _)| lacks == scope).expect("a scope");
                let answer = matrix.world.send(request().bearer(key)).await;
                assert_refused(&answer, 403, "INSUFFICIENT_SCOPE", &what);
                assert_eq!(answer.json()["details"]["required_scope"], scope.as_str(), "{what}");
                // Another company's key sees nothing of ours, whatever it names.
                if route.method == "GET" || !route.parameters().is_empty() {
                    let answer = matrix.world.send(request().bearer(&of_others)).await;
                    assert_nothing_of(ours, &ours.id("Contact"), &answer);
                    assert!(answer.status < 500, "{what}: {}", answer.show());
                }
            }
        }
    }
    let after = dump().await;
    assert_eq!(after.0, before.0, "ours");
    assert_eq!(after.1, before.1, "theirs");
}

/// A route that needs no credential: it shows nothing of a company, or is closed to whoever does
/// not know its secret.
async fn assert_open(matrix: &Matrix, route: &Route) {
    let what = format!("{} {}", route.method, route.path);
    if PUBLIC.contains(&route.path.as_str()) {
        let answer = matrix.world.send(route.request(&matrix.ours, None)).await;
        assert!(answer.status < 500, "{what}: {}", answer.show());
        assert_nothing_of(&matrix.ours, "", &answer);
        return assert_nothing_of(&matrix.theirs, "", &answer);
    }
    assert!(BY_SECRET.contains(&route.path.as_str()), "{what}: who may call this?");
    for (place, kind) in route.places() {
        let Place::Path(name) = &place else { continue };
        // What is the secret itself is guessed; of the rest, what is right does not suffice.
        let is_secret = ["token", "code", "signature"].contains(&name.as_str());
        let id = if is_secret { unknown_id() } else { matrix.theirs.id(&kind) };
        let answer = matrix.world.send(route.request(&matrix.ours, Some((&place, &id)))).await;
        assert!([400, 401, 403, 404].contains(&answer.status), "{what}: {}", answer.show());
        assert_nothing_of(&matrix.theirs, &id, &answer);
        assert_nothing_of(&matrix.ours, &id, &answer);
    }
}

/// The control of the two above: with the right credential and one's own ids every route is there,
/// and what it does leaves the other company as it was.
#[both_stores]
async fn ones_own_ids_and_the_right_credential(kind: StoreKind) {
    let matrix = Matrix::on(kind).await;
    let (ours, theirs) = (&matrix.ours, &matrix.theirs);
    let mut keys = Vec::new();
    for scope in scopes() {
        keys.push((scope, matrix.key(ours, &[scope]).await.1));
    }
    let before = matrix.world.database.rows_of(&theirs.tenant.id).await;
    let mut routes: Vec<&Route> =
        matrix.routes.iter().filter(|route| route.guard != Guard::Open).collect();
    needed_last(&mut routes);
    member_last(&mut routes);
    let mut wrong = Vec::new();
    for route in routes {
        let what = format!("{} {}", route.method, route.path);
        let key = match &route.guard {
            Guard::Key(scope) => &keys.iter().find(|(own, _)| own == scope).expect("a scope").1,
            _ => "",
        };
        let request = if route.method == "DELETE" && route.path.ends_with("/contacts/{id}") {
            // Two routes delete contacts: each gets one of its own.
            let body = json!({"phone": mobile(50)});
            let contact = text(&matrix.world.create_as(&ours.tenant, body).await["id"]);
            route.request(ours, Some((&Place::Path("id".to_owned()), &contact)))
        } else {
            route.request(ours, None)
        };
        let answer = matrix.rightly(route, key, request).await;
        let lacks_scope = answer.status == 403 && answer.json()["code"] == "INSUFFICIENT_SCOPE";
        if [401, 404].contains(&answer.status) || answer.status >= 500 || lacks_scope {
            wrong.push(format!("{what}: {}", answer.show()));
        }
        // The operator sees all companies, the tokens for them, and what was done in them.
        if !["/operator/v1/companies", AUDIT].contains(&route.path.as_str())
            && !route.path.starts_with(TOKENS)
        {
            assert_nothing_of(theirs, "", &answer);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(matrix.world.database.rows_of(&theirs.tenant.id).await, before);
}

/// A member goes after its login, and that after its sessions. One session goes before all, because
/// a change of the login ends it.
fn member_last(routes: &mut [&Route]) {
    routes.sort_by_key(|route| {
        let parts = ["/sessions", "/login", "/members/{id}", "/companies/{company_id}"];
        let place = parts.iter().position(|part| route.path.ends_with(part));
        match (route.method.as_str(), place) {
            ("DELETE", _) if route.path.ends_with("/sessions/{session_id}") => 0,
            ("DELETE", Some(place)) => place + 2,
            _ => 1,
        }
    });
}

/// What others need goes last.
fn needed_last(routes: &mut [&Route]) {
    routes.sort_by_key(|route| {
        let needed = ["/contacts/{id}", "/connections/{id}", "/merge"];
        let is_needed = needed.iter().any(|end| route.path.ends_with(end));
        let ends_all = route.path.ends_with("/companies/{company_id}");
        let is_deletion = route.method == "DELETE";
        let is_whole = is_deletion && route.path.ends_with('}');
        (is_deletion && ends_all, is_whole, is_deletion, route.method != "GET", is_needed)
    });
}
