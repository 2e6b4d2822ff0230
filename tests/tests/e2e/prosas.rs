//! Prosas: debits, refunds and the ledger: 2.4; D7, D32, D59.

use std::time::Duration;

use recado_tests::world::OPERATOR;
use recado_tests::{
    Request, ScriptedAnswer, World, both_stores, digits, keys, mobile, text, unknown_id,
};
use serde_json::{Value, json};

const LEDGER: &str = "/api/v1/prosas/consumption";

/// A decimal number of an answer, converted to millionths without rounding.
fn micros(number: &Value) -> i128 {
    assert!(number.is_number(), "a JSON number, not {number}");
    let mut written = number.to_string();
    if written.contains('e') {
        // What the answer has in plain digits is shown in another form once it was read.
        written = format!("{:.6}", number.as_f64().expect("a number"));
    }
    let (sign, written) = match written.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, written.as_str()),
    };
    let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
    assert!(fraction.len() <= 6, "finer than a millionth: {written}");
    let digits = format!("{whole}{fraction:0<6}");
    sign * digits.parse::<i128>().unwrap_or_else(|_| panic!("a plain decimal: {written}"))
}

/// Sends a message from the company's software to the n-th contact.
async fn sent(world: &World, n: u32) -> String {
    text(&world.sent(&mobile(n), "oi").await["message_id"])
}

async fn debit(world: &World, body: Value) -> ScriptedAnswer {
    world.operator("POST", "C/prosas/debits", body).await
}

/// A POST of the operator whose body is this text, digit for digit.
async fn posted(world: &World, path: &str, body: String) -> ScriptedAnswer {
    let path = path.replace("C/", &format!("/operator/v1/companies/{}/", world.us.id));
    world.send(Request::new("POST", path).bearer(OPERATOR).body(body)).await
}

async fn booked(world: &World, body: String) -> ScriptedAnswer {
    posted(world, "C/prosas/debits", body).await
}

async fn debited(world: &World, body: Value) -> String {
    text(&debit(world, body).await.expect(201)["consumption_id"])
}

async fn refund(world: &World, consumption: &str, prosas: Value, cost: Value) -> ScriptedAnswer {
    let body = json!({"consumption_id": consumption, "prosas": prosas, "cost_brl": cost});
    world.operator("POST", "C/prosas/refunds", body).await
}

async fn ledger(world: &World, query: &str) -> Value {
    let answer = world.get(&format!("{LEDGER}?{query}")).await;
    answer.expect(200);
    answer.json()
}

