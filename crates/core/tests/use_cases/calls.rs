//! Calls with a key: done once, answered again (D37).

use std::sync::Arc;
use std::time::Duration;

use recado_core::Recado;
use recado_core::idempotency::{Begun, CallKey, KEEP, Ticket, hash_of};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::workers::LEASE;
use recado_testkit::{FaultyStore, Kit, MemoryStore, SeededIds, StoreFailure, StoreOp};

use super::{code, create_phone};

const OPERATION: &str = "POST /api/v1/send/message";

fn key(key: &str) -> CallKey {
    CallKey::parse(OPERATION, key).expect("the key is acceptable")
}

async fn begin(
    app: &Recado,
    company: CompanyId,
    key: CallKey,
    body: &str,
) -> Result<Begun, recado_core::Error<recado_core::idempotency::CallError>> {
    app.calls().begin(company, key, hash_of(body.as_bytes())).await
}

async fn ticket(kit: &Kit, name: &str) -> Ticket {
    match begin(&kit.app, kit.company.id, key(name), "{}").await {
        Ok(Begun::Fresh(ticket)) => ticket,
        other => panic!("a ticket was expected, not {other:?}"),
    }
}

async fn replayed(kit: &Kit, name: &str) -> Option<String> {
    match begin(&kit.app, kit.company.id, key(name), "{}").await {
        Ok(Begun::Replay(answer)) => Some(answer),
        Ok(Begun::Fresh(_)) => None,
        other => panic!("an answer was expected, not {other:?}"),
    }
}

async fn finish(kit: &Kit, ticket: Ticket, answer: Option<&str>, contact: Option<ContactId>) {
    let answer = answer.map(str::to_owned);
    kit.app.calls().finish(ticket, answer, contact).await.expect("the store works");
}

#[tokio::test]
async fn the_first_answer_is_given_again_for_a_day() {
    let kit = Kit::new().await;
    let first = ticket(&kit, "k").await;
    kit.clock.advance(Duration::from_secs(30));
    finish(&kit, first, Some("200 sent"), None).await;
    assert_eq!(replayed(&kit, "k").await.as_deref(), Some("200 sent"));
    kit.clock.advance(KEEP - Duration::from_secs(30) - Duration::from_millis(1));
    assert_eq!(replayed(&kit, "k").await.as_deref(), Some("200 sent"));
    kit.clock.advance(Duration::from_millis(1));
    let second = ticket(&kit, "k").await;
    finish(&kit, second, Some("200 again"), None).await;
    assert_eq!(replayed(&kit, "k").await.as_deref(), Some("200 again"));
}

/// R40.
#[tokio::test]
async fn a_key_stands_for_one_body_of_one_operation_of_one_company() {
    let kit = Kit::new().await;
    let first = ticket(&kit, "k").await;
    let company = kit.company.id;
    assert_eq!(code(begin(&kit.app, company, key("k"), "{} ").await), "IDEMPOTENCY_KEY_REUSED");
    finish(&kit, first, Some("x"), None).await;
    assert_eq!(code(begin(&kit.app, company, key("k"), "").await), "IDEMPOTENCY_KEY_REUSED");
    let (other, _) = kit.another_company("Outra").await;
    let elsewhere = CallKey::parse("POST /api/v1/contacts", "k").unwrap();
    for (company, key) in [(other.id, key("k")), (company, elsewhere), (company, key("K"))] {
        let begun = begin(&kit.app, company, key, "other").await;
        assert!(matches!(begun, Ok(Begun::Fresh(_))), "{begun:?}");
    }
}

#[tokio::test]
async fn a_forgotten_call_can_be_made_again() {
    let kit = Kit::new().await;
    for _ in 0..3 {
        let fresh = ticket(&kit, "k").await;
        finish(&kit, fresh, None, None).await;
    }
}

