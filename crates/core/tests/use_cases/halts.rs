//! Holds and closures (D75, D76): what stands still meanwhile, what goes on, and who notices when.

use std::sync::Arc;
use std::time::Duration;

use recado_core::deliveries::DeliveryStatus;
use recado_core::halts::{HaltSubject, Whereabouts};
use recado_core::store::StoreError;
use recado_core::{Error, Recado, Rejection, Settings};
use recado_testkit::kit::body;
use recado_testkit::{Kit, MemoryStore, SeededIds};
use serde_json::json;

use super::campaign_scene::Scene;
use super::dispatches::{admit, dispatch, utility};
use super::messaging::Messaging;
use super::outbound::{Outbound, URL};
use super::shop::Shop;
use super::{create, create_phone};

const PHONE: &str = "+5534991230001";

/// Another process on the same data, by the same clock.
async fn another_process(kit: &Kit, model: &MemoryStore) -> Recado {
    let store = Arc::new(model.another_process());
    Kit::builder().store(store).ids(SeededIds::new(77)).clock(kit.clock.clone()).start().await
}

fn is_closed<T: std::fmt::Debug, E: std::fmt::Debug>(outcome: Result<T, Error<E>>) -> bool {
    matches!(outcome, Err(Error::Store(StoreError::Closed)))
}

/// D75.
#[tokio::test]
async fn a_held_installation_sends_nothing_and_takes_everything_else() {
    let messaging = Messaging::on(Kit::new().await).await;
    let app = &messaging.kit.app;
    let hold = app.halts().hold(Some(" the copy of yesterday ")).await.unwrap();
    assert_eq!(hold.reason.as_deref(), Some("the copy of yesterday"));
    let Err(Error::Rejected(refused)) = messaging.send(PHONE, "Oi").await else {
        panic!("it was sent");
    };
    assert_eq!(refused.code().as_str(), "ON_HOLD");
    assert_eq!(refused.retry_after(), Some(Duration::from_secs(60)));
    assert!(messaging.messages().await.is_empty() && messaging.kit.provider.sent().is_empty());
    messaging.hear("wamid.1", "5534991230001", "Oi").await;
    assert_eq!(messaging.messages().await.len(), 1);
    let resumed = app.halts().resume(false).await.unwrap();
    assert_eq!(resumed.ended, [hold]);
    messaging.send(PHONE, "Oi").await.unwrap();
}

/// D75: after what is wrong with the request, before the contact's state.
#[tokio::test]
async fn a_hold_is_answered_after_validation_and_before_the_contacts_state() {
    let messaging = Messaging::on(Kit::new().await).await;
    messaging.hear("wamid.1", "5534991230001", "sair").await;
    let code = |sent: Result<_, Error<recado_core::sending::SendError>>| match sent {
        Err(Error::Rejected(refused)) => refused.code().as_str(),
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(code(messaging.send(PHONE, "Oi").await), "CONTACT_OPTED_OUT");
    messaging.kit.app.halts().hold(None).await.unwrap();
    assert_eq!(code(messaging.send(PHONE, "Oi").await), "ON_HOLD");
    assert_eq!(code(messaging.send("123", "Oi").await), "INVALID_PHONE");
    assert_eq!(code(messaging.send("1@g.us", "Oi").await), "GROUP_NOT_FOUND");
}

/// D75.
#[tokio::test]
async fn a_dispatch_during_a_hold_opens_no_window() {
    let shop = Shop::new().await;
    let admitted = admit(&shop, &shop.template(utility()).await).await;
    shop.app().halts().hold(None).await.unwrap();
    let Err(Error::Rejected(refused)) = dispatch(shop.app(), &admitted, PHONE, "Ana").await else {
        panic!("it was sent");
    };
    assert_eq!(refused.code().as_str(), "ON_HOLD");
    assert_eq!(refused.retry_after(), Some(Duration::from_secs(60)));
    shop.app().halts().resume(false).await.unwrap();
    dispatch(shop.app(), &admitted, PHONE, "Ana").await.unwrap();
}

/// D75.
#[tokio::test]
async fn deliveries_stand_still_during_a_hold_and_are_made_after_it() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    outbound.kit.app.halts().hold(None).await.unwrap();
    create_phone(&outbound.kit, PHONE).await;
    outbound.drain().await;
    outbound.advance(100);
    outbound.drain().await;
    assert_eq!(outbound.receiver(URL).arrived(), 0);
    assert_eq!(outbound.count(DeliveryStatus::Pending).await, 1);
    outbound.kit.app.halts().resume(false).await.unwrap();
    outbound.drain().await;
    assert_eq!(outbound.receiver(URL).arrived(), 1);
    assert_eq!(outbound.only().await.attempts, 1);
}

