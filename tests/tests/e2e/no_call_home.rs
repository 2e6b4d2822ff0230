//! Nothing is called that the operator did not configure (R172): the demonstration, a server
//! and what they do are run where every packet that leaves the machine is counted.

use std::net::UdpSocket;
use std::process::Command;
use std::time::Duration;

use recado_testkit::gateways::{FakeWaha, WahaEngine};
use recado_tests::backend::{Database, StoreKind};
use recado_tests::binary::{Process, recado};
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{
    GatewayServer, Receiver, Reply, Request, eventually, mobile, not_run, phone, text,
};
use serde_json::{Value, json};

/// Makes the namespace and runs a command in it.
const NAMESPACE: &str = include_str!("no_call_home.sh");
/// What it says once it is made.
const READY: &str = "the namespace is ready";
/// What is tested.
const WHAT: &str = "the count of packets that leave the machine";
/// The test that runs inside.
const INSIDE: &str = "no_call_home::within_the_namespace";
/// The test of the demonstration, with the lines that it prints.
const DEMO: &str = "binary::the_demo_prints_a_key_and_curl_lines_that_work_and_keeps_its_data";

/// R172.
#[test]
fn no_packet_leaves_for_anyone_who_is_not_configured() {
    // Built here: the namespace reaches no registry.
    assert!(recado().is_file());
    let test = std::env::current_exe().expect("the test executable");
    let made = Command::new("unshare")
        .args(["--map-root-user", "--net", "--mount", "sh", "-c", NAMESPACE, "sh"])
        .arg(test)
        .args([INSIDE, "--exact", "--ignored", "--nocapture"])
        .output();
    let made = match made {
        Ok(made) => made,
        Err(error) => return not_run(WHAT, &format!("unshare: {error}")),
    };
    let (said, why) =
        (String::from_utf8_lossy(&made.stdout), String::from_utf8_lossy(&made.stderr));
    if !said.contains(READY) {
        return not_run(WHAT, &format!("no namespace: {}", why.lines().last().unwrap_or_default()));
    }
    assert!(made.status.success() && said.contains("1 passed"), "{said}\n{why}");
}

/// How many packets have left, or were meant to, by the kernel's counters.
fn left() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).expect(path);
    let devices = read("/proc/net/dev");
    let device = devices.lines().find_map(|line| line.trim().strip_prefix("out:"));
    // Of 16 numbers the tenth counts what was sent.
    let sent = device.and_then(|numbers| numbers.split_whitespace().nth(9)?.parse::<u64>().ok());
    let (v4, v6) = (read("/proc/net/snmp"), read("/proc/net/snmp6"));
    let mut ip = v4.lines().filter_map(|line| line.strip_prefix("Ip: "));
    let (names, values) = (ip.next().expect("names"), ip.next().expect("values"));
    let mut both = names.split(' ').zip(values.split(' '));
    let no_route = both.find(|(name, _)| *name == "OutNoRoutes").map(|(_, value)| value);
    let no_route_6 = v6.lines().find_map(|line| line.strip_prefix("Ip6OutNoRoutes"));
    let count = |text: &str| text.trim().parse::<u64>().expect("a number");
    sent.expect("the device") + count(no_route.expect("v4")) + count(no_route_6.expect("v6"))
}

/// The control: what is sent on purpose is counted.
async fn what_is_sent_is_counted() {
    for (from, to) in [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8:1::1]:9")] {
        let before = left();
        UdpSocket::bind(from).expect("a socket").send_to(b"x", to).expect("it is sent");
        assert!(left() > before, "a datagram to {to} is counted");
    }
    let before = left();
    let connecting = tokio::net::TcpStream::connect("192.0.2.1:443");
    let _ = tokio::time::timeout(Duration::from_millis(50), connecting).await;
    assert!(left() > before, "an attempt to connect is counted");
    let before = left();
    let _ = tokio::net::lookup_host("recado.example.com:443").await;
    assert!(left() > before, "a question for a name is counted");
}