/// A JSON number with exactly these digits, which `json!` would convert to floating point.
fn exact(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

// On messages.

#[both_stores]
async fn a_message_without_a_debit_shows_none(world: World) {
    world.qr().await;
    let message = sent(&world, 1).await;
    assert_eq!(world.message(&message).await["prosa"], Value::Null);
}

#[both_stores]
async fn a_debit_of_one_message_shows_on_it(world: World) {
    world.qr().await;
    let message = sent(&world, 1).await;
    let body = json!({
        "scope": "message", "prosas": 2, "cost_brl": exact("0.123456"),
        "message_ids": [message],
    });
    let consumption = debited(&world, body).await;
    let prosa = world.message(&message).await["prosa"].clone();
    assert_eq!(keys(&prosa), ["consumption_id", "cost_brl", "prosas", "scope"]);
    assert_eq!(prosa["consumption_id"], consumption.as_str());
    assert_eq!(prosa["scope"], "message");
    assert_eq!(micros(&prosa["prosas"]), 2_000_000);
    assert_eq!(micros(&prosa["cost_brl"]), 123_456);
}

#[both_stores]
async fn a_debit_of_a_turn_shows_whole_on_each_of_its_messages(world: World) {
    world.qr().await;
    let messages = [sent(&world, 1).await, sent(&world, 1).await, sent(&world, 1).await];
    let body = json!({
        "scope": "turn", "prosas": 3, "cost_brl": exact("0.3"), "message_ids": messages,
    });
    let consumption = debited(&world, body).await;
    for message in &messages {
        let prosa = world.message(message).await["prosa"].clone();
        assert_eq!(prosa["consumption_id"], consumption.as_str());
        assert_eq!(prosa["scope"], "turn");
        assert_eq!(micros(&prosa["cost_brl"]), 300_000, "the whole debit, no share");
    }
    let listed = ledger(&world, "").await;
    assert_eq!(listed["data"].as_array().expect("lines").len(), 1, "one debit, one line");
}

#[both_stores]
async fn messages_that_nobody_pays_for_cannot_be_debited(world: World) {
    let qr = world.qr().await;
    let inbound = world.receive(&qr, &digits(&mobile(1)), "oi").await;
    let contact = text(&world.message(&inbound).await["contact_id"]);
    let reply = world.act(&contact, "reply", json!({"message": "oi"})).await.expect(200);
    let campaign = world
        .import_message(json!({
            "contact_id": contact, "connection_id": qr, "direction": "outbound",
            "type": "template", "content": "oi", "sender_type": "campaign", "status": "sent",
        }))
        .await;
    for message in [inbound, text(&reply["messages"][0]["id"]), campaign, unknown_id()] {
        let body =
            json!({"scope": "message", "prosas": 1, "cost_brl": 1, "message_ids": [message]});
        let answer = debit(&world, body).await;
        assert!([404, 422].contains(&answer.status), "{}", answer.show());
    }
    assert_eq!(ledger(&world, "").await["pagination"]["total"], 0);
}

#[both_stores]
async fn a_debit_without_messages_stands_in_the_ledger(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let body = json!({
        "scope": "message", "prosas": 1, "cost_brl": 1, "contact_id": contact,
        "description": "uma consulta",
    });
    let consumption = debited(&world, body).await;
    let listed = ledger(&world, "").await;
    let line = &listed["data"][0];
    assert_eq!(
        keys(line),
        [
            "campaign_id",
            "consumption_id",
            "contact_id",
            "cost_brl",
            "created_at",
            "description",
            "id",
            "kind",
            "prosas",
            "scope",
        ]
    );
    assert_eq!(line["consumption_id"], consumption.as_str());
    assert_eq!(line["contact_id"], contact.as_str());
    assert_eq!(line["campaign_id"], Value::Null);
    assert_eq!(line["description"], "uma consulta");
    assert_eq!(line["kind"], "debit");
    assert_eq!(line["created_at"], world.time());
}

// Refunds.

#[both_stores]
async fn a_refund_is_a_negative_line_of_its_debit(world: World) {
    world.qr().await;
    let message = sent(&world, 1).await;
    let body = json!({
        "scope": "message", "prosas": 2, "cost_brl": exact("0.2"), "message_ids": [message],
    });
    let consumption = debited(&world, body).await;
    world.advance(Duration::from_secs(1));
    refund(&world, &consumption, exact("0.5"), exact("0.05")).await.expect(201);
    let listed = ledger(&world, "").await;
    let line = &listed["data"][0];
    assert_eq!(line["kind"], "refund");
    assert_eq!(line["consumption_id"], consumption.as_str());
    assert_ne!(line["id"], consumption.as_str());
    assert_eq!(micros(&line["prosas"]), -500_000);
    assert_eq!(micros(&line["cost_brl"]), -50_000);
    assert_eq!(listed["data"][1]["id"], consumption.as_str());
    assert_eq!(micros(&listed["totals"]["prosas"]), 1_500_000);
    assert_eq!(micros(&listed["totals"]["cost_brl"]), 150_000);
    let prosa = world.message(&message).await["prosa"].clone();
    assert_eq!(micros(&prosa["prosas"]), 2_000_000, "refunds appear only in the ledger");
}

#[both_stores]
async fn no_more_is_refunded_than_was_debited(world: World) {
    let body = json!({"scope": "turn", "prosas": 2, "cost_brl": exact("0.2")});
    let consumption = debited(&world, body).await;
    for (prosas, cost) in [("2.001", "0.1"), ("1", "0.200001")] {
        let answer = refund(&world, &consumption, exact(prosas), exact(cost)).await;
        answer.expect_error(422, "REFUND_EXCEEDS_DEBIT");
    }
    refund(&world, &consumption, exact("1.5"), exact("0.1")).await.expect(201);
    let answer = refund(&world, &consumption, exact("0.501"), exact("0.1")).await;
    answer.expect_error(422, "REFUND_EXCEEDS_DEBIT");
    refund(&world, &consumption, exact("0.5"), exact("0.1")).await.expect(201);
    let totals = ledger(&world, "").await["totals"].clone();
    assert_eq!(micros(&totals["prosas"]), 0);
    assert_eq!(micros(&totals["cost_brl"]), 0);
}

#[both_stores]
async fn a_refund_needs_a_debit_and_positive_amounts(world: World) {
    let body = json!({"scope": "turn", "prosas": 2, "cost_brl": 2});
    let consumption = debited(&world, body).await;
    let answer = refund(&world, &unknown_id(), json!(1), json!(1)).await;
    assert!([404, 422].contains(&answer.status), "{}", answer.show());
    for (prosas, cost, name) in [
        (json!(-1), json!(1), "prosas"),
        (json!(1), json!(-1), "cost_brl"),
        (json!("1"), json!(1), "prosas"),
    ] {
        let answer = refund(&world, &consumption, prosas, cost).await;
        assert_eq!(answer.expect_invalid(), [name]);
    }
    refund(&world, &consumption, json!(1), json!(1)).await.expect(201);
    let line = ledger(&world, "kind=refund").await["data"][0]["id"].clone();
    let answer = refund(&world, &text(&line), json!(1), json!(1)).await;
    assert!([404, 422].contains(&answer.status), "a refund is no debit: {}", answer.show());
}

// The listing.

#[both_stores]
async fn the_ledger_is_newest_first_paged_and_summed_over_all_pages(world: World) {
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(debited(&world, json!({"scope": "turn", "prosas": 1, "cost_brl": 1})).await);
        world.advance(Duration::from_secs(60));
    }
    ids.reverse();
    let mut seen = Vec::new();
    for page in 1..=3 {
        let answer = world.get(&format!("{LEDGER}?limit=2&page={page}")).await;
        seen.extend(answer.ids());
        assert_eq!(
            answer.json()["pagination"],
            json!({"page": page, "limit": 2, "total": 5, "total_pages": 3})
        );
        assert_eq!(micros(&answer.json()["totals"]["prosas"]), 5_000_000);
    }
    assert_eq!(seen, ids);
}

