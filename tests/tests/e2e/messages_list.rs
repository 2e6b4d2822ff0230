//! The two listings of messages: 2.4, 4.6, 4.7, 4.11, 8; D7, D29, D30.

use std::time::Duration;

use recado_tests::{
    Request, World, both_stores, digits, keys, mobile, steered, text, unknown_id, with, with_blocks,
};
use serde_json::{Value, json};

const ALL: &str = "/api/v1/messages";

/// The fields of 2.4 that every message has, sorted.
const COMMON: [&str; 26] = [
    "connection_id",
    "content",
    "created_at",
    "delivery_error",
    "direction",
    "edited_at",
    "error_message",
    "error_type",
    "failure_reason",
    "id",
    "is_edited",
    "media_caption",
    "media_filename",
    "media_mimetype",
    "media_url",
    "official_template_category",
    "participant",
    "prosa",
    "quoted_content",
    "quoted_message_id",
    "quoted_type",
    "sender_type",
    "status",
    "timestamp",
    "type",
    "wamid",
];

fn common() -> Vec<String> {
    with_blocks(&COMMON)
}

/// A contact with one imported message per hour, oldest first.
struct History {
    contact: String,
    connection: String,
    ids: Vec<String>,
}

async fn history(world: &World, n: u32, count: usize) -> History {
    let connection = world.silent("qr").await;
    let contact = world.create_id(json!({"phone": mobile(n)})).await;
    let mut ids = Vec::new();
    for n in 0..count {
        let message = json!({
            "contact_id": contact, "connection_id": connection, "direction": "inbound",
            "type": "text", "content": format!("{n}"),
        });
        ids.push(world.import_message(message).await);
        world.advance(Duration::from_secs(3_600));
    }
    History { contact, connection, ids }
}

fn reversed(ids: &[String]) -> Vec<String> {
    ids.iter().rev().cloned().collect()
}

#[both_stores]
async fn the_general_listing_shows_contact_and_external_id(world: World) {
    let qr = world.qr().await;
    let contact = world.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    world.receive(&qr, &digits(&mobile(1)), "oi").await;
    let shown = world.all_messages().await.remove(0);
    let mut expected = common();
    expected.extend(["contact_id", "contacts", "external_id"].map(str::to_owned));
    expected.sort();
    assert_eq!(keys(&shown), expected);
    assert_eq!(shown["contact_id"], contact.as_str());
    assert_eq!(
        shown["contacts"],
        json!({
            "id": contact, "phone": mobile(1), "name": "Ana", "display_name": "Ana",
            "source_platform": "whatsapp",
        })
    );
}

#[both_stores]
async fn the_listing_of_a_contact_omits_contact_and_external_id(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    world.contact_by_message(&qr, &mobile(2)).await;
    let shown = world.messages_of(&contact).await;
    assert_eq!(shown.len(), 1);
    assert_eq!(keys(&shown[0]), common());
    let mut general = world.message(&text(&shown[0]["id"])).await;
    for name in ["contact_id", "contacts", "external_id"] {
        general.as_object_mut().expect("an object").remove(name);
    }
    assert_eq!(shown[0], general, "and is the same otherwise");
}

#[both_stores]
async fn both_are_newest_first_and_paged(world: World) {
    let history = history(&world, 1, 7).await;
    let of_contact = format!("/api/v1/contacts/{}/messages", history.contact);
    for listing in [ALL, &of_contact] {
        let mut seen = Vec::new();
        for page in 1..=4 {
            let answer = world.get(&format!("{listing}?limit=2&page={page}")).await;
            answer.expect(200);
            assert_eq!(
                answer.json()["pagination"],
                json!({"page": page, "limit": 2, "total": 7, "total_pages": 4})
            );
            seen.extend(answer.ids());
        }
        assert_eq!(seen, reversed(&history.ids), "{listing}");
        let beyond = world.get(&format!("{listing}?limit=2&page=5")).await;
        assert_eq!(beyond.items().len(), 0);
        assert_eq!(beyond.json()["pagination"]["total"], 7);
    }
}

#[both_stores]
async fn nothing_is_a_page_without_pages(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    for listing in [ALL.to_owned(), format!("/api/v1/contacts/{contact}/messages")] {
        let answer = world.get(&listing).await;
        assert_eq!(answer.expect(200), json!([]));
        assert_eq!(
            answer.json()["pagination"],
            json!({"page": 1, "limit": 50, "total": 0, "total_pages": 0})
        );
    }
}

