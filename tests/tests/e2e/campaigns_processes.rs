//! Campaigns with real processes: restarted, killed, and several on one Postgres: D66;
//! docs/operator-api.md.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use recado_tests::backend::{Database, TestServer};
use recado_tests::binary::Process;
use recado_tests::campaigns::{CAMPAIGNS, ledger_at, recipients_at};
use recado_tests::world::{Tenant, operator_at, tenant_at};
use recado_tests::{
    Campaigning, Request, Setup, StoreKind, both_stores, eventually, join_all, mobile, on_postgres,
    steered, text,
};
use serde_json::{Value, json};

/// The work of dead processes is taken over within this time, including the recovery of messages.
const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(18);

/// A company with a campaign that was not started.
struct Shop {
    us: Tenant,
    campaign: String,
}

impl Shop {
    /// A campaign to these phones at a rate.
    async fn open(addr: SocketAddr, phones: Vec<String>, rate: u32) -> Self {
        let us = tenant_at(addr, "Acme", "enterprise").await;
        let make = async |path: &str, body: Value| {
            text(&operator_at(addr, &us.id, "POST", path, body).await.expect(201)["id"])
        };
        let connection = json!({
            "kind": "official_cloud", "name": "c", "identifier": "1", "gateway": "simulated",
            "settings": {"delay_ms": 5},
        });
        make("C/connections", connection).await;
        let template =
            json!({"name": "t", "category": "UTILITY", "body": "Oi", "status": "APPROVED"});
        let template = make("C/templates", template).await;
        let list = make("C/lists", json!({"name": "l"})).await;
        let mut contacts = Vec::new();
        for phone in phones {
            contacts.push(make("C/contacts", json!({"phone": phone})).await);
        }
        let path = format!("C/lists/{list}/contacts");
        let body = json!({"contact_ids": contacts});
        operator_at(addr, &us.id, "POST", &path, body).await.expect(200);
        let campaign = json!({
            "name": "x", "template_id": template, "list_id": list, "messages_per_second": rate,
            "cost_brl_per_message": 1,
        });
        let campaign = make("C/campaigns", campaign).await;
        Self { us, campaign }
    }

    async fn act(&self, addr: SocketAddr, action: &str) -> Value {
        let path = format!("C/campaigns/{}/{action}", self.campaign);
        operator_at(addr, &self.us.id, "POST", &path, Value::Null).await.expect(200)
    }

    async fn campaign(&self, addr: SocketAddr) -> Value {
        let answer = Request::new("GET", CAMPAIGNS).bearer(&self.us.key).send(addr).await;
        answer.expect(200)[0].clone()
    }

    /// The number of processed recipients.
    async fn done(&self, addr: SocketAddr) -> u64 {
        let counts = self.campaign(addr).await["counts"].clone();
        let names = ["sent", "delivered", "read", "failed", "skipped"];
        names.iter().map(|name| counts[name].as_u64().expect("a number")).sum()
    }

    /// Waits until this many recipients were processed.
    async fn reaches(&self, addr: SocketAddr, count: u64) {
        eventually(&format!("{count} had their turn"), || async {
            (self.done(addr).await >= count).then_some(())
        })
        .await;
    }

    /// Makes it as fast as it can be.
    async fn hurry(&self, addr: SocketAddr) {
        let path = format!("C/campaigns/{}", self.campaign);
        let fast = json!({ "messages_per_second": 1_000 });
        operator_at(addr, &self.us.id, "PATCH", &path, fast).await.expect(200);
    }

