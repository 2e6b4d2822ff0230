//! Campaigns and hooks in a whole process: its options, its stop and its restart.
#![cfg(unix)]

mod common;

use std::time::{Duration, Instant};

use common::{Server, send};
use serde_json::{Value, json};

const TOKEN: &str = "operator-token-of-the-tests-0123456789";
const SERVE: [&str; 3] = ["serve", "--operator-token", TOKEN];
/// A limit that no machine should reach.
const PATIENCE: Duration = Duration::from_secs(60);

fn operator(addr: &str, method: &str, path: &str, body: &Value) -> Value {
    let headers = [format!("Authorization: Bearer {TOKEN}")];
    let path = format!("/operator/v1{path}");
    let answer = send(addr, method, &path, &headers, &body.to_string());
    assert!(matches!(answer.status, 200 | 201), "{path}: {}", answer.body);
    answer.json()["data"].clone()
}

fn id(record: &Value) -> String {
    record["id"].as_str().expect("an id").to_owned()
}

/// Makes a campaign to these phones; its path.
fn campaign(addr: &str, phones: &[&str]) -> String {
    let company = operator(addr, "POST", "/companies", &json!({"name": "A"}));
    let company = format!("/companies/{}", id(&company));
    let post =
        |path: &str, body: Value| id(&operator(addr, "POST", &format!("{company}{path}"), &body));
    let connection = json!({"kind": "official_cloud", "name": "C", "identifier": "1",
        "gateway": "simulated", "settings": {"timeout_ms": 2000}});
    let connection = post("/connections", connection);
    let template = json!({"name": "t", "category": "MARKETING", "body": "Olá",
        "status": "APPROVED"});
    let template = post("/templates", template);
    let contacts: Vec<String> =
        phones.iter().map(|phone| post("/contacts", json!({"phone": phone}))).collect();
    let list = post("/lists", json!({"name": "L"}));
    let added = json!({"contact_ids": contacts});
    operator(addr, "POST", &format!("{company}/lists/{list}/contacts"), &added);
    let body = json!({"name": "Maio", "template_id": template, "list_id": list,
        "connection_id": connection, "messages_per_second": 100});
    let campaign = post("/campaigns", body);
    format!("{company}/campaigns/{campaign}")
}

/// Repeats a request until the answer satisfies the condition.
fn until(addr: &str, path: &str, will_do: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let answer = operator(addr, "GET", path, &Value::Null);
        if will_do(&answer) {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "{answer}");
        // Only so that the requests do not occupy the processor.
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_message_of_a_campaign_in_flight_is_finished_by_a_stop_and_the_next_process_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(folder.path(), &SERVE, "listening");
    let addr = server.addr();
    // Both are answered slowly, and time out after two seconds.
    let at = campaign(&addr, &["+5511990000005", "+5521990000005"]);
    operator(&addr, "POST", &format!("{at}/start"), &json!({}));
    let recipients = format!("{at}/recipients?status=sending");
    until(&addr, &recipients, |sending| !sending.as_array().expect("a list").is_empty());
    server.stop();

    let server = Server::start(folder.path(), &SERVE, "listening");
    let addr = server.addr();
    let finished = until(&addr, &at, |campaign| campaign["status"] == "finished");
    assert_eq!(
        (&finished["counts"]["total"], &finished["counts"]["failed"]),
        (&2.into(), &2.into())
    );
    let failed = operator(&addr, "GET", &format!("{at}/recipients"), &Value::Null);
    for recipient in failed.as_array().expect("a list") {
        assert_eq!(recipient["error_code"], "DELIVERY_UNCERTAIN", "{recipient}");
    }
    let company = at.split("/campaigns").next().expect("a company");
    let key = json!({"name": "k", "scopes": ["messages:read"]});
    let key = operator(&addr, "POST", &format!("{company}/keys"), &key);
    let bearer = format!("Authorization: Bearer {}", key["key"].as_str().expect("a key"));
    let messages = send(&addr, "GET", "/api/v1/messages", &[bearer], "").json()["data"].clone();
    assert_eq!(messages.as_array().map(Vec::len), Some(2), "{messages}");
    for message in messages.as_array().expect("a list") {
        // The gateway's answer is the cause, not a recovery.
        assert_eq!(message["error_message"], "the simulated gateway did not answer in time");
    }
    server.stop();
}

#[test]
fn clients_behind_trusted_proxies_are_distinguished() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let calls = |server: &Server| -> Vec<u16> {
        let call = |client: u8| {
            let headers = [format!("X-Forwarded-For: 198.51.100.{client}")];
            send(&server.addr(), "POST", "/api/webhooks/incoming/x-y", &headers, "{}").status
        };
        (0..11).map(call).collect()
    };
    let arguments = [&SERVE[..], &["--trusted-proxies", "10.0.0.0/8,127.0.0.1"]].concat();
    let server = Server::start(folder.path(), &arguments, "listening");
    assert_eq!(calls(&server), [404; 11]);
    server.stop();
    let server = Server::start(folder.path(), &SERVE, "listening");
    assert_eq!(calls(&server).last(), Some(&429));
    server.stop();
}
