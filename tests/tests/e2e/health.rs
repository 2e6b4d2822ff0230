//! Probes, metrics and the OpenAPI document: docs/operator-api.md; D70.

use recado_tests::{Request, Setup, StoreKind, World, both_stores, phone, unknown_id};
use serde_json::json;

#[both_stores]
async fn a_running_server_is_alive_and_ready(world: World) {
    for path in ["/healthz", "/readyz"] {
        assert_eq!(world.send(Request::new("GET", path)).await.status, 200, "{path}");
    }
}

#[both_stores]
async fn a_server_whose_database_is_not_migrated_is_alive_but_not_ready(kind: StoreKind) {
    let database = recado_tests::backend::Database::fresh(kind);
    let setup = Setup { no_migrate: true, alone: true, ..Setup::default() };
    let server = recado_tests::backend::TestServer::start(&database, setup).await;
    let get = |path: &str| Request::new("GET", path).send(server.addr);
    assert_eq!(get("/healthz").await.status, 200);
    assert_eq!(get("/readyz").await.status, 503);
    let call = Request::new("GET", "/api/v1/contacts").bearer(&format!("rk_{}", "A".repeat(43)));
    let answer = call.send(server.addr).await;
    assert_eq!(answer.status, 503, "{}", answer.show());
    assert_ne!(answer.header("retry-after"), "", "{}", answer.show());
    assert!(!String::from_utf8_lossy(&answer.body).contains("table"), "{}", answer.show());
    // Another process migrates; then this one becomes ready without a restart.
    let migrator = recado_tests::backend::TestServer::start(&database, Setup::default()).await;
    assert_eq!(Request::new("GET", "/readyz").send(migrator.addr).await.status, 200);
    recado_tests::eventually("ready", || async {
        (get("/readyz").await.status == 200).then_some(())
    })
    .await;
}

#[both_stores]
async fn metrics_need_no_key_and_are_labelled_by_route_template(world: World) {
    let id = world.create_id(json!({"phone": phone(1)})).await;
    world.detail(&id).await;
    world.get("/api/v1/secret-path-of-nobody").await;
    world.send(Request::new("GET", "/l/secretcode")).await;
    let answer = world.send(Request::new("GET", "/metrics")).await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").starts_with("text/plain"), "{}", answer.show());
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(body.contains("/api/v1/contacts/{id}"), "{body}");
    for secret in [
        id.as_str(),
        "secret-path-of-nobody",
        "secretcode",
        &world.us.id,
        &world.us.key,
        &phone(1)[1..],
    ] {
        assert!(!body.contains(secret), "{secret} in the metrics");
    }
    for line in body.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let value = line.rsplit(' ').next().expect("a value");
        assert!(value.parse::<f64>().is_ok(), "not Prometheus text: {line}");
    }
}

#[both_stores]
async fn the_openapi_document_needs_no_key_and_describes_both_apis(world: World) {
    let answer = world.send(Request::new("GET", "/api/openapi.json")).await;
    assert_eq!(answer.status, 200);
    let document = answer.json();
    assert!(document["openapi"].as_str().expect("a version").starts_with("3.1"));
    for (path, methods) in [
        ("/api/v1/contacts", vec!["get", "post"]),
        ("/api/v1/contacts/{id}", vec!["get", "patch", "delete"]),
        ("/api/v1/custom-fields", vec!["get"]),
        ("/api/v1/lists", vec!["get"]),
        ("/operator/v1/companies", vec!["get", "post"]),
    ] {
        for method in methods {
            assert!(document["paths"][path][method].is_object(), "{method} {path} is missing");
        }
    }
}

#[both_stores]
async fn every_path_of_the_document_exists(world: World) {
    let document = world.send(Request::new("GET", "/api/openapi.json")).await.json();
    let unknown = unknown_id();
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for method in operations.as_object().expect("operations").keys() {
            if !["get", "post", "patch", "delete", "put"].contains(&method.as_str()) {
                continue;
            }
            // A DELETE of our company would end the others.
            let is_ours = method != "delete";
            let concrete: String = path
                .split('/')
                .map(|part| match part {
                    "{company_id}" | "{company}" if is_ours => world.us.id.clone(),
                    part if part.starts_with('{') => unknown.clone(),
                    part => part.to_owned(),
                })
                .collect::<Vec<_>>()
                .join("/");
            let key =
                if path.starts_with("/operator") { recado_tests::OPERATOR } else { &world.us.key };
            let answer = world
                .send(Request::new(&method.to_uppercase(), concrete).bearer(key).body("{}"))
                .await;
            assert_ne!(answer.status, 405, "{method} {path}");
            assert!(answer.status < 500, "{method} {path}: {}", answer.show());
            if is_ours
                && !path.contains("{id}")
                && !path.contains("{code}")
                && path.matches('{').count() <= usize::from(path.contains("{company"))
            {
                assert_ne!(answer.status, 404, "{method} {path}");
            }
        }
    }
}
