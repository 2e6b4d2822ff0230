//! Deals and the focus stage of their contact (2.5.1, D44b).

use std::sync::Arc;
use std::time::Duration;

use recado_core::deals::Stage;
use recado_core::ids::{ContactId, DealId, PipelineId};
use recado_core::store::RecordsExt;
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, SeededIds, StoreOp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{code, create_phone, run_until_it_hangs, shown};

async fn pipeline(kit: &Kit, stages: usize) -> (PipelineId, Vec<Value>) {
    let stages: Vec<Value> =
        (0..stages).map(|n| json!({ "name": format!("{n}"), "color": "#fff" })).collect();
    let new = body(json!({ "name": "Vendas", "stages": stages }));
    let made = kit.app.deals().create_pipeline(kit.company.id, &new).await.unwrap();
    let ids = made.stages.iter().map(|stage| json!(stage.id)).collect();
    (made.id, ids)
}

async fn deal(kit: &Kit, contact: ContactId, stage: &Value, status: &str) -> DealId {
    kit.clock.advance(Duration::from_secs(1));
    let new = json!({ "contact_id": contact, "title": "x", "stage_id": stage, "status": status });
    kit.app.deals().create(kit.company.id, &body(new)).await.unwrap().id
}

async fn change(kit: &Kit, deal: DealId, change: Value) {
    kit.clock.advance(Duration::from_secs(1));
    kit.app.deals().change(kit.company.id, deal, &body(change)).await.unwrap();
}

async fn focus(kit: &Kit, contact: ContactId) -> Value {
    let now = shown(kit, contact).await;
    assert_eq!(now["pipeline_stage"]["id"], now["pipeline_stage_id"]);
    now["pipeline_stage_id"].clone()
}

