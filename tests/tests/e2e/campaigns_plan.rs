//! Campaigns that speak to each person, at their time, in their hours, and that stop on failures:
//! D49, D75; X16.

use std::time::Duration;

use recado_core::Timestamp;
use recado_testkit::gateways::graph_failure;
use recado_tests::{Campaigning, Clouded, both_stores, mobile, text, unknown_id};
use serde_json::{Value, json};

const HOUR: Duration = Duration::from_secs(3_600);
const MINUTE: Duration = Duration::from_secs(60);

/// A campaign to these contacts.
async fn campaign_of(world: &Campaigning, contacts: &[String], more: Value) -> String {
    let list = world.list_of(contacts).await;
    world.campaign(&list, more).await
}

/// The time of day in UTC, some minutes from now.
fn clock(world: &Campaigning, minutes: u64) -> String {
    world.time_in(minutes * 60_000)[11..16].to_owned()
}

async fn set_zone(world: &Campaigning, zone: &str) -> Value {
    let path = format!("/companies/{}", world.us.id);
    world.operator("PATCH", &path, json!({"time_zone": zone})).await.expect(200)
}

/// X16: fields of 2.1 and custom fields, with defaults; who lacks one is skipped.
#[both_stores]
async fn each_contact_gets_a_text_with_what_it_has(world: Campaigning) {
    let field = world.field("pedido").await;
    let ana = json!({
        "phone": mobile(1), "name": "Ana Lima", "city": "Recife", "custom_fields": {(&field): "77"},
    });
    let ana = world.import(ana).await;
    let rui = json!({"phone": mobile(2), "name": "Rui", "custom_fields": {(&field): "78"}});
    let rui = world.import(rui).await;
    let nobody = world.import(json!({"phone": mobile(3), "name": "Eva"})).await;
    let variables = json!({
        "1": "{contact.first_name}", "2": "o pedido {contact.custom.pedido} em {contact.city|casa}",
    });
    let contacts = [ana.clone(), rui.clone(), nobody.clone()];
    let id = campaign_of(&world, &contacts, json!({"variables": variables})).await;
    let preview = async |contact: &str| {
        world.operator_get(&format!("C/campaigns/{id}/preview?contact_id={contact}")).await
    };
    let shown = preview(&ana).await;
    let filled = json!({"1": "Ana", "2": "o pedido 77 em Recife"});
    let expected = json!({
        "text": "Olá Ana, temos o pedido 77 em Recife", "variables": filled, "skipped": null,
    });
    assert_eq!(shown, expected);
    let shown = preview(&nobody).await;
    assert_eq!((&shown["text"], &shown["skipped"]), (&Value::Null, &json!("EMPTY_VARIABLE")));
    assert_eq!(shown["variables"], json!({"1": "Eva", "2": ""}));

    assert_eq!(world.start_and_run(&id).await["status"], "finished");
    for (contact, expected) in [
        (&ana, "Olá Ana, temos o pedido 77 em Recife"),
        (&rui, "Olá Rui, temos o pedido 78 em casa"),
    ] {
        let message = text(&world.recipient(&id, contact).await["message_id"]);
        assert_eq!(world.message(&message).await["content"], expected);
    }
    let skipped = world.recipient(&id, &nobody).await;
    assert_eq!(
        (&skipped["status"], &skipped["error_code"]),
        (&json!("skipped"), &json!("EMPTY_VARIABLE"))
    );
    assert_eq!(skipped["message_id"], Value::Null);
    assert_eq!(world.ledger().await.of("debit").len(), 2);
    assert_eq!(world.record(&id).await["variables"], variables, "as they were given");
}

