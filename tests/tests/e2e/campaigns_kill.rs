//! A large campaign whose process is killed (SIGKILL) repeatedly: each contact gets at most one
//! message, and every count and every ledger line is exact: D36, D58, D66.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use recado_tests::backend::Database;
use recado_tests::binary::{Process, run_recado};
use recado_tests::campaigns::{Ledger, exact, ledger_at, micros, recipients_at};
use recado_tests::world::{Tenant, export_at, operator_at, tenant_at};
use recado_tests::{Request, StoreKind, both_stores, phone, text};
use serde_json::{Value, json};

/// How often the process is killed.
const KILLS: usize = 5;
/// How many contacts the list has. `RECADO_TEST_KILLS=1` selects the run before a release.
const CONTACTS: usize = 1_500;
/// How many contacts the list has before a release.
const CONTACTS_BEFORE_A_RELEASE: usize = 10_000;
/// The time limit of the whole campaign.
const PATIENCE: Duration = Duration::from_secs(300);
/// How many lines of the log may wait to be written when the process is killed.
const LINES_THAT_WAIT: usize = 20;
/// The rate of the campaign.
const RATE: usize = 1_000;
/// The price of a message, in millionths.
const PRICE: i128 = 350_001;
/// The pattern of contacts repeats after this many: one has opted out, one is blocked, and some
/// have numbers with special behaviour.
const EVERY: usize = 100;
const GROUPS: usize = 10;

fn contacts() -> usize {
    match std::env::var_os("RECADO_TEST_KILLS") {
        Some(_) => CONTACTS_BEFORE_A_RELEASE,
        None => CONTACTS,
    }
}

/// The n-th contact in the form of `recado import`.
fn person(n: usize) -> Value {
    let number = |n: usize| u32::try_from(n).expect("a small number");
    // The last four digits of most contacts select no special behaviour.
    let plain = phone(number(n / 9_000 * 10_000 + 1_000 + n % 9_000));
    let steered = |digits: usize| phone(number(1_000_000 + n / EVERY * 10_000 + digits));
    match n % EVERY {
        0 => json!({"phone": plain, "opted_out_at": "2026-11-20T12:00:00.000Z"}),
        1 => json!({"phone": plain, "is_blocked": true}),
        2 => json!({"phone": steered(1)}),
        3 => json!({"phone": steered(2)}),
        4 => json!({"phone": steered(4)}),
        // A slow send, so that every kill interrupts some sends.
        5 => json!({"phone": steered(5)}),
        _ => json!({"phone": plain}),
    }
}

async fn make(addr: SocketAddr, us: &Tenant, path: &str, body: Value) -> String {
    text(&operator_at(addr, &us.id, "POST", path, body).await.expect(201)["id"])
}

