//! Another company's connections, conversations, messages and debits behave as if they did not
//! exist (1).

use recado_tests::{
    OPERATOR, Request, ScriptedAnswer, Tenant, World, both_stores, digits, mobile, text,
    unknown_id, wamid, with,
};
use serde_json::{Value, json};

/// The visible parts of an answer, with the requested id removed.
fn seen(answer: &ScriptedAnswer, id: &str) -> (u16, String) {
    (answer.status, String::from_utf8_lossy(&answer.body).replace(id, "<id>"))
}

struct Theirs {
    tenant: Tenant,
    connection: String,
    contact: String,
    message: String,
    provider_id: String,
    template: String,
    consumption: String,
    reason: String,
    member: String,
}

async fn theirs(world: &World) -> Theirs {
    let tenant = world.tenant("Other").await;
    let connection = world.connection_of(&tenant, "qr", json!({})).await;
    let provider_id = wamid();
    let event = with(
        world.inbound(&digits(&mobile(1)), "deles"),
        json!({"provider_message_id": provider_id}),
    );
    let path = format!("C/connections/{connection}/events");
    let body = json!({"events": [event]});
    world.operator_for(&tenant, "POST", &path, body).await.expect(200);
    let received = world.get_as(&tenant.key, "/api/v1/messages").await.items().remove(0);
    let path = format!("C/connections/{connection}/groups");
    let groups = json!([{"code": "7@g.us", "subject": "deles"}]);
    world.operator_for(&tenant, "PUT", &path, groups).await;
    let send = json!({"to": mobile(1), "message": "deles"});
    let sent = world.post_as(&tenant.key, "/api/v1/send/message", send).await.expect(200);
    let template = json!({"name": "t", "category": "UTILITY", "body": "b", "status": "APPROVED"});
    let debit = json!({"scope": "turn", "prosas": 1, "cost_brl": 1});
    let id = |value: Value| text(&value["id"]);
    Theirs {
        contact: text(&received["contact_id"]),
        message: text(&sent["message_id"]),
        template: id(world.make_for(&tenant, "C/templates", template).await),
        consumption: text(
            &world.make_for(&tenant, "C/prosas/debits", debit).await["consumption_id"],
        ),
        reason: id(world.make_for(&tenant, "C/close-reasons", json!({"name": "r"})).await),
        member: id(world.make_for(&tenant, "C/members", json!({"display_name": "m"})).await),
        tenant,
        connection,
        provider_id,
    }
}

#[both_stores]
async fn on_the_public_api(world: World) {
    let theirs = theirs(&world).await;
    world.qr().await;
    let send = |to: String, connection: String| {
        let body = json!({"to": to, "message": "oi", "connection_id": connection});
        Request::new("POST", "/api/v1/send/message").json(&body)
    };
    type Ask = Box<dyn Fn(&str) -> Request>;
    let asks: Vec<(&str, &str, Ask)> = vec![
        (
            "messages of a contact",
            &theirs.contact,
            Box::new(|id| Request::new("GET", format!("/api/v1/contacts/{id}/messages"))),
        ),
        (
            "messages by contact",
            &theirs.contact,
            Box::new(|id| Request::new("GET", format!("/api/v1/messages?contact_id={id}"))),
        ),
        (
            "messages by connection",
            &theirs.connection,
            Box::new(|id| Request::new("GET", format!("/api/v1/messages?connection_id={id}"))),
        ),
        (
            "send through a connection",
            &theirs.connection,
            Box::new(move |id| send(mobile(1), id.to_owned())),
        ),
        (
            "send to a group through a connection",
            &theirs.connection,
            Box::new(move |id| send("7@g.us".to_owned(), id.to_owned())),
        ),
    ];
    for (what, id, ask) in asks {
        let never = unknown_id();
        let found = seen(&world.call(ask(id)).await, id);
        let nothing = seen(&world.call(ask(&never)).await, &never);
        assert_eq!(found, nothing, "{what}");
    }
    assert!(world.all_messages().await.is_empty());
    assert!(world.get("/api/v1/prosas/consumption").await.items().is_empty());
    world.send_text("7@g.us", "oi").await.expect_error(404, "GROUP_NOT_FOUND");
}