#[both_stores]
async fn kind_and_time_filter_lines_and_totals(world: World) {
    let consumption = debited(&world, json!({"scope": "turn", "prosas": 3, "cost_brl": 3})).await;
    world.advance(Duration::from_secs(60));
    let later = world.time();
    refund(&world, &consumption, json!(1), json!(1)).await.expect(201);
    for (query, total, prosas) in [
        ("kind=debit".to_owned(), 1, 3_000_000),
        ("kind=refund".to_owned(), 1, -1_000_000),
        (format!("from={later}"), 1, -1_000_000),
        (format!("to={later}"), 2, 2_000_000),
        ("from=2026-11-20&to=2026-11-20".to_owned(), 2, 2_000_000),
        ("to=2026-11-19".to_owned(), 0, 0),
    ] {
        let listed = ledger(&world, &query).await;
        assert_eq!(listed["pagination"]["total"], total, "{query}");
        assert_eq!(micros(&listed["totals"]["prosas"]), prosas, "{query}");
    }
    for (name, value) in
        [("kind", "gift"), ("page", "0"), ("limit", "101"), ("from", "x"), ("to", "x")]
    {
        world.get(&format!("{LEDGER}?{name}={value}")).await.expect_bad_parameter(name);
    }
}

/// D29.
#[both_stores]
async fn a_time_within_a_millisecond_is_rounded_up_in_from_and_down_in_to(world: World) {
    debited(&world, json!({"scope": "turn", "prosas": 3, "cost_brl": 3})).await;
    let finer = |digits: &str| world.time().replace('Z', &format!("{digits}Z"));
    for (query, total) in [
        (format!("from={}", finer("000")), 1),
        (format!("from={}", finer("0001")), 0),
        (format!("to={}", finer("9999")), 1),
    ] {
        let listed = ledger(&world, &query).await;
        assert_eq!(listed["pagination"]["total"], total, "{query}");
        assert_eq!(micros(&listed["totals"]["prosas"]), i128::from(total) * 3_000_000, "{query}");
    }
}