// Filters.

#[both_stores]
async fn contact_and_connection_and_direction_filter(world: World) {
    let (qr, cloud) = (world.qr().await, world.silent("official_cloud").await);
    let ana = world.contact_by_message(&qr, &mobile(1)).await;
    let bia = world.contact_by_message(&cloud, &mobile(2)).await;
    let sent = world.send_through(&cloud, &mobile(1)).await.expect(200);
    let sent = text(&sent["message_id"]);
    let of = |query: String| {
        let world = &world;
        async move { world.message_ids(&query).await }
    };
    assert_eq!(of(String::new()).await.len(), 3);
    assert_eq!(of(format!("contact_id={ana}")).await.len(), 2);
    assert_eq!(of(format!("contact_id={bia}")).await.len(), 1);
    assert_eq!(of(format!("connection_id={qr}")).await.len(), 1);
    assert_eq!(of(format!("connection_id={cloud}")).await.len(), 2);
    assert_eq!(of("direction=outbound".to_owned()).await, [sent.clone()]);
    assert_eq!(of("direction=inbound".to_owned()).await.len(), 2);
    let all = format!("contact_id={ana}&connection_id={cloud}&direction=outbound");
    assert_eq!(of(all).await, [sent.clone()]);
    assert!(of(format!("contact_id={bia}&direction=outbound")).await.is_empty());
    for unknown in ["contact_id", "connection_id"] {
        assert!(of(format!("{unknown}={}", unknown_id())).await.is_empty());
    }
    let path = format!("/api/v1/contacts/{ana}/messages?direction=outbound");
    assert_eq!(world.get(&path).await.ids(), [sent]);
}

#[both_stores]
async fn type_and_status_filter_the_general_listing(world: World) {
    let qr = world.qr().await;
    let cloud = world.silent("official_cloud").await;
    let ana = world.contact_by_message(&qr, &mobile(1)).await;
    let image = with(world.inbound(&digits(&mobile(1)), ""), json!({"type": "image"}));
    let image = world.stored(&qr, image).await;
    let sent = text(&world.send_through(&cloud, &mobile(1)).await.expect(200)["message_id"]);
    world.send_through(&cloud, &steered(1)).await.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(world.message_ids("type=image").await, [image]);
    assert_eq!(world.message_ids("type=text").await.len(), 3);
    assert_eq!(world.message_ids("type=sticker").await.len(), 0);
    assert_eq!(world.message_ids("status=received").await.len(), 2);
    assert_eq!(world.message_ids("status=sent").await, [sent]);
    assert_eq!(world.message_ids("status=failed").await.len(), 1);
    assert_eq!(world.message_ids("status=pending").await.len(), 0);
    assert_eq!(world.message_ids("status=received&type=text").await.len(), 1);
    // The other listing does not have these parameters.
    for query in ["type=sticker", "status=failed", "type=nothing", "status=nothing"] {
        let answer = world.get(&format!("/api/v1/contacts/{ana}/messages?{query}")).await;
        assert_eq!(answer.items().len(), 3, "{query}");
    }
}

#[both_stores]
async fn from_and_to_are_inclusive_to_the_millisecond(world: World) {
    let start = world.time();
    let history = history(&world, 1, 3).await;
    let at = |hours: u64, millis: i64| {
        let at = recado_core::Timestamp::parse(&start).expect("a time");
        let at = at.plus(Duration::from_secs(hours * 3_600));
        recado_core::Timestamp::from_millis(at.millis() + millis).to_string()
    };
    let of_contact = format!("/api/v1/contacts/{}/messages", history.contact);
    for listing in [ALL, &of_contact] {
        for (query, expected) in [
            (format!("from={}", at(1, 0)), &history.ids[1..]),
            (format!("from={}", at(1, 1)), &history.ids[2..]),
            (format!("to={}", at(1, 0)), &history.ids[..2]),
            (format!("to={}", at(1, -1)), &history.ids[..1]),
            (format!("from={}&to={}", at(1, 0), at(1, 0)), &history.ids[1..2]),
            (format!("from={}&to={}", at(2, 0), at(1, 0)), &[]),
        ] {
            let answer = world.get(&format!("{listing}?{query}")).await;
            answer.expect(200);
            assert_eq!(answer.ids(), reversed(expected), "{listing}?{query}");
            assert_eq!(answer.json()["pagination"]["total"], expected.len());
        }
    }
}

