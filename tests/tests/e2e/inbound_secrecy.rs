//! Data of inbound calls that logs, metrics and answers must not show: D26, D70.

use recado_tests::backend::{Database, Setup, TestServer};
use recado_tests::binary::Process;
use recado_tests::hooks_in::{FORWARDED, SECRET, dispatching, incoming, unknown_client};
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{Request, StoreKind, World, both_stores, mobile, text};
use serde_json::{Value, json};

#[both_stores]
async fn no_log_line_and_no_metric_shows_secrets_tokens_or_what_was_posted(kind: StoreKind) {
    let database = Database::migrated(kind);
    let args = ["--log", "trace", "--trusted-proxies", "127.0.0.0/8"];
    let process = Process::serve(&database, &args).await;
    let addr = process.addr;
    let us = tenant_at(addr, "Acme", "enterprise").await;
    let features = json!({"features": {"inbound_contacts": true, "template_dispatch": true}});
    operator_at(addr, "", "PATCH", &format!("/companies/{}", us.id), features).await.expect(200);
    let body = json!({
        "kind": "official_cloud", "name": "c", "identifier": "+551140000000",
        "gateway": "simulated",
    });
    operator_at(addr, &us.id, "POST", "C/connections", body).await.expect(201);
    let mapping =
        json!({"phone": "$.fone", "name": "$.nome", "plano": "$.plano", "email": "$.mail"});
    let body = json!({"slug": "site-leads", "variable_mapping": mapping});
    let made = operator_at(addr, &us.id, "POST", "C/inbound-endpoints", body).await.expect(201);
    let secret = text(&made["secret"]);
    let path = format!("C/inbound-endpoints/{}/rotate-secret", text(&made["id"]));
    let rotated = operator_at(addr, &us.id, "POST", &path, json!({})).await.expect(200);
    let rotated = text(&rotated["secret"]);
    let given = "segredo-que-escolhemos";
    let body = json!({
        "slug": "outro-site", "variable_mapping": {"phone": "$.fone"}, "secret": given,
    });
    operator_at(addr, &us.id, "POST", "C/inbound-endpoints", body).await.expect(201);
    let body = json!({
        "name": "ola", "category": "UTILITY", "body": "Olá {{1}}", "status": "APPROVED",
    });
    let made = operator_at(addr, &us.id, "POST", "C/templates", body).await.expect(201);
    let token = text(&made["token"]);
    let post = |path: String| Request::new("POST", path).header(FORWARDED, unknown_client());
    let lead = json!({
        "fone": "+5511987654321", "nome": "Fulana Sigilosa", "plano": "segredo-do-plano",
        "mail": "segredo@example.com", "resto": "segredo-do-resto",
    });
    for body in [lead.to_string(), "{\"segredo-quebrado".to_owned(), "{}".to_owned()] {
        let request = post(incoming("site-leads")).header(SECRET, &rotated);
        request.body(body).send(addr).await;
    }
    for wrong in [secret.as_str(), "palpite-errado-de-segredo"] {
        let request = post(incoming("site-leads")).header(SECRET, wrong).json(&lead);
        request.send(addr).await.expect_hook_error(401, "INVALID_SECRET");
    }
    for body in [
        json!({"phone_number": "+5511987654321", "variables": {"1": "segredo-da-variavel"}}),
        json!({"phone_number": "+5511987654321", "variables": {"1": "{{segredo}}"}}),
        json!({"phone_number": "+5511980000001", "variables": {"1": "segredo-da-recusa"}}),
    ] {
        post(dispatching(&token)).json(&body).send(addr).await;
    }
    let query = format!("{}?phone=5511987654321&v1=segredo-da-consulta", dispatching(&token));
    post(query).send(addr).await.expect_ok();
    let upper = token.to_uppercase();
    post(dispatching(&upper)).send(addr).await.expect_hook_error(400, "INVALID_PAYLOAD");
    let unknown = "0f0e0d0c-0b0a-4908-8706-050403020100";
    let answer = post(dispatching(unknown)).send(addr).await;
    answer.expect_hook_error(404, "TEMPLATE_NOT_FOUND");
    let template = json!({
        "to": "+5511987654321", "template": "ola", "variables": {"1": "segredo-da-api"},
    });
    let request = Request::new("POST", "/api/v1/send/template").bearer(&us.key);
    request.json(&template).send(addr).await.expect(200);
    let metrics = Request::new("GET", "/metrics").send(addr).await;
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    assert!(metrics.contains("template-dispatch/{token}"), "labels are route templates");
    let log = process.kill_and_read().await;
    assert!(log.contains("template-dispatch"), "there is a log");
    for hidden in [
        &secret,
        &rotated,
        given,
        "palpite-errado",
        &token,
        &upper,
        unknown,
        "segredo",
        "Sigilosa",
        "987654321",
        "5511980000001",
        &us.key,
    ] {
        let line = log.lines().find(|line| line.contains(hidden));
        assert_eq!(line, None, "{hidden} in the log");
        assert!(!metrics.contains(hidden), "{hidden} in the metrics");
    }
}

