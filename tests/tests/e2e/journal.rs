//! The pull journal, GET /api/v1/events: every event of the company once, oldest first. It has its
//! own scope (D63).

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use recado_tests::backend::TestServer;
use recado_tests::hooks::part;
use recado_tests::world::tenant_at;
use recado_tests::{
    Hooks, Request, ScriptedAnswer, Setup, World, both_stores, digits, join_all, keys, mobile,
    on_postgres, phone, text,
};
use serde_json::{Value, json};

async fn journal(addr: SocketAddr, key: &str, query: &str) -> ScriptedAnswer {
    Request::new("GET", format!("/api/v1/events?{query}")).bearer(key).send(addr).await
}

/// The whole journal, read in parts of `limit`.
async fn whole(addr: SocketAddr, key: &str, limit: usize, query: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut after = String::new();
    loop {
        let answer = journal(addr, key, &format!("limit={limit}&{query}{after}")).await;
        let (entries, position) = part(&answer);
        let more = answer.json()["pagination"]["has_more"].as_bool().expect("a boolean");
        assert_eq!(answer.json()["pagination"]["limit"], limit);
        assert!(!more || entries.len() == limit, "a part is full while there is more");
        all.extend(entries);
        if !more {
            return all;
        }
        after = format!("&after={position}");
    }
}

fn ids(entries: &[Value]) -> Vec<String> {
    entries.iter().map(|entry| text(&entry["event_id"])).collect()
}

/// Makes events of several types.
async fn life(world: &World) {
    let qr = world.silent("qr").await;
    world.create(json!({"phone": phone(1), "name": "Zé 🦜"})).await;
    world.contact_by_message(&qr, &mobile(1)).await;
    let sent = world.sent(&mobile(1), "olá").await;
    world.advance(Duration::from_secs(1));
    for status in ["delivered", "read"] {
        world.gateway_one(&qr, world.report(&text(&sent["wamid"]), status)).await;
    }
    world.receive(&qr, &digits(&mobile(1)), "parar").await;
}

/// Reads while contacts are created at these servers, and asserts that each has one event.
async fn read_while_they_write(world: &World, servers: &[SocketAddr]) {
    const WRITERS: u32 = 8;
    const EACH: u32 = 40;
    let body = json!({"name": "k", "scopes": ["events:read"], "rate_per_minute": 1_000_000});
    let key = text(&world.make("C/keys", body).await["key"]);
    let writing = AtomicBool::new(true);
    let writers = (0..WRITERS).map(|writer| {
        let addr = servers[writer as usize % servers.len()];
        async move {
            let mut made = Vec::new();
            for n in 0..EACH {
                let body = json!({"phone": phone(writer * 1_000 + n), "name": format!("{writer}")});
                let create = Request::new("POST", "/api/v1/contacts").bearer(&world.us.key);
                let answer = create.json(&body).send(addr).await;
                made.push(text(&answer.expect(201)["contact"]["id"]));
            }
            made
        }
    });
    let reader = |server: SocketAddr, limit: usize| {
        let (key, writing) = (&key, &writing);
        async move {
            let mut reported = Vec::new();
            let mut after = String::new();
            loop {
                let last = !writing.load(Ordering::SeqCst);
                let answer = journal(server, key, &format!("limit={limit}{after}")).await;
                let (entries, position) = part(&answer);
                let done = last && answer.json()["pagination"]["has_more"] == false;
                reported.extend(entries.iter().map(|entry| text(&entry["data"]["id"])));
                after = format!("&after={position}");
                if done {
                    return reported;
                }
            }
        }
    };
    let writers = async {
        let made = join_all(writers.collect()).await.concat();
        writing.store(false, Ordering::SeqCst);
        made
    };
    let last = servers[servers.len() - 1];
    let (made, some, many) = tokio::join!(writers, reader(servers[0], 3), reader(last, 100));
    let again = whole(servers[0], &key, 100, "").await;
    let order: Vec<String> = again.iter().map(|entry| text(&entry["data"]["id"])).collect();
    assert_eq!(made.len(), (WRITERS * EACH) as usize);
    for reported in [some, many] {
        assert_eq!(reported, order, "the order stays, and nothing is skipped or repeated");
    }
    let distinct: BTreeSet<&String> = order.iter().collect();
    assert_eq!(distinct.len(), order.len());
    assert_eq!(distinct, made.iter().collect());
}

#[both_stores]
async fn the_journal_reports_every_event_oldest_first_as_deliveries_do(hooks: Hooks) {
    let key = hooks.journal_key().await;
    hooks.hook("/a", &["*"]).await;
    life(&hooks).await;
    hooks.drain().await;
    let entries = whole(hooks.addr, &key, 100, "").await;
    let events: Vec<String> = entries.iter().map(|entry| text(&entry["event"])).collect();
    assert_eq!(events.len(), 8, "{events:?}");
    assert_eq!(
        events[..6],
        [
            "contact.created",
            "contact.created",
            "message.received",
            "message.sent",
            "message.status_updated",
            "message.status_updated",
        ]
    );
    let mut last: Vec<&str> = events[6..].iter().map(String::as_str).collect();
    last.sort_unstable();
    assert_eq!(last, ["contact.opted_out", "message.received"]);
    let mut delivered: BTreeMap<String, Value> = BTreeMap::new();
    for request in hooks.receiver.to("/a") {
        let mut body = request.json();
        let members = body.as_object_mut().expect("an object");
        members.remove("delivery_id").expect("an id");
        delivered.insert(body.to_string(), body);
    }
    for entry in &entries {
        assert_eq!(keys(entry), ["company_id", "data", "event", "event_id", "timestamp"]);
        let mut reported = entry.clone();
        reported.as_object_mut().expect("an object").remove("event_id");
        assert!(
            delivered.values().any(|body| *body == reported),
            "no delivery tells what the journal does: {reported}"
        );
    }
    assert_eq!(delivered.len(), 8);
}