/// D29.
#[both_stores]
async fn a_fraction_finer_than_a_millisecond_is_rounded_up_in_from_and_down_in_to(world: World) {
    let qr = world.qr().await;
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let mut ids = Vec::new();
    for millis in ["123", "124"] {
        ids.push(
            world
                .import_message(json!({
                    "contact_id": contact, "connection_id": qr, "direction": "inbound",
                    "type": "text", "content": "oi",
                    "created_at": format!("2025-01-02T03:04:05.{millis}Z"),
                }))
                .await,
        );
    }
    let of_contact = format!("/api/v1/contacts/{contact}/messages");
    for (query, expected) in [
        ("from=2025-01-02T03:04:05.123Z", &ids[..]),
        ("from=2025-01-02T03:04:05.1230000Z", &ids[..]),
        ("from=2025-01-02T03:04:05.1230001Z", &ids[1..]),
        ("from=2025-01-02T03:04:05.1230000000000000001Z", &ids[1..]),
        ("from=2025-01-02T00:04:05.1239999-03:00", &ids[1..]),
        ("from=2025-01-02T03:04:05.1240001Z", &[]),
        ("to=2025-01-02T03:04:05.1239999Z", &ids[..1]),
        ("to=2025-01-02T03:04:05.1229999Z", &[]),
        ("to=2025-01-02T03:04:05.1240001%2B00:00", &ids[..]),
        ("from=2025-01-02T03:04:05.1230001Z&to=2025-01-02T03:04:05.1239999Z", &[]),
    ] {
        for listing in [ALL, &of_contact] {
            let answer = world.get(&format!("{listing}?{query}")).await;
            answer.expect(200);
            assert_eq!(answer.ids(), reversed(expected), "{listing}?{query}");
        }
    }
}

#[both_stores]
async fn filters_compare_with_our_time_and_not_with_the_providers(world: World) {
    let qr = world.qr().await;
    let old = json!({"timestamp": "2020-01-01T00:00:00.000Z"});
    let id = world.stored(&qr, with(world.inbound(&digits(&mobile(1)), "oi"), old)).await;
    assert_eq!(world.message_ids("from=2026-11-20").await, [id]);
    assert!(world.message_ids("to=2020-12-31").await.is_empty());
}

// Unknown parameters.

#[both_stores]
async fn a_value_out_of_range_or_form_is_named(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let of_contact = format!("/api/v1/contacts/{contact}/messages");
    for (name, values) in [
        ("page", &["0", "-1", "x", "1.5", ""][..]),
        ("limit", &["0", "101", "-1", "x", ""]),
        ("direction", &["sideways", "INBOUND", ""]),
        ("from", &["yesterday", "2026-13-01", "2026-11-20T25:00:00Z", "1795176000000", ""]),
        ("to", &["x", "2026-02-30", "20-11-2026"]),
    ] {
        for value in values {
            for listing in [ALL, &of_contact] {
                let answer = world.get(&format!("{listing}?{name}={value}")).await;
                answer.expect_bad_parameter(name);
            }
        }
        let value = if name == "direction" { "inbound" } else { "1" };
        let value = if ["from", "to"].contains(&name) { "2026-11-20" } else { value };
        for listing in [ALL, &of_contact] {
            let answer = world.get(&format!("{listing}?{name}={value}&{name}={value}")).await;
            answer.expect_bad_parameter(name);
        }
    }
    for (name, value) in [
        ("contact_id", "x"),
        ("connection_id", "5"),
        ("type", "fax"),
        ("type", "TEXT"),
        ("status", "gone"),
        ("status", ""),
    ] {
        world.get(&format!("{ALL}?{name}={value}")).await.expect_bad_parameter(name);
    }
}

#[both_stores]
async fn unknown_parameters_are_ignored(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let path = format!("/api/v1/contacts/{contact}/messages?nope=1&contact_id={}", unknown_id());
    assert_eq!(world.get(&path).await.items().len(), 1);
    assert_eq!(world.message_ids("nope=1&cursor=x&order_by=y").await.len(), 1);
}

#[both_stores]
async fn the_messages_of_a_missing_contact_are_404(world: World) {
    for id in [unknown_id(), "x".to_owned()] {
        let answer = world.get(&format!("/api/v1/contacts/{id}/messages")).await;
        answer.expect_error(404, "NOT_FOUND");
    }
}

