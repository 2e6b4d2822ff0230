//! What the channel says about a conversation: calls, new numbers, new keys; permissions to call.

use recado_core::gateway::{GatewayEvent, GatewayMessage, NamesReport};
use recado_core::messages::{AnswerKind, Interactive, MessageType, SystemKind};
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{NOW, SUFFIX, Scene, inbound, noweb};

fn line(event: &GatewayEvent) -> (&GatewayMessage, SystemKind) {
    match event {
        GatewayEvent::Message(message) => {
            assert_eq!((message.message_type, &message.content), (MessageType::System, &None));
            (message, message.blocks.system.clone().expect("a notice").kind)
        }
        other => panic!("no line: {other:?}"),
    }
}

/// X1, X2.
#[test]
fn a_call_is_told_once_it_has_ended() {
    let scene = Scene::new(WahaEngine::Gows);
    let call = |fields: Value| {
        let mut call = json!({"id": "CALL1", "from": "553491234567@c.us",
            "timestamp": 1_760_000_000.5, "isVideo": false, "isGroup": false});
        call.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("one"));
        call
    };
    for video in [false, true] {
        let missed = scene.event("call.rejected", &call(json!({"isVideo": video})));
        let (message, kind) = line(&missed);
        assert_eq!(kind, SystemKind::MissedCall { video });
        assert_eq!(
            (message.provider_id.as_str(), message.peer.as_str()),
            ("CALL1", "553491234567")
        );
        assert_eq!(message.timestamp.map(|at| at.millis()), Some(1_760_000_000_500));
    }
    let taken = scene.event("call.accepted", &call(json!({})));
    assert_eq!(line(&taken).1, SystemKind::Call { video: false, seconds: None });
    assert_eq!(scene.events("call.received", &call(json!({}))), [], "it rings");
    let own = call(json!({"from": "551140028922@c.us"}));
    assert_eq!(scene.events("call.rejected", &own), []);
    let group = call(json!({"isGroup": true, "_data": {"GroupJID": "12036@g.us"}}));
    let told = scene.event("call.rejected", &group);
    assert_eq!(line(&told).0.peer, format!("12036@{SUFFIX}"));
    assert_eq!(line(&told).0.participant.as_deref(), Some("553491234567"));
    let lid = call(json!({"from": "123@lid",
        "_data": {"CallCreatorAlt": "553491234567@s.whatsapp.net"}}));
    assert_eq!(line(&scene.event("call.rejected", &lid)).0.aliases, ["553491234567"]);
    let nameless = call(json!({"id": null, "timestamp": null}));
    let told = scene.event("call.rejected", &nameless);
    let id = format!("call/553491234567/{}", NOW.millis());
    assert_eq!(line(&told).0.provider_id.as_str(), id);
    let new = scene.event("call.novelty", &call(json!({})));
    assert!(matches!(new, GatewayEvent::Unknown(report) if report.kind == "call.novelty"));
}

/// X2, D62.
#[test]
fn a_new_number_is_a_line_of_the_chat_and_another_name() {
    let (old, new) = ("553491234567", "5534999990000");
    let stub = json!({"body": null, "_data": {"key": {"remoteJid": format!("{old}@s.whatsapp.net")},
        "messageStubType": 42, "messageStubParameters": [format!("{new}@s.whatsapp.net")]}});
    let browser = json!({"body": "", "id": format!("true_{new}@c.us_3A0F"), "fromMe": true,
        "from": "551140028922@c.us", "to": format!("{new}@c.us"), "_data": {
            "type": "notification_template", "subtype": "change_number",
            "to": {"_serialized": format!("{new}@c.us")},
            "templateParams": [format!("{new}@c.us"), format!("{old}@c.us")]}});
    for fields in [stub, browser] {
        let scene = Scene::new(WahaEngine::Webjs);
        let events = scene.events("message.any", &inbound(fields.clone()));
        let [Ok(first), Ok(GatewayEvent::Names(NamesReport { peer, aliases }))] = events.as_slice()
        else {
            panic!("{fields}: {events:?}")
        };
        let (message, kind) = line(first);
        let (from, to) = (Some(old.to_owned()), Some(new.to_owned()));
        assert_eq!(kind, SystemKind::NumberChanged { from, to });
        assert_eq!((&message.peer, &message.aliases), (peer, aliases));
        let mut both = [peer.as_str(), aliases[0].as_str()];
        both.sort_unstable();
        assert_eq!((both, aliases.len()), ([old, new], 1));
    }
}

/// D62.
#[test]
fn a_members_new_number_teaches_a_name_alone() {
    let scene = Scene::new(WahaEngine::Webjs);
    let expected = NamesReport::new("553491234567", vec!["5534999990000".to_owned()]);
    for data in [
        json!({"type": "gp2", "subtype": "modify", "author": "553491234567@c.us",
            "recipients": ["5534999990000@c.us"]}),
        json!({"key": {"participant": "553491234567@s.whatsapp.net"},
            "messageStubType": "GROUP_PARTICIPANT_CHANGE_NUMBER",
            "messageStubParameters": ["5534999990000@s.whatsapp.net"]}),
    ] {
        let fields = json!({"id": "false_12036@g.us_3A_9@lid", "from": "12036@g.us", "body": "",
            "_data": data});
        let event = scene.event("message.any", &inbound(fields));
        assert_eq!(event, GatewayEvent::Names(expected.clone()));
    }
}

/// X2.
#[test]
fn new_keys_are_a_line_of_the_chat() {
    let scene = Scene::new(WahaEngine::Webjs);
    for fields in [
        json!({"body": "", "_data": {"type": "e2e_notification", "subtype": "identity"},
            "id": "true_553491234567@c.us_3A0F", "fromMe": true}),
        json!({"body": null, "_data": {"key": {}, "messageStubType": "E2E_IDENTITY_CHANGED"}}),
    ] {
        let events = scene.events("message.any", &inbound(fields.clone()));
        let [Ok(event)] = events.as_slice() else { panic!("{fields}: {events:?}") };
        assert_eq!(line(event).1, SystemKind::IdentityChanged);
    }
}

/// X2.
#[test]
fn whether_the_company_may_call_is_an_answer_of_its_own() {
    for name in ["call_permission_request", "call_permission_reply"] {
        let message = Scene::new(WahaEngine::Noweb).message(&inbound(noweb(json!({
            "interactiveResponseMessage": {"body": {"text": "Pode ligar"},
                "nativeFlowResponseMessage": {"name": name,
                    "paramsJson": "{\"response\":\"accept\"}"}}}))));
        let Some(Interactive::Answer(answer)) = message.blocks.interactive else { panic!("one") };
        assert_eq!(answer.kind, AnswerKind::CallPermissionReply);
        assert_eq!(answer.response, Some(json!({"response": "accept"})));
        assert_eq!((message.button, answer.title.as_deref()), (None, Some("Pode ligar")));
    }
}
