//! Keys, plans, scopes and the order of checks: 1, 5.1; D5, D6, D8a, D10, D11.

use std::time::Duration;

use recado_tests::{
    OPERATOR, Request, SCOPES, Setup, StoreKind, World, both_stores, eventually, phone, text,
    unknown_id,
};
use serde_json::{Value, json};

/// Every route of the public API with one of its methods and the required scope.
const ROUTES: [(&str, &str, &str); 11] = [
    ("GET", "/api/v1/contacts", "contacts:read"),
    ("POST", "/api/v1/contacts", "contacts:write"),
    ("GET", "/api/v1/contacts/0192f0c1-0000-7000-8000-000000000000", "contacts:read"),
    ("PATCH", "/api/v1/contacts/0192f0c1-0000-7000-8000-000000000000", "contacts:write"),
    ("DELETE", "/api/v1/contacts/0192f0c1-0000-7000-8000-000000000000", "contacts:write"),
    ("GET", "/api/v1/custom-fields", "contacts:read"),
    ("GET", "/api/v1/lists", "contacts:read"),
    ("GET", "/api/v1/contacts/0192f0c1-0000-7000-8000-000000000000/messages", "messages:read"),
    ("GET", "/api/v1/messages", "messages:read"),
    ("GET", "/api/v1/prosas/consumption", "messages:read"),
    ("POST", "/api/v1/send/message", "messages:send"),
];

async fn assert_unauthorized(world: &World, request: Request) {
    let what = format!("{request:?}");
    let answer = world.send(request).await;
    assert_eq!(answer.status, 401, "{what}");
    answer.expect_error(401, "UNAUTHORIZED");
    assert_eq!(answer.header("www-authenticate"), "Bearer", "{what}");
}

// 401

#[both_stores]
async fn a_call_without_a_key_is_401_on_every_route_and_on_unknown_paths(world: World) {
    for (method, path, _) in ROUTES {
        assert_unauthorized(&world, Request::new(method, path)).await;
    }
    for path in
        ["/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/contacts/", "/api/v1/contacts/x/y/z"]
    {
        assert_unauthorized(&world, Request::new("GET", path)).await;
    }
    assert_unauthorized(&world, Request::new("PUT", "/api/v1/contacts")).await;
}

#[both_stores]
async fn an_unknown_key_is_401(world: World) {
    let unknown = format!("rk_{}", "A".repeat(43));
    for key in
        [unknown.as_str(), "x", "rk_", OPERATOR, &world.us.key[3..], &format!("{}A", world.us.key)]
    {
        assert_unauthorized(&world, Request::new("GET", "/api/v1/contacts").bearer(key)).await;
    }
}

#[both_stores]
async fn a_malformed_authorization_header_is_401(world: World) {
    let key = &world.us.key;
    for value in [
        key.clone(),
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Basic {key}"),
        format!("Bearer{key}"),
        format!("Bearer {key} x"),
        format!("Bearer {key},"),
        format!("Bearer \"{key}\""),
        format!("Bearer {}", key.to_lowercase()),
    ] {
        assert_unauthorized(
            &world,
            Request::new("GET", "/api/v1/contacts").header("authorization", value),
        )
        .await;
    }
}

#[both_stores]
async fn a_key_in_the_query_does_not_count(world: World) {
    let key = &world.us.key;
    let request = Request::new("GET", format!("/api/v1/contacts?api_key={key}&access_token={key}"));
    assert_unauthorized(&world, request).await;
}

#[both_stores]
async fn a_revoked_key_is_401_at_once(world: World) {
    let made = world.make("C/keys", json!({"name": "k", "scopes": SCOPES})).await;
    let key = text(&made["key"]);
    world.get_as(&key, "/api/v1/contacts").await.expect(200);
    let path = format!("C/keys/{}", text(&made["id"]));
    assert_eq!(world.operator("DELETE", &path, Value::Null).await.status, 200);
    assert_unauthorized(&world, Request::new("GET", "/api/v1/contacts").bearer(&key)).await;
    world.get("/api/v1/contacts").await.expect(200);
}