#[both_stores]
async fn on_the_operator_api(world: World) {
    let theirs = theirs(&world).await;
    let ours = world.create_id(json!({"phone": mobile(5)})).await;
    let connection = world.silent("qr").await;
    let company = world.us.id.clone();
    let under = move |rest: &str| format!("/operator/v1/companies/{company}/{rest}");
    type Ask = Box<dyn Fn(&str) -> Request>;
    let mut asks: Vec<(String, String, Ask)> = Vec::new();
    for (place, id) in [("connections", &theirs.connection), ("templates", &theirs.template)] {
        for method in ["GET", "DELETE"] {
            let under = under.clone();
            let ask: Ask =
                Box::new(move |id| Request::new(method, under(&format!("{place}/{id}"))));
            asks.push((format!("{method} {place}"), id.clone(), ask));
        }
    }
    let with_body = |method: &'static str,
                     rest: Box<dyn Fn(&str) -> String>,
                     body: Box<dyn Fn(&str) -> Value>|
     -> Ask {
        let under = under.clone();
        Box::new(move |id| Request::new(method, under(&rest(id))).json(&body(id)))
    };
    for (method, rest, body) in [
        ("PATCH", "", json!({"name": "x"})),
        ("PUT", "/groups", json!([])),
        ("POST", "/events", json!({"events": []})),
    ] {
        let path: Box<dyn Fn(&str) -> String> =
            Box::new(move |id| format!("connections/{id}{rest}"));
        let ask = with_body(method, path, Box::new(move |_| body.clone()));
        asks.push((format!("{method} connection{rest}"), theirs.connection.clone(), ask));
    }
    for (action, body) in [
        ("close", json!({})),
        ("reply", json!({"message": "oi"})),
        ("block", json!({})),
        ("read", json!({})),
        ("handoff", json!({})),
        ("enable-external-ai", json!({})),
        ("lead-memory", json!({"summary": "x"})),
        ("ai-turn", json!({"messages": ["oi"], "prosas": 1, "cost_brl": 1})),
    ] {
        let path: Box<dyn Fn(&str) -> String> =
            Box::new(move |id| format!("contacts/{id}/{action}"));
        let ask = with_body("POST", path, Box::new(move |_| body.clone()));
        asks.push((action.to_owned(), theirs.contact.clone(), ask));
    }
    for (what, id, rest, body) in [
        ("a member", &theirs.member, format!("contacts/{ours}/assign"), json!({"member_id": "ID"})),
        (
            "a reason",
            &theirs.reason,
            format!("contacts/{ours}/close"),
            json!({"close_reason_id": "ID"}),
        ),
        (
            "a template",
            &theirs.template,
            format!("contacts/{ours}/reply-template"),
            json!({"template": "ID"}),
        ),
        (
            "a debit",
            &theirs.consumption,
            "prosas/refunds".to_owned(),
            json!({"consumption_id": "ID", "prosas": 1, "cost_brl": 1}),
        ),
        (
            "a message to debit",
            &theirs.message,
            "prosas/debits".to_owned(),
            json!({"scope": "turn", "prosas": 1, "cost_brl": 1, "message_ids": ["ID"]}),
        ),
        (
            "a contact to debit",
            &theirs.contact,
            "prosas/debits".to_owned(),
            json!({"scope": "turn", "prosas": 1, "cost_brl": 1, "contact_id": "ID"}),
        ),
        (
            "a contact to import for",
            &theirs.contact,
            "messages".to_owned(),
            json!({"contact_id": "ID", "connection_id": connection, "direction": "inbound", "type": "text", "content": "oi"}),
        ),
        (
            "a connection to import for",
            &theirs.connection,
            "messages".to_owned(),
            json!({"contact_id": ours, "connection_id": "ID", "direction": "inbound", "type": "text", "content": "oi"}),
        ),
    ] {
        let path: Box<dyn Fn(&str) -> String> = Box::new(move |_| rest.clone());
        let fill: Box<dyn Fn(&str) -> Value> = Box::new(move |id| {
            serde_json::from_str(&body.to_string().replace("\"ID\"", &format!("\"{id}\"")))
                .expect("JSON")
        });
        asks.push((what.to_owned(), id.clone(), with_body("POST", path, fill)));
    }
    let patch_path = format!("contacts/{ours}");
    let ask = with_body(
        "PATCH",
        Box::new(move |_| patch_path.clone()),
        Box::new(|id| json!({"last_connection_id": id})),
    );
    asks.push(("a last connection".to_owned(), theirs.connection.clone(), ask));
    for (what, id, ask) in asks {
        let never = unknown_id();
        let found = seen(&world.send(ask(&id).bearer(OPERATOR)).await, &id);
        let nothing = seen(&world.send(ask(&never).bearer(OPERATOR)).await, &never);
        assert!(found.0 >= 400, "{what} was accepted: {found:?}");
        assert_eq!(found, nothing, "{what}");
    }
    // And nothing of the other company has changed.
    let messages = world.get_as(&theirs.tenant.key, "/api/v1/messages").await.items();
    assert_eq!(messages.len(), 2);
    let ledger = world.get_as(&theirs.tenant.key, "/api/v1/prosas/consumption").await;
    assert_eq!(ledger.items().len(), 1);
}

#[both_stores]
async fn their_provider_ids_and_phones_are_not_ours(world: World) {
    let theirs = theirs(&world).await;
    let qr = world.qr().await;
    let report = world.gateway_one(&qr, world.report(&theirs.provider_id, "read")).await;
    assert_ne!(report["message_id"], theirs.message.as_str());
    let event = with(
        world.inbound(&digits(&mobile(1)), "nossa"),
        json!({"provider_message_id": theirs.provider_id}),
    );
    let message = world.stored(&qr, event).await;
    assert_ne!(world.message(&message).await["contact_id"], theirs.contact.as_str());
    let quoting = with(
        world.inbound(&digits(&mobile(1)), "citando"),
        json!({"quoted_provider_message_id": theirs.message}),
    );
    let shown = world.message(&world.stored(&qr, quoting).await).await;
    assert_eq!(shown["quoted_message_id"], Value::Null);
    assert_eq!(shown["quoted_content"], Value::Null);
}

#[both_stores]
async fn events_belong_to_the_company_they_happened_in(world: World) {
    let theirs = theirs(&world).await;
    assert!(world.events().await.is_empty());
    assert!(!world.database.events(&theirs.tenant.id).await.is_empty());
}