/// X16, D49, R375: an unknown or malformed field is 422, and everywhere else the forms are literal
/// tags.
#[both_stores]
async fn fields_are_read_in_campaigns_only_and_unknown_ones_are_refused(world: Campaigning) {
    let contact = world.contact(&mobile(1)).await;
    let list = world.list_of(std::slice::from_ref(&contact)).await;
    for wrong in [
        "{contact.nome}",
        "oi {contact.custom.none|x}",
        "{{contact.name}}",
        "[[{contact.name}]]",
        "oi {contact.name",
        "{contact.city|{contact.name}}",
        "{contact.name|[NOME]}",
    ] {
        let draft = world.draft(&list, json!({"variables": {"1": wrong, "2": "b"}}));
        let answer = world.operator("POST", "C/campaigns", draft).await;
        assert_eq!(answer.expect_invalid(), ["variables"], "{wrong}");
    }
    let id = world.campaign(&list, json!({})).await;
    let change = json!({"variables": {"1": "{contact.nope}", "2": "b"}});
    assert_eq!(world.change(&id, change).await.expect_invalid(), ["variables"]);
    let elsewhere = json!({
        "to": mobile(1), "template": "promo", "variables": {"1": "oi {contact.name}!", "2": "b"},
    });
    let answer = world.post("/api/v1/send/template", elsewhere).await;
    assert_eq!(answer.expect_invalid(), ["variables"]);

    let preview = |query: String| {
        let path = format!("C/campaigns/{id}/preview{query}");
        let world = &world;
        async move { world.operator("GET", &path, Value::Null).await }
    };
    preview(String::new()).await.expect_error(400, "INVALID_PARAMETER");
    preview("?contact_id=x".to_owned()).await.expect_error(400, "INVALID_PARAMETER");
    preview(format!("?contact_id={}", unknown_id())).await.expect_error(404, "NOT_FOUND");
    let theirs = world.tenant("Other").await;
    let new = json!({"phone": mobile(1)});
    let other = world.operator_for(&theirs, "POST", "C/contacts", new).await.expect(201);
    preview(format!("?contact_id={}", text(&other["id"]))).await.expect_error(404, "NOT_FOUND");
    let path = format!("C/campaigns/{id}/preview?contact_id={}", text(&other["id"]));
    let of_them = world.operator_for(&theirs, "GET", &path, Value::Null).await;
    of_them.expect_error(404, "NOT_FOUND");
    world.act(&contact, "block", json!({})).await.expect(200);
    let shown = preview(format!("?contact_id={contact}")).await.expect(200);
    assert_eq!(shown["skipped"], "CONTACT_BLOCKED");
    assert_eq!(shown["text"], "Olá amigos, temos novidades");
}

/// X16, R292: a start arms it, its list is taken when its time comes, a restart changes nothing.
#[both_stores]
async fn a_scheduled_campaign_begins_at_its_time_also_after_a_restart(mut world: Campaigning) {
    let early = world.contact(&mobile(1)).await;
    let list = world.list_of(std::slice::from_ref(&early)).await;
    let past = world.draft(&list, json!({"scheduled_at": world.time()}));
    let answer = world.operator("POST", "C/campaigns", past).await;
    assert_eq!(answer.expect_invalid(), ["scheduled_at"]);
    let at = world.time_in(3_600_000);
    let id = world.campaign(&list, json!({"scheduled_at": at})).await;
    assert_eq!(world.record(&id).await["status"], "draft");
    let armed = world.start(&id).await;
    assert_eq!((&armed["status"], &armed["scheduled_at"]), (&json!("scheduled"), &json!(at)));
    assert_eq!(armed["started_at"], Value::Null);
    assert_eq!(world.start(&id).await, armed, "it is armed already");
    world.drain().await;
    assert_eq!(world.recipients(&id).await, Vec::<Value>::new());
    let late = world.contact(&mobile(2)).await;
    world.enlist(&list, std::slice::from_ref(&late)).await;
    let listed = world.get("/api/v1/campaigns").await.items();
    assert_eq!(listed[0]["status"], "scheduled");

    world.world.restart().await;
    world.advance(HOUR - Duration::from_millis(1));
    world.drain().await;
    assert_eq!(world.record(&id).await["status"], "scheduled");
    world.advance(Duration::from_millis(1));
    world.drain().await;
    let record = world.run(&id).await;
    assert_eq!((&record["status"], &record["started_at"]), (&json!("finished"), &json!(at)));
    assert_eq!(world.recipients(&id).await.len(), 2, "those of the moment of its beginning");
}

/// X16, R292.
#[both_stores]
async fn a_schedule_can_be_paused_moved_and_taken_back(world: Campaigning) {
    let (id, _) = world.campaign_to(1, json!({"scheduled_at": world.time_in(60_000)})).await;
    world.start(&id).await;
    let paused = world.pause(&id).await;
    assert_eq!(
        (&paused["status"], &paused["paused_reason"]),
        (&json!("paused"), &json!("operator"))
    );
    world.advance(MINUTE * 2);
    world.drain().await;
    assert_eq!(world.record(&id).await["status"], "paused");
    world.change(&id, json!({"scheduled_at": world.time_in(60_000)})).await.expect(200);
    assert_eq!(world.start(&id).await["status"], "scheduled");
    world.change(&id, json!({"scheduled_at": world.time_in(120_000)})).await.expect(200);
    world.advance(MINUTE);
    world.drain().await;
    assert_eq!(world.record(&id).await["status"], "scheduled");
    let back = world.change(&id, json!({"scheduled_at": null})).await.expect(200);
    assert_eq!(back["status"], "draft", "nothing is sent before it is started again");
    assert_eq!(world.start_and_run(&id).await["status"], "finished");
}

