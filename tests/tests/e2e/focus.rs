//! The focus stage of a contact: 2.5.1; D44b.

use std::time::Duration;

use recado_tests::{World, both_stores, phone, text, unknown_id};
use serde_json::{Value, json};

struct Board {
    contact: String,
    stages: Vec<String>,
}

async fn board(world: &World) -> Board {
    let stage = |name: &str| json!({"name": name, "color": "#123456"});
    let body = json!({"name": "Vendas", "stages": [stage("a"), stage("b"), stage("c")]});
    let pipeline = world.make("C/pipelines", body).await;
    let stages =
        pipeline["stages"].as_array().expect("stages").iter().map(|s| text(&s["id"])).collect();
    Board { contact: world.create_id(json!({"phone": phone(1)})).await, stages }
}

impl Board {
    async fn deal(&self, world: &World, stage: Option<usize>, status: &str) -> String {
        world.advance(Duration::from_secs(1));
        let stage = stage.map_or(Value::Null, |stage| json!(self.stages[stage]));
        let mut body = json!({"contact_id": self.contact, "title": "d", "status": status});
        if !stage.is_null() {
            body["stage_id"] = stage;
        }
        text(&world.make("C/deals", body).await["id"])
    }

    async fn change(&self, world: &World, deal: &str, body: Value) {
        world.advance(Duration::from_secs(1));
        world.operator("PATCH", &format!("C/deals/{deal}"), body).await.expect(200);
    }

    /// The index of the focus stage. Asserts that both forms and the filter agree.
    async fn focus(&self, world: &World) -> Option<usize> {
        let listed = world.listed(&self.contact).await["pipeline_stage_id"].clone();
        assert_eq!(world.detail(&self.contact).await["pipeline_stage_id"], listed);
        for stage in &self.stages {
            let found = world.list_ids(&format!("pipeline_stage_id={stage}")).await;
            assert_eq!(found.len(), usize::from(listed == stage.as_str()), "one stage only");
        }
        self.stages.iter().position(|stage| listed == stage.as_str())
    }
}

#[both_stores]
async fn without_a_deal_or_a_stage_there_is_none(world: World) {
    let board = board(&world).await;
    assert_eq!(board.focus(&world).await, None);
    board.deal(&world, None, "open").await;
    assert_eq!(board.focus(&world).await, None);
    assert_eq!(world.detail(&board.contact).await["pipeline_stage"], Value::Null);
}

#[both_stores]
async fn reopening_brings_a_deal_back_without_stamping_it(world: World) {
    let board = board(&world).await;
    let old = board.deal(&world, Some(0), "open").await;
    board.deal(&world, Some(1), "open").await;
    board.change(&world, &old, json!({"status": "won"})).await;
    board.change(&world, &old, json!({"status": "open"})).await;
    assert_eq!(board.focus(&world).await, Some(1));
}

#[both_stores]
async fn moving_to_the_same_stage_does_not_stamp(world: World) {
    let board = board(&world).await;
    let old = board.deal(&world, Some(0), "open").await;
    board.deal(&world, Some(1), "open").await;
    board.change(&world, &old, json!({"stage_id": board.stages[0]})).await;
    assert_eq!(board.focus(&world).await, Some(1));
}

#[both_stores]
async fn an_imported_deal_brings_the_time_of_its_stage(world: World) {
    let board = board(&world).await;
    board.deal(&world, Some(0), "open").await;
    world
        .make(
            "C/deals",
            json!({
                "contact_id": board.contact, "title": "old", "stage_id": board.stages[1],
                "stage_entered_at": "2020-01-01T00:00:00.000Z",
            }),
        )
        .await;
    assert_eq!(board.focus(&world).await, Some(0));
}

#[both_stores]
async fn deleting_a_deal_moves_the_focus(world: World) {
    let board = board(&world).await;
    board.deal(&world, Some(0), "open").await;
    let last = board.deal(&world, Some(1), "open").await;
    let answer = world.operator("DELETE", &format!("C/deals/{last}"), Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    assert_eq!(board.focus(&world).await, Some(0));
}

#[both_stores]
async fn a_deal_needs_a_contact_and_a_stage_of_the_company(world: World) {
    let board = board(&world).await;
    let other = world.tenant("Other").await;
    let body = json!({"name": "p", "stages": [{"name": "s", "color": "#111111"}]});
    let foreign = text(&world.make_for(&other, "C/pipelines", body).await["stages"][0]["id"]);
    let unknown = unknown_id();
    for body in [
        json!({"contact_id": board.contact, "title": "d", "stage_id": foreign}),
        json!({"contact_id": board.contact, "title": "d", "stage_id": unknown}),
        json!({"contact_id": unknown, "title": "d"}),
    ] {
        let answer = world.operator("POST", "C/deals", body.clone()).await;
        assert!([404, 422].contains(&answer.status), "{body}: {}", answer.show());
    }
    assert_eq!(board.focus(&world).await, None);
}