/// Runs a test of this executable within the namespace.
fn passes(test: &str) {
    let run = Command::new(std::env::current_exe().expect("the test executable"))
        .args([test, "--exact", "--nocapture"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&run.stdout);
    let failure = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("1 passed"), "{said}\n{failure}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "only within the namespace that the test above makes"]
async fn within_the_namespace() {
    what_is_sent_is_counted().await;
    let before = left();
    passes(DEMO);
    assert_eq!(left(), before, "the demonstration");
    tour().await;
}

/// A server, and everything that makes it call somebody, at addresses of this machine alone.
async fn tour() {
    let (receiver, fake) = (Receiver::start().await, FakeWaha::new(WahaEngine::Gows));
    let gateway = GatewayServer::start(fake.clone()).await;
    receiver.answers("/file", Reply::body(200, "a photo"));
    let before = left();
    let database = Database::fresh(StoreKind::Sqlite);
    let process = Process::serve(&database, &["--allow-private-destinations"]).await;
    let at = process.addr;
    let us = tenant_at(at, "Acme", "enterprise").await;
    let make = async |path: &str, body: Value| {
        operator_at(at, &us.id, "POST", path, body).await.expect(201)
    };
    let call = async |method: &str, path: &str, body: Value| {
        let request = Request::new(method, path).bearer(&us.key);
        let request = if body.is_null() { request } else { request.json(&body) };
        request.send(at).await
    };
    make("C/webhooks", json!({"url": receiver.url("/hook"), "events": ["*"]})).await;

    // Addresses of others that are kept, and never called: an avatar, a site, a cnpj.
    let contact = json!({"phone": phone(1), "email": "ana@example.com",
        "cnpj": "19.131.243/0001-97"});
    let contact = call("POST", "/api/v1/contacts", contact).await.expect(201);
    let contact = text(&contact["contact"]["id"]);
    let avatar = json!({"phone": phone(2), "avatar_url": "https://example.com/a.png"});
    make("C/contacts", avatar).await;
    let link = make("C/links", json!({"contact_id": contact, "url": "https://example.com"})).await;
    let code = text(&link["code"]);
    assert!(call("GET", &format!("/l/{code}"), Value::Null).await.status < 400);

    // Both kinds of gateways that are here: the simulated one, and one on this machine.
    let settings = fake.settings_at(&gateway.url());
    for (gateway, settings, to) in
        [("simulated", json!({"delay_ms": 1}), mobile(3)), ("waha", settings, mobile(4))]
    {
        let connection = json!({"kind": "qr", "name": gateway, "identifier": "5511940028922",
            "gateway": gateway, "status": "connected", "settings": settings});
        let connection = text(&make("C/connections", connection).await["id"]);
        let send = json!({"to": to, "message": "oi", "connection_id": connection});
        call("POST", "/api/v1/send/message", send).await.expect(200);
        let event = json!({"kind": "message", "provider_message_id": gateway, "type": "image",
            "from": "5511980000009", "media": {"url": receiver.url("/file"),
            "mimetype": "image/jpeg"}});
        let path = format!("C/connections/{connection}/events");
        operator_at(at, &us.id, "POST", &path, json!({"events": [event]})).await.expect(200);
    }
    for path in ["/readyz", "/metrics", "/api/openapi.json", "/api/v1/events"] {
        call("GET", path, Value::Null).await;
    }
    eventually("the files were fetched", || async {
        (receiver.to("/file").len() >= 2).then_some(())
    })
    .await;
    eventually("the events were delivered", || async {
        let told: Vec<String> = receiver.to("/hook").iter().map(|one| one.event()).collect();
        ["contact.created", "message.received", "message.sent"]
            .iter()
            .all(|event| told.iter().any(|known| known == event))
            .then_some(())
    })
    .await;
    assert_eq!(left(), before, "the server");

    // What the operator does configure elsewhere is counted: the server's own calls are seen.
    let elsewhere = json!({"url": "https://hook.example.com/", "events": ["*"]});
    operator_at(at, &us.id, "POST", "C/webhooks", elsewhere).await;
    assert!(left() > before, "a call of the server is counted");
    process.signal("TERM").await;
    assert_eq!(process.ended().await.0.code(), Some(0));
}