/// Fills a database with contacts and a campaign to all of them.
async fn filled(database: &Database, count: usize) -> (Process, Tenant, String) {
    let process = Process::serve(database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    process.signal("TERM").await;
    let (status, output) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("contacts.jsonl");
    let people = count - GROUPS;
    let lines: Vec<String> = (0..people).map(|n| person(n).to_string()).collect();
    std::fs::write(&file, lines.join("\n")).expect("written");
    let file = file.display().to_string();
    let url = database.url();
    let args = ["import", "--database", &url, "--company", &us.id, "--kind", "contacts", &file];
    let imported = run_recado(args, &[]).await;
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let process = Process::serve(database, &[]).await;
    let addr = process.addr;
    let connection = |kind: &str| {
        json!({
            "kind": kind, "name": kind, "identifier": "1", "gateway": "simulated",
            "settings": {"delay_ms": 5},
        })
    };
    let cloud = make(addr, &us, "C/connections", connection("official_cloud")).await;
    let qr = make(addr, &us, "C/connections", connection("qr")).await;
    let groups: Vec<Value> =
        (0..GROUPS).map(|n| json!({"code": format!("{n}@g.us"), "subject": "g"})).collect();
    let path = format!("C/connections/{qr}/groups");
    operator_at(addr, &us.id, "PUT", &path, json!(groups)).await.expect(200);
    let all = export_at(addr, &us.key, 100).await;
    assert_eq!(all.len(), count, "everybody was imported");
    let list = make(addr, &us, "C/lists", json!({"name": "all"})).await;
    let path = format!("C/lists/{list}/contacts");
    operator_at(addr, &us.id, "POST", &path, json!({"contact_ids": all})).await.expect(200);
    let template =
        json!({"name": "t", "category": "MARKETING", "body": "Oi {{1}}", "status": "APPROVED"});
    let template = make(addr, &us, "C/templates", template).await;
    let campaign = json!({
        "name": "x", "template_id": template, "list_id": list, "connection_id": cloud,
        "variables": {"1": "amigos"}, "prosas_per_message": exact("1.5"),
        "cost_brl_per_message": exact("0.350001"), "messages_per_second": RATE,
    });
    let campaign = make(addr, &us, "C/campaigns", campaign).await;
    (process, us, campaign)
}

async fn record(addr: SocketAddr, us: &Tenant, campaign: &str) -> Value {
    let path = format!("C/campaigns/{campaign}");
    operator_at(addr, &us.id, "GET", &path, Value::Null).await.expect(200)
}

/// How many recipients have one of these statuses.
fn count(record: &Value, names: &[&str]) -> usize {
    let of = |name: &&str| record["counts"][*name].as_u64().expect("a number");
    usize::try_from(names.iter().map(of).sum::<u64>()).expect("a small number")
}

const FINISHED: [&str; 5] = ["sent", "delivered", "read", "failed", "skipped"];

/// Waits until this many recipients were processed or the campaign has ended, and returns it.
async fn reaches(addr: SocketAddr, us: &Tenant, campaign: &str, finished: usize) -> Value {
    let began = Instant::now();
    loop {
        let now = record(addr, us, campaign).await;
        if count(&now, &FINISHED) >= finished || now["status"] == "finished" {
            return now;
        }
        assert_eq!(now["status"], "running", "{now}");
        assert!(began.elapsed() < PATIENCE, "it does not go on: {now}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the campaign has ended and there are no more reports.
async fn ends(addr: SocketAddr, us: &Tenant, campaign: &str) -> Value {
    let began = Instant::now();
    while record(addr, us, campaign).await["status"] != "finished" {
        let now = record(addr, us, campaign).await;
        assert!(began.elapsed() < PATIENCE, "it does not end: {now}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut before = Value::Null;
    loop {
        let now = record(addr, us, campaign).await;
        if now == before {
            return now;
        }
        before = now;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn messages(addr: SocketAddr, us: &Tenant) -> Vec<Value> {
    let mut all = Vec::new();
    for page in 1.. {
        let path = format!("/api/v1/messages?limit=100&page={page}");
        let answer = Request::new("GET", path).bearer(&us.key).send(addr).await;
        answer.expect(200);
        let items = answer.items();
        if items.is_empty() {
            break;
        }
        all.extend(items);
    }
    all
}

/// The references in the calls to the simulated gateway, according to the log.
fn provider_calls(log: &str) -> Vec<String> {
    let of_calls = log.lines().filter(|line| line.contains("recado::simulated"));
    let after = of_calls.filter_map(|line| line.split("reference").nth(1));
    after
        .map(|rest| {
            let id = rest.trim_start_matches(|c: char| !c.is_ascii_hexdigit());
            id.chars().take_while(|c| c.is_ascii_hexdigit() || *c == '-').collect()
        })
        .collect()
}

/// The different values of one field.
fn distinct<'a>(all: impl IntoIterator<Item = &'a Value>, field: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for one in all {
        assert!(seen.insert(text(&one[field])), "{field} twice: {one}");
    }
    seen
}

/// The outcome that the digits of a phone select.
fn digits(recipient: &Value) -> String {
    let phone = text(&recipient["phone"]);
    phone[phone.len() - 4..].to_owned()
}

/// The greatest number of messages created within one second.
fn busiest_second(messages: &[Value]) -> usize {
    let mut times: Vec<f64> = messages
        .iter()
        .map(|one| {
            let time = text(&one["created_at"]);
            let part = |from: usize, to: usize| time[from..to].parse::<f64>().expect("a number");
            part(8, 10) * 86_400.0 + part(11, 13) * 3_600.0 + part(14, 16) * 60.0 + part(17, 23)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (mut most, mut from) = (0, 0);
    for (to, time) in times.iter().enumerate() {
        while time - times[from] >= 1.0 {
            from += 1;
        }
        most = most.max(to - from + 1);
    }
    most
}

/// There is one debit for each message, and one refund for each message that was certainly not
/// sent.
fn check_ledger(ledger: &Ledger, campaign: &str, recipients: &[Value]) {
    let written: BTreeSet<String> = recipients
        .iter()
        .filter(|one| one["message_id"] != Value::Null)
        .map(|one| text(&one["contact_id"]))
        .collect();
    let debits = ledger.of("debit");
    assert_eq!(distinct(debits.iter().copied(), "contact_id"), written, "one debit a message");
    let of_contact: BTreeMap<String, String> = debits
        .iter()
        .map(|line| (text(&line["consumption_id"]), text(&line["contact_id"])))
        .collect();
    let refunds = ledger.of("refund");
    distinct(refunds.iter().copied(), "consumption_id");
    let refunded: BTreeSet<String> =
        refunds.iter().map(|line| of_contact[&text(&line["consumption_id"])].clone()).collect();
    let refused: BTreeSet<String> = recipients
        .iter()
        .filter(|one| one["error_code"] == "RECIPIENT_UNREACHABLE" && digits(one) == "0001")
        .map(|one| text(&one["contact_id"]))
        .collect();
    assert!(!refused.is_empty(), "some were refused");
    assert_eq!(refunded, refused, "what surely was not sent, and nothing else, is given back");
    for (lines, sign) in [(&debits, 1), (&refunds, -1)] {
        for line in lines {
            assert_eq!(line["campaign_id"], campaign, "{line}");
            assert_eq!(micros(&line["cost_brl"]), sign * PRICE, "{line}");
            assert_eq!(micros(&line["prosas"]), sign * 1_500_000, "{line}");
        }
    }
    let paid = i128::try_from(debits.len() - refunds.len()).expect("a small number");
    assert_eq!((ledger.cost, ledger.prosas), (paid * PRICE, paid * 1_500_000));
}

#[both_stores]
async fn killed_five_times_a_campaign_writes_to_nobody_twice_and_counts_exactly(kind: StoreKind) {
    let total = contacts();
    let database = Database::migrated(kind);
    let began = Instant::now();
    let (mut process, us, campaign) = filled(&database, total).await;
    println!("{kind:?}: filled with {total} after {:?}", began.elapsed());
    let path = format!("C/campaigns/{campaign}/start");
    let started = operator_at(process.addr, &us.id, "POST", &path, Value::Null).await;
    assert_eq!(started.expect(200)["counts"]["total"], total);
    let began = Instant::now();
    let mut calls = Vec::new();
    for kill in 1..=KILLS {
        let now = reaches(process.addr, &us, &campaign, total * kill / (KILLS + 1)).await;
        assert_eq!(now["status"], "running", "killed in the middle: {now}");
        println!("{kind:?}: {:?} at kill {kill} after {:?}", now["counts"], began.elapsed());
        calls.extend(provider_calls(&process.kill_and_read().await));
        process = Process::serve(&database, &[]).await;
    }
    let addr = process.addr;
    let ended = ends(addr, &us, &campaign).await;
    println!("{kind:?}: {:?} at the end after {:?}", ended["counts"], began.elapsed());

    let recipients = recipients_at(addr, &us, &campaign, "").await;
    let all: BTreeSet<String> = export_at(addr, &us.key, 100).await.into_iter().collect();
    assert_eq!(distinct(&recipients, "contact_id"), all, "each contact is a recipient once");
    assert_eq!(count(&ended, &["total"]), total);
    assert_eq!(count(&ended, &FINISHED), total, "nobody waits: {ended}");
    for status in FINISHED {
        let found = recipients.iter().filter(|one| one["status"] == status).count();
        assert_eq!(count(&ended, &[status]), found, "{status}");
    }

    let people = total - GROUPS;
    let skipped = GROUPS + 2 * people.div_ceil(EVERY) - usize::from(people % EVERY == 1);
    assert_eq!(count(&ended, &["skipped"]), skipped);
    let messages = messages(addr, &us).await;
    assert_eq!(messages.len(), total - skipped, "a message for everybody else");
    let written = distinct(&messages, "contact_id");
    let by_contact: BTreeMap<String, &Value> =
        messages.iter().map(|one| (text(&one["contact_id"]), one)).collect();
    let mut uncertain = 0;
    for one in &recipients {
        let contact = text(&one["contact_id"]);
        if one["status"] == "skipped" {
            assert!(!written.contains(&contact), "{one}");
            continue;
        }
        let message = by_contact[&contact];
        assert_eq!((&one["message_id"], &one["status"]), (&message["id"], &message["status"]));
        assert_eq!(message["sender_type"], "campaign");
        if one["status"] == "failed" {
            let is_uncertain = one["error_code"] == "DELIVERY_UNCERTAIN";
            let steered = ["0001", "0002", "0004"].contains(&digits(one).as_str());
            assert!(is_uncertain || steered, "nothing else fails: {one}");
            uncertain += usize::from(is_uncertain && digits(one) != "0002");
        }
    }
    println!("{kind:?}: {uncertain} are uncertain for the kills");
    assert!(uncertain > 0, "the kills met some on their way");
    println!("{kind:?}: {} in the busiest second", busiest_second(&messages));
    assert!(busiest_second(&messages) <= RATE * 5 / 4, "the rate holds");
    check_ledger(&ledger_at(addr, &us).await, &campaign, &recipients);

    calls.extend(provider_calls(&process.kill_and_read().await));
    let called: BTreeSet<&String> = calls.iter().collect();
    assert_eq!(called.len(), calls.len(), "a message was handed to the gateway twice");
    let ids = distinct(&messages, "id");
    assert!(called.iter().all(|id| ids.contains(*id)), "a call without a message");
    let certain = messages.iter().filter(|one| one["error_type"] != "delivery_uncertain");
    let unlogged: Vec<&Value> = certain.filter(|one| !called.contains(&text(&one["id"]))).collect();
    // Lines of a log that wait are lost with a killed process (R162); only a call gives these.
    let comes_of_a_call = |one: &Value| one["wamid"].is_string() || one["status"] == "failed";
    assert!(unlogged.iter().all(|one| comes_of_a_call(one)), "no call: {unlogged:?}");
    assert!(unlogged.len() <= KILLS * LINES_THAT_WAIT, "no line of many calls: {unlogged:?}");
    let events = database.events(&us.id).await;
    let sent = events.iter().filter(|one| one.event == "message.sent");
    let sent: Vec<&Value> = sent.map(|one| &one.data).collect();
    distinct(sent, "message_id");
}
