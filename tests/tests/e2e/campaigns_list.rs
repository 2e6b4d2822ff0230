//! GET /campaigns and GET /campaigns/{id}/recipients: 4.11, 4.12; D7, D26, D58.

use std::collections::BTreeSet;
use std::time::Duration;

use recado_tests::campaigns::{CAMPAIGNS, exact, micros, recipients_at};
use recado_tests::{Campaigning, Request, both_stores, keys, mobile, steered, text, unknown_id};
use serde_json::{Value, json};

const STATUSES: [&str; 7] =
    ["waiting", "sending", "sent", "delivered", "read", "failed", "skipped"];

fn listing(campaign: &str) -> String {
    format!("{CAMPAIGNS}/{campaign}/recipients")
}

#[both_stores]
async fn campaigns_have_exactly_the_documented_fields(world: Campaigning) {
    let (id, _) = world.campaign_to(3, json!({"messages_per_second": 10})).await;
    let created = world.time();
    world.advance(Duration::from_secs(60));
    world.start(&id).await;
    let started = world.time();
    world.drain().await;
    let answer = world.get(CAMPAIGNS).await;
    let record = world.record(&id).await;
    let counts =
        json!({"total": 3, "sent": 1, "delivered": 0, "read": 0, "failed": 0, "skipped": 0});
    let expected = json!([{
        "id": id, "name": "Novidades", "status": "running", "template_id": world.template,
        "list_id": record["list_id"], "counts": counts, "created_at": created,
        "started_at": started, "finished_at": null,
        "consumption": {"prosas": 0, "cost_brl": 0},
    }]);
    assert_eq!(answer.expect(200), expected);
    assert_eq!(keys(&answer.json()), ["data", "success"], "no pagination");
    world.run(&id).await;
    let listed = world.get(CAMPAIGNS).await.items().remove(0);
    assert_eq!(listed["status"], "finished");
    assert_eq!(listed["finished_at"], world.time());
    assert_eq!(listed["started_at"], started);
    assert_eq!(listed["counts"]["sent"], 3);
}

#[both_stores]
async fn all_campaigns_are_listed_by_creation(world: Campaigning) {
    assert_eq!(world.get(CAMPAIGNS).await.expect(200), json!([]));
    let list = world.list("VIP").await;
    let mut ids = Vec::new();
    for n in 0..105 {
        ids.push(world.campaign(&list, json!({"name": format!("{n}")})).await);
        world.advance(Duration::from_millis(1));
    }
    assert_eq!(world.get(&format!("{CAMPAIGNS}?limit=2&page=2")).await.ids(), ids);
    let at_once = [
        world.campaign(&list, json!({})).await,
        world.campaign(&list, json!({})).await,
        world.campaign(&list, json!({})).await,
    ];
    let sorted: Vec<String> =
        at_once.into_iter().collect::<BTreeSet<String>>().into_iter().collect();
    assert_eq!(world.get(CAMPAIGNS).await.ids()[105..], sorted[..], "then by id");
}

#[both_stores]
async fn another_companys_campaigns_do_not_show(world: Campaigning) {
    let (id, _) = world.campaign_to(1, json!({})).await;
    world.start_and_run(&id).await;
    let other = world.tenant("Other").await;
    assert_eq!(world.get_as(&other.key, CAMPAIGNS).await.expect(200), json!([]));
    let theirs = world.get_as(&other.key, &listing(&id)).await;
    theirs.expect_error(404, "NOT_FOUND");
    let unknown = unknown_id();
    let nobodys = world.get_as(&other.key, &listing(&unknown)).await;
    let blotted = |answer: &recado_tests::ScriptedAnswer, id: &str| {
        String::from_utf8_lossy(&answer.body).replace(id, "<id>")
    };
    assert_eq!(blotted(&theirs, &id), blotted(&nobodys, &unknown), "they look alike");
    world.get(&listing("x")).await.expect_error(404, "NOT_FOUND");
}

