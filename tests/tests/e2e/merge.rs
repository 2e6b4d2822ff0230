//! The operator merges two contacts: docs/operator-api.md; D17, D62, D67.

use std::time::Duration;

use recado_tests::campaigns::ledger_at;
use recado_tests::{
    OPERATOR, Request, ScriptedAnswer, World, both_stores, digits, eight_digits, eventually,
    mobile, text, unknown_id, with,
};
use serde_json::{Value, json};

const LID: &str = "123456789012345@lid";
const BROWSER: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like \
                       Gecko) Chrome/126.0.0.0 Safari/537.36";

async fn merge(world: &World, into: &str, other: &str) -> ScriptedAnswer {
    let path = format!("C/contacts/{into}/merge");
    world.operator("POST", &path, json!({"other_contact_id": other})).await
}

/// One contact with a phone, and one with a LID that was later reported to have the same phone.
async fn two(world: &World, connection: &str) -> (String, String) {
    let by_phone = world.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    let by_lid = world.receive(connection, LID, "primeira").await;
    let by_lid = text(&world.message(&by_lid).await["contact_id"]);
    let event = with(world.inbound(LID, "segunda"), json!({"aliases": [digits(&mobile(1))]}));
    world.stored(connection, event).await;
    (by_phone, by_lid)
}

async fn clicks(world: &World, contact: &str) -> Value {
    let answer = world.get("/api/v1/contacts?include=link_clicks").await;
    let found = answer.items().into_iter().find(|item| item["id"] == contact).expect("listed");
    found["link_clicks"]["total"].clone()
}

#[both_stores]
async fn after_a_merge_the_send_by_phone_works(world: World) {
    let qr = world.qr().await;
    let (by_phone, by_lid) = two(&world, &qr).await;
    world.send_text(&mobile(1), "oi").await.expect_error(409, "AMBIGUOUS_CONTACT");
    let merged = merge(&world, &by_phone, &by_lid).await.expect(200);
    assert_eq!(merged["id"], by_phone.as_str());
    assert_eq!(world.sent(&mobile(1), "oi").await["contact_id"], by_phone.as_str());
    assert_eq!(world.list_ids("limit=100").await, [by_phone.clone()]);
    world.get(&format!("/api/v1/contacts/{by_lid}")).await.expect_error(404, "NOT_FOUND");
}

#[both_stores]
async fn every_name_of_the_other_is_one_of_the_contact_that_stays(world: World) {
    let qr = world.qr().await;
    let (by_phone, by_lid) = two(&world, &qr).await;
    merge(&world, &by_phone, &by_lid).await.expect(200);
    for from in [LID.to_owned(), digits(&mobile(1)), eight_digits(&mobile(1))] {
        let message = world.receive(&qr, &from, "de novo").await;
        assert_eq!(world.message(&message).await["contact_id"], by_phone.as_str(), "{from}");
    }
    assert_eq!(world.list_ids("limit=100").await.len(), 1);
    let full = world.full(&by_phone).await;
    assert_eq!(full["identifier"], digits(&mobile(1)).as_str());
}