/// D32, D59.
#[both_stores]
async fn amounts_are_exact_at_the_extremes(world: World) {
    let mut sum = 0;
    for (prosas, cost, micro_prosas, micro_cost) in [
        ("0.001", "0.000001", 1_000, 1),
        ("1e-3", "1E-6", 1_000, 1),
        ("999999999.999", "999999999.999999", 999_999_999_999_000, 999_999_999_999_999),
        ("1000000000", "1e9", 1_000_000_000_000_000, 1_000_000_000_000_000),
        ("123456789.123", "123456789.123457", 123_456_789_123_000, 123_456_789_123_457),
        ("0.1", "0.3", 100_000, 300_000),
    ] {
        let body = format!(r#"{{"scope":"turn","prosas":{prosas},"cost_brl":{cost}}}"#);
        let consumption = text(&booked(&world, body).await.expect(201)["consumption_id"]);
        let raw = world.get(&format!("{LEDGER}?limit=100")).await.body;
        assert!(String::from_utf8_lossy(&raw).contains(r#""cost_brl":0.000001,"#), "plain digits");
        let listed = ledger(&world, "limit=100").await;
        let lines = listed["data"].as_array().expect("lines");
        let line = lines.iter().find(|line| line["consumption_id"] == consumption.as_str());
        let line = line.expect("it is listed");
        assert_eq!(micros(&line["prosas"]), micro_prosas, "{prosas}");
        assert_eq!(micros(&line["cost_brl"]), micro_cost, "{cost}");
        sum += micro_cost;
        assert_eq!(micros(&listed["totals"]["cost_brl"]), sum);
    }
}

/// D8, D32: an amount that no field can hold is named, whatever its size.
#[both_stores]
async fn an_amount_beyond_measure_is_a_clear_422(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let ai_turn = format!("C/contacts/{contact}/ai-turn");
    for amount in [
        "1e400",
        "-1e400",
        "1E+99999999999999999999",
        "1e-400",
        "1000000000.000001",
        "1e9999999999",
        "0.0000001",
        "-0.001",
        "9999999999999999999999999999",
        "1.0000000000000000000001",
    ] {
        for (path, body) in [
            ("C/prosas/debits", r#"{"scope":"turn","prosas":1,"cost_brl":$}"#),
            ("C/prosas/debits", r#"{"scope":"turn","prosas":$,"cost_brl":$}"#),
            (ai_turn.as_str(), r#"{"messages":["oi"],"prosas":1,"cost_brl":$}"#),
        ] {
            let answer = posted(&world, path, body.replace('$', amount)).await;
            let named = answer.expect_invalid();
            assert!(named.contains(&"cost_brl".to_owned()), "{amount}: {}", answer.show());
            let reason = text(&answer.json()["details"]["reasons"]["cost_brl"]);
            let clear = ["at most 1000000000", "at most 6 decimal places", "not be negative"];
            assert!(clear.iter().any(|part| reason.contains(part)), "{amount}: {reason}");
        }
    }
    assert_eq!(ledger(&world, "").await["pagination"]["total"], 0);
    assert_eq!(world.messages_of(&contact).await.len(), 1, "nothing was sent");
}

#[both_stores]
async fn an_empty_ledger_sums_to_zero(world: World) {
    let listed = ledger(&world, "").await;
    assert_eq!(listed["data"], json!([]));
    assert_eq!(micros(&listed["totals"]["prosas"]), 0);
    assert_eq!(micros(&listed["totals"]["cost_brl"]), 0);
}

#[both_stores]
async fn lines_outlive_their_contact(world: World) {
    world.qr().await;
    let message = sent(&world, 1).await;
    let contact = text(&world.message(&message).await["contact_id"]);
    let body = json!({
        "scope": "message", "prosas": 1, "cost_brl": 1, "message_ids": [message],
        "contact_id": contact,
    });
    debited(&world, body).await;
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    let listed = ledger(&world, "").await;
    assert_eq!(listed["data"][0]["contact_id"], Value::Null);
    assert_eq!(micros(&listed["totals"]["prosas"]), 1_000_000);
}
