//! What is in no span: R310, D70.

use recado_tests::backend::Database;
use recado_tests::world::operator_at;
use recado_tests::{
    OPERATOR, Receiver, Reply, Request, StoreKind, both_stores, digits, mobile, phone, unknown_id,
};
use serde_json::{Value, json};

use crate::collector::{AT_ONCE, bytes, company, reaches, serve, spans};

/// All attributes of spans that there are.
const ATTRIBUTES: &[&str] = &[
    "error.type",
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "recado.changes",
    "recado.company_id",
    "recado.delivery_id",
    "recado.delivery_ids",
    "recado.event",
    "recado.event_id",
    "recado.events",
    "recado.gateway",
    "recado.job",
    "recado.operation",
    "recado.outcome",
    "recado.request_id",
    "recado.webhook_id",
];

/// R310.
#[both_stores]
async fn nothing_personal_and_no_secret_is_exported(kind: StoreKind) {
    let database = Database::migrated(kind);
    let (collector, receiver) = (Receiver::start().await, Receiver::start().await);
    let variables = [AT_ONCE, &["OTEL_EXPORTER_OTLP_HEADERS=x-token=token-do-coletor"]].concat();
    let waits = ["--webhook-retry-waits", "50ms,50ms,50ms,50ms"];
    let process = serve(&database, &collector.url(""), &variables, &waits).await;
    let addr = process.addr;
    let hook = "/services/token-do-caminho?key=token-da-consulta";
    receiver.answers(hook, Reply::body(500, "segredo-da-resposta"));
    let (us, secret) = company(&process, &receiver.url(hook), "*").await;
    let operator = |method: &'static str, path: String, body: Value| {
        let us = us.clone();
        async move { operator_at(addr, &us.id, method, &path, body).await }
    };
    let call = |method: &str, path: String| Request::new(method, path).bearer(&us.key);

    let contact = json!({"phone": phone(1), "name": "Fulana Sigilosa", "email": "f@sigilo.example",
        "cpf": "529.982.247-25"});
    let made = call("POST", "/api/v1/contacts".to_owned()).json(&contact).send(addr).await;
    let id = recado_tests::text(&made.expect(201)["contact"]["id"]);
    let path = format!("/api/v1/contacts/{id}");
    call("GET", path.clone()).send(addr).await.expect(200);
    call("PATCH", path).json(&json!({"name": "Outra Sigilosa"})).send(addr).await.expect(200);
    call("GET", "/api/v1/contacts?search=Sigilosa".to_owned()).send(addr).await.expect(200);
    let stranger = unknown_id();
    call("GET", format!("/api/v1/contacts/{stranger}")).send(addr).await;
    call("GET", "/api/v1/caminho-de-estranho".to_owned()).send(addr).await;
    let wrong = Request::new("GET", "/api/v1/contacts").bearer("rk_chave-errada");
    wrong.header("traceparent", "valor-de-estranho").send(addr).await;
    let message = json!({"to": mobile(2), "message": "texto sigiloso"});
    let send = |body: Value| call("POST", "/api/v1/send/message".to_owned()).json(&body).send(addr);
    send(message).await.expect(200);
    // Refused by the provider, uncertain, and a connection that fails.
    for steered in ["+5511987650001", "+5511987650002", "+5511987650003"] {
        send(json!({"to": steered, "message": "texto sigiloso"})).await;
    }
    let list = operator("GET", "C/connections".to_owned(), Value::Null).await;
    let connection = list.ids().remove(0);
    let event = json!({"events": [{"kind": "message", "from": digits(&mobile(3)), "type": "text",
        "provider_message_id": "id-do-provedor", "timestamp": "2026-01-01T00:00:00Z",
        "push_name": "Sigilosa", "content": "pergunta sigilosa"}]});
    operator("POST", format!("C/connections/{connection}/events"), event).await.expect(200);
    let features = json!({"features": {"inbound_contacts": true}});
    operator("PATCH", format!("/companies/{}", us.id), features).await.expect(200);
    let endpoint = json!({"slug": "formulario-sigiloso", "secret": "segredo-do-formulario",
        "variable_mapping": {"phone": "$.phone"}});
    operator("POST", "C/inbound-endpoints".to_owned(), endpoint).await.expect(201);
    let form = Request::new("POST", "/api/webhooks/incoming/formulario-sigiloso")
        .header("x-service-secret", "segredo-do-formulario")
        .json(&json!({"phone": phone(4)}));
    assert_eq!(form.send(addr).await.status, 200);
    receiver.reaches(hook, 6).await;
    let is_attempt = |name: &str| name == "delivery attempt";
    reaches(&collector, "attempts", 5, |span| is_attempt(&span.name)).await;
    process.signal("TERM").await;
    assert_eq!(process.ended().await.0.code(), Some(0));

    let all = spans(&collector);
    for route in ["GET /api/v1/contacts/{id}", "GET unmatched", "gateway send", "commit"] {
        assert!(all.iter().any(|(span, _)| span.name == route), "{route} is there");
    }
    for (span, _) in &all {
        for attribute in &span.attributes {
            assert!(ATTRIBUTES.contains(&attribute.key.as_str()), "{attribute:?}");
        }
        assert!(span.status.as_ref().is_none_or(|status| status.message.is_empty()), "{span:?}");
    }
    let exported = String::from_utf8_lossy(&bytes(&collector)).into_owned();
    let phones = [phone(1), mobile(2), mobile(3), phone(4)];
    let phones: Vec<String> = phones.iter().map(|phone| digits(phone)).collect();
    for secret in phones.iter().map(String::as_str).chain([
        us.key.as_str(),
        OPERATOR,
        secret.as_str(),
        &id,
        &stranger,
        &connection,
        "98765000",
        "52998224725",
        "529.982",
        "Sigilos",
        "sigilos",
        "sigilo.example",
        "segredo",
        "token-d",
        "estranho",
        "rk_",
        "id-do-provedor",
        "127.0.0.1",
    ]) {
        assert!(!exported.contains(secret), "{secret} was exported");
    }
    let token = collector.all().remove(0);
    assert_eq!(token.header("x-token"), Some("token-do-coletor"), "only the collector gets it");
}