/// D75, D76: receivers of one company only.
#[tokio::test]
async fn deliveries_of_a_company_that_is_being_moved_stand_still_and_those_of_others_do_not() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let company = outbound.kit.company.id;
    let (other, caller) = outbound.kit.another_company("other").await;
    let there = "https://there.example/hook";
    outbound.receiver(there).otherwise_status(200);
    let webhook = body(json!({ "url": there, "events": ["*"] }));
    outbound.kit.app.webhooks().create(other.id, &webhook).await.unwrap();
    create_phone(&outbound.kit, PHONE).await;
    let contact = body(json!({ "phone": PHONE }));
    outbound.kit.app.contacts().create(&caller, &contact).await.unwrap();
    outbound.kit.app.halts().hold_company(company, None).await.unwrap();
    outbound.drain().await;
    assert_eq!(outbound.receiver(URL).arrived(), 0);
    assert_eq!(outbound.receiver(there).arrived(), 1);
    outbound.kit.app.halts().close(Some(company), None, Whereabouts::Here).await.unwrap();
    outbound.advance(100);
    outbound.drain().await;
    assert_eq!(outbound.receiver(URL).arrived(), 0);
    outbound.kit.app.halts().open(Some(company)).await.unwrap();
    outbound.drain().await;
    assert_eq!(outbound.receiver(URL).arrived(), 1);
}

/// D75.
#[tokio::test]
async fn a_campaign_rests_during_a_hold_and_goes_on_after_it() {
    let scene = Scene::of(3).await;
    scene.start().await;
    scene.shop.app().halts().hold(None).await.unwrap();
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.calls().await.len(), 0);
    assert_eq!(scene.statuses().await.get("waiting"), Some(&3));
    assert_eq!(scene.status().await.0, "running");
    scene.shop.app().halts().resume(false).await.unwrap();
    scene.drain().await;
    assert_eq!(scene.calls().await.values().collect::<Vec<_>>(), [&1, &1, &1]);
}

/// D75: the registry is not asked; a job that calls nobody is done.
#[tokio::test]
async fn jobs_that_call_somebody_stand_still_during_a_hold_and_others_do_not() {
    let model = MemoryStore::new();
    let mut settings = Settings::new("http://127.0.0.1:8080");
    settings.registry_url = Some("https://registry.example".to_owned());
    let kit = Kit::builder().store(Arc::new(model.clone())).settings(settings).build().await;
    let new = json!({ "phone": "34991230001", "cnpj": "19.131.243/0001-97" });
    let contact = create(&kit, new).await.contact.id;
    kit.app.halts().hold(None).await.unwrap();
    kit.app.contacts().delete(&kit.caller, contact).await.unwrap();
    while kit.app.jobs().run_one().await.unwrap() {}
    let left: Vec<&str> = model.jobs(kit.company.id).iter().map(|job| job.kind.name()).collect();
    assert_eq!(left, ["enrich"]);
    assert_eq!(kit.transport.requests().len(), 0);
    kit.app.halts().resume(false).await.unwrap();
    kit.transport.then_json(200, &json!({ "razao_social": "PADARIA LTDA" }));
    assert!(kit.app.jobs().run_one().await.unwrap());
    assert_eq!(kit.transport.requests().len(), 1);
}

/// D75: within five seconds; R251: without a read for each call.
#[tokio::test]
async fn another_process_notices_a_hold_and_its_end_within_five_seconds() {
    let model = MemoryStore::new();
    let kit = Kit::on(Arc::new(model.clone())).await;
    let other = another_process(&kit, &model).await;
    assert!(kit.app.halts().current().await.unwrap().hold().is_none());
    other.halts().hold(None).await.unwrap();
    assert!(kit.app.halts().current().await.unwrap().hold().is_none(), "it was just read");
    kit.clock.advance(Duration::from_secs(2));
    assert!(kit.app.halts().current().await.unwrap().hold().is_some());
    other.halts().resume(false).await.unwrap();
    kit.clock.advance(Duration::from_secs(2));
    assert!(kit.app.halts().current().await.unwrap().hold().is_none());
}