/// X16, R292.
#[both_stores]
async fn a_campaign_whose_list_is_gone_at_its_time_pauses_and_says_so(world: Campaigning) {
    let contact = world.contact(&mobile(1)).await;
    let list = world.list_of(std::slice::from_ref(&contact)).await;
    let id = world.campaign(&list, json!({"scheduled_at": world.time_in(60_000)})).await;
    world.start(&id).await;
    let gone = world.operator("DELETE", &format!("C/lists/{list}"), Value::Null).await;
    assert_eq!(gone.status, 200, "{gone:?}");
    world.advance(MINUTE);
    world.drain().await;
    let record = world.record(&id).await;
    assert_eq!(
        (&record["status"], &record["paused_reason"]),
        (&json!("paused"), &json!("list_not_found"))
    );
    let other = world.list_of(&[contact]).await;
    world.change(&id, json!({"list_id": other})).await.expect(200);
    assert_eq!(world.start_and_run(&id).await["status"], "finished");
    assert_eq!(world.recipients(&id).await.len(), 1);
}

/// X16, R293: in the time zone of the company, which may change meanwhile.
#[both_stores]
async fn messages_go_out_in_the_hours_of_the_companys_time_zone(world: Campaigning) {
    let company = world.operator("GET", &format!("/companies/{}", world.us.id), Value::Null).await;
    assert_eq!(company.expect(200)["time_zone"], "America/Sao_Paulo");
    assert_eq!(set_zone(&world, "UTC").await["time_zone"], "UTC");
    for wrong in [json!("BRT"), json!("utc"), json!(3)] {
        let path = format!("/companies/{}", world.us.id);
        let answer = world.operator("PATCH", &path, json!({"time_zone": wrong})).await;
        assert_eq!(answer.expect_invalid(), ["time_zone"]);
    }
    let hours = json!({"from": clock(&world, 60), "to": clock(&world, 180)});
    let more = json!({"send_between": hours, "messages_per_second": 1});
    let (id, contacts) = world.campaign_to(3, more).await;
    let record = world.start(&id).await;
    assert_eq!(record["status"], "running");
    assert_eq!(record["send_between"]["days"].as_array().map(Vec::len), Some(7));
    world.drain().await;
    world.advance(MINUTE * 58);
    world.drain().await;
    assert_eq!(world.statuses(&id).await.get("waiting"), Some(&3));
    world.advance(MINUTE * 2);
    world.drain().await;
    assert_eq!(world.statuses(&id).await.get("sent"), Some(&1));
    world.advance(MINUTE * 120);
    world.drain().await;
    assert_eq!(world.statuses(&id).await.get("waiting"), Some(&2), "the hours are over");
    // Two hours to the west it is still early enough.
    set_zone(&world, "Etc/GMT+2").await;
    let record = world.run(&id).await;
    assert_eq!(
        (&record["status"], &record["counts"]["sent"]),
        (&json!("finished"), &json!(contacts.len()))
    );
}

/// X16, R293: hours over midnight, on some days only.
#[both_stores]
async fn hours_over_midnight_are_of_the_days_on_which_they_begin(world: Campaigning) {
    set_zone(&world, "UTC").await;
    assert!(world.time().starts_with("2026-11-20T12:"), "a Friday: {}", world.time());
    let hours = json!({"from": "22:00", "to": "02:00", "days": ["fri"]});
    let more = json!({"send_between": hours, "messages_per_second": 1});
    let (id, _) = world.campaign_to(4, more).await;
    assert_eq!(world.start(&id).await["send_between"], hours);
    for (at, sent) in [
        ("2026-11-20T21:59:59.999Z", 0),
        ("2026-11-20T22:00:00.000Z", 1),
        ("2026-11-21T01:59:59.999Z", 2),
        ("2026-11-21T02:00:00.000Z", 2),
        ("2026-11-21T22:00:00.000Z", 2),
        ("2026-11-27T01:00:00.000Z", 2),
        ("2026-11-27T22:00:00.000Z", 3),
    ] {
        let now = || Timestamp::parse(&world.time()).expect("a time");
        world.advance(Timestamp::parse(at).expect("a time").since(now()));
        world.drain().await;
        assert_eq!(world.statuses(&id).await.get("waiting"), Some(&(4 - sent)), "{at}");
    }
}