#[both_stores]
async fn both_need_the_scope_to_read_messages(world: World) {
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let without = world.key_with(&["contacts:read", "contacts:write", "messages:send"]).await;
    let only = world.key_with(&["messages:read"]).await;
    let of_contact = format!("/api/v1/contacts/{contact}/messages");
    for listing in [ALL, &of_contact, "/api/v1/prosas/consumption"] {
        let details = world.get_as(&without, listing).await.expect_error(403, "INSUFFICIENT_SCOPE");
        assert_eq!(details["required_scope"], "messages:read");
        world.get_as(&only, listing).await.expect(200);
        assert_eq!(world.send(Request::new("GET", listing)).await.status, 401);
        let post = world.post(listing, json!({})).await;
        post.expect_error(405, "METHOD_NOT_ALLOWED");
        let head = Request::new("HEAD", listing).bearer(&only);
        assert_eq!(world.send(head).await.status, 200);
    }
}

#[both_stores]
async fn they_need_the_highest_plan(world: World) {
    let path = format!("/companies/{}", world.us.id);
    world.operator("PATCH", &path, json!({"plan": "professional"})).await.expect(200);
    for (method, path) in
        [("GET", ALL), ("POST", "/api/v1/send/message"), ("GET", "/api/v1/prosas/consumption")]
    {
        let answer = world.call(Request::new(method, path)).await;
        let details = answer.expect_error(403, "PLAN_REQUIRED");
        assert_eq!(details["required_plan"], "enterprise");
    }
}

// The import of messages.

#[both_stores]
async fn an_imported_message_shows_what_was_imported(world: World) {
    let qr = world.qr().await;
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let events = world.events().await.len();
    let body = json!({
        "contact_id": contact, "connection_id": qr, "direction": "outbound", "type": "image",
        "content": "uma foto", "media_url": "https://example.com/a.jpg",
        "media_mimetype": "image/jpeg", "media_filename": "a.jpg", "media_caption": "eu",
        "status": "read", "sender_type": "agent", "wamid": "wamid.import", "external_id": "x-1",
        "quoted_content": "antes", "quoted_type": "text", "is_edited": true,
        "edited_at": "2025-01-02T03:05:05.678Z", "created_at": "2025-01-02T03:04:05.678Z",
        "timestamp": "2025-01-02T03:04:04.000Z",
    });
    let made = world.make("C/messages", body.clone()).await;
    let shown = world.message(&text(&made["id"])).await;
    for (name, value) in body.as_object().expect("an object") {
        assert_eq!(&shown[name], value, "{name}");
    }
    assert_eq!(world.message_ids("to=2025-01-02").await.len(), 1);
    assert_eq!(world.events().await.len(), events, "an import fires no events");
}

#[both_stores]
async fn an_import_of_a_known_provider_id_makes_no_second_message(world: World) {
    let qr = world.qr().await;
    let event = world.inbound(&digits(&mobile(1)), "oi");
    let id = world.stored(&qr, event.clone()).await;
    let contact = world.message(&id).await["contact_id"].clone();
    let body = json!({
        "contact_id": contact, "connection_id": qr, "direction": "inbound", "type": "text",
        "content": "oi", "wamid": event["provider_message_id"],
    });
    let answer = world.operator("POST", "C/messages", body).await;
    assert_eq!(answer.status, 409, "{}", answer.show());
    assert_eq!(world.all_messages().await.len(), 1);
}

#[both_stores]
async fn a_message_cannot_be_imported_without_its_contact_and_connection(world: World) {
    let answer = world.operator("POST", "C/messages", json!({})).await;
    let refused = answer.expect_invalid();
    for name in ["contact_id", "connection_id", "direction"] {
        assert!(refused.contains(&name.to_owned()), "{refused:?}");
    }
    let body = json!({
        "contact_id": unknown_id(), "connection_id": unknown_id(), "direction": "inbound",
        "type": "text", "content": "oi",
    });
    let answer = world.operator("POST", "C/messages", body).await;
    assert!([404, 422].contains(&answer.status), "{}", answer.show());
    assert!(world.all_messages().await.is_empty());
}

#[both_stores]
async fn the_operator_lists_messages_by_page(world: World) {
    let history = history(&world, 1, 3).await;
    let answer = world.operator("GET", "C/messages?limit=2&page=1", Value::Null).await;
    assert_eq!(answer.ids(), reversed(&history.ids[1..]));
    assert_eq!(answer.json()["pagination"]["total"], 3);
    assert_eq!(answer.items()[0]["connection_id"], history.connection.as_str());
}