/// D76: strictly, whatever this process has read.
#[tokio::test]
async fn a_closure_by_another_process_stops_the_very_next_write_and_no_read() {
    let model = MemoryStore::new();
    let kit = Kit::on(Arc::new(model.clone())).await;
    let other = another_process(&kit, &model).await;
    let contact = create_phone(&kit, PHONE).await;
    assert!(!kit.app.halts().current().await.unwrap().is_closed());
    other.halts().close(None, Some("a move"), Whereabouts::Here).await.unwrap();
    let rows = model.row_count();
    let new = body(json!({ "phone": "+5534991230002" }));
    assert!(is_closed(kit.app.contacts().create(&kit.caller, &new).await));
    let change = body(json!({ "name": "Ana" }));
    assert!(is_closed(kit.app.contacts().update(&kit.caller, contact, &change).await));
    assert_eq!(model.row_count(), rows);
    kit.app.contacts().get(&kit.caller, contact, false).await.unwrap();
    // What keeps the process known goes on.
    kit.app.workers().renew().await.unwrap();
    other.halts().open(None).await.unwrap();
    kit.app.contacts().create(&kit.caller, &new).await.unwrap();
}

/// D76.
#[tokio::test]
async fn a_closed_company_takes_no_write_and_the_others_do() {
    let kit = Kit::new().await;
    let (_, other) = kit.another_company("other").await;
    kit.app.halts().close(Some(kit.company.id), None, Whereabouts::Here).await.unwrap();
    let new = body(json!({ "phone": PHONE }));
    assert!(is_closed(kit.app.contacts().create(&kit.caller, &new).await));
    kit.app.contacts().create(&other, &new).await.unwrap();
}

/// D76: what was sent when it was closed is recorded when it is open again, and the sends of others
/// do not wait for it.
#[tokio::test]
async fn an_outcome_that_a_closed_company_does_not_take_is_recorded_later() {
    let messaging = Messaging::on(Kit::new().await).await;
    let (app, company) = (messaging.kit.app.clone(), messaging.kit.company.id);
    let gate = messaging.kit.provider.hold();
    let sending = tokio::spawn({
        let (app, caller) = (app.clone(), messaging.kit.caller.clone());
        let text = body(json!({ "to": PHONE, "message": "Oi" }));
        async move { app.sending().send_text(&caller, &text).await }
    });
    gate.reached(1).await;
    app.halts().close(Some(company), None, Whereabouts::Here).await.unwrap();
    gate.open();
    let answer = sending.await.unwrap();
    assert!(answer.unwrap_err().may_have_arrived());
    assert_eq!(messaging.newest().await["status"], "pending");
    assert!(!app.sending().recover().await.unwrap(), "nothing can be done");
    app.halts().open(Some(company)).await.unwrap();
    app.sending().recover().await.unwrap();
    assert_eq!(messaging.newest().await["status"], "sent");
    assert_eq!(messaging.kit.provider.sent().len(), 1);
}

/// R250: what was moved away opens only by an explicit order.
#[tokio::test]
async fn resuming_opens_what_a_move_left_closed_and_not_what_was_moved_away() {
    let kit = Kit::new().await;
    let halts = kit.app.halts();
    halts.hold(Some("first")).await.unwrap();
    halts.close(None, Some("a move"), Whereabouts::Here).await.unwrap();
    halts
        .close(Some(kit.company.id), Some("moved to another database"), Whereabouts::Elsewhere)
        .await
        .unwrap();
    // A second hold keeps the time, and the reason unless it has one of its own.
    kit.clock.advance(Duration::from_secs(60));
    let again = halts.hold(None).await.unwrap();
    assert_eq!(again.reason.as_deref(), Some("first"));
    let resumed = halts.resume(false).await.unwrap();
    let subjects = |halts: &[recado_core::halts::Halt]| -> Vec<HaltSubject> {
        halts.iter().map(|halt| halt.subject).collect()
    };
    assert_eq!(subjects(&resumed.ended), [HaltSubject::Sending, HaltSubject::Writing]);
    assert_eq!(subjects(&resumed.kept), [HaltSubject::WritingOf(kit.company.id)]);
    let new = body(json!({ "phone": PHONE }));
    assert!(is_closed(kit.app.contacts().create(&kit.caller, &new).await));
    assert_eq!(halts.resume(true).await.unwrap().kept, []);
    kit.app.contacts().create(&kit.caller, &new).await.unwrap();
    assert_eq!(halts.resume(false).await.unwrap(), recado_core::halts::Resumed::default());
}
