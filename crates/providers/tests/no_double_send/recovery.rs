//! A recovery that is interrupted loses nothing.

use std::sync::Arc;
use std::task::{Context, Waker};

use recado_core::messages::{MessageFilter, MessageReads as _, MessageStatus};
use recado_core::page::PageRequest;
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure, StoreOp};
use serde_json::json;

use crate::world::finish;

#[test]
fn an_outcome_outlives_a_recovery_that_is_dropped_half_way() {
    let model = MemoryStore::new();
    let store = FaultyStore::new(Arc::new(model.clone()));
    let kit = finish(Kit::on(Arc::new(store.clone())));
    let (app, company) = (&kit.app, kit.company.id);
    let new = body(json!({"kind": "qr", "name": "Loja", "gateway": "simulated",
        "identifier": "551140028922"}));
    finish(app.connections().create(company, &new)).expect("made");
    let wanted = body(json!({"to": "+351912345678", "message": "Oi"}));
    // The first send of a process writes more than its message.
    finish(app.sending().send_text(&kit.caller, &wanted)).expect("sent");
    let mut commits = 0;
    store.plan(move |op| {
        commits += usize::from(op == StoreOp::Commit);
        (op == StoreOp::Commit && commits > 1).then_some(StoreFailure::Unavailable)
    });
    finish(app.sending().send_text(&kit.caller, &wanted)).expect_err("nobody could record it");
    store.heal();
    {
        let sending = app.sending();
        let mut recovery = std::pin::pin!(sending.recover());
        let mut context = Context::from_waker(Waker::noop());
        assert!(recovery.as_mut().poll(&mut context).is_pending());
    }
    finish(app.sending().recover()).expect("the store works");
    let all = MessageFilter::default();
    let page = model.message_page(company, &all, PageRequest::FIRST);
    let statuses: Vec<MessageStatus> =
        finish(page).expect("it works").items.iter().map(|m| m.message.status).collect();
    assert_eq!(statuses, [MessageStatus::Sent; 2]);
}
