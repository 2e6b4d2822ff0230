//! A campaign that runs while servers are killed.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use recado_tests::world::{Tenant, operator_at};
use recado_tests::{Request, digits, phone, text};
use serde_json::{Value, json};

/// How many contacts it is sent to.
const RECIPIENTS: u32 = 200;
/// How many of them each second.
const RATE: u32 = 10;
/// Numbers that no other contact has.
const FIRST: u32 = 15_000_000;

/// A campaign that was started.
#[derive(Debug)]
pub(crate) struct Campaign(String);

/// Creates contacts, a list of them, a template, a connection and a campaign, and starts it.
pub(crate) async fn start(addr: SocketAddr, tenant: &Tenant, settings: Value) -> Campaign {
    let make = async |path: &str, body, status| {
        operator_at(addr, &tenant.id, "POST", path, body).await.expect(status)
    };
    let connection = json!({"kind": "official_cloud", "name": "d", "identifier": "551140028923",
        "gateway": "cloud_api", "status": "connected", "settings": settings});
    make("C/connections", connection, 201).await;
    let mut contacts = Vec::new();
    for n in 0..RECIPIENTS {
        let contact = make("C/contacts", json!({"phone": phone(FIRST + n)}), 201).await;
        contacts.push(text(&contact["id"]));
    }
    let list = text(&make("C/lists", json!({"name": "all"}), 201).await["id"]);
    make(&format!("C/lists/{list}/contacts"), json!({"contact_ids": contacts}), 200).await;
    let template = json!({"name": "promo", "category": "MARKETING", "body": "Novidades",
        "status": "APPROVED"});
    let template = text(&make("C/templates", template, 201).await["id"]);
    let campaign = json!({"name": "c", "template_id": template, "list_id": list,
        "messages_per_second": RATE});
    let campaign = text(&make("C/campaigns", campaign, 201).await["id"]);
    make(&format!("C/campaigns/{campaign}/start"), Value::Null, 200).await;
    Campaign(campaign)
}

impl Campaign {
    /// Its state.
    pub(crate) async fn status(&self, addr: SocketAddr, tenant: &Tenant) -> String {
        let path = format!("C/campaigns/{}", self.0);
        let shown = operator_at(addr, &tenant.id, "GET", &path, Value::Null).await.expect(200);
        text(&shown["status"])
    }

    /// The digits of each recipient's number with what became of it.
    pub(crate) async fn outcomes(&self, addr: SocketAddr, tenant: &Tenant) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        for page in 1..=RECIPIENTS.div_ceil(100) {
            let path = format!("/api/v1/campaigns/{}/recipients?limit=100&page={page}", self.0);
            let answer = Request::new("GET", path).bearer(&tenant.key).send(addr).await;
            answer.expect(200);
            let items = answer.items();
            all.extend(items.into_iter().map(|item| (digits(&text(&item["phone"])), item)));
        }
        assert_eq!(all.len(), RECIPIENTS as usize, "recipients are gone");
        all
    }
}

/// Recipients that were written to more than once, and those whose message is gone. One whose
/// message was on its way when its server was killed has failed with `DELIVERY_UNCERTAIN`, and one
/// whose message may not have been stored with `UNKNOWN`, without a call (R27). Of so many
/// recipients not all can have been on their way.
pub(crate) fn compare(
    outcomes: &[(String, Value)],
    written_to: &[String],
) -> (Vec<String>, Vec<String>) {
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for number in written_to {
        *calls.entry(number).or_default() += 1;
    }
    let twice = calls.iter().filter(|(_, count)| **count > 1).map(|(to, _)| (*to).to_owned());
    let is_good = |(number, outcome): &&(String, Value)| match outcome["status"].as_str() {
        Some("sent" | "delivered" | "read") => calls.contains_key(number.as_str()),
        Some("failed") => match outcome["error_code"].as_str() {
            Some("DELIVERY_UNCERTAIN") => true,
            Some("UNKNOWN") => !calls.contains_key(number.as_str()),
            _ => false,
        },
        _ => false,
    };
    let gone = outcomes.iter().filter(|one| !is_good(one)).map(|(to, is)| format!("{to}: {is}"));
    let mut gone: Vec<String> = gone.collect();
    if !outcomes.iter().any(|(_, outcome)| outcome["status"] != "failed") {
        gone.push(format!("none of {} was sent to", outcomes.len()));
    }
    (twice.collect(), gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R27.
    #[test]
    fn a_recipient_is_written_to_once_or_its_message_is_uncertain_or_was_not_sent() {
        let of = |to: &str, outcome| (to.to_owned(), outcome);
        let outcomes = [
            of("1", json!({"status": "sent"})),
            of("2", json!({"status": "sent"})),
            of("3", json!({"status": "sent"})),
            of("4", json!({"status": "failed", "error_code": "DELIVERY_UNCERTAIN"})),
            of("5", json!({"status": "failed", "error_code": "OPTED_OUT"})),
            of("6", json!({"status": "waiting"})),
            of("7", json!({"status": "failed", "error_code": "UNKNOWN"})),
            of("8", json!({"status": "failed", "error_code": "UNKNOWN"})),
        ];
        let calls = ["1", "2", "2", "4", "8"].map(str::to_owned);
        let (twice, gone) = compare(&outcomes, &calls);
        assert_eq!(twice, ["2"]);
        let gone: Vec<&str> = gone.iter().filter_map(|text| text.split(':').next()).collect();
        assert_eq!(gone, ["3", "5", "6", "8"]);
        assert_eq!(compare(&[], &[]).1.len(), 1, "a campaign without recipients shows nothing");
        assert_eq!(compare(&outcomes[3..4], &calls[3..]).1.len(), 1, "nor one that never sent");
    }
}
