//! Signatures and the rotation of secrets: 6.2, D56.

use std::time::Duration;

use recado_tests::{Hook, Hooks, Received, Reply, both_stores, keys, phone, text};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const SIGNATURE: &str = "x-service-signature";
const PREVIOUS: &str = "x-service-signature-previous";
const NEW: &str = "a secret that came second";
async fn rotate(hooks: &Hooks, hook: &Hook, body: Value) -> Value {
    let path = format!("C/webhooks/{}/rotate-secret", hook.id);
    hooks.operator("POST", &path, body).await.expect(200)
}

/// Makes an event, and returns the last request for it.
async fn next(hooks: &Hooks, n: u32) -> Received {
    hooks.create(json!({"phone": phone(n)})).await;
    hooks.drain().await;
    hooks.receiver.to("/a").pop().expect("a request")
}

#[both_stores]
async fn the_raw_body_is_signed_whatever_characters_it_holds(hooks: Hooks) {
    let hook = hooks.hook("/a", &["contact.created"]).await;
    for (n, name) in (0..).zip(["Zé da Conceição", "名前 🦜 \"quoted\"", "a\\b/c\u{2028}<é>"])
    {
        hooks.create(json!({"phone": phone(n), "name": name})).await;
        hooks.drain().await;
        let request = hooks.receiver.to("/a").pop().expect("a request");
        assert_eq!(request.data()["name"], name);
        assert!(request.is_signed(SIGNATURE, &hook.secret), "{request:?}");
        assert!(!request.is_signed(SIGNATURE, NEW), "only this secret does it");
        assert_eq!(request.header(PREVIOUS), None);
    }
}

#[both_stores]
async fn a_given_secret_signs_as_it_is(hooks: Hooks) {
    let more = json!({"secret": NEW});
    hooks.hook_with(&hooks.us, "/a", &["*"], more).await;
    assert!(next(&hooks, 1).await.is_signed(SIGNATURE, NEW));
}

#[both_stores]
async fn after_a_rotation_both_secrets_sign_for_24_hours(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    let rotated = rotate(&hooks, &hook, json!({"secret": NEW})).await;
    assert_eq!(rotated["secret"], NEW);
    assert_eq!(rotated["previous_secret_until"], hooks.time_in(86_400_000));
    for (n, wait) in (0..).zip([Duration::ZERO, DAY - Duration::from_millis(1)]) {
        hooks.advance(wait);
        let request = next(&hooks, n).await;
        assert!(request.is_signed(SIGNATURE, NEW));
        assert!(request.is_signed(PREVIOUS, &hook.secret));
    }
    hooks.advance(Duration::from_millis(1));
    let request = next(&hooks, 9).await;
    assert!(request.is_signed(SIGNATURE, NEW));
    assert_eq!(request.header(PREVIOUS), None);
    let shown = hooks.operator_get(&format!("C/webhooks/{}", hook.id)).await;
    assert_eq!(shown["previous_secret_until"], Value::Null);
}

/// R76.
#[both_stores]
async fn a_rotation_makes_a_secret_where_none_is_given_and_shows_it_this_once(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    for body in [Value::Null, json!({})] {
        let rotated = rotate(&hooks, &hook, body).await;
        let secret = text(&rotated["secret"]);
        assert!(secret.starts_with("whsec_") && secret.len() == 49, "{secret}");
        assert_ne!(secret, hook.secret);
        let shown = hooks.operator_get(&format!("C/webhooks/{}", hook.id)).await;
        assert!(!keys(&shown).contains(&"secret".to_owned()));
        assert!(!shown.to_string().contains("whsec_"));
    }
}

#[both_stores]
async fn the_headers_of_standard_webhooks_are_there_for_those_who_opt_in(hooks: Hooks) {
    let hook = hooks.hook("/a", &["*"]).await;
    let without = next(&hooks, 1).await;
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        assert_eq!(without.header(name), None);
    }
    let shown = hooks.change_hook(&hook, json!({"standard_headers": true})).await;
    assert_eq!(shown["standard_headers"], true);
    hooks.receiver.then("/a", Reply::status(500));
    let request = next(&hooks, 2).await;
    assert_eq!(request.header("webhook-id"), Some(request.delivery().as_str()));
    let now = hooks.server.clock.now().millis() / 1_000;
    assert_eq!(request.header("webhook-timestamp"), Some(now.to_string().as_str()));
    assert_eq!(request.has_standard_signatures(&hook.secret), [true, true]);
    assert!(request.is_signed(SIGNATURE, &hook.secret), "ours are there beside them");
    let rotated = rotate(&hooks, &hook, Value::Null).await;
    hooks.pass(Duration::from_secs(30)).await;
    let retry = hooks.receiver.to("/a").pop().expect("a request");
    let then = (now + 30).to_string();
    assert_eq!(retry.header("webhook-timestamp"), Some(then.as_str()), "that of the attempt");
    assert_eq!(retry.header("webhook-id"), request.header("webhook-id"));
    assert_eq!(retry.has_standard_signatures(&text(&rotated["secret"])), [true, true]);
    assert_eq!(retry.has_standard_signatures(&hook.secret), [true, true], "both sign");
    hooks.advance(DAY);
    let later = next(&hooks, 3).await;
    assert_eq!(later.has_standard_signatures(&hook.secret), [false, false]);
    assert_eq!(later.has_standard_signatures(&text(&rotated["secret"])), [true, true]);
}
