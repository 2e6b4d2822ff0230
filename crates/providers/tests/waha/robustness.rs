//! No signed body makes the adapter panic, however unusual it is.

use proptest::prelude::*;
use recado_core::gateway::{Edit, GatewayEvent, MessageKind, Provider};
use recado_testkit::gateways::WahaEngine;
use recado_testkit::{ScriptedTransport, contents};
use serde_json::{Value, json};

use super::support::{NOW, Scene, inbound};

const EVENTS: [&str; 15] = [
    "message",
    "message.any",
    "message.ack",
    "message.reaction",
    "message.edited",
    "message.revoked",
    "message.waiting",
    "poll.vote",
    "poll.vote.failed",
    "call.rejected",
    "session.status",
    "group.v2.update",
    "call.received",
    "",
    "unknown",
];

/// A payload with every known field.
fn everything() -> Value {
    inbound(json!({"id": "true_12036@g.us_3EB0_9@lid", "participant": "9@lid", "hasMedia": true,
        "media": {"url": "http://w/api/files/x", "mimetype": "image/jpeg", "filename": "x"},
        "replyTo": {"id": "3EB0", "body": "Olá"}, "vCards": ["BEGIN:VCARD\nFN:Ana"],
        "location": {"latitude": 1, "longitude": 2, "name": "x"}, "status": "WORKING",
        "reaction": {"text": "x", "messageId": "true_1@c.us_3E"}, "editedMessageId": "3E",
        "after": {"id": "true_1@c.us_3E", "_data": {"type": "revoked"}}, "revokedMessageId": "3E",
        "vote": {"id": "false_12036@g.us_3E_9@lid", "selectedOptions": ["x"], "timestamp": 1},
        "poll": {"id": "true_12036@g.us_3E"}, "isVideo": true,
        "group": {"id": "1@g.us"}, "key": {"id": "3E", "remoteJid": "1@s.whatsapp.net"},
        "_data": {"Info": {"SenderAlt": "1@lid", "Chat": "1@c.us"}, "type": "list_response",
            "key": {"participantAlt": "1@c.us", "remoteJid": "1@g.us"}, "messageStubType": 1,
            "message": {"ephemeralMessage": {"message": {"conversation": "x",
                "reactionMessage": {"text": "x", "key": {"id": "3E"}},
                "listResponseMessage": {"singleSelectReply": {"selectedRowId": "x"}}}}}}}))
}

/// Messages in the channel's own form, of every kind that is read.
fn kinds() -> Vec<Value> {
    let context = json!({"stanzaId": "3EB0", "isForwarded": true, "forwardingScore": 7,
        "quotedMessage": {"productMessage": {"product": {"title": "Caneca"}}}});
    let product = json!({"productId": "7", "title": "Caneca", "currencyCode": "BRL",
        "priceAmount1000": {"low": -1, "high": 2}});
    let bill = r#"{"currency":"BRL","total_amount":{"value":1,"offset":0},"order":{"items":[{}]}}"#;
    vec![
        json!({"extendedTextMessage": {"text": "x", "contextInfo": context}}),
        json!({"locationMessage": {"degreesLatitude": "1", "degreesLongitude": 2, "name": "x"}}),
        json!({"contactsArrayMessage": {"contacts": [{"displayName": "x", "vcard": "FN:x"}]}}),
        json!({"pollCreationMessage": {"name": "x", "options": [{"optionName": "y"}],
            "selectableOptionsCount": 1}}),
        json!({"productMessage": {"product": product}}),
        json!({"orderMessage": {"itemCount": 1, "totalAmount1000": 1, "totalCurrencyCode": "BRL"}}),
        json!({"callLogMesssage": {"isVideo": true, "callOutcome": 1, "durationSecs": "3"}}),
        json!({"interactiveMessage": {"body": {"text": "x"}, "InteractiveMessage": {
            "NativeFlowMessage": {"buttons": [
                {"name": "review_and_pay", "buttonParamsJSON": bill},
                {"name": "cta_url", "buttonParamsJSON": "{\"url\":\"x\"}"}]}}}}),
        json!({"templateMessage": {"hydratedTemplate": {"hydratedContentText": "x",
            "hydratedButtons": [{"urlButton": {"displayText": "x", "url": "y"}}]}}}),
        json!({"protocolMessage": {"type": 0, "key": {"id": "3E"}, "editedMessage": {}}}),
        json!({"pollUpdateMessage": {"vote": {}}}),
        json!({"noveltyMessage": {"caption": "x", "contextInfo": {"externalAdReply":
            {"sourceType": "ad", "ctwaClid": "x"}}}}),
        json!({"pollCreationMessageV9": {"message": {"pollCreationMessageV3": {"name": "x"}}}}),
        json!({"interactiveMessage": {"carouselMessage": {"cards": [{"body": {"text": "x"}}]}}}),
        json!({"interactiveResponseMessage": {"body": {"text": "x"}, "nativeFlowResponseMessage": {
            "name": "flow", "paramsJson": "{\"a\":[1]}"}}}),
    ]
}

