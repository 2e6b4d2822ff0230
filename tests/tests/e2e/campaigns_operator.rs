//! Campaigns in the operator API: creation, changes, start and deletion: docs/operator-api.md; D3,
//! D7, D58, D66.

use std::time::Duration;

use recado_tests::campaigns::{exact, micros};
use recado_tests::{Campaigning, both_stores, keys, text, unknown_id, with};
use serde_json::{Value, json};

const ALL: &str = "C/campaigns";

#[both_stores]
async fn a_campaign_is_made_with_every_field_and_shown_whole(world: Campaigning) {
    let list = world.list("VIP").await;
    let body = json!({
        "name": "Novidades", "template_id": world.template, "list_id": list,
        "connection_id": world.connection, "variables": {"1": "você", "2": "flores"},
        "prosas_per_message": exact("0.125"), "cost_brl_per_message": exact("0.350001"),
        "messages_per_second": 25,
    });
    let made = world.make(ALL, body).await;
    assert_eq!(
        keys(&made),
        [
            "buttons",
            "connection_id",
            "consumption",
            "cost_brl_per_message",
            "counts",
            "created_at",
            "finished_at",
            "header",
            "id",
            "list_id",
            "messages_per_second",
            "name",
            "pause_reason",
            "paused_reason",
            "prosas_per_message",
            "scheduled_at",
            "send_between",
            "started_at",
            "status",
            "stop_after_failures",
            "template_id",
            "updated_at",
            "variables",
        ]
    );
    assert_eq!(made["name"], "Novidades");
    assert_eq!(made["status"], "draft");
    assert_eq!(made["template_id"], world.template.as_str());
    assert_eq!(made["list_id"], list.as_str());
    assert_eq!(made["connection_id"], world.connection.as_str());
    assert_eq!(made["variables"], json!({"1": "você", "2": "flores"}));
    assert_eq!(micros(&made["prosas_per_message"]), 125_000);
    assert_eq!(micros(&made["cost_brl_per_message"]), 350_001);
    assert_eq!(made["messages_per_second"], 25);
    let none = json!({
        "total": 0, "sent": 0, "delivered": 0, "read": 0, "failed": 0, "skipped": 0,
    });
    assert_eq!(made["counts"], none);
    assert_eq!(made["consumption"], json!({"prosas": 0, "cost_brl": 0}));
    for name in ["created_at", "updated_at"] {
        assert_eq!(made[name], world.time(), "{name}");
    }
    for name in ["started_at", "finished_at", "pause_reason"] {
        assert_eq!(made[name], Value::Null, "{name}");
    }
    assert_eq!(world.record(&text(&made["id"])).await, made);
    assert_eq!(world.operator_get(ALL).await, json!([made]));
}

#[both_stores]
async fn what_is_not_given_has_its_default(world: Campaigning) {
    let list = world.list("VIP").await;
    let plain = text(&world.template("plain", "UTILITY", "Oi!").await["id"]);
    let body = json!({"name": "x", "template_id": plain, "list_id": list});
    let made = world.make(ALL, body.clone()).await;
    assert_eq!(made["connection_id"], Value::Null);
    assert_eq!(made["variables"], json!({}));
    assert_eq!(micros(&made["prosas_per_message"]), 0);
    assert_eq!(micros(&made["cost_brl_per_message"]), 0);
    assert_eq!(made["messages_per_second"], 10);
    let nulls = json!({
        "connection_id": null, "variables": null, "prosas_per_message": null,
        "cost_brl_per_message": null, "messages_per_second": null,
    });
    let again = world.make(ALL, with(body, nulls)).await;
    let but_id = json!({"id": made["id"]});
    assert_eq!(with(again, but_id), made, "null is as good as nothing");
}

