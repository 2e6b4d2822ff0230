//! Trials of inbound endpoints, and their last calls (R437).

use std::time::Duration;

use recado_core::Error;
use recado_core::ids::CompanyId;
use recado_core::inbound::{CallOutcome, TrialError, UpsertAction};
use serde_json::{Value, json};
use uuid::Uuid;

use super::inbound::{Hook, PHONE};
use super::shop::client;
use super::{code, shown};

/// R437.
#[tokio::test]
async fn a_trial_says_what_a_call_would_do_and_writes_nothing() {
    let hook = Hook::new().await;
    let (app, company) = (hook.shop.app(), hook.shop.kit().company.id);
    let id = app.inbound().all(company).await.unwrap()[0].id;
    let known = hook.post(json!({ "phone": PHONE, "name": "Ana" })).await;
    let before = shown(hook.shop.kit(), known.contact_id).await;
    let events = hook.shop.events();

    let body = json!({ "phone": PHONE, "name": "Bia", "plan": "gold", "cpf": "1" }).to_string();
    let trial = app.inbound().trial(company, id, None, body.as_bytes()).await.unwrap();
    assert_eq!(trial.found["first_name"], "Bia");
    assert_eq!(
        (trial.would.action, trial.would.contact_id),
        (UpsertAction::Updated, known.contact_id)
    );
    assert_eq!(trial.would.new_pending_definitions[0].slug, "plan");
    assert_eq!(trial.would.warnings[0].field, "cpf");
    let body = json!({ "p": "34991230002" }).to_string();
    let other = json!({ "phone": "$.p" });
    let trial = app.inbound().trial(company, id, Some(&other), body.as_bytes()).await.unwrap();
    assert_eq!(trial.would.action, UpsertAction::Created);

    assert_eq!(shown(hook.shop.kit(), known.contact_id).await, before);
    assert_eq!(hook.fields().await, Vec::<Value>::new());
    assert_eq!(hook.shop.events(), events);
    assert_eq!(app.inbound().recent_calls(id).len(), 1, "a trial is no call");
}

/// R437.
#[tokio::test]
async fn a_trial_is_refused_as_the_call_would_be_and_names_what_is_wrong_with_the_mapping() {
    let hook = Hook::new().await;
    let (app, company) = (hook.shop.app(), hook.shop.kit().company.id);
    let id = app.inbound().all(company).await.unwrap()[0].id;
    let inbound = app.inbound();
    let refused = async |mapping: Option<Value>, body: &str| {
        code(inbound.trial(company, id, mapping.as_ref(), body.as_bytes()).await)
    };
    assert_eq!(refused(None, "{").await, "INVALID_PAYLOAD");
    assert_eq!(refused(None, "{}").await, "MISSING_PHONE");
    assert_eq!(refused(Some(json!({ "phone": "$" })), "{}").await, "MAPPING_FAILED");
    let wrong = json!({ "phone": "$[" });
    let error = inbound.trial(company, id, Some(&wrong), b"{}").await.unwrap_err();
    let Error::Rejected(TrialError::Invalid(problems)) = error else { panic!("{error:?}") };
    assert!(format!("{problems:?}").contains("variable_mapping"));
    let foreign = inbound.trial(CompanyId::new(Uuid::max()), id, None, b"{}").await;
    assert_eq!(code(foreign), "NOT_FOUND");
}

/// R437.
#[tokio::test]
async fn the_last_calls_of_an_endpoint_are_listed_newest_first_without_their_bodies() {
    let hook = Hook::new().await;
    let (app, company) = (hook.shop.app(), hook.shop.kit().company.id);
    let id = app.inbound().all(company).await.unwrap()[0].id;
    let made = hook.post(json!({ "phone": PHONE, "name": "Ana" })).await;
    hook.shop.advance(Duration::from_secs(1));
    assert_eq!(hook.refused(br#"{"name": "Bia"}"#).await, "MISSING_PHONE");
    hook.shop.advance(Duration::from_secs(1));
    for _ in 0..2 {
        let refused = app.inbound().admit("site", client(2), &[b"wrong"]).await;
        assert_eq!(code(refused), "INVALID_SECRET");
    }
    let calls = app.inbound().recent_calls(id);
    let outcomes: Vec<(u64, String)> =
        calls.iter().map(|call| (call.times, format!("{:?}", call.outcome))).collect();
    assert_eq!(calls.len(), 3, "{outcomes:?}");
    assert!(outcomes[0].0 == 2 && outcomes[0].1.contains("InvalidSecret"), "{outcomes:?}");
    assert!(outcomes[1].1.contains("MissingPhone"), "{outcomes:?}");
    let created =
        CallOutcome::Accepted { action: UpsertAction::Created, contact_id: made.contact_id };
    assert_eq!(calls[2].outcome, created);
    assert!(!format!("{calls:?}").contains("Bia"));
}