/// The paths of values in a payload.
fn places(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, inner)| places(inner, &format!("{here}/{name}"), all));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, inner)| places(inner, &format!("{here}/{index}"), all));
        }
        _ => {}
    }
}

fn odd_values() -> impl Strategy<Value = Value> {
    let texts = prop::sample::select(vec![
        "",
        "@",
        "_",
        "true_",
        "false_@_",
        "true_@g.us_",
        "1@g.us",
        "0@c.us",
        "@lid",
        ":@c.us",
        "😀@c.us",
        "x@broadcast",
        "a/b/c",
        ";:;",
        "FN:",
        "9e999",
        "\u{0}",
    ]);
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        texts.prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[[{"id": {"id": 1}}]]])),
        Just(json!({"_serialized": "true_x_"})),
        "[0-9]{0,40}@(c.us|lid|g.us|s.whatsapp.net)".prop_map(Value::from),
    ]
}

fn mutated() -> impl Strategy<Value = Value> {
    mutations(everything())
}

/// A message of any kind with odd values in it.
fn mutated_kind() -> impl Strategy<Value = Value> {
    prop::sample::select(kinds()).prop_flat_map(|kind| {
        mutations(inbound(json!({"body": null, "_data": {"Info": {}, "Message": kind}})))
    })
}

fn mutations(start: Value) -> impl Strategy<Value = Value> {
    let mut all = Vec::new();
    places(&start, "", &mut all);
    let changes = prop::collection::vec((prop::sample::select(all), odd_values()), 0..8);
    changes.prop_map(move |changes| {
        let mut payload = start.clone();
        for (place, value) in changes {
            if let Some(target) = payload.pointer_mut(&place) {
                *target = value;
            }
        }
        payload
    })
}

proptest! {
    #[test]
    fn no_payload_makes_it_panic(event in prop::sample::select(&EVENTS[..]), payload in mutated()) {
        let scene = Scene::new(WahaEngine::Gows);
        let received = scene.take(&scene.waha.webhook(event, &payload));
        prop_assert!(received.is_ok());
    }

    #[test]
    fn no_message_of_any_kind_makes_it_panic(payload in mutated_kind()) {
        let scene = Scene::new(WahaEngine::Gows);
        let received = scene.take(&scene.waha.webhook("message.any", &payload));
        for event in received.expect("signed").into_iter().filter_map(|it| it.event.ok()) {
            if let GatewayEvent::Message(message) = event {
                let tidied = message.blocks.tidied();
                prop_assert_eq!(tidied.content(), tidied.clone().tidied().content());
            }
        }
    }

    #[test]
    fn no_envelope_makes_it_panic(
        name in prop::sample::select(vec!["event", "session", "payload", "me", "timestamp", "engine"]),
        value in odd_values(),
    ) {
        let scene = Scene::new(WahaEngine::Gows);
        let signed = scene.waha.webhook("message.any", &everything());
        let mut envelope: Value = serde_json::from_slice(&signed.body).expect("JSON");
        envelope[name] = value;
        let body = envelope.to_string();
        let hex = recado_testkit::gateways::hex_hmac_sha512("waha-hmac-key", body.as_bytes());
        let webhook = signed.with_body(body).with_header("x-webhook-hmac", &hex);
        prop_assert!(scene.take(&webhook).is_ok());
    }

    #[test]
    fn no_answer_makes_it_panic(status in 100_u16..600, one in mutated(), other in odd_values()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let scene = Scene::new(WahaEngine::Gows);
            let transport = ScriptedTransport::new();
            let answers = [json!([one]), one, other];
            for answer in answers.iter().cycle().take(24) {
                transport.then_json(200, answer).then_json(status, answer);
            }
            let (adapter, connection) = (&scene.adapter, &scene.connection);
            let outgoing = scene.outgoing(1, "5534991234567");
            let _ = adapter.send(&transport, connection, &outgoing).await;
            let lookup = scene.lookup(1, "5534991234567");
            let _ = adapter.find_sent(&transport, connection, &lookup).await;
            let _ = adapter.status(&transport, connection).await;
            let _ = adapter.groups(&transport, connection).await;
            let _ = adapter.pairing(&transport, connection).await;
            let _ = adapter.missed(&transport, connection, NOW, NOW).await;
            let _ = adapter.media(&transport, connection, "waha-message:true_1@c.us_3E", 9).await;
            let name = contents::received("3EB0", "5534991234567");
            let edit = Edit { text: "x".to_owned(), is_caption: false };
            let _ = adapter.edit(&transport, connection, &name, &edit).await;
            let _ = adapter.revoke(&transport, connection, &name).await;
            let _ = adapter.mark_read(&transport, connection, &name).await;
            for kind in [MessageKind::Reaction, MessageKind::Image] {
                let content = contents::of(kind, "5534991234567").expect("a message");
                let outgoing = scene.outgoing_content(2, "5534991234567", content);
                let _ = adapter.send(&transport, connection, &outgoing).await;
            }
        });
    }
}