/// R220.
#[both_stores]
async fn a_key_that_has_ended_is_401_as_if_it_were_revoked(world: World) {
    let end = world.server.clock.now().plus(Duration::from_secs(60)).to_string();
    let new = json!({"name": "k", "scopes": SCOPES, "expires_at": end});
    let made = world.make("C/keys", new).await;
    assert_eq!((&made["expires_at"], &made["last_used_at"]), (&json!(end), &Value::Null));
    let key = text(&made["key"]);
    world.get_as(&key, "/api/v1/contacts").await.expect(200);
    world.advance(Duration::from_secs(60));
    assert_unauthorized(&world, Request::new("GET", "/api/v1/contacts").bearer(&key)).await;
    let past = json!({"name": "k", "scopes": SCOPES, "expires_at": end});
    world.operator("POST", "C/keys", past).await.expect_error(422, "VALIDATION_ERROR");
    let path = format!("C/keys/{}", text(&made["id"]));
    let again = json!({"expires_at": null});
    world.operator("PATCH", &path, again).await.expect(200);
    world.get_as(&key, "/api/v1/contacts").await.expect(200);
}

/// R221.
#[both_stores]
async fn a_key_shows_the_hour_in_which_it_was_last_used(world: World) {
    let made = world.make("C/keys", json!({"name": "k", "scopes": SCOPES})).await;
    let path = format!("C/keys/{}", text(&made["id"]));
    let shown = async || world.operator("GET", &path, Value::Null).await.json()["data"].clone();
    assert_eq!(shown().await["last_used_at"], Value::Null);
    let hour = world.server.clock.now().to_string();
    assert!(hour.ends_with(":00:00.000Z"), "the test clock begins with an hour: {hour}");
    world.advance(Duration::from_secs(59 * 60));
    world.get_as(&text(&made["key"]), "/api/v1/contacts").await.expect(200);
    let used = eventually("the use is written", || async {
        let shown = shown().await;
        (shown["last_used_at"] != Value::Null).then_some(shown)
    });
    assert_eq!(used.await["last_used_at"], hour);
}