#[tokio::test]
async fn the_focus_follows_every_change_of_the_deals() {
    let kit = Kit::new().await;
    let (_, stages) = pipeline(&kit, 3).await;
    let contact = create_phone(&kit, "34991230001").await;
    assert_eq!(focus(&kit, contact).await, Value::Null);
    let won = deal(&kit, contact, &stages[0], "won").await;
    assert_eq!(focus(&kit, contact).await, stages[0]);
    let open = deal(&kit, contact, &stages[1], "open").await;
    assert_eq!(focus(&kit, contact).await, stages[1]);
    deal(&kit, contact, &stages[2], "lost").await;
    assert_eq!(focus(&kit, contact).await, stages[1], "active before closed");
    deal(&kit, contact, &Value::Null, "open").await;
    assert_eq!(focus(&kit, contact).await, stages[1], "a deal without a stage does not count");
    change(&kit, open, json!({ "status": "lost" })).await;
    assert_eq!(focus(&kit, contact).await, stages[2], "the last to enter its stage");
    change(&kit, won, json!({ "status": "won", "stage_id": stages[0] })).await;
    assert_eq!(focus(&kit, contact).await, stages[2], "the same stage is not entered again");
    change(&kit, won, json!({ "stage_id": stages[1] })).await;
    assert_eq!(focus(&kit, contact).await, stages[1]);
    change(&kit, won, json!({ "stage_id": null })).await;
    assert_eq!(focus(&kit, contact).await, stages[2]);
    for deal in kit.app.deals().of_contact(kit.company.id, contact).await.unwrap() {
        kit.app.deals().delete(kit.company.id, deal.id).await.unwrap();
    }
    assert_eq!(focus(&kit, contact).await, Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_of_one_contacts_deals_leave_the_right_focus() {
    let kit = Kit::new().await;
    let (_, stages) = pipeline(&kit, 4).await;
    let contact = create_phone(&kit, "34991230001").await;
    let mut deals = Vec::new();
    for stage in &stages {
        deals.push(deal(&kit, contact, stage, "open").await);
    }
    let mut tasks = Vec::new();
    for (n, deal) in deals.into_iter().enumerate() {
        let (kit, stages) = (kit.clone(), stages.clone());
        tasks.push(tokio::spawn(async move {
            for round in 0..20 {
                let status = ["open", "won"][(n + round) % 2];
                let stage = &stages[(n + round) % stages.len()];
                change(&kit, deal, json!({ "status": status, "stage_id": stage })).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let deals = kit.app.deals().of_contact(kit.company.id, contact).await.unwrap();
    let wanted = recado_core::deals::focus_stage(&deals);
    assert_eq!(focus(&kit, contact).await, json!(wanted));
}

#[tokio::test]
async fn a_change_of_a_deal_counts_what_happened_to_another_one_meanwhile() {
    let model = MemoryStore::new();
    let store = FaultyStore::new(Arc::new(model.clone()));
    let kit = Kit::on(Arc::new(store.clone())).await;
    let (_, stages) = pipeline(&kit, 2).await;
    let contact = create_phone(&kit, "34991230001").await;
    let first = deal(&kit, contact, &stages[0], "open").await;
    let second = deal(&kit, contact, &stages[1], "open").await;

    // Between reading and committing the change of the second deal, the first one is won: by
    // another process, which leaves the focus where it was.
    let elsewhere = Kit::builder().store(Arc::new(model)).ids(SeededIds::new(9)).start().await;
    let (company, won) = (kit.company.id, body(json!({ "status": "won" })));
    let mut meanwhile = Some(won.clone());
    store.plan(move |op| {
        if let Some(won) = meanwhile.take_if(|_| op == StoreOp::Commit) {
            let deals = elsewhere.deals();
            let changed = run_until_it_hangs(deals.change(company, first, &won));
            changed.expect("memory never waits").expect("the deal is there");
        }
        None
    });
    kit.app.deals().change(company, second, &won).await.unwrap();
    assert_eq!(focus(&kit, contact).await, stages[1], "of two closed deals the last to enter");
}

#[tokio::test]
async fn deals_need_a_contact_and_a_stage_of_the_company() {
    let kit = Kit::new().await;
    let (other, theirs) = kit.another_company("Outra").await;
    let new = body(json!({ "phone": "34991230009" }));
    let foreign = kit.app.contacts().create(&theirs, &new).await.unwrap().contact.id;
    let contact = create_phone(&kit, "34991230001").await;
    let (_, stages) = pipeline(&kit, 1).await;
    for new in [
        json!({ "contact_id": foreign, "title": "x" }),
        json!({ "contact_id": contact, "title": "x", "stage_id": Uuid::from_u128(1) }),
        json!({ "contact_id": contact, "title": "" }),
        json!({ "contact_id": contact, "title": "x", "stage_entered_at": "2026-01-01T00:00:00Z" }),
    ] {
        let refusal = kit.app.deals().create(kit.company.id, &body(new)).await;
        assert_eq!(code(refusal), "VALIDATION_ERROR");
    }
    let ours = deal(&kit, contact, &stages[0], "open").await;
    let unknown = kit.app.deals().delete(other.id, ours).await;
    assert_eq!(code(unknown), "NOT_FOUND");
    assert_eq!(focus(&kit, contact).await, stages[0]);
}

#[tokio::test]
async fn a_pipeline_goes_when_no_deal_is_in_it() {
    let kit = Kit::new().await;
    let (id, stages) = pipeline(&kit, 2).await;
    let contact = create_phone(&kit, "34991230001").await;
    let deal = deal(&kit, contact, &stages[1], "won").await;
    let in_use = kit.app.deals().delete_pipeline(kit.company.id, id).await;
    assert_eq!(code(in_use), "IN_USE");
    kit.app.deals().delete(kit.company.id, deal).await.unwrap();
    kit.app.deals().delete_pipeline(kit.company.id, id).await.unwrap();
    let gone = kit.app.deals().pipeline(kit.company.id, id).await;
    assert_eq!(code(gone), "NOT_FOUND");
    assert_eq!(kit.app.store().all_stored::<Stage>(kit.company.id).await.unwrap().len(), 0);
}