#[both_stores]
async fn everything_of_the_other_moves(world: World) {
    let qr = world.qr().await;
    let (kept, gone) = two(&world, &qr).await;
    let own = world
        .import_message(json!({
            "contact_id": kept, "connection_id": qr, "direction": "outbound", "type": "text",
            "content": "nossa", "sender_type": "agent", "status": "delivered",
        }))
        .await;
    let stage = json!({"name": "novo", "color": "#112233"});
    let pipeline = world.make("C/pipelines", json!({"name": "p", "stages": [stage]})).await;
    let stage = text(&pipeline["stages"][0]["id"]);
    let deal = json!({"contact_id": gone, "title": "casa", "stage_id": stage});
    let deal = text(&world.make("C/deals", deal).await["id"]);
    let document = world.document(&gone, "contrato.pdf", b"the contract").await;
    let tags = [
        text(&world.make("C/tags", json!({"name": "vip", "color": "#ff0000"})).await["id"]),
        text(&world.make("C/tags", json!({"name": "novo", "color": "#00ff00"})).await["id"]),
    ];
    let tagged = |tags: &[String]| json!({"tag_ids": tags});
    let path = |id: &str| format!("C/contacts/{id}");
    world.operator("PATCH", &path(&kept), tagged(&tags[..1])).await.expect(200);
    world.operator("PATCH", &path(&gone), tagged(&tags)).await.expect(200);
    let lists = [world.list("uma").await, world.list("outra").await];
    for (list, members) in lists.iter().zip([vec![&gone], vec![&kept, &gone]]) {
        let path = format!("C/lists/{list}/contacts");
        world.operator("POST", &path, json!({"contact_ids": members})).await.expect(200);
    }
    let link = json!({"contact_id": gone, "url": "https://example.com/promo"});
    let code = text(&world.make("C/links", link).await["code"]);
    let click = || Request::new("GET", format!("/l/{code}")).header("user-agent", BROWSER);
    assert_eq!(world.send(click()).await.status, 302);
    let debit = json!({"scope": "message", "prosas": 2, "cost_brl": 1, "contact_id": gone});
    world.operator("POST", "C/prosas/debits", debit).await.expect(201);
    let memory = json!({"summary": "quer uma casa"});
    let memorize = format!("C/contacts/{gone}/lead-memory");
    world.operator("POST", &memorize, memory).await.expect(200);

    let merged = merge(&world, &kept, &gone).await.expect(200);

    let messages = world.messages_of(&kept).await;
    let mut contents: Vec<String> = messages.iter().map(|one| text(&one["content"])).collect();
    contents.sort();
    assert_eq!(contents, ["nossa", "primeira", "segunda"]);
    assert!(world.message_ids("").await.contains(&own));
    assert!(world.all_messages().await.iter().all(|one| one["contact_id"] == kept.as_str()));
    let shown = world.operator_get(&format!("C/deals/{deal}")).await;
    assert_eq!(shown["contact_id"], kept.as_str());
    assert_eq!(world.detail(&kept).await["pipeline_stage"]["id"], stage.as_str());
    let bytes = world.document_bytes(&kept, &document).await;
    assert_eq!(bytes.unwrap_or_else(|answer| panic!("{}", answer.show())), b"the contract");
    let mut own_tags: Vec<String> = merged["tags"]
        .as_array()
        .unwrap_or_else(|| panic!("no tags in {merged}"))
        .iter()
        .map(|tag| text(&tag["name"]))
        .collect();
    own_tags.sort();
    assert_eq!(own_tags, ["novo", "vip"]);
    let mut own_lists: Vec<String> = merged["lists"]
        .as_array()
        .unwrap_or_else(|| panic!("no lists in {merged}"))
        .iter()
        .map(|list| text(&list["id"]))
        .collect();
    own_lists.sort();
    let mut lists = lists.to_vec();
    lists.sort();
    assert_eq!(own_lists, lists);
    assert_eq!(clicks(&world, &kept).await, 1);
    world.advance(Duration::from_secs(60));
    assert_eq!(world.send(click()).await.status, 302, "the link still works");
    assert_eq!(clicks(&world, &kept).await, 2);
    let ledger = ledger_at(world.addr, &world.us).await;
    assert_eq!(ledger.lines.len(), 1);
    assert_eq!(ledger.lines[0]["contact_id"], kept.as_str());
    assert_eq!(world.detail(&kept).await["lead_memory"]["summary"], "quer uma casa");
    let connections = world.detail(&kept).await["connections"].clone();
    assert_eq!(connections.as_array().map(Vec::len), Some(1), "{connections}");
    assert_eq!(connections[0]["unread_count"], 2);
    // The documents of the other contact are deleted with the contact that stays, not before.
    world.delete(&format!("/api/v1/contacts/{kept}")).await.expect_deleted();
    assert!(world.all_messages().await.is_empty());
    eventually("the document is gone", || async {
        world.server.files_on_disk().is_empty().then_some(())
    })
    .await;
}

#[both_stores]
async fn a_merge_that_cannot_be_is_refused_and_changes_nothing(world: World) {
    let qr = world.qr().await;
    let (a, b) = two(&world, &qr).await;
    let groups = json!([{"code": "1@g.us", "subject": "g"}]);
    assert_eq!(world.put_groups(&qr, groups).await.status, 200);
    let group = text(&world.group_contact("1@g.us").await["id"]);
    let them = world.tenant("Rival").await;
    let theirs = text(&world.create_as(&them, json!({"phone": mobile(1)})).await["id"]);
    let before = (world.full(&a).await, world.full(&b).await);
    for other in [unknown_id(), theirs.clone()] {
        merge(&world, &a, &other).await.expect_error(404, "NOT_FOUND");
        merge(&world, &other, &a).await.expect_error(404, "NOT_FOUND");
    }
    for (into, other) in [(&a, &a), (&a, &group), (&group, &a)] {
        assert_eq!(merge(&world, into, other).await.expect_invalid(), ["other_contact_id"]);
    }
    let path = format!("C/contacts/{a}/merge");
    for (body, named) in [
        (json!({}), vec!["other_contact_id"]),
        (json!({"other_contact_id": null}), vec!["other_contact_id"]),
        (json!({"other_contact_id": 7}), vec!["other_contact_id"]),
        (json!({"other_contact_id": "x"}), vec!["other_contact_id"]),
        (json!({"other_contact_id": b, "force": true}), vec!["force"]),
    ] {
        let answer = world.operator("POST", &path, body.clone()).await;
        assert_eq!(answer.expect_invalid(), named, "{body}");
    }
    assert_eq!((world.full(&a).await, world.full(&b).await), before);
    let detail = format!("/api/v1/contacts/{theirs}");
    world.get_as(&them.key, &detail).await.expect(200);
}

#[both_stores]
async fn only_the_operator_merges(world: World) {
    let qr = world.qr().await;
    let (a, b) = two(&world, &qr).await;
    let path = format!("/operator/v1/companies/{}/contacts/{a}/merge", world.us.id);
    let body = json!({"other_contact_id": b});
    let as_key = world.post(&path, body.clone()).await;
    assert_eq!(as_key.status, 401, "{}", as_key.show());
    let public = world.post(&format!("/api/v1/contacts/{a}/merge"), body.clone()).await;
    assert_eq!(public.status, 404, "{}", public.show());
    let request = Request::new("POST", &path).bearer(OPERATOR).json(&body);
    world.send(request).await.expect(200);
}

#[both_stores]
async fn a_second_merge_of_the_same_is_404(world: World) {
    let qr = world.qr().await;
    let (a, b) = two(&world, &qr).await;
    merge(&world, &a, &b).await.expect(200);
    merge(&world, &a, &b).await.expect_error(404, "NOT_FOUND");
    merge(&world, &b, &a).await.expect_error(404, "NOT_FOUND");
}