#[both_stores]
async fn what_is_missing_unknown_or_of_a_wrong_type_is_named_all_at_once(world: Campaigning) {
    let missing = world.operator("POST", ALL, json!({})).await;
    assert_eq!(missing.expect_invalid(), ["list_id", "name", "template_id"]);
    let list = world.list("VIP").await;
    let wrong = json!({
        "name": 5, "template_id": "x", "list_id": 7, "connection_id": "x", "variables": ["a"],
        "prosas_per_message": "1", "cost_brl_per_message": true, "messages_per_second": "10",
        "nope": 1,
    });
    let answer = world.operator("POST", ALL, wrong.clone()).await;
    assert_eq!(answer.expect_invalid(), keys(&wrong));
    for (name, values) in [
        ("name", vec![json!(""), json!("  "), json!("a\u{0}b")]),
        ("messages_per_second", vec![json!(0), json!(-1), json!(1_001), exact("1.5")]),
        ("prosas_per_message", vec![exact("0.0001"), json!(-1), exact("1e300")]),
        ("cost_brl_per_message", vec![exact("0.0000001"), exact("-0.1")]),
        (
            "variables",
            vec![
                json!({"1": 5, "2": "b"}),
                json!({"1": null, "2": "b"}),
                json!({"x": "a"}),
                json!({"0": "a"}),
                json!({"1": "\u{0}", "2": "b"}),
                json!("a"),
            ],
        ),
    ] {
        for value in values {
            let body = world.draft(&list, json!({name: value}));
            let answer = world.operator("POST", ALL, body).await;
            assert_eq!(answer.expect_invalid(), [name], "{value}");
        }
    }
    assert_eq!(world.operator_get(ALL).await, json!([]), "nothing was made");
    for rate in [1, 1_000] {
        world.campaign(&list, json!({"messages_per_second": rate})).await;
    }
}

#[both_stores]
async fn a_campaign_is_changed_field_by_field(world: Campaigning) {
    let (first, second) = (world.list("a").await, world.list("b").await);
    let id = world.campaign(&first, json!({"connection_id": world.connection})).await;
    let other = text(&world.template("other", "UTILITY", "{{1}}: {{2}}").await["id"]);
    for (name, value) in [
        ("name", json!("Outro nome")),
        ("template_id", json!(other)),
        ("list_id", json!(second)),
        ("connection_id", Value::Null),
        ("connection_id", json!(world.connection)),
        ("variables", json!({"1": "x", "2": "y"})),
        ("prosas_per_message", exact("1.5")),
        ("cost_brl_per_message", exact("0.000001")),
        ("messages_per_second", json!(7)),
    ] {
        world.advance(Duration::from_secs(1));
        let before = world.record(&id).await;
        let changed = world.change(&id, json!({name: value})).await.expect(200);
        assert_eq!(changed, with(before, json!({name: value, "updated_at": world.time()})));
        assert_eq!(world.record(&id).await, changed);
    }
    world.advance(Duration::from_secs(1));
    let before = world.record(&id).await;
    for nothing in [json!({}), json!({"messages_per_second": 7})] {
        assert_eq!(world.change(&id, nothing).await.expect(200), before);
    }
    for name in ["name", "template_id", "list_id", "messages_per_second"] {
        let answer = world.change(&id, json!({name: null})).await;
        assert_eq!(answer.expect_invalid(), [name], "it cannot be cleared");
    }
    for (name, value) in [("status", json!("finished")), ("nope", json!(1)), ("id", json!("x"))] {
        let answer = world.change(&id, json!({name: value})).await;
        assert_eq!(answer.expect_invalid(), [name]);
    }
    assert_eq!(world.record(&id).await, before);
}

/// R93.
#[both_stores]
async fn the_list_stands_once_it_was_started(world: Campaigning) {
    let (id, contacts) = world.campaign_to(2, json!({})).await;
    let other = world.list_of(&contacts[..1]).await;
    world.start(&id).await;
    world.change(&id, json!({"list_id": other})).await.expect_error(409, "CAMPAIGN_STARTED");
    world.pause(&id).await;
    world.change(&id, json!({"list_id": other})).await.expect_error(409, "CAMPAIGN_STARTED");
    let same = json!({"list_id": world.record(&id).await["list_id"], "name": "Novo"});
    assert_eq!(world.change(&id, same).await.expect(200)["name"], "Novo");
    assert_eq!(world.start_and_run(&id).await["status"], "finished");
    world.change(&id, json!({"list_id": other})).await.expect_error(409, "CAMPAIGN_STARTED");
    assert_eq!(world.recipients(&id).await.len(), 2);
}