#[both_stores]
async fn the_journal_reports_without_any_webhook_too(world: World) {
    let key = world.key_with(&["events:read"]).await;
    assert_eq!(part(&journal(world.addr, &key, "").await).0, Vec::<Value>::new());
    life(&world).await;
    assert_eq!(whole(world.addr, &key, 100, "").await.len(), 8);
}

/// 6.4.
#[both_stores]
async fn the_journal_is_read_in_parts_that_neither_skip_nor_repeat(world: World) {
    let key = world.key_with(&["events:read"]).await;
    for n in 0..7 {
        world.create(json!({"phone": phone(n)})).await;
    }
    let all = ids(&whole(world.addr, &key, 100, "").await);
    assert_eq!(all.len(), 7);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 7);
    for limit in [1, 2, 3, 6, 7] {
        assert_eq!(ids(&whole(world.addr, &key, limit, "").await), all, "{limit}");
    }
    let usual = journal(world.addr, &key, "").await;
    assert_eq!(usual.json()["pagination"]["limit"], 50);
    assert_eq!(keys(&usual.json()), ["data", "pagination", "success"]);
    assert_eq!(keys(&usual.json()["pagination"]), ["has_more", "limit", "position"]);
}

#[both_stores]
async fn an_unacceptable_parameter_of_the_journal_is_named(world: World) {
    let key = world.key_with(&["events:read"]).await;
    let them = tenant_at(world.addr, "Them", "enterprise").await;
    for tenant in [&world.us, &them] {
        world.create_as(tenant, json!({"phone": phone(1)})).await;
    }
    let position = part(&journal(world.addr, &key, "").await).1;
    let body = json!({"name": "k", "scopes": ["events:read"]});
    let their_key = text(&world.make_for(&them, "C/keys", body).await["key"]);
    let theirs = part(&journal(world.addr, &their_key, "").await).1;
    assert_ne!(position, theirs);
    for n in 0..position.len() {
        let mut tampered = position.clone().into_bytes();
        tampered[n] = if tampered[n] == b'A' { b'B' } else { b'A' };
        let tampered = String::from_utf8(tampered).expect("ASCII");
        let answer = journal(world.addr, &key, &format!("after={tampered}")).await;
        answer.expect_bad_parameter("after");
    }
    let (short, long) = (&position[..position.len() - 2], format!("{position}AA"));
    for after in ["0", "", "x", "7", theirs.as_str(), short, &long, "%00", &"A".repeat(500)] {
        let answer = journal(world.addr, &key, &format!("after={after}")).await;
        answer.expect_bad_parameter("after");
    }
    for (query, name) in [
        ("event=message", "event"),
        ("event=*", "event"),
        ("event=webhook.test", "event"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=x", "limit"),
        ("limit=1&limit=1", "limit"),
    ] {
        journal(world.addr, &key, query).await.expect_bad_parameter(name);
    }
    part(&journal(world.addr, &key, "colour=red").await);
}

#[both_stores]
async fn the_journal_needs_its_scope_a_key_and_the_plan(world: World) {
    let all_but = world.us.key.clone();
    let answer = journal(world.addr, &all_but, "after=x").await;
    let details = answer.expect_error(403, "INSUFFICIENT_SCOPE");
    assert_eq!(details["required_scope"], "events:read");
    journal(world.addr, "rk_nothing", "").await.expect_error(401, "UNAUTHORIZED");
    let key = world.key_with(&["events:read"]).await;
    world.get_as(&key, "/api/v1/contacts").await.expect_error(403, "INSUFFICIENT_SCOPE");
    let path = format!("/companies/{}", world.us.id);
    world.operator("PATCH", &path, json!({"plan": "professional"})).await.expect(200);
    journal(world.addr, &key, "").await.expect_error(403, "PLAN_REQUIRED");
}

#[both_stores]
async fn the_journal_reports_its_own_company_only_and_of_no_tests(hooks: Hooks) {
    let key = hooks.journal_key().await;
    let them = hooks.tenant("Them").await;
    let hook = hooks.hook("/a", &["*"]).await;
    hooks.create_as(&them, json!({"phone": phone(1), "name": "theirs"})).await;
    hooks.create(json!({"phone": phone(1), "name": "ours"})).await;
    let path = format!("C/webhooks/{}/test", hook.id);
    hooks.operator("POST", &path, Value::Null).await.expect(200);
    hooks.drain().await;
    let entries = whole(hooks.addr, &key, 100, "").await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["company_id"], hooks.us.id);
    assert_eq!(entries[0]["data"]["name"], "ours");
}

#[both_stores]
async fn the_journal_neither_skips_nor_repeats_while_many_write(world: World) {
    read_while_they_write(&world, &[world.addr]).await;
}

#[on_postgres]
async fn the_journal_neither_skips_nor_repeats_while_two_processes_write(world: World) {
    let setup = Setup { clock: Some(world.server.clock.clone()), ..Setup::default() };
    let other = TestServer::start(&world.database, setup).await;
    read_while_they_write(&world, &[world.addr, other.addr]).await;
}
