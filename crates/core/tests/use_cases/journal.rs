//! The pull journal: the company's events, oldest first, for receivers that were unreachable.

use recado_core::access::Caller;
use recado_core::events::{Journal, JournalRequest, NewestRequest};
use recado_core::ids::CompanyId;
use recado_core::query::Params;
use recado_core::{Error, Recado};
use recado_testkit::kit::body;
use serde_json::{Value, json};
use uuid::Uuid;

use super::messaging::Messaging;
use super::outbound::{Outbound, URL};
use super::{create_phone, refused};

fn request(params: &[(&str, &str)]) -> JournalRequest {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    JournalRequest::parse(&Params::new(params.collect())).unwrap()
}

async fn read(app: &Recado, caller: &Caller, params: &[(&str, &str)]) -> Journal {
    app.events().journal(caller, &request(params)).await.unwrap()
}

fn phones(journal: &Journal) -> Vec<String> {
    let entries = journal.entries.iter().map(|entry| serde_json::to_value(entry).unwrap());
    entries.map(|entry| entry["data"]["phone"].as_str().unwrap().to_owned()).collect()
}

async fn five() -> Outbound {
    let outbound = Outbound::new().await;
    for n in 1..=5 {
        outbound.advance(1);
        create_phone(&outbound.kit, &format!("+553499123000{n}")).await;
    }
    outbound
}

fn numbers(range: std::ops::RangeInclusive<u32>) -> Vec<String> {
    range.map(|n| format!("+553499123000{n}")).collect()
}

#[tokio::test]
async fn an_entry_is_the_envelope_of_a_delivery_without_the_delivery() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    create_phone(&outbound.kit, "+5534991230001").await;
    let (app, caller) = (&outbound.kit.app, &outbound.kit.caller);
    let journal = read(app, caller, &[]).await;
    let event = outbound.model.events(outbound.kit.company.id).pop().unwrap();
    let entry = serde_json::to_string(&journal.entries[0]).unwrap();
    let body = outbound.detail(outbound.only().await.id).await.body.unwrap();
    let body: Value = serde_json::from_str(&body).unwrap();
    let shown: Value = serde_json::from_str(&entry).unwrap();
    for field in ["event", "timestamp", "company_id", "data"] {
        assert_eq!(shown[field], body[field], "{field}");
    }
    assert_eq!(shown["event_id"], json!(event.id));
    assert!(entry.ends_with(&format!("\"data\":{}}}", event.data)), "byte for byte: {entry}");
}

/// 6.4.
#[tokio::test]
async fn events_come_oldest_first_and_each_once_over_all_parts() {
    let outbound = five().await;
    let (app, caller) = (&outbound.kit.app, &outbound.kit.caller);
    let first = read(app, caller, &[("limit", "2")]).await;
    assert_eq!((phones(&first), first.has_more, first.limit), (numbers(1..=2), true, 2));
    let second = read(app, caller, &[("limit", "2"), ("after", &first.position)]).await;
    assert_eq!((phones(&second), second.has_more), (numbers(3..=4), true));
    let last = read(app, caller, &[("limit", "2"), ("after", &second.position)]).await;
    assert_eq!((phones(&last), last.has_more), (numbers(5..=5), false));
    let nothing = read(app, caller, &[("after", &last.position)]).await;
    assert_eq!((nothing.entries.len(), nothing.has_more), (0, false));
    assert_eq!(nothing.position, last.position, "it stays as it was");
    create_phone(&outbound.kit, "+5534991230006").await;
    let next = read(app, caller, &[("after", &nothing.position)]).await;
    assert_eq!((phones(&next), next.has_more), (numbers(6..=6), false));
    // A position does not expire, and can be used again.
    let again = read(app, caller, &[("after", &first.position)]).await;
    assert_eq!(phones(&again), numbers(3..=6));
    let exact = read(app, caller, &[("limit", "6")]).await;
    assert!(!exact.has_more, "as many as were asked for are not more");
}

#[tokio::test]
async fn an_empty_journal_has_a_position_to_begin_with() {
    let outbound = Outbound::new().await;
    let (app, caller) = (&outbound.kit.app, &outbound.kit.caller);
    let empty = read(app, caller, &[]).await;
    assert_eq!((empty.entries.len(), empty.has_more), (0, false));
    create_phone(&outbound.kit, "+5534991230001").await;
    let next = read(app, caller, &[("after", &empty.position)]).await;
    assert_eq!(phones(&next), numbers(1..=1));
}

