//! Listing messages, and the operator's import of one.

use std::sync::Arc;
use std::time::Duration;

use recado_core::contacts::{ContactFilter, Phone, Region};
use recado_core::ids::{ConnectionId, ContactId, MessageId};
use recado_core::messages::{ListMessagesError, MessageListItem, MessageStatus};
use recado_core::page::PageRequest;
use recado_core::query::Params;
use recado_core::{Error, Rejection};
use recado_testkit::kit::body;
use recado_testkit::{Kit, MemoryStore};
use serde_json::{Value, json};

use super::{code, create_phone, refused, shown};

/// A connection that calls no server.
pub(crate) async fn connect(kit: &Kit) -> ConnectionId {
    let new = body(json!({
        "kind": "qr", "name": "Vendas", "identifier": "5511300000000", "gateway": "simulated",
    }));
    let connection = kit.app.connections().create(kit.company.id, &new).await.unwrap();
    let shown = serde_json::to_value(connection).unwrap();
    ConnectionId::parse(shown["id"].as_str().unwrap()).unwrap()
}

async fn import(kit: &Kit, new: Value) -> MessageListItem {
    kit.app.messages().import(kit.company.id, &body(new)).await.expect("acceptable")
}

/// Query parameters from `name=value&…`.
fn params(query: &str) -> Params {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    Params::new(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// What a listing of the caller's company holds, by content.
async fn listed(kit: &Kit, query: &str) -> Vec<String> {
    let page = kit.app.messages().list(&kit.caller, &params(query)).await.unwrap();
    page.items.into_iter().map(|item| item.message.content.unwrap_or_default()).collect()
}

/// What a contact's listing holds, by content.
async fn listed_of(kit: &Kit, contact: ContactId, query: &str) -> Vec<String> {
    let messages = kit.app.messages();
    let page = messages.list_of_contact(&kit.caller, contact, &params(query)).await.unwrap();
    page.items.into_iter().map(|item| item.content.unwrap_or_default()).collect()
}

/// Two contacts on two connections with five messages, a minute apart: "0" is the oldest.
async fn scene() -> (Kit, [ContactId; 2], [ConnectionId; 2]) {
    let kit = Kit::new().await;
    let contacts =
        [create_phone(&kit, "34991230001").await, create_phone(&kit, "34991230002").await];
    let connections = [connect(&kit).await, connect(&kit).await];
    for (n, (contact, connection, direction)) in [
        (0, 0, "inbound"),
        (0, 0, "outbound"),
        (1, 0, "inbound"),
        (0, 1, "outbound"),
        (0, 0, "inbound"),
    ]
    .into_iter()
    .enumerate()
    {
        kit.clock.advance(Duration::from_secs(60));
        import(
            &kit,
            json!({
                "contact_id": contacts[contact], "connection_id": connections[connection],
                "direction": direction, "content": n.to_string(),
                "created_at": format!("2026-01-0{}T12:00:00.000Z", n + 1),
                "type": if n == 4 { "image" } else { "text" },
            }),
        )
        .await;
    }
    (kit, contacts, connections)
}

/// 4.6.
#[tokio::test]
async fn the_general_listing_is_newest_first_and_every_filter_narrows_it() {
    let (kit, contacts, connections) = scene().await;
    for (query, expected) in [
        (String::new(), vec!["4", "3", "2", "1", "0"]),
        (format!("contact_id={}", contacts[1]), vec!["2"]),
        (format!("connection_id={}", connections[1]), vec!["3"]),
        ("direction=outbound".to_owned(), vec!["3", "1"]),
        ("type=image".to_owned(), vec!["4"]),
        ("status=delivered".to_owned(), vec!["3", "1"]),
        ("from=2026-01-02&to=2026-01-03".to_owned(), vec!["2", "1"]),
        ("from=2026-01-05T12:00:00.000Z".to_owned(), vec!["4"]),
        ("from=2026-01-05T12:00:00.001Z".to_owned(), vec![]),
        ("to=2026-01-01T09:00:00-03:00".to_owned(), vec!["0"]),
        ("from=2026-01-03&to=2026-01-02".to_owned(), vec![]),
        ("limit=2&page=2".to_owned(), vec!["2", "1"]),
        ("page=9".to_owned(), vec![]),
        ("status=received&direction=outbound".to_owned(), vec![]),
        ("whatever=1".to_owned(), vec!["4", "3", "2", "1", "0"]),
    ] {
        assert_eq!(listed(&kit, &query).await, expected, "{query}");
    }
    let page = kit.app.messages().list(&kit.caller, &params("limit=2&page=7")).await.unwrap();
    assert_eq!(
        json!(page.pagination),
        json!({ "page": 7, "limit": 2, "total": 5, "total_pages": 3 })
    );
}

/// 4.7.
#[tokio::test]
async fn the_contacts_listing_knows_only_its_own_parameters() {
    let (kit, contacts, connections) = scene().await;
    let ignored = format!("type=image&status=read&connection_id={}&contact_id=x", connections[1]);
    for (query, expected) in [
        (ignored.as_str(), vec!["4", "3", "1", "0"]),
        ("type=nonsense", vec!["4", "3", "1", "0"]),
        ("direction=inbound", vec!["4", "0"]),
        ("to=2026-01-02", vec!["1", "0"]),
    ] {
        assert_eq!(listed_of(&kit, contacts[0], query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn parameters_that_mean_nothing_are_refused_by_name() {
    let (kit, contacts, _) = scene().await;
    for (query, parameter) in [
        ("contact_id=1", "contact_id"),
        ("connection_id=x", "connection_id"),
        ("direction=both", "direction"),
        ("type=fax", "type"),
        ("status=arrived", "status"),
        ("from=yesterday", "from"),
        ("to=2026-02-30", "to"),
        ("page=0", "page"),
        ("limit=101", "limit"),
        ("from=2026-01-01&from=2026-01-01", "from"),
    ] {
        let (code, details) = refused(kit.app.messages().list(&kit.caller, &params(query)).await);
        assert_eq!(
            (code.as_str(), &details["parameter"]),
            ("INVALID_PARAMETER", &json!(parameter))
        );
    }
    let messages = kit.app.messages();
    let refusal = messages.list_of_contact(&kit.caller, contacts[0], &params("from=x")).await;
    assert_eq!(code(refusal), "INVALID_PARAMETER");
}

#[tokio::test]
async fn messages_of_another_company_are_as_good_as_missing() {
    let (kit, contacts, connections) = scene().await;
    let (other, caller) = kit.another_company("Outra").await;
    let messages = kit.app.messages();
    let page = messages.list(&caller, &params("")).await.unwrap();
    assert_eq!((page.items.len(), page.pagination.total), (0, 0));
    let query = format!("contact_id={}", contacts[0]);
    assert_eq!(messages.list(&caller, &params(&query)).await.unwrap().pagination.total, 0);
    let refusal = messages.list_of_contact(&caller, contacts[0], &params("")).await;
    assert!(matches!(refusal, Err(Error::Rejected(ListMessagesError::NotFound))));
    let id = messages.list(&kit.caller, &params("")).await.unwrap().items[0].message.id;
    assert_eq!(code(messages.get(other.id, id).await), "NOT_FOUND");
    let new = json!({
        "contact_id": contacts[0], "connection_id": connections[0], "direction": "inbound",
        "quoted_message_id": id,
    });
    let (_, details) = refused(messages.import(other.id, &body(new)).await);
    assert_eq!(details["fields"], json!(["contact_id", "connection_id", "quoted_message_id"]));
}

#[tokio::test]
async fn an_imported_message_is_answered_and_kept_as_it_was_given() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let (contact, connection) = (create_phone(&kit, "34991230001").await, connect(&kit).await);
    let events = store.events(kit.company.id).len();
    let given = json!({
        "id": "019a0000-0000-7000-8000-000000000001",
        "contact_id": contact, "connection_id": connection, "direction": "outbound",
        "type": "document", "content": "o contrato",
        "media_url": "https://cdn.example/contrato.pdf", "media_mimetype": "application/pdf",
        "media_filename": "contrato.pdf", "media_caption": "assine",
        "status": "failed", "error_type": "provider", "error_message": "131026",
        "failure_reason": "131026", "sender_type": "campaign", "wamid": "wamid.1",
        "external_id": "crm-1", "quoted_message_id": null, "quoted_content": "antes",
        "quoted_type": "text", "is_edited": true, "edited_at": "2026-01-03T00:00:00.000Z",
        "created_at": "2026-01-02T00:00:00.000Z", "timestamp": "2026-01-01T00:00:00.000Z",
        "official_template_category": "MARKETING", "prosa": null,
    });
    let answer = json!(import(&kit, given.clone()).await);
    for (field, value) in given.as_object().unwrap() {
        assert_eq!(answer[field], *value, "{field}");
    }
    assert_eq!(answer["delivery_error"]["code"], "UNKNOWN");
    assert_eq!(answer["contacts"]["phone"], "+5534991230001");
    let id = MessageId::parse(answer["id"].as_str().unwrap()).unwrap();
    assert_eq!(json!(kit.app.messages().get(kit.company.id, id).await.unwrap()), answer);
    let page = kit.app.messages().list_of_company(kit.company.id, &params("")).await.unwrap();
    assert_eq!(json!(page.items), json!([answer]));
    assert_eq!(store.events(kit.company.id).len(), events, "an import tells nobody");
}

/// D65.
#[tokio::test]
async fn an_import_reports_what_is_new_where_it_is_asked_to() {
    let store = MemoryStore::new();
    let kit = Kit::on(Arc::new(store.clone())).await;
    let connection = connect(&kit).await;
    let person = body(json!({"phone": "+5534991230001", "created_at": "2020-01-01T00:00:00Z"}));
    let contacts = kit.app.contacts();
    let (contact, _) = contacts.import_with_events(&kit.company, &person).await.unwrap();
    assert_eq!(code(contacts.import_with_events(&kit.company, &person).await), "CONTACT_EXISTS");
    let told = || {
        let events = store.events(kit.company.id);
        assert!(events.iter().all(|event| event.at == kit.app.now()), "they happen now");
        let told = events.iter().map(|event| {
            let data: Value = serde_json::from_str(&event.data).unwrap();
            (event.event_type.as_str(), data["status"].as_str().unwrap_or_default().to_owned())
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(told(), [("contact.created", String::new())]);
    for (n, (direction, status)) in [
        ("inbound", "received"),
        ("outbound", "sent"),
        ("outbound", "delivered"),
        ("outbound", "read"),
        ("outbound", "failed"),
    ]
    .into_iter()
    .enumerate()
    {
        let message = body(json!({
            "contact_id": contact, "connection_id": connection, "direction": direction,
            "status": status, "wamid": format!("w{n}"),
            "created_at": "2020-01-02T00:00:00Z",
        }));
        let messages = kit.app.messages();
        messages.import_with_events(kit.company.id, &message).await.unwrap();
        let again = messages.import_with_events(kit.company.id, &message).await;
        assert_eq!(code(again), "MESSAGE_EXISTS");
    }
    let expected =
        [("received", "received"), ("sent", "sent"), ("sent", "delivered"), ("sent", "read")];
    let expected: Vec<_> =
        expected.map(|(event, status)| (format!("message.{event}"), status.to_owned())).to_vec();
    let told: Vec<_> =
        told().into_iter().map(|(event, status)| (event.to_owned(), status)).collect();
    assert_eq!(told[1..], expected);
}

/// R52.
#[tokio::test]
async fn a_message_is_imported_once_by_its_id_and_by_its_providers() {
    let (kit, contacts, connections) = scene().await;
    let new = |id: Option<&str>, wamid: Option<&str>, connection: usize| {
        body(json!({
            "id": id, "wamid": wamid, "direction": "inbound", "contact_id": contacts[0],
            "connection_id": connections[connection],
        }))
    };
    let messages = kit.app.messages();
    let company = kit.company.id;
    let first = messages.import(company, &new(None, Some("wamid.9"), 0)).await.unwrap();
    let repeated = messages.import(company, &new(None, Some("wamid.9"), 0)).await.unwrap_err();
    let Error::Rejected(repeated) = repeated else { panic!("{repeated:?}") };
    assert_eq!(repeated.code().as_str(), "MESSAGE_EXISTS");
    assert_eq!(json!(repeated.extra()), json!({ "message_id": first.message.id }));
    messages.import(company, &new(None, Some("wamid.9"), 1)).await.expect("another connection");

    let id = "019a0000-0000-7000-8000-000000000001";
    messages.import(company, &new(Some(id), None, 0)).await.unwrap();
    assert_eq!(code(messages.import(company, &new(Some(id), None, 0)).await), "MESSAGE_EXISTS");
    let total = messages.list(&kit.caller, &params("")).await.unwrap().pagination.total;
    assert_eq!(total, 5 + 3);
}

#[tokio::test]
async fn an_import_moves_the_times_of_the_contact_and_nothing_else_of_it() {
    let kit = Kit::new().await;
    let (contact, connection) = (create_phone(&kit, "34991230001").await, connect(&kit).await);
    let before = shown(&kit, contact).await;
    kit.clock.advance(Duration::from_secs(60));
    for (direction, created_at) in [
        ("inbound", "2026-01-03T00:00:00.000Z"),
        ("outbound", "2026-01-05T00:00:00.000Z"),
        ("inbound", "2026-01-01T00:00:00.000Z"),
    ] {
        let new = json!({
            "contact_id": contact, "connection_id": connection, "direction": direction,
            "created_at": created_at,
        });
        import(&kit, new).await;
    }
    let after = shown(&kit, contact).await;
    let changed: Vec<&String> = after
        .as_object()
        .unwrap()
        .iter()
        .filter(|(field, value)| before[field.as_str()] != **value)
        .map(|(field, _)| field)
        .collect();
    assert_eq!(
        changed,
        [
            "connections",
            "first_message_at",
            "last_connection_id",
            "last_inbound_at",
            "last_message_at"
        ]
    );
    assert_eq!(after["first_message_at"], "2026-01-01T00:00:00.000Z");
    assert_eq!(after["last_inbound_at"], "2026-01-03T00:00:00.000Z");
    assert_eq!(after["last_message_at"], "2026-01-05T00:00:00.000Z");
    assert_eq!(after["last_connection_id"], json!(connection));
    assert_eq!(after["connections"][0]["identifier"], "5534991230001");
    let phone = Phone::parse("34991230001", &Region::br()).unwrap();
    let filter = ContactFilter::default();
    let page = kit.app.contacts().page(&kit.caller, &filter, PageRequest::FIRST, false).await;
    let listed = json!(page.unwrap().items);
    assert_eq!(listed[0]["phone"], phone.as_str());
    assert_eq!(listed[0]["last_message_at"], "2026-01-05T00:00:00.000Z");
}

#[tokio::test]
async fn a_quoted_message_lends_what_the_import_does_not_tell_of_it() {
    let (kit, contacts, connections) = scene().await;
    let quoted = kit.app.messages().list(&kit.caller, &params("type=image")).await.unwrap();
    let new = json!({
        "contact_id": contacts[0], "connection_id": connections[0], "direction": "outbound",
        "quoted_message_id": quoted.items[0].message.id,
    });
    let answer = json!(import(&kit, new).await);
    assert_eq!((&answer["quoted_content"], &answer["quoted_type"]), (&json!("4"), &json!("image")));
}

#[tokio::test]
async fn an_imported_message_shows_the_debit_that_covers_it() {
    let (kit, contacts, connections) = scene().await;
    let debit = body(json!({ "scope": "turn", "prosas": 1.5, "cost_brl": 0.25 }));
    let debit = json!(kit.app.prosas().debit(kit.company.id, &debit).await.unwrap());
    let new = |id: &Value| {
        json!({
            "contact_id": contacts[0], "connection_id": connections[0], "direction": "outbound",
            "sender_type": "ai", "prosa": { "consumption_id": id },
        })
    };
    let answer = json!(import(&kit, new(&debit["consumption_id"])).await);
    assert_eq!(
        answer["prosa"],
        json!({
            "consumption_id": debit["consumption_id"], "prosas": 1.5, "cost_brl": 0.25,
            "scope": "turn",
        })
    );
    let unknown = json!("019a0000-0000-7000-8000-000000000001");
    let unknown = kit.app.messages().import(kit.company.id, &body(new(&unknown))).await;
    let (code, details) = refused(unknown);
    assert_eq!((code.as_str(), &details["fields"]), ("VALIDATION_ERROR", &json!(["prosa"])));
}

/// R52.
#[tokio::test]
async fn a_status_that_was_reported_before_the_import_counts() {
    let (kit, contacts, connections) = scene().await;
    let report = |status: &str, wamid: &str| {
        let event = json!({ "kind": "status", "provider_message_id": wamid, "status": status });
        recado_core::inbox::parse_event(&event, &kit.app.settings().group_suffix)
    };
    let events = vec![report("read", "wamid.early"), report("read", "wamid.late")];
    kit.app.inbox().receive(kit.company.id, connections[0], events).await.unwrap();
    let new = |wamid: &str| {
        json!({
            "contact_id": contacts[0], "connection_id": connections[0], "direction": "outbound",
            "status": "sent", "wamid": wamid,
        })
    };
    let early = import(&kit, new("wamid.early")).await;
    assert_eq!(early.message.status, MessageStatus::Read);
    kit.clock.advance(Duration::from_secs(10 * 60));
    let late = import(&kit, new("wamid.late")).await;
    assert_eq!(late.message.status, MessageStatus::Sent);
}

#[tokio::test]
async fn messages_go_with_their_contact() {
    let (kit, contacts, _) = scene().await;
    kit.app.contacts().delete(&kit.caller, contacts[0]).await.unwrap();
    assert_eq!(listed(&kit, "").await, ["2"]);
}
