//! Who spoke in a group, and the display name of contacts in events: 2.4, 4.6, 4.7, 6.1; D16, D72.

use recado_testkit::gateways::WahaEngine;
use recado_tests::{
    Clouded, StoreKind, World, both_stores, digits, eight_digits, mobile, text, wamid, with,
};
use serde_json::{Value, json};

use crate::gateway_evolution::Evolution;
use crate::gateway_waha::{Waha, chat};

const LID: &str = "123456789012@lid";
const CLUB: &str = "120363041234567890@g.us";

/// Who wrote, as it is shown.
fn writer(identifier: &str, phone: Option<String>, name: Option<&str>) -> Value {
    json!({"identifier": identifier, "phone": phone, "name": name})
}

/// A message as both listings and its event show who wrote it.
async fn written_by(world: &World, message: &str) -> Value {
    let listed = world.message(message).await;
    let of_contact = world.messages_of(&text(&listed["contact_id"])).await;
    let here = of_contact.iter().find(|one| one["id"] == message).expect("listed");
    assert_eq!(here["participant"], listed["participant"]);
    let events = world.events_of("message.received").await;
    if let Some(event) = events.iter().find(|data| data["message_id"] == message) {
        assert_eq!(event["participant"], listed["participant"]);
    }
    listed["participant"].clone()
}

/// Somebody writes in a group; the message.
async fn in_group(world: &World, connection: &str, more: Value) -> String {
    world.stored(connection, with(world.inbound("77@g.us", "oi"), more)).await
}

#[both_stores]
async fn a_message_in_a_group_carries_who_wrote_it(world: World) {
    let qr = world.qr().await;
    let phone = digits(&mobile(1));
    for (more, expected) in [
        (
            json!({"participant": phone, "push_name": "Rita"}),
            writer(&phone, Some(mobile(1)), Some("Rita")),
        ),
        (
            json!({"participant": eight_digits(&mobile(1))}),
            writer(&eight_digits(&mobile(1)), Some(mobile(1)), None),
        ),
        (json!({"participant": LID, "push_name": "Rita"}), writer(LID, None, Some("Rita"))),
        (
            json!({"participant": LID, "push_name": "Rita", "history": true}),
            writer(LID, None, Some("Rita")),
        ),
        (json!({"push_name": "Rita"}), Value::Null),
    ] {
        let message = in_group(&world, &qr, more.clone()).await;
        assert_eq!(written_by(&world, &message).await, expected, "{more}");
    }
    let echo = with(world.echo("77@g.us", "eu"), json!({"participant": phone}));
    let echo = world.stored(&qr, echo).await;
    let sent = world.events_of("message.sent").await;
    let expected = writer(&phone, Some(mobile(1)), None);
    assert_eq!(sent.last().expect("told")["participant"], expected);
    assert_eq!(written_by(&world, &echo).await, expected);
    let groups = world.list_ids("is_group=true").await.len();
    assert_eq!((groups, world.list_ids("").await.len()), (1, 1), "nobody was made");
}

#[both_stores]
async fn it_is_null_outside_of_groups(world: World) {
    let qr = world.qr().await;
    let event = with(
        world.inbound(&digits(&mobile(1)), "oi"),
        json!({"participant": digits(&mobile(2)), "push_name": "Ana"}),
    );
    let received = world.stored(&qr, event).await;
    let sent = text(&world.sent(&mobile(1), "olá").await["message_id"]);
    in_group(&world, &qr, json!({"participant": LID})).await;
    let to_group = text(&world.sent("77@g.us", "olá").await["message_id"]);
    for message in [received, sent, to_group] {
        let shown = world.message(&message).await;
        assert!(shown.as_object().expect("a message").contains_key("participant"));
        assert_eq!(written_by(&world, &message).await, Value::Null);
    }
    for data in world.events_of("message.sent").await {
        assert_eq!(data.get("participant"), Some(&Value::Null));
    }
}

/// D72, D74.
#[both_stores]
async fn listings_add_what_the_own_contact_has_as_long_as_it_is_there(world: World) {
    let qr = world.qr().await;
    let event = with(
        world.inbound(LID, "oi"),
        json!({"aliases": [digits(&mobile(1))], "push_name": "Rita"}),
    );
    let own = world.stored(&qr, event).await;
    let own = text(&world.message(&own).await["contact_id"]);
    let reported = in_group(&world, &qr, json!({"participant": LID})).await;
    let named = json!({"participant": LID, "push_name": "Rita Souza"});
    let named = in_group(&world, &qr, named).await;
    for (message, name) in [(&reported, "Rita"), (&named, "Rita Souza")] {
        let listed = world.message(message).await;
        let expected = writer(LID, Some(mobile(1)), Some(name));
        assert_eq!(listed["participant"], expected);
        let group = world.messages_of(&text(&listed["contact_id"])).await;
        assert!(group.iter().any(|one| one["participant"] == expected));
        let path = format!("C/messages/{message}");
        let one = world.operator("GET", &path, Value::Null).await;
        assert_eq!(one.data()["participant"], expected);
    }
    let events = world.events_of("message.received").await;
    let told = |message: &str| {
        let event = events.iter().find(|data| data["message_id"] == message);
        event.expect("told")["participant"].clone()
    };
    assert_eq!(told(&reported), writer(LID, None, None), "as the gateway reported it");
    assert_eq!(told(&named), writer(LID, None, Some("Rita Souza")));
    world.delete(&format!("/api/v1/contacts/{own}")).await.expect(200);
    assert_eq!(written_by(&world, &reported).await, writer(LID, None, None));
    assert_eq!(written_by(&world, &named).await, writer(LID, None, Some("Rita Souza")));
}