/// R40.
#[tokio::test]
async fn a_call_in_flight_is_refused_until_its_process_is_gone_and_then_uncertain() {
    let store = Arc::new(MemoryStore::new());
    let kit = Kit::on(store.clone()).await;
    let other =
        Kit::builder().store(store).ids(SeededIds::new(2)).clock(kit.clock.clone()).start().await;
    let company = kit.company.id;
    let held = ticket(&kit, "k").await;
    assert_eq!(code(begin(&kit.app, company, key("k"), "{}").await), "REQUEST_IN_PROGRESS");
    assert_eq!(code(begin(&other, company, key("k"), "{}").await), "REQUEST_IN_PROGRESS");
    kit.clock.advance(LEASE);
    assert_eq!(code(begin(&other, company, key("k"), "{}").await), "DELIVERY_UNCERTAIN");
    assert_eq!(code(begin(&other, company, key("k"), "x").await), "IDEMPOTENCY_KEY_REUSED");
    // The process was slow, not dead: what it did is known after all.
    finish(&kit, held, Some("done"), None).await;
    assert_eq!(replayed(&kit, "k").await.as_deref(), Some("done"));
}

#[tokio::test]
async fn a_process_that_gave_its_lease_up_leaves_its_calls_uncertain() {
    let store = Arc::new(MemoryStore::new());
    let kit = Kit::on(store.clone()).await;
    let other =
        Kit::builder().store(store).ids(SeededIds::new(2)).clock(kit.clock.clone()).start().await;
    let _held = ticket(&kit, "k").await;
    kit.app.workers().release().await.unwrap();
    let again = begin(&other, kit.company.id, key("k"), "{}").await;
    assert_eq!(code(again), "DELIVERY_UNCERTAIN");
}

#[tokio::test]
async fn of_many_that_begin_at_once_one_gets_the_ticket() {
    let store = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())));
    let kit = Kit::on(store.clone()).await;
    let other =
        Kit::builder().store(store).ids(SeededIds::new(2)).clock(kit.clock.clone()).start().await;
    let company = kit.company.id;
    let call = |app| begin(app, company, key("k"), "{}");
    let (a, b, c, d) = tokio::join!(call(&kit.app), call(&other), call(&kit.app), call(&other));
    let fresh = [&a, &b, &c, &d].into_iter().filter(|call| matches!(call, Ok(Begun::Fresh(_))));
    assert_eq!(fresh.count(), 1);
    for refusal in [a, b, c, d].into_iter().filter(Result::is_err) {
        assert_eq!(code(refusal), "REQUEST_IN_PROGRESS");
    }
}

/// R40.
#[tokio::test]
async fn the_answer_goes_with_the_contact_it_is_about() {
    let kit = Kit::new().await;
    let contact = create_phone(&kit, "34991230001").await;
    let call = ticket(&kit, "k").await;
    finish(&kit, call, Some("about Ana"), Some(contact)).await;
    assert_eq!(replayed(&kit, "k").await.as_deref(), Some("about Ana"));
    let late = ticket(&kit, "late").await;
    kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
    assert_eq!(replayed(&kit, "k").await, None);
    finish(&kit, late, Some("about Ana"), Some(contact)).await;
    assert_eq!(replayed(&kit, "late").await, None);
}

#[tokio::test]
async fn a_call_that_cannot_be_written_down_is_not_begun() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::on(Arc::new(store.clone())).await;
    kit.app.workers().renew().await.unwrap();
    store.fail_nth(StoreOp::Commit, 0, StoreFailure::Unavailable);
    let begun = begin(&kit.app, kit.company.id, key("k"), "{}").await;
    assert!(matches!(begun, Err(recado_core::Error::Store(_))), "{begun:?}");
    let fresh = ticket(&kit, "k").await;
    store.fail_nth(StoreOp::Commit, 0, StoreFailure::Contended);
    finish(&kit, fresh, Some("x"), None).await;
    assert_eq!(replayed(&kit, "k").await.as_deref(), Some("x"));
}