#[both_stores]
async fn reading_campaigns_needs_the_scope_of_messages(world: Campaigning) {
    let (id, _) = world.campaign_to(1, json!({})).await;
    let reads = world.key_with(&["messages:read"]).await;
    let rest = ["contacts:read", "contacts:write", "messages:send", "lead_memory:read"];
    let without = world.key_with(&rest).await;
    for path in [CAMPAIGNS, &listing(&id), &listing(&unknown_id())] {
        world.get_as(&without, path).await.expect_error(403, "INSUFFICIENT_SCOPE");
        let nobody = Request::new("GET", path).send(world.addr).await;
        assert_eq!(nobody.status, 401, "{}", nobody.show());
    }
    for path in [CAMPAIGNS, &listing(&id)] {
        world.get_as(&reads, path).await.expect(200);
    }
}

#[both_stores]
async fn recipients_have_exactly_the_documented_fields(world: Campaigning) {
    let sent = world.contact(&mobile(1)).await;
    let refused = world.contact(&steered(1)).await;
    let out = world.import(json!({"phone": mobile(2), "opted_out_at": world.time()})).await;
    let waits = world.contact(&mobile(3)).await;
    let list = world.list_of(&[sent.clone(), refused.clone(), out.clone()]).await;
    let id = world.campaign(&list, json!({})).await;
    world.start_and_run(&id).await;
    let answer = world.get(&listing(&id)).await;
    answer.expect(200);
    let body = answer.json();
    assert_eq!(keys(&body), ["data", "limit", "page", "success", "total"], "flat");
    assert_eq!((&body["total"], &body["page"], &body["limit"]), (&json!(3), &json!(1), &json!(50)));
    let messages = world.all_messages().await;
    let message = |contact: &str| {
        let found = messages.iter().find(|one| one["contact_id"] == contact);
        found.map_or(Value::Null, |one| one["id"].clone())
    };
    let first = world.recipient(&id, &sent).await;
    let expected = json!({
        "contact_id": sent, "phone": mobile(1), "status": "sent", "message_id": message(&sent),
        "error_code": null, "sent_at": first["sent_at"], "prosa": first["prosa"],
    });
    assert_eq!(first, expected);
    assert_ne!(first["message_id"], Value::Null);
    let of_message = messages.iter().find(|one| one["contact_id"] == sent.as_str());
    assert_eq!(Some(&first["sent_at"]), of_message.map(|one| &one["created_at"]));
    let expected = json!({
        "contact_id": refused, "phone": steered(1), "status": "failed",
        "message_id": message(&refused), "error_code": "RECIPIENT_UNREACHABLE",
        "sent_at": null, "prosa": world.recipient(&id, &refused).await["prosa"],
    });
    assert_eq!(world.recipient(&id, &refused).await, expected);
    assert!(first["prosa"].is_object() && expected["prosa"].is_object());
    let expected = json!({
        "contact_id": out, "phone": mobile(2), "status": "skipped", "message_id": null,
        "error_code": "CONTACT_OPTED_OUT", "sent_at": null, "prosa": null,
    });
    assert_eq!(world.recipient(&id, &out).await, expected);
    let list = world.list_of(&[waits.clone()]).await;
    let id = world.campaign(&list, json!({})).await;
    assert_eq!(world.get(&listing(&id)).await.expect(200), json!([]), "a draft has none");
    world.start(&id).await;
    let expected = json!({
        "contact_id": waits, "phone": mobile(3), "status": "waiting", "message_id": null,
        "error_code": null, "sent_at": null, "prosa": null,
    });
    assert_eq!(world.recipient(&id, &waits).await, expected);
}

/// What the listing and the operator's record say a campaign was debited, in millionths.
async fn consumption(world: &Campaigning, id: &str) -> (i128, i128) {
    let listed = world.get(CAMPAIGNS).await.items();
    let listed = listed.into_iter().find(|one| one["id"] == id).expect("it is listed");
    let record = world.record(id).await;
    assert_eq!(record["consumption"], listed["consumption"]);
    assert_eq!(keys(&listed["consumption"]), ["cost_brl", "prosas"]);
    (micros(&listed["consumption"]["prosas"]), micros(&listed["consumption"]["cost_brl"]))
}