#[tokio::test]
async fn the_journal_can_be_narrowed_to_one_event() {
    let outbound = Outbound::new().await;
    let messaging = Messaging::on(outbound.kit.clone()).await;
    messaging.hear("m1", "5534991230001", "Oi").await;
    messaging.hear("m2", "5534991230001", "Tudo bem?").await;
    let (app, caller) = (&outbound.kit.app, &outbound.kit.caller);
    let all = read(app, caller, &[]).await;
    assert!(all.entries.len() > 2);
    let received = read(app, caller, &[("event", "message.received"), ("limit", "1")]).await;
    assert_eq!((received.entries.len(), received.has_more), (1, true));
    let after = [("event", "message.received"), ("after", received.position.as_str())];
    let rest = read(app, caller, &after).await;
    assert_eq!((rest.entries.len(), rest.has_more), (1, false));
    // The position is one of the whole journal.
    let other = [("event", "contact.created"), ("after", received.position.as_str())];
    let place = all.entries.iter().position(|e| e.event_id == received.entries[0].event_id);
    let later = all.entries[place.unwrap()..].iter();
    let created = later.filter(|e| e.event.as_str() == "contact.created").count();
    assert_eq!(read(app, caller, &other).await.entries.len(), created);
}

/// R58.
#[tokio::test]
async fn tests_of_webhooks_are_not_in_the_journal() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["*"]).await;
    outbound.kit.app.webhooks().test(outbound.kit.company.id, id).await.unwrap();
    let journal = read(&outbound.kit.app, &outbound.kit.caller, &[]).await;
    assert_eq!(journal.entries.len(), 0);
    let params = Params::new(vec![("event".to_owned(), "webhook.test".to_owned())]);
    assert!(JournalRequest::parse(&params).is_err());
}

/// R63.
#[tokio::test]
async fn a_position_is_good_for_the_company_that_it_was_given_to_and_unaltered() {
    let outbound = five().await;
    let (_, other) = outbound.kit.another_company("Outra").await;
    let position = read(&outbound.kit.app, &outbound.kit.caller, &[]).await.position;
    let foreign = read(&outbound.kit.app, &other, &[]).await.position;
    let mut bad = vec![foreign, String::new(), "0".to_owned(), "AAAA".repeat(8), "é".to_owned()];
    for at in 0..position.len() {
        let mut altered = position.clone().into_bytes();
        altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
        bad.push(String::from_utf8(altered).unwrap());
    }
    bad.push(format!("{position}A"));
    bad.push(position[1..].to_owned());
    for after in bad {
        let request = request(&[("after", &after)]);
        let outcome = outbound.kit.app.events().journal(&outbound.kit.caller, &request).await;
        match outcome {
            Err(Error::Rejected(_)) => {}
            Ok(journal) => assert_eq!(journal.position, position, "{after:?} was taken"),
            Err(other) => panic!("{after:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_journal_needs_its_scope() {
    let outbound = five().await;
    let (access, company) = (outbound.kit.app.access(), outbound.kit.company.id);
    for (scopes, allowed) in [(json!(["contacts:read"]), false), (json!(["events:read"]), true)] {
        let new = body(json!({ "name": "CRM", "scopes": scopes }));
        let key = access.create_key(company, &new).await.unwrap();
        let caller = access.authenticate(key.secret.expose()).await.unwrap();
        let outcome = outbound.kit.app.events().journal(&caller, &request(&[])).await;
        assert_eq!(outcome.is_ok(), allowed, "{scopes}");
        if !allowed {
            assert!(matches!(outcome, Err(Error::Denied(_))), "{outcome:?}");
        }
    }
}

#[tokio::test]
async fn another_companys_events_are_not_reported() {
    let outbound = five().await;
    let (_, other) = outbound.kit.another_company("Outra").await;
    assert_eq!(read(&outbound.kit.app, &other, &[]).await.entries.len(), 0);
    let refusal = outbound.kit.app.events().journal(&other, &request(&[("after", "x")])).await;
    assert_eq!(refused(refusal).0, "INVALID_PARAMETER");
}

#[tokio::test]
async fn a_person_sees_the_newest_events_first_and_pages_back() {
    let outbound = five().await;
    let (app, company) = (&outbound.kit.app, outbound.kit.company.id);
    let newest = async |params: &[(&str, &str)]| {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let request = NewestRequest::parse(&Params::new(params.collect())).unwrap();
        app.events().newest(company, &request).await
    };
    let first = newest(&[("limit", "2")]).await.unwrap();
    let reversed = |range| numbers(range).into_iter().rev().collect::<Vec<_>>();
    assert_eq!((phones(&first), first.has_more), (reversed(4..=5), true));
    let next = newest(&[("limit", "3"), ("before", &first.position)]).await.unwrap();
    assert_eq!((phones(&next), next.has_more), (reversed(1..=3), false));
    let other = newest(&[("event", "contact.opted_out")]).await.unwrap();
    assert_eq!(phones(&other), Vec::<String>::new());
    assert!(newest(&[("before", "x")]).await.is_err());
    let id = first.entries[0].event_id;
    let one = app.events().get(company, id).await.unwrap().unwrap();
    assert_eq!(one.event_id, id);
    let stranger = CompanyId::new(Uuid::max());
    assert!(app.events().get(stranger, id).await.unwrap().is_none());
}