#[both_stores]
async fn an_unauthenticated_call_learns_nothing_about_what_exists(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    let unknown = unknown_id();
    let mut answers = Vec::new();
    for path in [
        format!("/api/v1/contacts/{id}"),
        format!("/api/v1/contacts/{unknown}"),
        "/api/v1/contacts/x".to_owned(),
        "/api/v1/nowhere".to_owned(),
        "/api/v1/lists".to_owned(),
    ] {
        let answer = world.send(Request::new("GET", path)).await;
        answers.push((answer.status, answer.body));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

// D11

#[both_stores]
async fn a_key_is_rk_and_43_base64url_characters(kind: StoreKind) {
    let world = World::with(kind, Setup { alone: true, ..Setup::default() }).await;
    let mut keys = std::collections::BTreeSet::new();
    for _ in 0..5 {
        let key = world.key_with(&["contacts:read"]).await;
        let rest = key.strip_prefix("rk_").expect("the prefix");
        assert_eq!(rest.len(), 43);
        assert!(rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'), "{key}");
        keys.insert(key);
    }
    assert_eq!(keys.len(), 5);
}

#[both_stores]
async fn a_key_is_shown_once_and_only_its_hash_is_stored(world: World) {
    let made = world.make("C/keys", json!({"name": "k", "scopes": ["contacts:read"]})).await;
    let key = text(&made["key"]);
    world.get_as(&key, "/api/v1/contacts").await.expect(200);
    let listed = world.operator_get("C/keys").await;
    assert!(!listed.to_string().contains(&key) && !listed.to_string().contains(&key[3..]));
    let one = world.operator_get(&format!("C/keys/{}", text(&made["id"]))).await;
    assert!(one.get("key").is_none());
    let everything = world.database.everything().await;
    assert!(everything.contains("Acme"), "the look into the database works");
    assert!(!everything.contains(&key[3..]), "the key is in the database");
}

// Plans (1, D10)

#[both_stores]
async fn only_the_enterprise_plan_may_call_the_public_api(world: World) {
    for plan in ["starter", "professional"] {
        let body = json!({"name": plan, "plan": plan});
        let id = text(&world.operator("POST", "/companies", body).await.expect(201)["id"]);
        let tenant = recado_tests::Tenant { id, key: String::new() };
        let key = json!({"name": "k", "scopes": SCOPES});
        let key = text(&world.make_for(&tenant, "C/keys", key).await["key"]);
        for (method, path, _) in ROUTES {
            let answer = world.send(Request::new(method, path).bearer(&key)).await;
            let details = answer.expect_error(403, "PLAN_REQUIRED");
            assert_eq!(details["required_plan"], "enterprise");
        }
        // A change of plan applies at once.
        let path = format!("/companies/{}", tenant.id);
        world.operator("PATCH", &path, json!({"plan": "enterprise"})).await.expect(200);
        world.get_as(&key, "/api/v1/contacts").await.expect(200);
        world.operator("PATCH", &path, json!({"plan": plan})).await.expect(200);
        world.get_as(&key, "/api/v1/contacts").await.expect_error(403, "PLAN_REQUIRED");
    }
}

// Scopes (5.1)

#[both_stores]
async fn each_route_needs_its_scope_and_no_other(world: World) {
    for (method, path, scope) in ROUTES {
        let others: Vec<&str> = SCOPES.into_iter().filter(|other| *other != scope).collect();
        let without = world.key_with(&others).await;
        let details = world
            .send(Request::new(method, path).bearer(&without))
            .await
            .expect_error(403, "INSUFFICIENT_SCOPE");
        assert_eq!(details["required_scope"], scope, "{method} {path}");
        let with = world.key_with(&[scope]).await;
        let answer = world.send(Request::new(method, path).bearer(&with)).await;
        assert!(![401, 403].contains(&answer.status), "{}", answer.show());
    }
}

#[both_stores]
async fn a_write_key_alone_creates_but_does_not_read(world: World) {
    let key = world.key_with(&["contacts:write"]).await;
    let answer = world.post_as(&key, "/api/v1/contacts", json!({"phone": phone(1)})).await;
    let id = text(&answer.expect(201)["contact"]["id"]);
    world
        .get_as(&key, &format!("/api/v1/contacts/{id}"))
        .await
        .expect_error(403, "INSUFFICIENT_SCOPE");
}

// Routes and methods (D5, D8a)

#[both_stores]
async fn an_unknown_path_with_a_key_is_404(world: World) {
    for path in [
        "/api/v1",
        "/api/v1/",
        "/api/v1/nothing",
        "/api/v1/contacts/",
        "/api/v1//contacts",
        "/api/v1/Contacts",
        "/api/v1/contacts/0192f0c1-0000-7000-8000-000000000000/",
        "/api/v1/contacts/0192f0c1-0000-7000-8000-000000000000/nothing",
        "/api/v2/contacts",
        "/api/v1/contacts%2f",
    ] {
        world.get(path).await.expect_error(404, "NOT_FOUND");
    }
}

#[both_stores]
async fn a_path_outside_the_api_is_404_in_the_same_form_without_a_key(world: World) {
    for path in ["/nothing", "/api", "/api/v2/contacts", "/l", "/healthz/", "/favicon.ico"] {
        world.send(Request::new("GET", path)).await.expect_error(404, "NOT_FOUND");
    }
}

#[both_stores]
async fn a_wrong_method_is_405_with_allow(world: World) {
    for (path, wrong, allowed) in [
        (
            "/api/v1/contacts",
            vec!["PUT", "PATCH", "DELETE", "OPTIONS", "BREW"],
            vec!["GET", "POST"],
        ),
        (
            "/api/v1/contacts/0192f0c1-0000-7000-8000-000000000000",
            vec!["PUT", "POST"],
            vec!["GET", "PATCH", "DELETE"],
        ),
        ("/api/v1/custom-fields", vec!["POST", "DELETE"], vec!["GET"]),
        ("/api/v1/lists", vec!["POST", "DELETE"], vec!["GET"]),
    ] {
        for method in wrong {
            let answer = world.call(Request::new(method, path)).await;
            answer.expect_error(405, "METHOD_NOT_ALLOWED");
            let allow = answer.header("allow");
            for allowed in &allowed {
                assert!(
                    allow.split(", ").any(|method| method == *allowed),
                    "{path}: Allow: {allow}"
                );
            }
        }
    }
}

#[both_stores]
async fn there_is_no_cors(world: World) {
    let request = Request::new("GET", "/api/v1/contacts").header("origin", "https://evil.example");
    let answer = world.call(request).await;
    answer.expect(200);
    assert!(!answer.headers.keys().any(|name| name.as_str().starts_with("access-control")));
    let request = Request::new("OPTIONS", "/api/v1/contacts")
        .header("origin", "https://evil.example")
        .header("access-control-request-method", "GET");
    assert_eq!(world.send(request).await.status, 401, "a preflight has no key");
}

// Order (D6)

/// 7.1.
#[both_stores]
async fn the_checks_come_in_the_documented_order(world: World) {
    let company = json!({"name": "Small", "plan": "starter"});
    let id = text(&world.operator("POST", "/companies", company).await.expect(201)["id"]);
    let tenant = recado_tests::Tenant { id, key: String::new() };
    let key = json!({"name": "k", "scopes": ["messages:read"], "rate_per_minute": 1});
    let key = text(&world.make_for(&tenant, "C/keys", key).await["key"]);
    let huge = vec![b'x'; 1024 * 1024 + 1];
    let send = |method: &str, path: &str| {
        world.send(Request::new(method, path).bearer(&key).body(huge.clone()))
    };
    send("POST", "/api/v1/nothing").await.expect_error(404, "NOT_FOUND");
    send("PUT", "/api/v1/contacts").await.expect_error(405, "METHOD_NOT_ALLOWED");
    send("POST", "/api/v1/contacts").await.expect_error(403, "PLAN_REQUIRED");
    let company = format!("/companies/{}", tenant.id);
    world.operator("PATCH", &company, json!({"plan": "enterprise"})).await.expect(200);
    send("POST", "/api/v1/contacts").await.expect_error(403, "INSUFFICIENT_SCOPE");
    let key = json!({"name": "k", "scopes": ["contacts:write"], "rate_per_minute": 1});
    let key = text(&world.make_for(&tenant, "C/keys", key).await["key"]);
    let send = |path: &str| world.send(Request::new("POST", path).bearer(&key).body(huge.clone()));
    send("/api/v1/contacts").await.expect_error(413, "PAYLOAD_TOO_LARGE");
    send("/api/v1/contacts").await.expect_error(429, "RATE_LIMITED");
}

#[both_stores]
async fn size_comes_before_parameters_and_body_and_those_before_the_record(world: World) {
    let unknown = unknown_id();
    let path = format!("/api/v1/contacts/{unknown}");
    let huge = Request::new("PATCH", &path).body(vec![b'x'; 1024 * 1024 + 1]);
    world.call(huge).await.expect_error(413, "PAYLOAD_TOO_LARGE");
    let broken = Request::new("PATCH", &path).body("{");
    world.call(broken).await.expect_error(400, "INVALID_BODY");
    world.get(&format!("{path}?include=nope")).await.expect_error(400, "INVALID_PARAMETER");
    world.patch(&path, json!({})).await.expect_error(404, "NOT_FOUND");
}