// 2.4, D58
#[both_stores]
async fn the_campaign_report_shows_the_debits_of_a_campaign_and_of_each_recipient(
    world: Campaigning,
) {
    let (sent, refused) = (world.contact(&mobile(1)).await, world.contact(&steered(1)).await);
    let out = world.import(json!({"phone": mobile(2), "is_blocked": true})).await;
    let list = world.list_of(&[sent.clone(), refused.clone(), out.clone()]).await;
    let amounts = json!({
        "prosas_per_message": exact("1.5"), "cost_brl_per_message": exact("0.120001"),
    });
    let id = world.campaign(&list, amounts.clone()).await;
    let other = world.campaign(&list, amounts).await;
    assert_eq!(consumption(&world, &id).await, (0, 0));
    world.start_and_run(&id).await;
    // The one that surely was not sent was refunded.
    assert_eq!(consumption(&world, &id).await, (1_500_000, 120_001));
    assert_eq!(consumption(&world, &other).await, (0, 0), "each campaign by itself");
    let ledger = world.ledger().await;
    for contact in [&sent, &refused] {
        let lines = ledger.of("debit");
        let line = lines.iter().find(|line| line["contact_id"] == contact.as_str());
        let line = line.expect("a debit");
        let prosa = world.recipient(&id, contact).await["prosa"].clone();
        let expected = json!({
            "consumption_id": line["consumption_id"], "prosas": line["prosas"],
            "cost_brl": line["cost_brl"], "scope": "message",
        });
        assert_eq!(prosa, expected, "the whole debit; refunds appear only in the ledger");
    }
    assert_eq!(world.recipient(&id, &out).await["prosa"], Value::Null);
    // What the operator gives back counts too.
    let prosa = world.recipient(&id, &sent).await["prosa"].clone();
    let refund = json!({
        "consumption_id": prosa["consumption_id"], "prosas": 1, "cost_brl": exact("0.000001"),
    });
    world.operator("POST", "C/prosas/refunds", refund).await.expect(201);
    assert_eq!(consumption(&world, &id).await, (500_000, 120_000));
    assert_eq!(world.recipient(&id, &sent).await["prosa"], prosa);
}

// D26, D58
#[both_stores]
async fn the_sums_of_a_campaign_outlive_its_contacts_and_their_merging(world: Campaigning) {
    let amounts = json!({"prosas_per_message": 2, "cost_brl_per_message": exact("0.3")});
    let (id, contacts) = world.campaign_to(4, amounts).await;
    world.start_and_run(&id).await;
    assert_eq!(consumption(&world, &id).await, (8_000_000, 1_200_000));
    world.delete(&format!("/api/v1/contacts/{}", contacts[0])).await.expect_deleted();
    let merge = format!("C/contacts/{}/merge", contacts[1]);
    world.operator("POST", &merge, json!({"other_contact_id": contacts[2]})).await.expect(200);
    assert_eq!(consumption(&world, &id).await, (8_000_000, 1_200_000));
    let mut consumptions = BTreeSet::new();
    for recipient in world.recipients(&id).await {
        assert_eq!(micros(&recipient["prosa"]["cost_brl"]), 300_000);
        consumptions.insert(text(&recipient["prosa"]["consumption_id"]));
    }
    assert_eq!(consumptions.len(), 4, "each keeps its own debit");
}