/// R222.
#[both_stores]
async fn the_database_has_no_secret_that_is_only_compared(kind: StoreKind) {
    let database = Database::migrated(kind);
    let server = TestServer::start(&database, Setup::default()).await;
    let us = tenant_at(server.addr, "Acme", "enterprise").await;
    let make = async |path: &str, body: Value| {
        operator_at(server.addr, &us.id, "POST", path, body).await.expect(201)
    };
    let mut hidden = Vec::new();
    for (slug, given) in [("site", json!(null)), ("outro", json!("segredo-que-escolhemos"))] {
        let mapping = json!({"phone": "$.fone"});
        let body = json!({"slug": slug, "variable_mapping": mapping, "secret": given});
        let made = make("C/inbound-endpoints", body).await;
        hidden.push(text(&made["secret"]));
        let path = format!("C/inbound-endpoints/{}/rotate-secret", text(&made["id"]));
        let rotated = operator_at(server.addr, &us.id, "POST", &path, json!({})).await;
        hidden.push(text(&rotated.expect(200)["secret"]));
    }
    let template = json!({"name": "ola", "category": "UTILITY", "body": "Olá"});
    hidden.push(text(&make("C/templates", template).await["token"]));
    let contact = make("C/contacts", json!({"phone": mobile(1)})).await;
    let link = json!({"contact_id": contact["id"], "url": "https://example.com/"});
    hidden.push(text(&make("C/links", link).await["code"]));
    let everything = database.everything().await;
    assert!(everything.contains("https://example.com/"), "the link is there");
    for hidden in hidden {
        assert!(!everything.contains(&hidden), "{hidden} is in the database");
    }
}

#[both_stores]
async fn a_refusal_does_not_repeat_what_was_posted(world: recado_tests::Intake) {
    let mapping = json!({"phone": "$.fone", "plan": "$.plano"});
    let site = world.endpoint("site-leads", mapping).await;
    let token = world.token("ola", "UTILITY", "Olá {{1}}").await;
    for body in
        [json!({"fone": "segredo"}), json!({"fone": mobile(1), "plano": {"segredo": "segredo"}})]
    {
        let answer = world.hand_in(&site, &body).await;
        assert!(!answer.show().contains("segredo"), "{}", answer.show());
        assert!(!answer.show().contains(&site.secret));
    }
    for body in [
        json!({"phone_number": "segredo", "variables": {"1": "x"}}),
        json!({"phone_number": mobile(1), "variables": {"1": "{{segredo}}"}}),
    ] {
        let answer = world.dispatch(&token, &body).await;
        let said = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(answer.status == 400 && !said.contains("segredo"), "{said}");
    }
}

#[both_stores]
async fn the_openapi_document_describes_the_hooks_and_who_manages_them(world: World) {
    let document = world.send(Request::new("GET", "/api/openapi.json")).await.json();
    let paths = &document["paths"];
    for (path, method, answers) in [
        (
            "/api/webhooks/incoming/{slug}",
            "post",
            &["200", "400", "401", "403", "404", "410", "413", "415", "429", "500", "503"][..],
        ),
        (
            "/api/webhooks/template-dispatch/{token}",
            "post",
            &["200", "400", "403", "404", "409", "413", "415", "429", "500", "502", "503"],
        ),
        (
            "/api/v1/send/template",
            "post",
            &["200", "400", "401", "403", "404", "409", "422", "429", "502", "503"],
        ),
        ("/operator/v1/companies/{company_id}/inbound-endpoints", "get", &["200"]),
        ("/operator/v1/companies/{company_id}/inbound-endpoints", "post", &["201", "409", "422"]),
        ("/operator/v1/companies/{company_id}/inbound-endpoints/{id}", "patch", &["200", "404"]),
        ("/operator/v1/companies/{company_id}/inbound-endpoints/{id}", "delete", &["200", "404"]),
    ] {
        let operation = &paths[path][method];
        assert!(operation.is_object(), "{method} {path} is not described");
        for answer in answers {
            let has = operation["responses"][answer].is_object();
            assert!(has, "{method} {path}: {answer} in {}", operation["responses"]);
        }
    }
}
