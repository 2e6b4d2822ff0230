//! No webhook and no answer makes the adapter panic.

use proptest::prelude::*;
use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, Provider};
use recado_core::transport::OutboundResponse;
use recado_testkit::ScriptedTransport;
use serde_json::{Value, json};

use crate::scene::{Scene, lookup, text_to};

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "[0-9]{0,20}(@(s\\.whatsapp\\.net|lid|g\\.us|broadcast))?".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "key",
        "id",
        "remoteJid",
        "remoteJidAlt",
        "fromMe",
        "message",
        "conversation",
        "status",
        "contextInfo",
        "stanzaId",
        "quotedMessage",
        "imageMessage",
        "protocolMessage",
        "editedMessage",
        "ephemeralMessage",
        "low",
        "high",
        "state",
        "instance",
        "messages",
        "records",
        "MessageUpdate",
        "update",
        "participants",
        "response",
        "mediaUrl",
        "externalAdReply",
        "contactsArrayMessage",
        "contacts",
        "vcard",
        "interactiveMessage",
        "nativeFlowMessage",
        "buttons",
        "orderMessage",
        "totalAmount1000",
        "messageStubType",
        "messageStubParameters",
        "pollUpdates",
        "voters",
        "pollUpdateMessage",
        "vote",
        "selectedOptions",
        "carouselMessage",
        "cards",
    ])
    .prop_map(str::to_owned)
}

fn events() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "messages.upsert",
        "messages.set",
        "messages.update",
        "messages.edited",
        "messages.delete",
        "call",
        "send.message",
        "connection.update",
        "qrcode.updated",
        "groups.upsert",
        "GROUP_PARTICIPANTS_UPDATE",
        "status.instance",
        "something.else",
    ])
}

/// A record with this message, which was forwarded and led here by an advertisement.
fn said(message: Value) -> Value {
    json!({"key": {"remoteJid": "553491234567@s.whatsapp.net", "fromMe": false, "id": "3A0F"},
        "message": message, "messageTimestamp": 1_760_000_000, "contextInfo":
            {"forwardingScore": 5, "isForwarded": true,
                "externalAdReply": {"sourceType": "ad", "title": "Oferta"}}})
}

/// Whole payloads, to be mutated.
fn payloads() -> Vec<Value> {
    vec![
        json!({"key": {"remoteJid": "553491234567@s.whatsapp.net", "remoteJidAlt": "123456@lid",
                "fromMe": false, "id": "3A0F", "participant": "", "addressingMode": "pn"},
            "pushName": "Maria", "message": {"conversation": "Oi", "messageContextInfo": {}},
            "contextInfo": {"stanzaId": "3EB0A1", "quotedMessage": {"conversation": "Olá"}},
            "messageType": "conversation", "messageTimestamp": {"low": 1_760_000_000, "high": 0}}),
        json!({"key": {"remoteJid": "120363041234567890@g.us", "participant": "1@lid",
                "participantAlt": "5534@s.whatsapp.net", "fromMe": true, "id": "3A0F"},
            "message": {"ephemeralMessage": {"message": {"imageMessage": {"caption": "Veja",
                "mimetype": "image/jpeg"}}}, "mediaUrl": "https://s3.example/x"},
            "messageTimestamp": "1760000000", "MessageUpdate": [{"status": "READ"}]}),
        json!({"key": {"id": "3A0F", "remoteJid": "1@lid"}, "message": {"protocolMessage":
            {"key": {"id": "3A00"}, "type": 14, "editedMessage": {"conversation": "Oi"}}}}),
        json!({"keyId": "3EB0A1", "fromMe": true, "status": "READ"}),
        json!({"keyId": "3EB0A1", "fromMe": true, "status": "SERVER_ACK", "message":
            {"editedMessage": {"message": {"imageMessage": {"caption": "Veja"}}}}}),
        said(json!({"contactMessage": {"displayName": "Ana",
            "vcard": "BEGIN:VCARD\nFN:Ana\nTEL;TYPE=CELL:+55 34 99123-4567\nEND:VCARD"}})),
        said(json!({"liveLocationMessage": {"degreesLatitude": -18.5, "degreesLongitude": 48}})),
        said(json!({"pollCreationMessageV3": {"name": "Quando?", "selectableOptionsCount": 0,
            "options": [{"optionName": "Hoje"}]}})),
        said(json!({"orderMessage": {"itemCount": 3, "totalAmount1000": i64::MAX,
            "totalCurrencyCode": "BRL"}})),
        said(json!({"productMessage": {"product": {"priceAmount1000": {"low": -1, "high": -1},
            "currencyCode": "BRL"}}})),
        said(json!({"interactiveMessage": {"body": {"text": "Veja"}, "nativeFlowMessage":
            {"buttons": [{"name": "review_and_pay", "buttonParamsJson": "{\"currency\":\"BRL\",\
                \"total_amount\":{\"value\":9223372036854775807,\"offset\":0},\
                \"order\":{\"items\":[{\"quantity\":-1,\"amount\":{\"value\":1}}]}}"}]}}})),
        said(json!({"interactiveResponseMessage": {"nativeFlowResponseMessage":
            {"name": "flow", "paramsJson": "{\"a\":[1]}"}}})),
        said(json!({"eventMessage": {"name": "Feira", "startTime": "253402300799"}})),
        said(json!({"templateMessage": {"hydratedTemplate": {"hydratedButtons":
            [{"urlButton": {"url": "https://loja.example"}}]}}})),
        said(json!({"pollUpdateMessage": {"pollCreationMessageKey": {"id": "3EB0"},
            "vote": {"selectedOptions": ["Hoje"]}}})),
        said(json!({"noveltyMessage": {"caption": "x"}})),
        said(json!({"encReactionMessage": {}})),
        json!({"key": {"remoteJid": "1@lid", "id": "3A0F"}, "messageStubType": 42,
            "messageStubParameters": ["5534@s.whatsapp.net"]}),
        json!({"keyId": "3EB0", "remoteJid": "1@g.us", "fromMe": true,
            "pollUpdates": [{"name": "Hoje", "voters": ["2@lid"]}]}),
        json!({"id": "C1", "from": "5534@s.whatsapp.net", "status": "timeout", "isVideo": true,
            "date": "2025-10-09T08:53:20Z", "groupJid": "1@g.us"}),
        json!({"instance": "loja1", "state": "open", "statusReason": 200}),
        json!({"messages": {"total": 3, "pages": 3, "records": [{"key": {"id": "1",
            "remoteJid": "5534@s.whatsapp.net", "fromMe": true}, "source": "ios"}]}}),
        json!([{"id": "1@g.us", "subject": "A", "participants": [{"id": "2@lid"}]}]),
        json!({"status": 400, "response": {"message": [["x"], {"exists": false}, "y"]}}),
        json!({"code": "2@x", "base64": "data:image/png;base64,aGk=", "count": 1}),
    ]
}