#[both_stores]
async fn an_import_may_say_who_wrote(world: World) {
    let qr = world.qr().await;
    in_group(&world, &qr, json!({})).await;
    let group = text(&world.group_contact("77@g.us").await["id"]);
    let person = world.create_id(json!({"phone": mobile(1)})).await;
    let body = |contact: &str, participant: Value| {
        json!({
            "contact_id": contact, "connection_id": qr, "direction": "inbound",
            "content": "antes", "participant": participant,
        })
    };
    for (given, shown) in [
        (writer(LID, None, Some("Rita")), writer(LID, None, Some("Rita"))),
        (json!({"identifier": LID, "phone": mobile(2)}), writer(LID, Some(mobile(2)), None)),
        (
            json!({"identifier": digits(&mobile(3))}),
            writer(&digits(&mobile(3)), Some(mobile(3)), None),
        ),
        (Value::Null, Value::Null),
    ] {
        let message = world.import_message(body(&group, given)).await;
        let listed = written_by(&world, &message).await;
        assert_eq!(listed, shown);
        // What is listed can be imported again.
        let again = world.import_message(body(&group, listed)).await;
        assert_eq!(written_by(&world, &again).await, shown);
    }
    for wrong in [json!("x"), json!({}), json!({"identifier": LID, "phone": "12"}), json!([])] {
        let refused = world.operator("POST", "C/messages", body(&group, wrong)).await;
        assert_eq!(refused.expect_invalid(), ["participant"]);
    }
    let refused = body(&person, writer(LID, None, None));
    let refused = world.operator("POST", "C/messages", refused).await;
    assert_eq!(refused.expect_invalid(), ["participant"]);
    world.import_message(body(&person, Value::Null)).await;
}

#[both_stores]
async fn contacts_in_events_carry_their_display_name(world: World) {
    let qr = world.qr().await;
    let event = with(world.inbound(&digits(&mobile(1)), "oi"), json!({"push_name": "Maria Souza"}));
    world.stored(&qr, event).await;
    let sent = world.sent(&mobile(1), "olá").await;
    world.reaches(&text(&sent["message_id"]), "read").await;
    for kind in ["message.received", "message.sent", "message.status_updated"] {
        let told = world.events_of(kind).await;
        assert!(!told.is_empty(), "{kind}");
        for data in told {
            assert_eq!(data["contact"]["display_name"], "Maria Souza", "{kind}");
            assert_eq!(data["contact"]["name"], "", "{kind}");
        }
    }
}

#[both_stores]
async fn what_a_group_said_goes_with_it(world: World) {
    let qr = world.qr().await;
    in_group(&world, &qr, json!({"participant": digits(&mobile(1)), "push_name": "Rita"})).await;
    let group = text(&world.group_contact("77@g.us").await["id"]);
    world.delete(&format!("/api/v1/contacts/{group}")).await.expect_deleted();
    assert!(world.all_messages().await.is_empty());
}

// Gateways.

#[both_stores]
async fn every_engine_of_waha_reports_who_wrote(kind: StoreKind) {
    for engine in WahaEngine::ALL {
        let waha = Waha::on(kind, engine).await;
        let of_phone = waha.fake.receive_in_group(CLUB, &chat(&mobile(1)), "Rita", "oi");
        let message = text(&waha.brings(&of_phone).await["id"]);
        let expected = writer(&digits(&mobile(1)), Some(mobile(1)), Some("Rita"));
        assert_eq!(written_by(&waha, &message).await, expected, "{engine:?}");
        let of_lid = waha.fake.receive_in_group(CLUB, LID, "Rita", "oi");
        let message = text(&waha.brings(&of_lid).await["id"]);
        let expected = writer(LID, None, Some("Rita"));
        assert_eq!(written_by(&waha, &message).await, expected, "{engine:?}");
        waha.well_behaved();
    }
}

#[both_stores]
async fn evolution_reports_who_wrote(world: Evolution) {
    let record = world.fake.incoming_in_group(CLUB, &digits(&mobile(1)), "oi");
    let message = text(&world.brings(&record).await["id"]);
    let shown = written_by(&world, &message).await;
    assert_eq!((&shown["phone"], &shown["name"]), (&json!(mobile(1)), &json!("Maria")));
    let mut record = world.fake.incoming_in_group(CLUB, &digits(&mobile(2)), "oi");
    record["key"]["participant"] = json!(LID);
    record["key"].as_object_mut().expect("a key").remove("participantAlt");
    let message = text(&world.brings(&record).await["id"]);
    assert_eq!(written_by(&world, &message).await, writer(LID, None, Some("Maria")));
}

#[both_stores]
async fn the_official_api_reports_who_wrote_where_it_has_groups(world: Clouded) {
    let id = wamid();
    let said = json!({"type": "text", "text": {"body": "oi"}, "group_id": "Y2FwaV9ncm91cA"});
    let change = world.fake.message(&digits(&mobile(1)), &id, &said, world.now());
    world.changes(&[("messages", change)]).await;
    let message = text(&world.message_with(&id).await["id"]);
    let expected = writer(&digits(&mobile(1)), Some(mobile(1)), Some("Maria Souza"));
    assert_eq!(written_by(&world, &message).await, expected);
}
