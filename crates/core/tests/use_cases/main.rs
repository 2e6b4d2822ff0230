//! The use cases of the core, with the in-memory model: the guarantees to integrators and
//! operators.
//!
//! Answers over HTTP have tests of their own; these here test what is stored and what is not, also
//! when the store, the document store or another server fails.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod accounts;
mod accounts_factor;
mod accounts_provider;
mod any_order;
mod audit;
mod bad_events;
mod blocks;
mod calls;
mod campaign_clock;
mod campaign_crashes;
mod campaign_deletions;
mod campaign_lists;
mod campaign_pauses;
mod campaign_process;
mod campaign_records;
mod campaign_reports;
mod campaign_runs;
mod campaign_scene;
mod campaign_simulation;
mod campaign_trouble;
mod campaigns;
mod changed_reactions;
mod company_removal;
mod connection_checks;
mod connection_upkeep;
mod connections;
mod contacts;
mod contradicting_identities;
mod conversations;
mod deals;
mod deliveries;
mod delivery_worker;
mod delivery_worker_faults;
mod delivery_worker_order;
mod delivery_worker_processes;
mod dispatch_races;
mod dispatch_reservations;
mod dispatch_variables;
mod dispatch_windows;
mod dispatches;
mod doubles;
mod enrichment;
mod erasure;
mod fan_out;
mod find_sent;
mod forgotten;
mod gateway_calls;
mod gateway_media;
mod gateway_scene;
mod groups;
mod halts;
mod identities;
mod import;
mod import_rows;
mod inbound;
mod inbound_access;
mod inbound_trials;
mod inbox;
mod journal;
mod keys;
mod late_content;
mod late_events;
mod late_reports;
mod leads;
mod learn_names;
mod leases;
mod long_deletions;
mod media;
mod merge_campaigns;
mod merges;
mod message_changes;
mod messages;
mod messaging;
mod operator_tokens;
mod outbound;
mod own_sends;
mod person_export;
mod person_rights;
mod portions;
mod prosas;
mod pulls;
mod purge;
mod purge_crash;
mod purge_merges;
mod records;
mod replay;
mod replies;
mod retention;
mod send_answers;
mod send_choices;
mod send_kinds;
mod send_marks;
mod send_template;
mod sending;
mod shop;
mod signals;
mod simulation;
mod standby;
mod standing;
mod store_failures;
mod template_files;
mod template_parts;
mod template_sync;
mod templates;
mod typed;
mod unknown_events;
mod upload_sweep_crash;
mod uploads;
mod webhooks;

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use recado_core::contacts::{ContactSummary, Created};
use recado_core::ids::ContactId;
use recado_core::{Error, Rejection};
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore};
use serde_json::{Value, json};

/// Creates a contact that is acceptable.
async fn create(kit: &Kit, new: Value) -> Created {
    kit.app.contacts().create(&kit.caller, &body(new)).await.expect("the contact is acceptable")
}

/// Creates a contact of which only the phone matters.
async fn create_phone(kit: &Kit, phone: &str) -> ContactId {
    create(kit, json!({ "phone": phone })).await.contact.id
}

/// Changes a contact in a way that is acceptable.
async fn update(kit: &Kit, id: ContactId, change: Value) -> Created {
    let updated = kit.app.contacts().update(&kit.caller, id, &body(change)).await;
    updated.expect("the change is acceptable")
}

/// A contact as the operator sees it.
async fn shown(kit: &Kit, id: ContactId) -> Value {
    let contact = kit.app.contacts().get_for_operator(kit.company.id, id).await;
    serde_json::to_value(contact.expect("the contact is there")).expect("a contact is JSON")
}

/// The answer of a creation or change as it is shown.
fn answer(created: &Created) -> Value {
    serde_json::to_value(ContactSummary::created(&created.contact)).expect("a summary is JSON")
}

/// The code and details of a refusal.
fn refused<T: std::fmt::Debug, E: Rejection>(outcome: Result<T, Error<E>>) -> (String, Value) {
    match outcome {
        Err(Error::Rejected(error)) => (error.code().as_str().to_owned(), json!(error.details())),
        other => panic!("a refusal was expected, not {other:?}"),
    }
}

/// The code of a refusal.
fn code<T: std::fmt::Debug, E: Rejection>(outcome: Result<T, Error<E>>) -> String {
    refused(outcome).0
}

/// A kit whose use cases interleave: each yields to the others between its reads and its commit.
async fn interleaving() -> Kit {
    Kit::on(Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())))).await
}

/// Runs until it would wait for something that never comes, then drops it.
fn run_until_it_hangs<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = Box::pin(work);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000 {
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return Some(done);
        }
    }
    None
}
