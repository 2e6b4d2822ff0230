//! The contents of a dispatch: its phone and its variables, in the body or in the query (4.10, D9,
//! D49).

use recado_core::dispatches::{AdmittedTemplate, Dispatched};
use recado_core::query::Params;
use serde_json::{Value, json};

use super::code;
use super::dispatches::{Outcome, PHONE, admit};
use super::shop::Shop;

/// A company with a template.
struct Counter {
    shop: Shop,
    admitted: AdmittedTemplate,
}

impl Counter {
    async fn with(text: &str) -> Self {
        let shop = Shop::new().await;
        let new = json!({ "name": "ola", "category": "UTILITY", "body": text });
        let made = shop.template(new).await;
        let admitted = admit(&shop, &made).await;
        Self { shop, admitted }
    }

    async fn send(&self, body: &Value, query: &[(&str, &str)]) -> Outcome {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let query = Params::new(query.iter().map(pair).collect());
        let body = body.to_string();
        self.shop.app().dispatches().send(&self.admitted, body.as_bytes(), &query).await
    }

    /// Dispatches a variable, in the body and in the query.
    async fn both(&self, value: &str) -> [Outcome; 2] {
        let body = json!({ "phone_number": PHONE, "variables": { "1": value } });
        let in_body = self.send(&body, &[]).await;
        // A window of its own.
        self.shop.advance(std::time::Duration::from_secs(600));
        let in_query = self.send(&json!({}), &[("phone", PHONE), ("v1", value)]).await;
        self.shop.advance(std::time::Duration::from_secs(600));
        [in_body, in_query]
    }

    async fn said(&self, sent: Dispatched) -> Value {
        let message = self.shop.messaging.newest().await;
        assert_eq!(message["id"], json!(sent.message_id));
        message["content"].clone()
    }
}

/// R101.
#[tokio::test]
async fn control_characters_and_overlong_values_are_refused_wherever_they_come_from() {
    let counter = Counter::with("Olá {{1}}").await;
    let long = "ã".repeat(4_097);
    for value in ["a\0b", "a\u{1b}[31m", "a\u{b}b", "a\u{7f}", "a\u{85}b", &long] {
        for outcome in counter.both(value).await {
            assert_eq!(code(outcome), "INVALID_PAYLOAD", "{value:?}");
        }
    }
    assert_eq!((counter.shop.calls(), counter.shop.events()), (0, Vec::new()));
}

#[tokio::test]
async fn newline_and_tab_pass() {
    let counter = Counter::with("Olá {{1}}").await;
    for outcome in counter.both("Ana\n\tLima").await {
        outcome.unwrap();
        assert_eq!(counter.shop.messaging.newest().await["content"], "Olá Ana\n\tLima");
    }
}

/// D9.
#[tokio::test]
async fn carriage_returns_are_newlines_wherever_they_come_from() {
    let counter = Counter::with("Olá {{1}}").await;
    for outcome in counter.both("Ana\r\nLima\rCruz").await {
        outcome.unwrap();
        assert_eq!(counter.shop.messaging.newest().await["content"], "Olá Ana\nLima\nCruz");
    }
}

/// D49, R80.
#[tokio::test]
async fn what_a_template_has_no_place_for_is_ignored_whatever_it_holds() {
    let counter = Counter::with("Olá {{1}}").await;
    let long = "a".repeat(5_000);
    let body = json!({
        "phone_number": PHONE,
        "variables": { "1": "Ana", "2": "a\0b", "3": long, "x": "\u{1b}" },
    });
    let sent = counter.send(&body, &[]).await.unwrap();
    assert_eq!(counter.said(sent).await, "Olá Ana");
    let query = [("phone", PHONE), ("v1", "Bia"), ("v2", "a\0b"), ("v3", &long), ("v01", "\r")];
    let sent = counter.send(&json!({}), &query).await.unwrap();
    assert_eq!(counter.said(sent).await, "Olá Bia");
}

/// R85.
#[tokio::test]
async fn a_text_may_have_4096_characters_once_it_is_filled_in() {
    let counter = Counter::with("Olá {{1}}").await;
    for (chars, is_sent) in [(4_092, true), (4_093, false)] {
        for outcome in counter.both(&"ã".repeat(chars)).await {
            assert_eq!(outcome.is_ok(), is_sent, "{chars}: {outcome:?}");
        }
    }
    let counter = Counter::with(&"{{1}}".repeat(200)).await;
    for (chars, is_sent) in [(20, true), (21, false), (4_096, false)] {
        let value = "a".repeat(chars);
        for outcome in counter.both(&value).await {
            match is_sent {
                true => assert!(outcome.is_ok(), "{outcome:?}"),
                false => assert_eq!(code(outcome), "INVALID_PAYLOAD", "{chars}"),
            }
        }
    }
    assert_eq!(counter.shop.calls(), 2);
}

#[tokio::test]
async fn the_phone_of_the_query_does_not_matter_where_the_body_has_one() {
    let counter = Counter::with("Olá").await;
    let body = json!({ "phone_number": PHONE });
    let twice = [("phone", "1"), ("phone", "2"), ("phone_number", "3"), ("phone_number", "4")];
    let sent = counter.send(&body, &twice).await.unwrap();
    let contact = super::shown(counter.shop.kit(), sent.contact_id).await;
    assert_eq!(contact["phone"], PHONE);
    counter.shop.advance(std::time::Duration::from_secs(600));
    // `phone` does not matter either where there is a `phone_number`.
    let named = [("phone_number", PHONE), ("phone", "1"), ("phone", "2")];
    counter.send(&json!({}), &named).await.unwrap();
    assert_eq!(code(counter.send(&json!({}), &twice).await), "INVALID_PAYLOAD");
}

/// R101.
#[tokio::test]
async fn a_position_is_written_without_a_sign_or_leading_zeros() {
    let counter = Counter::with("Olá {{1}}").await;
    for key in ["01", "+1", "001", " 1", "1 ", "-1", "1.0", "１"] {
        let body = json!({ "phone_number": PHONE, "variables": { key: "Ana" } });
        assert_eq!(code(counter.send(&body, &[]).await), "INVALID_PAYLOAD", "{key:?}");
        let body = json!({ "phone_number": PHONE, "variables": { key: "Bia", "1": "Ana" } });
        let sent = counter.send(&body, &[]).await.unwrap();
        assert_eq!(counter.said(sent).await, "Olá Ana", "{key:?}");
        counter.shop.advance(std::time::Duration::from_secs(600));
    }
    for name in ["v01", "v+1", "v 1", "V1"] {
        let query = [("phone", PHONE), (name, "Ana")];
        assert_eq!(code(counter.send(&json!({}), &query).await), "INVALID_PAYLOAD", "{name:?}");
    }
}
