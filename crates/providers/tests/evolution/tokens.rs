//! The token of the webhook's address: checked before anything is read.

use recado_core::gateway::{GatewayEvent, Incoming, Provider, ProviderWebhook, WebhookRefused};
use serde_json::{Value, json};

use crate::scene::{Scene, connection};

fn with_query(webhook: &ProviderWebhook, query: &[(&str, &str)]) -> ProviderWebhook {
    let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    ProviderWebhook { query: query.collect(), ..webhook.clone() }
}

/// The results for a webhook without its body, and for the whole webhook.
fn verdicts(scene: &Scene, webhook: &ProviderWebhook) -> [Result<(), WebhookRefused>; 2] {
    let head = ProviderWebhook { body: Vec::new(), ..webhook.clone() };
    [
        scene.provider.admit(&scene.connection, &head),
        scene.provider.receive(&scene.connection, webhook).map(drop),
    ]
}

#[test]
fn only_the_whole_token_once_is_taken() {
    let scene = Scene::new();
    let good = scene.fake.webhook("connection.update", json!({"state": "open"})).webhook();
    let token = good.query[0].1.clone();
    assert_eq!(verdicts(&scene, &good), [Ok(()), Ok(())]);
    let other_parameters = with_query(&good, &[("x", "1"), ("token", &token)]);
    assert_eq!(verdicts(&scene, &other_parameters), [Ok(()), Ok(())]);
    let wrong = format!("{token}x");
    for query in [
        &[][..],
        &[("token", "")],
        &[("token", &wrong)],
        &[("token", &token[1..])],
        &[("token", &token), ("token", &token)],
        &[("token", &wrong), ("token", &token)],
        &[("Token", &token)],
        &[("token", "T-1")],
    ] {
        let refused = Err(WebhookRefused::Unauthorized);
        assert_eq!(verdicts(&scene, &with_query(&good, query)), [refused; 2], "{query:?}");
    }
}

#[test]
fn a_plus_in_the_token_may_be_written_as_it_is() {
    let fake = Scene::new().fake;
    let mut settings = fake.settings();
    settings.insert("webhook_token".to_owned(), json!("a+b/c="));
    let scene = Scene { connection: connection(&settings), ..Scene::with(fake) };
    let good = scene.fake.webhook("connection.update", json!({"state": "open"})).webhook();
    for token in ["a+b/c=", "a b/c=", "a b/c=/messages-upsert"] {
        assert_eq!(verdicts(&scene, &with_query(&good, &[("token", token)])), [Ok(()), Ok(())]);
    }
    let wrong = with_query(&good, &[("token", "a%2Bb/c=")]);
    assert_eq!(verdicts(&scene, &wrong), [Err(WebhookRefused::Unauthorized); 2]);
}

#[test]
fn the_name_of_an_event_behind_the_token_is_passed_over() {
    let scene = Scene::new();
    let good = scene.fake.webhook("connection.update", json!({"state": "open"})).webhook();
    let token = good.query[0].1.clone();
    for name in ["messages-upsert", "connection-update", "call"] {
        let appended = format!("{token}/{name}");
        let webhook = with_query(&good, &[("token", &appended)]);
        assert_eq!(verdicts(&scene, &webhook), [Ok(()), Ok(())], "{name}");
    }
    let long = "x".repeat(65);
    for wrong in [
        format!("{token}/"),
        format!("{token}/{long}"),
        format!("{token}/MESSAGES"),
        format!("{token}/a/b"),
        format!("/{token}"),
        format!("x{token}/messages-upsert"),
        "/messages-upsert".to_owned(),
        format!("{token}-messages-upsert"),
    ] {
        let refused = Err(WebhookRefused::Unauthorized);
        let webhook = with_query(&good, &[("token", &wrong)]);
        assert_eq!(verdicts(&scene, &webhook), [refused; 2], "{wrong}");
    }
    let twice = format!("{token}/call");
    let webhook = with_query(&good, &[("token", &twice), ("token", &token)]);
    assert_eq!(verdicts(&scene, &webhook), [Err(WebhookRefused::Unauthorized); 2]);
}

#[test]
fn a_token_that_ends_like_the_name_of_an_event_is_whole() {
    let fake = Scene::new().fake;
    let mut settings = fake.settings();
    settings.insert("webhook_token".to_owned(), json!("secret/call"));
    let scene = Scene { connection: connection(&settings), ..Scene::with(fake) };
    let good = scene.fake.webhook("connection.update", json!({"state": "open"})).webhook();
    for (token, expected) in [
        ("secret/call", Ok(())),
        ("secret/call/messages-upsert", Ok(())),
        ("secret", Err(WebhookRefused::Unauthorized)),
    ] {
        let webhook = with_query(&good, &[("token", token)]);
        assert_eq!(verdicts(&scene, &webhook), [expected; 2], "{token}");
    }
}

#[test]
fn the_token_is_not_taken_from_a_header() {
    let scene = Scene::new();
    let good = scene.fake.webhook("connection.update", json!({"state": "open"})).webhook();
    let mut bare = with_query(&good, &[]);
    bare.headers.push(("authorization".to_owned(), format!("Bearer {}", good.query[0].1)));
    assert_eq!(verdicts(&scene, &bare), [Err(WebhookRefused::Unauthorized); 2]);
}

#[test]
fn another_connections_token_is_wrong() {
    let scene = Scene::new();
    let mut settings = scene.fake.settings();
    settings.insert("webhook_token".to_owned(), json!("another"));
    let other = connection(&settings);
    let webhook = scene.fake.webhook("connection.update", json!({"state": "open"})).webhook();
    let refused = scene.provider.receive(&other, &webhook).map(drop);
    assert_eq!(refused, Err(WebhookRefused::Unauthorized));
}

#[test]
fn nothing_is_read_before_the_token_is_verified() {
    let scene = Scene::new();
    let mut webhook = scene.fake.webhook("x", Value::Null).webhook();
    webhook.body = b"{ no json".to_vec();
    let whole = |webhook| scene.provider.receive(&scene.connection, webhook).map(drop);
    assert_eq!(whole(&webhook), Err(WebhookRefused::Malformed));
    assert_eq!(whole(&with_query(&webhook, &[])), Err(WebhookRefused::Unauthorized));
}

#[test]
fn an_envelope_without_an_event_or_of_another_instance_is_refused_as_an_event() {
    let scene = Scene::new();
    let whole = scene.fake.webhook("connection.update", json!({"state": "open"}));
    let mut envelope: Value = serde_json::from_slice(&whole.body).expect("JSON");
    for (name, value) in [
        ("instance", json!("loja2")),
        ("instance", json!("LOJA1")),
        ("instance", Value::Null),
        ("event", json!(7)),
    ] {
        let is_refused = |event: &Incoming| match name {
            "instance" => matches!(event, Ok(GatewayEvent::NotOurs(_))),
            _ => event.is_err(),
        };
        let before = envelope[name].take();
        envelope[name] = value;
        let changed = whole.clone().with_body(envelope.to_string());
        let reported = scene.receive(&changed);
        assert!(reported.len() == 1 && is_refused(&reported[0]), "{name}: {reported:?}");
        envelope[name] = before;
    }
    for body in ["[]", "null", "7", "\"x\"", "{}"] {
        let reported = scene.receive(&whole.clone().with_body(body));
        assert!(matches!(reported.as_slice(), [Err(_)]), "{body}: {reported:?}");
    }
}