/// X16: hours of a wrong form are named.
#[both_stores]
async fn hours_limits_and_times_of_the_wrong_form_are_refused(world: Campaigning) {
    let list = world.list_of(&[]).await;
    for (field, wrong) in [
        ("send_between", json!({"from": "09:00", "to": "09:00"})),
        ("send_between", json!({"from": "9h", "to": "20:00"})),
        ("send_between", json!({"from": "09:00", "to": "20:00", "days": ["segunda"]})),
        ("stop_after_failures", json!({"failed": 5, "of": 4})),
        ("stop_after_failures", json!({"failed": 0, "of": 4})),
        ("scheduled_at", json!("amanhã")),
    ] {
        let draft = world.draft(&list, json!({(field): wrong}));
        let answer = world.operator("POST", "C/campaigns", draft).await;
        assert_eq!(answer.expect_invalid(), [field], "{wrong}");
    }
    let id = world.campaign(&list, json!({"stop_after_failures": {"failed": 2, "of": 5}})).await;
    let record = world.record(&id).await;
    assert_eq!(record["stop_after_failures"], json!({"failed": 2, "of": 5}));
    let change = json!({"stop_after_failures": null, "send_between": null, "scheduled_at": null});
    assert_eq!(world.change(&id, change).await.expect(200)["stop_after_failures"], Value::Null);
}

/// X16, R295: those that failed at once, and those that were reported failed later.
#[both_stores]
async fn so_many_failures_of_the_last_messages_pause_it(world: Campaigning) {
    let mut contacts = Vec::new();
    for n in 0..12 {
        // The gateway refuses numbers that end in 0001.
        let phone = if (3..7).contains(&n) { format!("+551197{n:03}0001") } else { mobile(n) };
        contacts.push(world.contact(&phone).await);
    }
    let more = json!({"stop_after_failures": {"failed": 3, "of": 5}, "messages_per_second": 1});
    let id = campaign_of(&world, &contacts, more).await;
    let record = world.start_and_run(&id).await;
    assert_eq!(
        (&record["status"], &record["paused_reason"]),
        (&json!("paused"), &json!("failures"))
    );
    assert_eq!(record["pause_reason"], "failures");
    assert_eq!(record["counts"]["failed"], 3);
    assert!(world.statuses(&id).await["waiting"] > 0);
    // What failed before does not stop it again.
    world.start(&id).await;
    let record = world.run(&id).await;
    assert_eq!((&record["status"], &record["counts"]["failed"]), (&json!("finished"), &json!(4)));

    let more = json!({"stop_after_failures": {"failed": 2, "of": 4}, "messages_per_second": 1});
    let id = campaign_of(&world, &contacts[7..], more).await;
    world.start(&id).await;
    for _ in 0..2 {
        world.drain().await;
        world.advance(Duration::from_secs(1));
    }
    for recipient in world.recipients(&id).await.iter().filter(|one| one["status"] == "sent") {
        let message = world.message(&text(&recipient["message_id"])).await;
        let report = json!({
            "kind": "status", "provider_message_id": message["wamid"], "status": "failed",
            "error": {"code": 131_026, "message": "Undeliverable"},
        });
        assert_eq!(world.gateway_one(&world.connection, report).await["result"], "stored");
    }
    world.drain().await;
    let record = world.record(&id).await;
    assert_eq!(
        (&record["status"], &record["paused_reason"]),
        (&json!("paused"), &json!("failures"))
    );
    assert_eq!(record["counts"]["failed"], 2);
}

/// X16, R296: 131049, reported later, is no failure, and is refunded.
#[both_stores]
async fn what_the_channel_withholds_from_a_person_is_skipped_and_refunded(world: Campaigning) {
    let more = json!({"prosas_per_message": 2, "cost_brl_per_message": 1});
    let (id, contacts) = world.campaign_to(2, more).await;
    world.start_and_run(&id).await;
    let recipient = world.recipient(&id, &contacts[0]).await;
    let message = text(&recipient["message_id"]);
    let report = json!({
        "kind": "status", "provider_message_id": world.message(&message).await["wamid"],
        "status": "failed", "error": {"code": 131_049, "message": "healthy ecosystem"},
    });
    for result in ["stored", "duplicate"] {
        let answer = world.gateway_one(&world.connection, report.clone()).await;
        assert_eq!(answer["result"], result);
    }
    let recipient = world.recipient(&id, &contacts[0]).await;
    assert_eq!(
        (&recipient["status"], &recipient["error_code"]),
        (&json!("skipped"), &json!("MARKETING_LIMITED"))
    );
    let shown = world.message(&message).await;
    assert_eq!(
        (&shown["status"], &shown["delivery_error"]["code"]),
        (&json!("failed"), &json!("MARKETING_LIMITED"))
    );
    let record = world.record(&id).await;
    assert_eq!(record["counts"]["failed"], 0);
    assert_eq!((&record["counts"]["skipped"], &record["counts"]["sent"]), (&json!(1), &json!(1)));
    assert_eq!(record["consumption"]["prosas"], json!(2));
    let ledger = world.ledger().await;
    assert_eq!((ledger.of("debit").len(), ledger.of("refund").len()), (2, 1));
}

