//! What is there after the kills, against what was acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use recado_tests::hooks::part;
use recado_tests::world::{export_at, operator_at};
use recado_tests::{Received, Request, text};
use serde_json::Value;

use crate::campaign::{self, Campaign};
use crate::load::{Acknowledged, Company};
use crate::order::{self, Told};
use crate::tally::Tally;

/// How long messages and deliveries of dead processes may take to end.
const SETTLED_WITHIN: Duration = Duration::from_secs(90);

/// What others have seen of the server.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The texts that the gateway was given.
    pub(crate) calls: Vec<String>,
    /// The numbers that the campaign's gateway was given, in digits.
    pub(crate) written_to: Vec<String>,
    /// What the receiver of events got, for each webhook.
    pub(crate) requests: Vec<Vec<Received>>,
}

async fn count(addr: SocketAddr, company: &Company, path: &str) -> u64 {
    let answer = match path.strip_prefix("C/") {
        Some(_) => operator_at(addr, &company.tenant.id, "GET", path, Value::Null).await,
        None => Request::new("GET", path).bearer(&company.tenant.key).send(addr).await,
    };
    answer.expect(200);
    answer.json()["pagination"]["total"].as_u64().expect("a number")
}

/// Waits until the campaign is over and no message and no delivery is pending.
pub(crate) async fn settled(addr: SocketAddr, company: &Company, campaign: &Campaign) {
    let began = Instant::now();
    loop {
        let status = campaign.status(addr, &company.tenant).await;
        let messages = count(addr, company, "/api/v1/messages?status=pending&limit=1").await;
        let deliveries = count(addr, company, "C/deliveries?status=pending&limit=1").await;
        if messages + deliveries == 0 && status == "finished" {
            return;
        }
        let late = began.elapsed() > SETTLED_WITHIN;
        assert!(
            !late,
            "{messages} messages and {deliveries} deliveries stay pending, the campaign {status}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Every message, by id.
async fn messages(addr: SocketAddr, company: &Company) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for page in 1.. {
        let path = format!("/api/v1/messages?limit=100&page={page}");
        let answer = Request::new("GET", path).bearer(&company.tenant.key).send(addr).await;
        answer.expect(200);
        let items = answer.items();
        if items.is_empty() {
            break;
        }
        all.extend(items.into_iter().map(|item| (text(&item["id"]), item)));
    }
    all
}

/// Prints what went wrong, a few times, and counts it.
struct Findings<'a>(&'a mut usize, &'static str);

impl Findings<'_> {
    fn add(&mut self, what: &str) {
        *self.0 += 1;
        if *self.0 <= 5 {
            println!("{}: {what}", self.1);
        }
    }
}

/// The ids that the events of each type are about. The same thing told by two deliveries counts as
/// untrue; a delivery that came again does not.
fn told(requests: &[Received], untrue: &mut Findings<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let mut deliveries = BTreeSet::new();
    let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for request in requests.iter().filter(|one| deliveries.insert(one.delivery())) {
        let (event, data) = (request.event(), request.data());
        let what = match event.as_str() {
            "contact.created" => &data["id"],
            "message.sent" | "message.received" => &data["message_id"],
            _ => continue,
        };
        if !told.entry(event.clone()).or_default().insert(text(what)) {
            untrue.add(&format!("{event} of {what} again"));
        }
    }
    told
}

/// What the server has after the kills.
#[derive(Debug, Default)]
struct Kept {
    /// The ids of contacts.
    contacts: BTreeSet<String>,
    /// Messages by id.
    messages: BTreeMap<String, Value>,
}

/// Counts what was acknowledged and is gone, and what was done twice or not told.
pub(crate) async fn check(
    addr: SocketAddr,
    company: &Company,
    campaign: &Campaign,
    acknowledged: &Acknowledged,
    seen: &Seen,
    tally: &mut Tally,
) {
    let contacts = export_at(addr, &company.tenant.key, 100).await.into_iter().collect();
    let kept = Kept { contacts, messages: messages(addr, company).await };
    tally.calls = seen.calls.len() + seen.written_to.len();
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for text in &seen.calls {
        *calls.entry(text).or_default() += 1;
    }
    let mut lost = Findings(&mut tally.lost, "lost");
    count_lost(&kept, acknowledged, &calls, &mut lost);
    let mut twice = Findings(&mut tally.twice, "a call made twice");
    for (text, count) in calls {
        (1..count).for_each(|_| twice.add(text));
    }
    let outcomes = campaign.outcomes(addr, &company.tenant).await;
    let (written_twice, gone) = campaign::compare(&outcomes, &seen.written_to);
    written_twice.iter().for_each(|to| twice.add(to));
    gone.iter().for_each(|recipient| lost.add(&format!("the recipient {recipient}")));
    let journal = journal(addr, company).await;
    for requests in &seen.requests {
        let mut untrue = Findings(&mut tally.untrue, "an event of nothing");
        let told = told(requests, &mut untrue);
        tally.events += told.values().map(BTreeSet::len).sum::<usize>();
        count_untrue(&kept, &told, &mut untrue);
        count_untold(&kept, acknowledged, &told, &mut Findings(&mut tally.untold, "not told"));
        let arrived: Vec<Told> =
            requests.iter().filter_map(|request| Told::of(&request.json())).collect();
        let mut late = Findings(&mut tally.late, "after something later");
        order::late(&journal, &arrived).iter().for_each(|told| late.add(&format!("{told:?}")));
    }
}

/// All that happened, in its order.
async fn journal(addr: SocketAddr, company: &Company) -> Vec<Told> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/v1/events?limit=100{after}");
        let answer = Request::new("GET", path).bearer(&company.journal_key).send(addr).await;
        let (entries, position) = part(&answer);
        all.extend(entries.iter().filter_map(Told::of));
        if entries.is_empty() {
            return all;
        }
        after = format!("&after={position}");
    }
}

