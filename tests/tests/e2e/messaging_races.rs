//! Concurrent events and calls of one conversation: 3.1, 3.4; D26, D34, D36, D41.

use recado_tests::{World, both_stores, digits, eventually, join_all, mobile, steered, text};
use serde_json::{Value, json};

#[both_stores]
async fn a_contact_deleted_while_a_message_is_sent_to_it_stays_deleted(world: World) {
    let settings = json!({"settings": {"timeout_ms": 1_500}});
    world.connection("official_cloud", settings).await;
    let id = world.create_id(json!({"phone": steered(5)})).await;
    let to = steered(5);
    let (answer, ()) = tokio::join!(world.send_text(&to, "oi"), async {
        eventually("it is pending", || async {
            (!world.message_ids("status=pending").await.is_empty()).then_some(())
        })
        .await;
        world.delete(&format!("/api/v1/contacts/{id}")).await.expect_deleted();
    });
    answer.expect_error(502, "DELIVERY_UNCERTAIN");
    assert!(world.all_messages().await.is_empty());
    world.get(&format!("/api/v1/contacts/{id}")).await.expect_error(404, "NOT_FOUND");
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn a_deletion_and_a_message_at_once_leave_a_whole_contact_or_none(world: World) {
    let qr = world.silent("qr").await;
    for n in 0..15 {
        let id = world.contact_by_message(&qr, &mobile(n)).await;
        let path = format!("/api/v1/contacts/{id}");
        let event = world.inbound(&digits(&mobile(n)), "ainda aqui");
        let (deleted, result) = tokio::join!(world.delete(&path), world.gateway_one(&qr, event));
        deleted.expect_deleted();
        assert_eq!(result["result"], "stored", "{result}");
        world.get(&path).await.expect_error(404, "NOT_FOUND");
    }
    for message in world.all_messages().await {
        let contact = text(&message["contact_id"]);
        assert_eq!(message["content"], "ainda aqui");
        assert_eq!(world.messages_of(&contact).await.len(), 1);
    }
    let listed = world.get("/api/v1/messages?limit=1").await;
    let contacts = world.get("/api/v1/contacts?limit=1").await;
    assert_eq!(
        listed.json()["pagination"]["total"],
        contacts.json()["pagination"]["total"],
        "each contact that is left has its one message"
    );
}

#[both_stores]
async fn actions_of_many_agents_at_once_end_in_one_of_their_states(world: World) {
    let qr = world.silent("qr").await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let mut members = Vec::new();
    for n in 0..6 {
        members.push(world.member(&format!("m{n}")).await);
    }
    let calls =
        members.iter().map(|member| world.act(&contact, "take-over", json!({"member_id": member})));
    for answer in join_all(calls.collect()).await {
        let full = answer.expect(200);
        assert_eq!(full["external_ai_enabled"], false);
    }
    let full = world.full(&contact).await;
    assert!(members.contains(&text(&full["assigned_to_member_id"])));
    assert_eq!(full["inbox_status"], "open");
}

#[both_stores]
async fn messages_closings_and_sends_at_once_lose_nothing(world: World) {
    let qr = world.silent("qr").await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let (from, to) = (digits(&mobile(1)), mobile(1));
    let received = async {
        let calls = (0..20).map(|n| world.gateway_one(&qr, world.inbound(&from, &format!("{n}"))));
        for result in join_all(calls.collect()).await {
            assert_eq!(result["result"], "stored", "{result}");
        }
    };
    let sent = async {
        for answer in join_all((0..20).map(|_| world.send_text(&to, "oi")).collect()).await {
            answer.expect(200);
        }
    };
    let acted = async {
        let actions = ["close", "read", "close", "resume-ai", "read", "close"];
        let calls = actions.map(|action| world.act(&contact, action, Value::Null)).into();
        for answer in join_all(calls).await {
            answer.expect(200);
        }
    };
    tokio::join!(received, sent, acted);
    assert_eq!(world.messages_of(&contact).await.len(), 41);
    assert_eq!(world.events_of("message.received").await.len(), 21);
    assert_eq!(world.events_of("message.sent").await.len(), 20);
    world.act(&contact, "read", Value::Null).await.expect(200);
    world.receive(&qr, &from, "mais uma").await;
    let detail = world.detail(&contact).await;
    assert_eq!(detail["connections"][0]["unread_count"], 1);
    assert_eq!(detail["inbox_status"], "open");
}

#[both_stores]
async fn a_request_to_stop_is_obeyed_by_every_send_that_comes_after_it(world: World) {
    let qr = world.silent("qr").await;
    for n in 0..10 {
        let contact = world.contact_by_message(&qr, &mobile(n)).await;
        let to = mobile(n);
        let event = world.inbound(&digits(&to), "sair");
        let (result, answer) =
            tokio::join!(world.gateway_one(&qr, event), world.send_text(&to, "oi"));
        assert_eq!(result["result"], "stored");
        assert!([200, 403].contains(&answer.status), "{}", answer.show());
        world.send_text(&to, "oi").await.expect_error(403, "CONTACT_OPTED_OUT");
        assert!(world.full(&contact).await["opted_out_at"].is_string());
    }
    assert_eq!(world.events_of("contact.opted_out").await.len(), 10);
}
