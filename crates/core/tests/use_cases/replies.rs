//! Agents' replies: allowed contacts, and the effects on the conversation (D42).

use recado_core::Error;
use recado_core::conversations::ActionName;
use recado_core::gateway::Accepted;
use recado_core::ids::ContactId;
use recado_core::inbox::parse_event;
use recado_core::messages::{MessageView, ProviderMessageId};
use recado_core::sending::SendError;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::shop::{Shop, refusal, uncertain};
use super::{code, create_phone, shown};

const PHONE: &str = "+5534991230001";

async fn reply(shop: &Shop, contact: ContactId) -> Result<Vec<MessageView>, Error<SendError>> {
    let text = body(json!({ "message": "Oi" }));
    shop.app().conversations().reply(shop.kit().company.id, contact, &text).await
}

/// R25, D42.
#[tokio::test]
async fn a_reply_changes_the_conversation_unless_it_surely_failed() {
    for (answer, changes) in [(None, true), (Some(uncertain()), true), (Some(refusal()), false)] {
        let shop = Shop::new().await;
        let contact = create_phone(shop.kit(), PHONE).await;
        shop.act(contact, ActionName::Close, json!({})).await;
        let failed = answer.is_some();
        if let Some(failure) = answer {
            shop.kit().provider.then(Err(failure));
        }
        assert_eq!(reply(&shop, contact).await.is_err(), failed);
        let now = shown(shop.kit(), contact).await;
        let state = [&now["inbox_status"], &now["is_ai_enabled"], &now["external_ai_enabled"]];
        let expected = match changes {
            true => [json!("open"), json!(false), json!(false)],
            false => [json!("resolved"), json!(true), json!(true)],
        };
        assert_eq!(state, [&expected[0], &expected[1], &expected[2]], "{failed}");
        assert_ne!(now["last_message_at"], Value::Null);
        assert_eq!(now["last_connection_id"] == Value::Null, failed, "it follows accepted sends");
    }
}

/// R36.
#[tokio::test]
async fn unread_counts_are_of_one_connection_and_a_reply_resets_all() {
    let shop = Shop::new().await;
    let contact = create_phone(shop.kit(), PHONE).await;
    let company = shop.kit().company.id;
    let connections = [shop.messaging.connection, shop.connection("waha", true).await];
    for (id, connection) in [("m1", 0), ("m2", 1), ("m3", 1)] {
        let event = json!({ "kind": "message", "provider_message_id": id, "type": "text",
            "from": "5534991230001", "content": "Oi" });
        let events = vec![parse_event(&event, "g.us")];
        shop.app().inbox().receive(company, connections[connection], events).await.unwrap();
    }
    let unread = async || {
        let shown = shown(shop.kit(), contact).await;
        let mut counts =
            [0_usize, 1].map(|n| shown["connections"][n]["unread_count"].as_u64().unwrap());
        counts.sort_unstable();
        counts
    };
    assert_eq!(unread().await, [1, 2]);
    reply(&shop, contact).await.unwrap();
    assert_eq!(unread().await, [0, 0]);
}

/// R23.
#[tokio::test]
async fn whom_the_company_blocked_gets_no_reply_and_who_opted_out_does() {
    let shop = Shop::new().await;
    let contact = create_phone(shop.kit(), PHONE).await;
    shop.opt_out(contact).await;
    reply(&shop, contact).await.unwrap();
    shop.block(contact).await;
    assert_eq!(code(reply(&shop, contact).await), "CONTACT_BLOCKED");
    shop.act(contact, ActionName::Unblock, json!({})).await;
    reply(&shop, contact).await.unwrap();
}

/// R89.
#[tokio::test]
async fn a_tag_that_was_not_filled_in_is_sent_to_nobody() {
    let shop = Shop::new().await;
    let contact = create_phone(shop.kit(), PHONE).await;
    shop.template(json!({ "name": "a", "category": "UTILITY", "body": "Oi {{1}}" })).await;
    let reply = async |name: &str| {
        let text = body(json!({ "template": "a", "variables": { "1": name } }));
        shop.app().conversations().reply_template(shop.kit().company.id, contact, &text).await
    };
    let calls = shop.calls();
    assert_eq!(code(reply("{{name}}").await), "VALIDATION_ERROR");
    assert_eq!(shop.calls(), calls);
    reply("Ana").await.unwrap();
}

/// R24: a caller who was told that nothing was sent would send the first bubble again.
#[tokio::test]
async fn a_turn_that_was_partly_sent_is_answered_as_such_when_the_store_fails_then() {
    let shop = Shop::new().await;
    let contact = create_phone(shop.kit(), PHONE).await;
    let id = ProviderMessageId::parse("wamid.um").unwrap();
    shop.kit().provider.then(Ok(Accepted::new(id)));
    shop.kit().provider.then(Err(refusal()));
    let turn = body(json!({ "messages": ["um", "dois"], "prosas": 1, "cost_brl": 0.04 }));
    let conversations = shop.app().conversations();
    let first = shop.kit().provider.hold();
    let fail = async {
        first.reached(1).await;
        let second = shop.kit().provider.hold();
        first.open();
        second.reached(2).await;
        shop.store.fail_read("messages");
    };
    let turn = conversations.ai_turn(shop.kit().company.id, contact, &turn);
    let (stored, ()) = tokio::join!(turn, fail);
    let stored = stored.unwrap();
    assert_eq!(shop.kit().sent_texts(), ["um", "dois"]);
    let texts: Vec<_> = stored.iter().map(|message| message.content.as_deref()).collect();
    assert_eq!(texts, [Some("um")]);
}

/// R24.
#[tokio::test]
async fn a_turn_answers_with_the_bubble_that_was_not_accepted_and_sends_none_after_it() {
    for (failure, code) in
        [(refusal(), "RECIPIENT_UNREACHABLE"), (uncertain(), "DELIVERY_UNCERTAIN")]
    {
        let shop = Shop::new().await;
        let contact = create_phone(shop.kit(), PHONE).await;
        shop.kit().provider.then_accept("a1").then(Err(failure));
        let turn = json!({ "messages": ["um", "dois", "três"], "prosas": 1, "cost_brl": 1 });
        let conversations = shop.app().conversations();
        let company = shop.kit().company.id;
        let stored = conversations.ai_turn(company, contact, &body(turn)).await.unwrap();
        let stored = serde_json::to_value(stored).unwrap();
        let shown = |n: usize| (&stored[n]["content"], &stored[n]["status"]);
        assert_eq!(stored.as_array().unwrap().len(), 2, "{stored}");
        assert_eq!(shown(0), (&json!("um"), &json!("sent")));
        assert_eq!(shown(1), (&json!("dois"), &json!("failed")));
        assert_eq!(stored[1]["delivery_error"]["code"], code);
    }
}