#[both_stores]
async fn a_campaign_is_deleted_unless_it_runs(world: Campaigning) {
    let one = |id: &str| format!("C/campaigns/{id}");
    let list = world.list("VIP").await;
    let draft = world.campaign(&list, json!({})).await;
    world.operator("DELETE", &one(&draft), Value::Null).await.expect_deleted();
    world.operator("GET", &one(&draft), Value::Null).await.expect_error(404, "NOT_FOUND");
    world.operator("DELETE", &one(&draft), Value::Null).await.expect_error(404, "NOT_FOUND");
    let priced = json!({"cost_brl_per_message": exact("0.5"), "messages_per_second": 10});
    let (id, _) = world.campaign_to(3, priced).await;
    world.start(&id).await;
    world.drain().await;
    let refused = world.operator("DELETE", &one(&id), Value::Null).await;
    refused.expect_error(409, "CAMPAIGN_RUNNING");
    assert_eq!(world.record(&id).await["status"], "running");
    world.pause(&id).await;
    world.operator("DELETE", &one(&id), Value::Null).await.expect_deleted();
    assert_eq!(world.operator_get(ALL).await, json!([]));
    let gone = world.get(&format!("/api/v1/campaigns/{id}/recipients")).await;
    gone.expect_error(404, "NOT_FOUND");
    world.drain().await;
    assert_eq!(world.all_messages().await.len(), 1, "its message stays, and no other comes");
    assert_eq!(world.ledger().await.cost, 500_000, "its line stays");
}

#[both_stores]
async fn an_unknown_campaign_and_anothers_do_not_exist(world: Campaigning) {
    let other = world.tenant("Other").await;
    let template = world
        .make_for(
            &other,
            "C/templates",
            json!({
                "name": "t", "category": "UTILITY", "body": "b", "status": "APPROVED",
            }),
        )
        .await;
    let list = world.make_for(&other, "C/lists", json!({"name": "l"})).await;
    let body = json!({"name": "x", "template_id": template["id"], "list_id": list["id"]});
    let theirs = text(&world.make_for(&other, ALL, body).await["id"]);
    for id in [theirs.clone(), unknown_id(), "x".to_owned()] {
        for (method, rest, body) in [
            ("GET", "", Value::Null),
            ("PATCH", "", json!({"name": "y"})),
            ("DELETE", "", Value::Null),
            ("POST", "/start", Value::Null),
            ("POST", "/pause", Value::Null),
            ("GET", "/recipients", Value::Null),
        ] {
            let path = format!("C/campaigns/{id}{rest}");
            let answer = world.operator(method, &path, body).await;
            answer.expect_error(404, "NOT_FOUND");
        }
    }
    assert_eq!(world.operator_get(ALL).await, json!([]));
    let path = format!("C/campaigns/{theirs}");
    let still = world.operator_for(&other, "GET", &path, Value::Null).await.expect(200);
    assert_eq!((&still["status"], &still["name"]), (&json!("draft"), &json!("x")));
}

#[both_stores]
async fn starting_and_pausing_take_no_fields(world: Campaigning) {
    let (id, _) = world.campaign_to(1, json!({})).await;
    for action in ["start", "pause"] {
        let path = format!("C/campaigns/{id}/{action}");
        let answer = world.operator("POST", &path, json!({"at": "now"})).await;
        assert_eq!(answer.expect_invalid(), ["at"]);
    }
    assert_eq!(world.record(&id).await["status"], "draft");
    let path = format!("C/campaigns/{id}/start");
    let started = world.operator("POST", &path, json!({})).await.expect(200);
    assert_eq!(started["status"], "running");
}

#[both_stores]
async fn the_operators_recipients_are_those_of_the_public_listing(world: Campaigning) {
    let (id, _) = world.campaign_to(3, json!({})).await;
    world.start_and_run(&id).await;
    for query in ["", "?status=sent&limit=2&page=2", "?status=waiting"] {
        let public = world.get(&format!("/api/v1/campaigns/{id}/recipients{query}")).await;
        let path = format!("C/campaigns/{id}/recipients{query}");
        let operators = world.operator("GET", &path, Value::Null).await;
        operators.expect(200);
        assert_eq!(operators.json(), public.json(), "{query}");
    }
    let path = format!("C/campaigns/{id}/recipients?limit=0");
    world.operator("GET", &path, Value::Null).await.expect_bad_parameter("limit");
}
