//! Webhooks of gateways are authenticated before they are parsed, and are parsed completely.

use recado_core::connections::{Connection, ConnectionSettings};
use recado_core::gateway::{ProviderWebhook, Providers, Received, WebhookRefused};
use serde_json::{Map, Value, json};

use super::case::unsigned;
use super::{ProviderCase, hostile};
use crate::Kit;

fn refused(answer: &Result<Vec<Received>, WebhookRefused>) -> bool {
    matches!(answer, Err(WebhookRefused::Unauthorized))
}

/// The case with its first event, if the gateway sends webhooks.
fn called(case: &ProviderCase) -> Option<(Connection, &Value)> {
    if !case.has_webhook() {
        let answer = case.provider.admit(&case.connection(), &unsigned(""));
        assert!(answer.is_err(), "a gateway that makes no calls admits one");
        return None;
    }
    Some((case.connection(), case.events.first().expect("a gateway with webhooks needs `event`")))
}

fn bytes(body: &Value) -> Vec<u8> {
    body.to_string().into_bytes()
}

/// A call is refused if the signature or token is missing, empty, made with other settings, or
/// given twice. This does not depend on the body.
pub async fn a_call_without_a_right_signature_or_token_is_refused(case: &ProviderCase) {
    let Some((connection, event)) = called(case) else { return };
    let right = case.signed(&connection.settings, bytes(event));
    assert!(case.take(&connection, &right).is_ok(), "a call that is signed is refused");
    assert!(refused(&case.take(&connection, &unsigned(bytes(event)))), "an unsigned call");
    assert!(refused(&case.take(&connection, &unsigned("{"))), "an unsigned call of no JSON");
    let mut others = Map::new();
    for setting in case.description().settings().iter().filter(|setting| setting.is_secret()) {
        others.insert(setting.name().to_owned(), json!("another secret"));
    }
    let others = ConnectionSettings::from_stored(connection.settings.merged(&others));
    let wrong = case.signed(&others, bytes(event));
    assert!(refused(&case.take(&connection, &wrong)), "a call that is signed with other secrets");
    let blank = |pairs: &[(String, String)]| {
        pairs.iter().map(|(name, _)| (name.clone(), String::new())).collect::<Vec<_>>()
    };
    let empty = ProviderWebhook {
        headers: blank(&right.headers),
        query: blank(&right.query),
        body: right.body.clone(),
    };
    assert!(refused(&case.take(&connection, &empty)), "an empty signature");
    let twice = |one: &[(String, String)], other: &[(String, String)]| [one, other].concat();
    let both = ProviderWebhook {
        headers: twice(&wrong.headers, &right.headers),
        query: twice(&wrong.query, &right.query),
        body: right.body.clone(),
    };
    assert!(refused(&case.take(&connection, &both)), "two signatures, one of them wrong");
}

/// A connection whose secret is missing or empty accepts no call, whatever the signature is.
pub async fn a_missing_secret_lets_nobody_in(case: &ProviderCase) {
    let Some((connection, event)) = called(case) else { return };
    for nothing in [Value::Null, json!("")] {
        let mut given = connection.settings.expose().clone();
        for setting in case.description().settings().iter().filter(|setting| setting.is_secret()) {
            match &nothing {
                Value::Null => given.remove(setting.name()),
                empty => given.insert(setting.name().to_owned(), empty.clone()),
            };
        }
        let settings = ConnectionSettings::from_stored(given);
        let open = case.connection_with(settings.clone());
        let webhook = case.signed(&settings, bytes(event));
        assert!(refused(&case.take(&open, &webhook)), "secret {nothing}: anybody may call");
        assert!(refused(&case.take(&open, &unsigned(bytes(event)))), "secret {nothing}: unsigned");
    }
}