/// Puts a value somewhere into another one.
fn mutated(mut payload: Value, path: &[usize], with: Value) -> Value {
    let mut place = &mut payload;
    for step in path {
        let size = match &*place {
            Value::Array(items) => items.len(),
            Value::Object(fields) => fields.len(),
            _ => 0,
        };
        if size == 0 {
            break;
        }
        place = match place {
            Value::Array(items) => &mut items[step % size],
            Value::Object(fields) => {
                fields.values_mut().nth(step % size).expect("it has so many fields")
            }
            _ => unreachable!("it has a size"),
        };
    }
    *place = with;
    payload
}

fn receive(scene: &Scene, event: &str, data: Value) {
    let webhook = scene.fake.webhook(event, data).webhook();
    let reported =
        scene.provider.receive(&scene.connection, &webhook).expect("it is verified JSON");
    for one in reported.into_iter().filter_map(|received| received.event.ok()) {
        // The events can be printed and compared, and what is kept of them read again.
        assert_eq!(format!("{one:?}"), format!("{:?}", one.clone()));
        let kept = match &one {
            GatewayEvent::Unknown(report) => Some(&report.body),
            GatewayEvent::Message(message) | GatewayEvent::Echo(message) => message.raw.as_ref(),
            _ => None,
        };
        let again = kept.map(|kept| scene.provider.read(&scene.connection, kept));
        assert!(again.is_none_or(|again| again.contains(&Ok(one.clone()))), "{one:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_data_is_read_or_refused(event in events(), data in values()) {
        receive(&Scene::new(), event, data);
    }

    #[test]
    fn a_mutated_payload_is_read_or_refused(
        event in events(),
        payload in prop::sample::select(payloads()),
        path in prop::collection::vec(any::<usize>(), 0..6),
        with in values(),
    ) {
        receive(&Scene::new(), event, mutated(payload, &path, with));
    }

    #[test]
    fn any_bytes_are_json_or_refused(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let scene = Scene::new();
        let mut webhook = scene.fake.webhook("x", Value::Null).webhook();
        webhook.body = body;
        let _ = scene.provider.receive(&scene.connection, &webhook);
    }

    #[test]
    fn any_answer_is_understood_or_a_failure(
        status in prop::sample::select(vec![200_u16, 201, 301, 400, 401, 404, 500, 503]),
        payload in prop::sample::select(payloads()),
        path in prop::collection::vec(any::<usize>(), 0..6),
        with in values(),
        cut in any::<prop::sample::Index>(),
    ) {
        let body = mutated(payload, &path, with).to_string().into_bytes();
        let end = cut.index(body.len() * 2 + 1).min(body.len());
        let answer = OutboundResponse::new(status, body[..end].to_vec());
        let scene = Scene::new();
        let transport = ScriptedTransport::new();
        transport.otherwise(Ok(answer));
        let (provider, connection) = (&scene.provider, &scene.connection);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (from, to) = (Timestamp::from_millis(0), Timestamp::MAX);
        let outgoing = text_to("5534991234567", "Oi");
        runtime.block_on(async {
            let _ = provider.send(&transport, connection, &outgoing).await;
            let lookup = lookup(outgoing, i64::MAX);
            let _ = provider.find_sent(&transport, connection, &lookup).await;
            let _ = provider.status(&transport, connection).await;
            let _ = provider.pairing(&transport, connection).await;
            let _ = provider.groups(&transport, connection).await;
            let _ = provider.missed(&transport, connection, from, to).await;
            let _ = provider.media(&transport, connection, "evolution-media:1", 1_000).await;
        });
        prop_assert!(transport.requests().len() < 20);
    }
}