#[both_stores]
async fn recipients_are_filtered_by_their_current_status(world: Campaigning) {
    let mut contacts = world.contacts(5).await;
    contacts.push(world.contact(&steered(1)).await);
    contacts.push(world.import(json!({"phone": mobile(50), "is_blocked": true})).await);
    let list = world.list_of(&contacts).await;
    let id = world.campaign(&list, json!({})).await;
    world.start_and_run(&id).await;
    let wamid = async |n: usize| {
        let message = text(&world.recipient(&id, &contacts[n]).await["message_id"]);
        text(&world.message(&message).await["wamid"])
    };
    for (n, status) in [(0, "delivered"), (1, "read"), (2, "read")] {
        let report = world.report(&wamid(n).await, status);
        world.gateway_one(&world.connection, report).await;
    }
    let mut total = 0;
    for (status, count) in STATUSES.iter().zip([0, 0, 2, 1, 2, 1, 1]) {
        let query = format!("status={status}");
        let found = recipients_at(world.addr, &world.us, &id, &query).await;
        assert_eq!(found.len(), count, "{status}");
        assert!(found.iter().all(|one| one["status"] == *status), "{found:?}");
        total += count;
    }
    assert_eq!(total, 7);
    let page = world.get(&format!("{}?status=sent&limit=1&page=2", listing(&id))).await;
    assert_eq!(page.items().len(), 1);
    assert_eq!(page.json()["total"], 2);
    let counts =
        json!({"total": 7, "sent": 2, "delivered": 1, "read": 2, "failed": 1, "skipped": 1});
    assert_eq!(world.record(&id).await["counts"], counts, "by current status");
}

#[both_stores]
async fn a_parameter_that_makes_no_sense_is_refused(world: Campaigning) {
    let (id, _) = world.campaign_to(1, json!({})).await;
    for (name, values) in [
        ("page", vec!["0", "-1", "x", "1.5", ""]),
        ("limit", vec!["0", "101", "-1", "x", ""]),
        ("status", vec!["draft", "SENT", "", "sent,read"]),
    ] {
        for value in values {
            let answer = world.get(&format!("{}?{name}={value}", listing(&id))).await;
            answer.expect_bad_parameter(name);
        }
        let value = if name == "status" { "sent" } else { "1" };
        let twice = format!("{}?{name}={value}&{name}={value}", listing(&id));
        world.get(&twice).await.expect_bad_parameter(name);
    }
    for limit in [1, 100] {
        world.get(&format!("{}?limit={limit}", listing(&id))).await.expect(200);
    }
}

#[both_stores]
async fn a_recipient_whose_contact_is_deleted_stays_without_contact_and_phone(world: Campaigning) {
    let (id, contacts) = world.campaign_to(3, json!({"messages_per_second": 10})).await;
    world.start(&id).await;
    world.drain().await;
    let got = world.recipients(&id).await[0].clone();
    assert_eq!(got["status"], "sent");
    let first = text(&got["contact_id"]);
    world.delete(&format!("/api/v1/contacts/{first}")).await.expect_deleted();
    let all = world.recipients(&id).await;
    assert_eq!(all.len(), 3);
    assert_eq!((&all[0]["contact_id"], &all[0]["phone"]), (&Value::Null, &Value::Null));
    assert_eq!((&all[0]["status"], &all[0]["sent_at"]), (&json!("sent"), &got["sent_at"]));
    let waiting = text(&all[1]["contact_id"]);
    world.delete(&format!("/api/v1/contacts/{waiting}")).await.expect_deleted();
    let record = world.run(&id).await;
    assert_eq!(record["status"], "finished");
    let all = world.recipients(&id).await;
    assert_eq!((&all[1]["contact_id"], &all[1]["phone"]), (&Value::Null, &Value::Null));
    assert_eq!(all[1]["status"], "skipped");
    assert_ne!(all[1]["error_code"], Value::Null);
    let counts =
        json!({"total": 3, "sent": 2, "delivered": 0, "read": 0, "failed": 0, "skipped": 1});
    assert_eq!(record["counts"], counts);
    let ledger = world.ledger().await;
    assert_eq!(ledger.lines.len(), 2, "a debit for each message: {:?}", ledger.lines);
    assert_eq!(ledger.lines.iter().filter(|line| line["contact_id"] == Value::Null).count(), 1);
    let left = world.all_messages().await;
    assert_eq!(left.len(), 1, "the other went with its contact");
    assert!(contacts.contains(&text(&left[0]["contact_id"])));
}