    async fn finishes(&self, addr: SocketAddr) {
        let began = Instant::now();
        while self.campaign(addr).await["status"] != "finished" {
            let record = self.campaign(addr).await;
            assert!(began.elapsed() < Duration::from_secs(180), "it does not end: {record}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Asserts that every contact got exactly one message and one debit. Returns the times, in
    /// order.
    async fn each_got_one(&self, addr: SocketAddr, count: usize) -> Vec<String> {
        let recipients = recipients_at(addr, &self.us, &self.campaign, "").await;
        assert_eq!(recipients.len(), count);
        let mut all = Vec::new();
        for page in 1.. {
            let path = format!("/api/v1/messages?limit=100&page={page}");
            let answer = Request::new("GET", path).bearer(&self.us.key).send(addr).await;
            answer.expect(200);
            if answer.items().is_empty() {
                break;
            }
            all.extend(answer.items());
        }
        assert_eq!(all.len(), count, "one message for each");
        let of: BTreeSet<String> = all.iter().map(|one| text(&one["contact_id"])).collect();
        let named: BTreeSet<String> =
            recipients.iter().map(|one| text(&one["contact_id"])).collect();
        assert_eq!(of.len(), count, "no contact twice");
        assert_eq!(of, named);
        let ledger = ledger_at(addr, &self.us).await;
        assert_eq!(ledger.of("debit").len(), count, "one debit for each");
        let mut times: Vec<String> = all.iter().map(|one| text(&one["created_at"])).collect();
        times.sort();
        times
    }
}

fn phones(count: u32) -> Vec<String> {
    (0..count).map(mobile).collect()
}

/// The number of calls to the simulated gateway in the log of a process.
fn calls(log: &str) -> usize {
    log.lines().filter(|line| line.contains("recado::simulated")).count()
}

/// The seconds of a time of the API, with fraction, counted from the full hour.
fn seconds(time: &str) -> f64 {
    let (hours, rest) = time[11..23].split_once(':').expect("a time");
    let (minutes, seconds) = rest.split_once(':').expect("a time");
    let number = |text: &str| text.parse::<f64>().expect("a number");
    number(hours) * 3_600.0 + number(minutes) * 60.0 + number(seconds)
}

#[both_stores]
async fn stopped_and_started_again_it_goes_on_by_itself(kind: StoreKind) {
    let database = Database::migrated(kind);
    let mut process = Process::serve(&database, &[]).await;
    let shop = Shop::open(process.addr, phones(60), 20).await;
    shop.act(process.addr, "start").await;
    for count in [10, 30] {
        shop.reaches(process.addr, count).await;
        process.signal("TERM").await;
        let (status, output) = process.ended().await;
        assert_eq!(status.code(), Some(0), "{output}");
        process = Process::serve(&database, &[]).await;
    }
    shop.finishes(process.addr).await;
    shop.each_got_one(process.addr, 60).await;
    let counts = shop.campaign(process.addr).await["counts"].clone();
    assert_eq!(counts["failed"], 0, "a stop finishes what is on its way: {counts}");
}

#[both_stores]
async fn messages_go_out_evenly_at_the_rate_it_says(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let shop = Shop::open(process.addr, phones(41), 20).await;
    shop.act(process.addr, "start").await;
    shop.finishes(process.addr).await;
    let times = shop.each_got_one(process.addr, 41).await;
    let moments: Vec<f64> = times.iter().map(|time| seconds(time)).collect();
    let took = (moments[40] - moments[0] + 86_400.0) % 86_400.0;
    // Two at once at the beginning, then 39 at 20 per second.
    assert!(took >= 1.85, "41 messages at 20 a second in {took} s");
    assert!(took < 30.0, "41 messages at 20 a second in {took} s");
    let started = seconds(&text(&shop.campaign(process.addr).await["started_at"]));
    for (number, moment) in (0_i32..).zip(&moments) {
        let took = (moment - started + 86_400.0) % 86_400.0;
        let least = f64::from(number - 1) / 20.0 - 0.005;
        assert!(took >= least, "{number} messages before one after {took} s: {times:?}");
    }
    // A message may be written down somewhat later than it had its turn.
    for window in moments.windows(24) {
        let took = (window[23] - window[0] + 86_400.0) % 86_400.0;
        assert!(took >= 0.6, "24 messages within {took} s: {times:?}");
    }
}

#[both_stores]
async fn paused_it_stays_paused_through_a_restart(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let shop = Shop::open(process.addr, phones(40), 1).await;
    shop.act(process.addr, "start").await;
    shop.reaches(process.addr, 3).await;
    shop.act(process.addr, "pause").await;
    process.kill().await;
    let process = Process::serve(&database, &[]).await;
    // What was on its way is settled.
    eventually("nothing is being sent", || async {
        let all = recipients_at(process.addr, &shop.us, &shop.campaign, "").await;
        all.iter().all(|one| one["status"] != "sending").then_some(())
    })
    .await;
    let quiet = shop.done(process.addr).await;
    // Longer than the interval at which the runner polls for running campaigns.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(shop.campaign(process.addr).await["status"], "paused");
    let done = shop.done(process.addr).await;
    assert_eq!(done, quiet, "nothing begins");
    shop.hurry(process.addr).await;
    shop.act(process.addr, "start").await;
    shop.finishes(process.addr).await;
    shop.each_got_one(process.addr, 40).await;
}

#[both_stores]
async fn a_connection_that_reaches_nobody_pauses_it_before_all_have_failed(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let lost = (0..40).map(|n| steered(10_000 * n + 3)).collect();
    let shop = Shop::open(process.addr, lost, 5).await;
    shop.act(process.addr, "start").await;
    eventually("it pauses", || async {
        (shop.campaign(process.addr).await["status"] == "paused").then_some(())
    })
    .await;
    let path = format!("C/campaigns/{}", shop.campaign);
    let record = operator_at(process.addr, &shop.us.id, "GET", &path, Value::Null).await;
    assert_eq!(record.expect(200)["pause_reason"], "connection");
    // What was being sent when it was paused ends, too.
    let recipients = eventually("nothing is being sent", || async {
        let all = recipients_at(process.addr, &shop.us, &shop.campaign, "").await;
        all.iter().all(|one| one["status"] != "sending").then_some(all)
    })
    .await;
    let failed: Vec<&Value> = recipients.iter().filter(|one| one["status"] == "failed").collect();
    assert!((5..=15).contains(&failed.len()), "{}", failed.len());
    assert!(failed.iter().all(|one| one["error_code"] == "CONNECTION_OFFLINE"), "{failed:?}");
    let waiting = recipients.iter().filter(|one| one["status"] == "waiting").count();
    assert_eq!(waiting + failed.len(), 40);
    assert_eq!(ledger_at(process.addr, &shop.us).await.cost, 0, "all of it was given back");
}

#[on_postgres]
async fn two_processes_send_to_each_contact_once(kind: StoreKind) {
    let database = Database::migrated(kind);
    let processes = [Process::serve(&database, &[]).await, Process::serve(&database, &[]).await];
    let addr = processes[0].addr;
    let shop = Shop::open(addr, phones(300), 1_000).await;
    // Started repeatedly at both processes at the same time.
    let starts = (0..10).map(|n| shop.act(processes[n % 2].addr, "start"));
    let started = join_all(starts.collect()).await;
    let times: BTreeSet<String> =
        started.iter().map(|record| text(&record["started_at"])).collect();
    assert_eq!(times.len(), 1, "it was started once: {times:?}");
    shop.finishes(addr).await;
    shop.each_got_one(addr, 300).await;
    let mut calls_made = 0;
    for process in processes {
        calls_made += calls(&process.kill_and_read().await);
    }
    assert_eq!(calls_made, 300, "one call of the gateway for each");
}

#[on_postgres]
async fn the_campaign_of_a_killed_process_is_taken_over(kind: StoreKind) {
    let database = Database::migrated(kind);
    let processes = [Process::serve(&database, &[]).await, Process::serve(&database, &[]).await];
    let shop = Shop::open(processes[0].addr, phones(200), 5).await;
    shop.act(processes[0].addr, "start").await;
    shop.reaches(processes[0].addr, 10).await;
    let [first, second] = processes;
    let (dying, living) =
        if calls(&first.output()) > 0 { (first, second) } else { (second, first) };
    assert_eq!(calls(&living.output()), 0, "one of them runs it");
    dying.kill().await;
    let killed = Instant::now();
    eventually("the other one goes on", || async { (calls(&living.output()) > 0).then_some(()) })
        .await;
    assert!(killed.elapsed() < TAKEN_OVER_WITHIN, "{:?}", killed.elapsed());
    shop.hurry(living.addr).await;
    shop.finishes(living.addr).await;
    shop.each_got_one(living.addr, 200).await;
}

#[on_postgres]
async fn two_that_run_the_same_campaign_at_once_repeat_nothing(world: Campaigning) {
    let setup =
        Setup { clock: Some(world.server.clock.clone()), no_background: true, ..Setup::default() };
    let other = TestServer::start(&world.database, setup).await;
    let (id, contacts) = world.campaign_to(60, json!({"cost_brl_per_message": 1})).await;
    world.start(&id).await;
    for _ in 0..100 {
        tokio::join!(world.drain(), other.drain_campaigns());
        if world.record(&id).await["status"] == "finished" {
            break;
        }
        world.advance(Duration::from_millis(500));
    }
    assert_eq!(world.record(&id).await["status"], "finished");
    let recipients = world.recipients(&id).await;
    assert!(recipients.iter().all(|one| one["status"] == "sent"), "{recipients:?}");
    let messages: BTreeSet<String> =
        recipients.iter().map(|one| text(&one["message_id"])).collect();
    assert_eq!(messages.len(), 60);
    for contact in &contacts {
        assert_eq!(world.messages_of(contact).await.len(), 1);
    }
    assert_eq!(world.ledger().await.cost, 60_000_000);
}