/// The same call gives the same events, in order.
pub async fn a_call_reports_the_same_however_often_it_comes(case: &ProviderCase) {
    let Some((connection, _)) = called(case) else { return };
    for event in &case.events {
        let webhook = case.signed(&connection.settings, bytes(event));
        let first = case.take(&connection, &webhook).expect("it is signed");
        assert!(!first.is_empty(), "an event of the case tells nothing");
        for received in &first {
            assert!(received.event.is_ok(), "an event of the case cannot be read");
        }
        for _ in 0..2 {
            assert!(case.take(&connection, &webhook) == Ok(first.clone()), "it tells another");
        }
    }
}

/// With the whole core: a repeated call stores nothing more.
pub async fn a_repeated_call_is_stored_once(case: &ProviderCase) {
    let Some((_, event)) = called(case) else { return };
    let described = case.description();
    let kit = Kit::builder().providers(Providers::none().with(case.provider.clone())).build().await;
    let kind = described.kind().map_or("qr", |kind| kind.as_str());
    let body = json!({"kind": kind, "name": "Loja", "identifier": "551140028922",
        "gateway": described.name(), "settings": case.settings, "status": "connected"});
    let connections = kit.app.connections();
    let body = body.as_object().expect("an object");
    let made = connections.create(kit.company.id, body).await.expect("acceptable");
    let webhook = case.signed(&case.connection().settings, bytes(event));
    let head = ProviderWebhook { body: Vec::new(), ..webhook.clone() };
    let inbox = kit.app.inbox();
    let mut stored = Vec::new();
    for _ in 0..3 {
        let called = inbox.called(&made.id.to_string(), &head).await.expect("it is signed");
        let taken = inbox.take_webhook(&called, &webhook).await.expect("taken");
        assert_eq!(taken.refused, [""; 0], "an event of the case is refused");
        stored.push(taken.stored);
    }
    assert!(stored[0] > 0, "an event of the case stores nothing");
    assert_eq!(stored[1..], [0, 0], "a repeated event stores more");
}

/// A body that no gateway sends is refused as malformed, or gives events. The adapter never panics.
pub async fn a_hostile_body_is_refused_or_reported_and_nothing_else(case: &ProviderCase) {
    let Some((connection, _)) = called(case) else { return };
    for body in hostile::bodies() {
        let begins = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
        let webhook = case.signed(&connection.settings, body);
        match case.take(&connection, &webhook) {
            Ok(_) | Err(WebhookRefused::Malformed) => {}
            Err(other) => panic!("{begins}: {other}"),
        }
    }
}

/// One wrong value affects its own event only.
pub async fn a_wrong_value_in_a_body_never_stops_the_adapter(case: &ProviderCase) {
    let Some((connection, _)) = called(case) else { return };
    for event in &case.events {
        for spoilt in hostile::spoilt(event) {
            let webhook = case.signed(&connection.settings, bytes(&spoilt));
            match case.take(&connection, &webhook) {
                Ok(_) | Err(WebhookRefused::Malformed) => {}
                Err(other) => panic!("{spoilt}: {other}"),
            }
        }
    }
}

/// Several events in one call give the same events as separate calls. One that cannot be read does
/// not affect the others.
pub async fn events_in_one_call_are_reported_as_in_several(case: &ProviderCase) {
    let Some((connection, _)) = called(case) else { return };
    let Some(join) = case.join else { return };
    let tell = |body: &Value| {
        let webhook = case.signed(&connection.settings, bytes(body));
        case.take(&connection, &webhook).expect("it is signed")
    };
    assert!(case.events.len() > 1, "`joining` needs several events");
    let apart: Vec<Received> = case.events.iter().flat_map(&tell).collect();
    assert!(tell(&join(&case.events)) == apart, "one call tells other events than several");
    let (first, rest) = case.events.split_first().expect("there are several");
    let spoilt = hostile::spoilt(&rest[0]);
    for spoilt in spoilt.into_iter().filter(|spoilt| spoilt.is_object()) {
        let webhook =
            case.signed(&connection.settings, bytes(&join(&[first.clone(), spoilt.clone()])));
        let told = case.take(&connection, &webhook).expect("the first can be read");
        let own = tell(first);
        assert!(told.starts_with(&own), "{spoilt} costs another event");
    }
}
