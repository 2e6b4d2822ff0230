//! Data of webhooks that must not be shown, and environment variables that must have no effect:
//! D54, D70.

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{Receiver, Reply, Request, StoreKind, both_stores, eventually, phone, text};
use serde_json::{Value, json};

#[both_stores]
async fn no_log_line_or_metric_shows_secrets_addresses_with_tokens_or_bodies(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let args = [
        "--log",
        "trace",
        "--allow-private-destinations",
        "--webhook-retry-waits",
        "50ms,50ms,50ms,50ms",
    ];
    let process = Process::serve(&database, &args).await;
    let addr = process.addr;
    let us = tenant_at(addr, "Acme", "enterprise").await;
    let call = |method: &'static str, path: String, body: Value| {
        let us = us.clone();
        async move { operator_at(addr, &us.id, method, &path, body).await }
    };
    let path = "/services/token-do-caminho?key=token-da-consulta";
    receiver.then(path, Reply::body(500, "segredo-da-resposta"));
    let body = json!({"url": receiver.url(path), "events": ["*"], "standard_headers": true});
    let made = call("POST", "C/webhooks".to_owned(), body).await.expect(201);
    let (id, first) = (text(&made["id"]), text(&made["secret"]));
    let second = "segredo-dado-por-alguem";
    let rotate = format!("C/webhooks/{id}/rotate-secret");
    call("POST", rotate, json!({"secret": second})).await.expect(200);
    let refused = json!({"url": "http://user:senha-no-url@example.com/", "events": ["*"]});
    call("POST", "C/webhooks".to_owned(), refused).await.expect_invalid();
    let body = json!({"phone": phone(1), "name": "Fulana Sigilosa"});
    let create = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
    create.send(addr).await.expect(201);
    let all = receiver.reaches(path, 2).await;
    let delivery = all[0].delivery();
    eventually("it is recorded", || async {
        let path = format!("C/deliveries/{delivery}");
        let found = call("GET", path, Value::Null).await.expect(200);
        (found["status"] == "delivered").then_some(())
    })
    .await;
    let metrics = Request::new("GET", "/metrics").send(addr).await;
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    assert!(metrics.contains("recado_webhook_attempts_total"), "attempts are counted");
    let log = process.kill_and_read().await;
    assert!(log.contains("webhooks"), "there is a log");
    let signature = all[0].header("x-service-signature").expect("a signature");
    for secret in [
        first.as_str(),
        &first["whsec_".len()..],
        second,
        "token-do-caminho",
        "token-da-consulta",
        "senha-no-url",
        "Sigilosa",
        "segredo",
        signature,
    ] {
        for text in [&log, &metrics] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret}");
        }
    }
}

#[both_stores]
async fn proxies_of_the_environment_are_not_used_for_deliveries(kind: StoreKind) {
    let database = Database::migrated(kind);
    let (receiver, proxy) = (Receiver::start().await, Receiver::start().await);
    let address = format!("http://{}", proxy.addr);
    let names =
        ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    let env: Vec<(&str, &str)> = names.iter().map(|name| (*name, address.as_str())).collect();
    let process = Process::serve_with_env(&database, &["--allow-private-destinations"], &env).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let body = json!({"url": receiver.url("/a"), "events": ["*"]});
    let made = operator_at(process.addr, &us.id, "POST", "C/webhooks", body).await.expect(201);
    let test = format!("C/webhooks/{}/test", text(&made["id"]));
    operator_at(process.addr, &us.id, "POST", &test, Value::Null).await.expect(200);
    receiver.reaches("/a", 1).await;
    assert_eq!(proxy.connections(), 0);
}