/// A campaign through the official API to some contacts.
async fn clouded_campaign(world: &Clouded, count: u32) -> (String, Vec<String>) {
    let template = text(&world.template("promo", "MARKETING", "Olá {{1}}").await["id"]);
    let list = world.list("the list").await;
    let mut contacts = Vec::new();
    for n in 0..count {
        contacts.push(world.import(json!({"phone": mobile(n)})).await);
    }
    let path = format!("C/lists/{list}/contacts");
    world.operator("POST", &path, json!({"contact_ids": contacts})).await.expect(200);
    let draft = json!({
        "name": "x", "template_id": template, "list_id": list, "variables": {"1": "a"},
        "messages_per_second": 5, "prosas_per_message": 2,
    });
    (text(&world.make("C/campaigns", draft).await["id"]), contacts)
}

/// Lets the clock go on until a campaign is finished.
async fn clouded_run(world: &Clouded, id: &str) -> Value {
    world.operator("POST", &format!("C/campaigns/{id}/start"), Value::Null).await.expect(200);
    for _ in 0..600 {
        world.server.drain_campaigns().await;
        let record = world.operator_get(&format!("C/campaigns/{id}")).await;
        if record["status"] != "running" {
            return record;
        }
        world.advance(Duration::from_millis(200));
    }
    panic!("it runs and runs");
}

/// X16, R294: 130429 and 131056 are refusals for the rate.
#[both_stores]
async fn a_message_that_was_refused_for_the_rate_is_tried_again_in_its_place(world: Clouded) {
    let (id, contacts) = clouded_campaign(&world, 3).await;
    world.fake.script([graph_failure(130_429, "Rate"), graph_failure(131_056, "Pair rate")]);
    let record = clouded_run(&world, &id).await;
    let counts = &record["counts"];
    assert_eq!(record["status"], "finished");
    assert_eq!((&counts["sent"], &counts["failed"]), (&json!(3), &json!(0)));
    assert_eq!(record["consumption"]["prosas"], json!(6), "each is paid for once");
    let messages = world.all_messages().await;
    assert_eq!(messages.len(), contacts.len());
    assert!(messages.iter().all(|message| message["status"] != "failed"), "{messages:?}");
    world.well_behaved();
}

/// X16, R296: the refusal of the call itself.
#[both_stores]
async fn a_refusal_for_a_persons_marketing_limit_is_skipped_and_refunded(world: Clouded) {
    let (id, _) = clouded_campaign(&world, 2).await;
    world.fake.script([graph_failure(131_049, "healthy ecosystem")]);
    let record = clouded_run(&world, &id).await;
    let counts = &record["counts"];
    assert_eq!((&counts["skipped"], &counts["failed"]), (&json!(1), &json!(0)));
    assert_eq!((&counts["sent"], &record["consumption"]["prosas"]), (&json!(1), &json!(2)));
    let path = format!("C/campaigns/{id}/recipients?status=skipped");
    let answer = world.operator("GET", &path, Value::Null).await.json();
    assert_eq!(answer["data"][0]["error_code"], "MARKETING_LIMITED");
}

/// X16, D75: a schedule survives a hold, and begins when the installation is resumed.
#[both_stores]
async fn a_scheduled_campaign_waits_for_the_end_of_a_hold(world: Campaigning) {
    let (id, _) = world.campaign_to(1, json!({"scheduled_at": world.time_in(60_000)})).await;
    world.start(&id).await;
    let halts = || world.server.recado().halts();
    halts().hold(Some("a test")).await.expect("the store works");
    world.advance(MINUTE * 2);
    world.drain().await;
    assert_eq!(world.record(&id).await["status"], "scheduled");
    halts().resume(false).await.expect("the store works");
    let at = Timestamp::parse(&world.time()).expect("a time");
    world.drain().await;
    let record = world.run(&id).await;
    assert_eq!(record["status"], "finished");
    assert!(Timestamp::parse(&text(&record["started_at"])).is_some_and(|began| began >= at));
}