/// Acknowledged, and not there or not done.
fn count_lost(
    kept: &Kept,
    acknowledged: &Acknowledged,
    calls: &BTreeMap<&str, usize>,
    lost: &mut Findings<'_>,
) {
    for id in acknowledged.contacts.iter().filter(|id| !kept.contacts.contains(*id)) {
        lost.add(&format!("the contact {id}"));
    }
    for (id, content) in &acknowledged.sends {
        let status = kept.messages.get(id).map(|message| text(&message["status"]));
        if !matches!(status.as_deref(), Some("sent" | "delivered" | "read")) {
            lost.add(&format!("the send {id}, which is {status:?}"));
        }
        if !calls.contains_key(content.as_str()) {
            lost.add(&format!("the call of the send {id}"));
        }
    }
    let received = kept.received();
    for id in acknowledged.received.iter().filter(|id| !received.contains_key(*id)) {
        lost.add(&format!("the gateway's message {id}"));
    }
}

/// Told, and not there.
fn count_untrue(kept: &Kept, told: &BTreeMap<String, BTreeSet<String>>, untrue: &mut Findings<'_>) {
    for (event, ids) in told {
        let is_there = |id: &String| match event.as_str() {
            "contact.created" => kept.contacts.contains(id),
            _ => kept.messages.contains_key(id),
        };
        for id in ids.iter().filter(|id| !is_there(id)) {
            untrue.add(&format!("{event} of {id}"));
        }
    }
}

/// Acknowledged, and not told.
fn count_untold(
    kept: &Kept,
    acknowledged: &Acknowledged,
    told: &BTreeMap<String, BTreeSet<String>>,
    untold: &mut Findings<'_>,
) {
    let nothing = BTreeSet::new();
    let of = |event: &str| told.get(event).unwrap_or(&nothing);
    for id in acknowledged.contacts.iter().filter(|id| !of("contact.created").contains(*id)) {
        untold.add(&format!("the contact {id}"));
    }
    for (id, _) in acknowledged.sends.iter().filter(|(id, _)| !of("message.sent").contains(id)) {
        untold.add(&format!("the send {id}"));
    }
    let received = kept.received();
    let ids = acknowledged.received.iter().filter_map(|id| received.get(id));
    for id in ids.filter(|id| !of("message.received").contains(**id)) {
        untold.add(&format!("the gateway's message {id}"));
    }
}

impl Kept {
    /// The ids of messages by those of the provider.
    fn received(&self) -> BTreeMap<String, &String> {
        self.messages.iter().map(|(id, message)| (text(&message["wamid"]), id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(texts: &[&str]) -> BTreeSet<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn acknowledged() -> Acknowledged {
        Acknowledged {
            contacts: vec!["c1".to_owned()],
            sends: vec![("m1".to_owned(), "oi".to_owned())],
            received: vec!["w2".to_owned()],
        }
    }

    fn kept() -> Kept {
        let message = |status: &str, wamid: &str| json!({"status": status, "wamid": wamid});
        let messages = [("m1", message("sent", "w1")), ("m2", message("received", "w2"))];
        let messages = messages.into_iter().map(|(id, message)| (id.to_owned(), message));
        Kept { contacts: texts(&["c1"]), messages: messages.collect() }
    }

    fn told() -> BTreeMap<String, BTreeSet<String>> {
        let of = |event: &str, ids| (event.to_owned(), texts(ids));
        BTreeMap::from([
            of("contact.created", &["c1"]),
            of("message.sent", &["m1"]),
            of("message.received", &["m2"]),
        ])
    }

    fn lost(kept: &Kept, calls: &[&'static str]) -> usize {
        let mut count = 0;
        let calls = calls.iter().map(|text| (*text, 1)).collect();
        count_lost(kept, &acknowledged(), &calls, &mut Findings(&mut count, "lost"));
        count
    }

    #[test]
    fn what_is_gone_or_was_not_called_is_lost() {
        assert_eq!(lost(&kept(), &["oi"]), 0);
        assert_eq!(lost(&kept(), &[]), 1, "the call");
        assert_eq!(lost(&Kept::default(), &["oi"]), 3, "all records");
        let mut failed = kept();
        failed.messages.insert("m1".to_owned(), json!({"status": "failed", "wamid": null}));
        assert_eq!(lost(&failed, &["oi"]), 1, "a send that was acknowledged has not failed");
    }

    #[test]
    fn what_was_not_told_and_what_was_told_of_nothing_is_counted() {
        let untold = |told: &_| {
            let mut count = 0;
            count_untold(&kept(), &acknowledged(), told, &mut Findings(&mut count, "not told"));
            count
        };
        assert_eq!((untold(&told()), untold(&BTreeMap::new())), (0, 3));
        let untrue = |kept: &_| {
            let mut count = 0;
            count_untrue(kept, &told(), &mut Findings(&mut count, "untrue"));
            count
        };
        assert_eq!((untrue(&kept()), untrue(&Kept::default())), (0, 3));
    }
}
