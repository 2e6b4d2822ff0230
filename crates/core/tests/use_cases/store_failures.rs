//! A store that fails: answers are true, and nothing is left partly done.

use std::sync::Arc;
use std::time::Duration;

use recado_core::Error;
use recado_core::contacts::{Contact, ContactFilter};
use recado_core::organizations::Organization;
use recado_core::page::PageRequest;
use recado_core::store::{RecordsExt, StoreError};
use recado_core::tags::Tag;
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryFiles, MemoryStore, StoreFailure, StoreOp};
use serde_json::json;

use super::create_phone;

async fn kit() -> (Kit, MemoryStore, FaultyStore, MemoryFiles) {
    let (model, files) = (MemoryStore::new(), MemoryFiles::new());
    let store = FaultyStore::new(Arc::new(model.clone()));
    let kit = Kit::builder().store(Arc::new(store.clone())).files(files.clone()).build().await;
    (kit, model, store, files)
}

async fn total(kit: &Kit) -> u64 {
    let filter = ContactFilter::default();
    kit.app.contacts().page(&kit.caller, &filter, PageRequest::FIRST, false).await.unwrap().total
}

#[tokio::test]
async fn a_commit_that_was_not_applied_leaves_neither_contact_nor_event() {
    for failure in [StoreFailure::Unavailable, StoreFailure::UnknownBefore] {
        let (kit, model, store, _) = kit().await;
        store.fail_nth(StoreOp::Commit, 0, failure);
        let new = body(json!({ "phone": "34991230001", "cnpj": "19131243000197" }));
        let outcome = kit.app.contacts().create(&kit.caller, &new).await;
        assert!(matches!(outcome, Err(Error::Store(_))), "{outcome:?}");
        assert_eq!(total(&kit).await, 0);
        assert_eq!(model.events(kit.company.id), []);
        assert_eq!(model.jobs(kit.company.id), []);
        kit.app.contacts().create(&kit.caller, &new).await.unwrap();
    }
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_not_repeated() {
    let (kit, model, store, _) = kit().await;
    store.fail_nth(StoreOp::Commit, 0, StoreFailure::UnknownAfter);
    let new = body(json!({ "phone": "34991230001" }));
    let outcome = kit.app.contacts().create(&kit.caller, &new).await;
    assert!(matches!(outcome, Err(Error::Store(StoreError::OutcomeUnknown(_)))), "{outcome:?}");
    assert_eq!(total(&kit).await, 1);
    assert_eq!(model.events(kit.company.id).len(), 1);
    let again = kit.app.contacts().create(&kit.caller, &new).await;
    assert_eq!(super::code(again), "CONTACT_EXISTS");
}

/// R17.
#[tokio::test]
async fn contention_is_tried_again_and_then_given_up() {
    let (kit, _, store, _) = kit().await;
    let mut left = 5;
    store.plan(move |op| {
        let fails = op == StoreOp::Commit && left > 0;
        left -= u32::from(fails);
        fails.then_some(StoreFailure::Contended)
    });
    create_phone(&kit, "34991230001").await;
    store.fail_all(StoreFailure::Contended);
    let new = body(json!({ "phone": "34991230002" }));
    let outcome = kit.app.contacts().create(&kit.caller, &new).await;
    assert!(matches!(outcome, Err(Error::Busy)), "{outcome:?}");
    store.heal();
    assert_eq!(total(&kit).await, 1);
}

#[tokio::test]
async fn an_attachment_is_not_lost_to_contention() {
    let (kit, _, store, files) = kit().await;
    let contact = create_phone(&kit, "34991230001").await;
    // The second commit marks the document as stored.
    store.fail_nth(StoreOp::Commit, 1, StoreFailure::Contended);
    let attached = kit.app.documents().attach(kit.company.id, contact, "a.pdf", vec![1]).await;
    let attached = attached.unwrap();
    let read = kit.app.documents().read(kit.company.id, contact, attached.id).await.unwrap();
    assert_eq!((read.1, files.keys().len()), (vec![1], 1));
}

/// Deletes a contact with two documents while the n-th operation of a kind fails in the store.
async fn delete_with(op: StoreOp, n: u64, failure: StoreFailure) -> bool {
    let (kit, model, store, files) = kit().await;
    let contact = create_phone(&kit, "34991230001").await;
    let (company, documents) = (kit.company.id, kit.app.documents());
    let mut ids = Vec::new();
    for n in 0..2 {
        ids.push(documents.attach(company, contact, "a.pdf", vec![n]).await.unwrap().id);
    }
    store.fail_nth(op, n, failure);
    let outcome = kit.app.contacts().delete(&kit.caller, contact).await;
    store.heal();
    let when = format!("{op:?} {n} {failure:?}: {outcome:?}");
    let whole = kit.app.contacts().get(&kit.caller, contact, false).await.is_ok();
    if outcome.is_ok() {
        assert!(!whole, "{when}: the contact is there");
    }
    if whole {
        for id in &ids {
            documents.read(company, contact, *id).await.expect(&when);
        }
    }
    for _ in 0..4 {
        kit.clock.advance(Duration::from_secs(121));
        while kit.app.jobs().run_one().await.unwrap() {}
    }
    assert_eq!(model.jobs(company), [], "{when}");
    if whole {
        for id in &ids {
            documents.read(company, contact, *id).await.expect(&when);
        }
        assert_eq!(files.keys().len(), 2, "{when}");
        kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
    }
    assert_eq!(files.keys(), Vec::<String>::new(), "{when}");
    outcome.is_ok()
}

#[tokio::test]
async fn a_delete_on_a_failing_store_leaves_the_contact_whole_or_gone() {
    let failures =
        [StoreFailure::Unavailable, StoreFailure::UnknownBefore, StoreFailure::UnknownAfter];
    for failure in failures {
        for n in 0..4 {
            delete_with(StoreOp::Commit, n, failure).await;
        }
        for n in 0..8 {
            delete_with(StoreOp::Read, n, failure).await;
        }
    }
}

#[tokio::test]
async fn a_delete_that_is_durable_is_answered_as_done() {
    // The third commit only removes the record of a purge that is over.
    for failure in [StoreFailure::Unavailable, StoreFailure::UnknownAfter] {
        assert!(delete_with(StoreOp::Commit, 2, failure).await, "{failure:?}");
    }
}

#[tokio::test]
async fn a_job_survives_a_store_that_fails_while_it_runs() {
    for (op, failure) in [
        (StoreOp::Claim, StoreFailure::Unavailable),
        (StoreOp::Claim, StoreFailure::UnknownAfter),
        (StoreOp::Read, StoreFailure::Unavailable),
        (StoreOp::Commit, StoreFailure::Unavailable),
        (StoreOp::Commit, StoreFailure::UnknownAfter),
    ] {
        let (kit, model, store, _) = kit().await;
        let new = body(json!({ "phone": "34991230001", "cnpj": "19131243000197" }));
        kit.app.contacts().create(&kit.caller, &new).await.unwrap();
        let found = json!({ "razao_social": "PADARIA LTDA" });
        kit.transport.otherwise(recado_testkit::transport::json_answer(200, &found));
        store.fail_nth(op, 0, failure);
        assert!(kit.app.jobs().run_one().await.is_err(), "{op:?} {failure:?}");
        kit.clock.advance(Duration::from_secs(60));
        while kit.app.jobs().run_one().await.unwrap() {}
        assert_eq!(model.jobs(kit.company.id), [], "{op:?} {failure:?}");
        let organizations = kit.app.store().all::<Organization>(kit.company.id).await.unwrap();
        assert_eq!(organizations[0].name, "PADARIA LTDA", "{op:?} {failure:?}");
    }
}

#[tokio::test]
async fn a_read_fails_by_name_until_the_store_is_healed() {
    let (kit, _, store, _) = kit().await;
    let contact = super::create_phone(&kit, "34991230001").await;
    let (reads, company) = (kit.app.store(), kit.company.id);
    store.fail_read("row of Contact");
    reads.get::<Contact>((company, contact)).await.unwrap_err();
    reads.contact_record(company, contact).await.unwrap();
    store.fail_contact_reads();
    reads.contact_record(company, contact).await.unwrap_err();
    reads.all::<Tag>(company).await.unwrap();
    store.heal();
    reads.get::<Contact>((company, contact)).await.unwrap();
}

#[tokio::test]
#[should_panic(expected = "no read called contatc")]
async fn a_read_that_does_not_exist_cannot_be_asked_to_fail() {
    let (_, _, store, _) = kit().await;
    store.fail_read("contatc");
}
