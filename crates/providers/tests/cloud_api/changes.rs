//! What becomes of messages and of people: deletions, reactions withdrawn, late content, notices,
//! names, calls.

use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming, NamesReport};
use recado_core::messages::{MessageType, SystemKind};
use serde_json::{Value, json};

use crate::support::*;

/// The one message of these fields from Maria, in each of the fields that hold messages.
fn everywhere(fields: Value) -> [(&'static str, Value); 3] {
    let mut message = json!({"from": "553491234567", "to": "553491234567", "id": "wamid.M",
        "timestamp": "1760000000"});
    let own = message.as_object_mut().expect("an object");
    own.extend(fields.as_object().cloned().expect("an object"));
    let thread = json!({"id": "553491234567", "messages": [message]});
    [
        ("messages", json!({"messages": [message]})),
        ("smb_message_echoes", json!({"message_echoes": [message]})),
        ("history", json!({"history": [{"threads": [thread]}]})),
    ]
}

/// X3.
#[test]
fn a_deletion_names_the_message_that_was_deleted() {
    let revoke = json!({"type": "revoke", "revoke": {"original_message_id": "wamid.X"}});
    for (field, value) in everywhere(revoke) {
        let GatewayEvent::Deleted { provider_id, timestamp } = event(field, value) else {
            panic!("no deletion in {field}")
        };
        assert_eq!((provider_id.as_str(), timestamp), ("wamid.X", Some(at(1_760_000_000))));
    }
    for (field, value) in everywhere(json!({"type": "revoke", "revoke": {}})) {
        let event = event(field, value);
        assert!(matches!(event, GatewayEvent::Unknown(_)), "{field}: {event:?}");
    }
}

/// X7.
#[test]
fn a_reaction_that_is_withdrawn_has_no_emoji() {
    for withdrawn in [
        json!({"message_id": "wamid.TARGET", "emoji": ""}),
        json!({"message_id": "wamid.TARGET", "emoji": null}),
        json!({"message_id": "wamid.TARGET"}),
    ] {
        for (field, value) in everywhere(json!({"type": "reaction", "reaction": withdrawn})) {
            let (GatewayEvent::Message(told) | GatewayEvent::Echo(told)) = event(field, value)
            else {
                panic!("no message in {field}")
            };
            assert_eq!((told.message_type, &told.content), (MessageType::Reaction, &None));
            let reaction = told.blocks.reaction.expect("a reaction");
            assert_eq!(reaction.emoji, None, "{field} {withdrawn}");
            assert_eq!(reaction.provider_message_id.as_deref(), Some("wamid.TARGET"));
            assert_eq!(told.quoted.expect("the target").as_str(), "wamid.TARGET");
        }
    }
}

/// X5.
#[test]
fn content_that_is_only_late_is_announced() {
    let unsupported = |code: u32| {
        message(json!({"type": "unsupported", "errors": [{"code": code, "title": "x"}]}))
    };
    let late = unsupported(131_060);
    assert_eq!((late.message_type, late.is_late), (MessageType::Unsupported, true));
    assert!(late.raw.is_some());
    assert!(!unsupported(131_051).is_late);
}

fn system(from: Value, system: Value) -> Vec<Incoming> {
    let mut message = json!({"id": "wamid.S", "timestamp": "1760000000", "type": "system",
        "system": system});
    let fields = message.as_object_mut().expect("an object");
    fields.extend(from.as_object().cloned().expect("an object"));
    events("messages", json!({ "messages": [message] }))
}

fn line(event: &Incoming) -> (&GatewayMessage, SystemKind) {
    match event {
        Ok(GatewayEvent::Message(message)) => {
            assert_eq!((message.message_type, &message.content), (MessageType::System, &None));
            (message, message.blocks.system.clone().expect("a notice").kind)
        }
        other => panic!("no line: {other:?}"),
    }
}

fn names(event: &Incoming) -> (&str, Vec<&str>) {
    match event {
        Ok(GatewayEvent::Names(NamesReport { peer, aliases })) => {
            (peer, aliases.iter().map(String::as_str).collect())
        }
        other => panic!("no names: {other:?}"),
    }
}

/// X2, D68.
#[test]
fn a_new_number_is_a_line_of_the_chat_and_another_name() {
    for kind in ["user_changed_number", "customer_changed_number"] {
        let reported = system(
            json!({"from": "553491234567", "from_user_id": "BR.0"}),
            json!({"body": "User A changed", "wa_id": "5534999990000", "type": kind,
                "previous_user_id": "BR.1", "user_id": "BR.2"}),
        );
        let [first, second] = reported.as_slice() else { panic!("{reported:?}") };
        let (message, kind) = line(first);
        let (from, to) = (Some("553491234567".to_owned()), Some("5534999990000".to_owned()));
        assert_eq!(kind, SystemKind::NumberChanged { from, to });
        assert_eq!(
            (message.provider_id.as_str(), message.peer.as_str()),
            ("wamid.S", "553491234567")
        );
        let all = vec!["BR.0", "BR.1", "5534999990000", "BR.2"];
        assert_eq!(message.aliases, all);
        assert_eq!(names(second), ("553491234567", all));
    }
}

/// X8: what names no chat makes no contact.
#[test]
fn a_new_id_without_a_sender_teaches_names_alone() {
    let changed = |fields: Value| {
        let mut notice = json!({"type": "user_changed_user_id", "body": "A changed"});
        notice
            .as_object_mut()
            .expect("an object")
            .extend(fields.as_object().cloned().expect("one"));
        notice
    };
    let reported =
        system(json!({}), changed(json!({"previous_user_id": "BR.1", "user_id": "BR.2"})));
    let [only] = reported.as_slice() else { panic!("{reported:?}") };
    assert_eq!(names(only), ("BR.1", vec!["BR.2"]));
    let reported = system(json!({"from_user_id": "BR.1"}), changed(json!({"user_id": "BR.2"})));
    assert_eq!(names(&reported[0]), ("BR.1", vec!["BR.2"]));
    let reported = system(
        json!({}),
        json!({"type": "user_changed_number",
        "wa_id": "5534999990000", "previous_user_id": "BR.1"}),
    );
    let [only] = reported.as_slice() else { panic!("{reported:?}") };
    assert_eq!(names(only), ("BR.1", vec!["5534999990000"]));
    // One name adds nothing; the words of the notice stay.
    let reported = system(json!({}), changed(json!({"user_id": "BR.2"})));
    assert!(matches!(reported.as_slice(),
        [Ok(GatewayEvent::Unknown(report))] if report.kind == "system.user_changed_user_id"));
}

/// X8.
#[test]
fn updates_of_ids_teach_names_alone() {
    let updates = |update: Value, contacts: Value| {
        events("user_id_update", json!({"user_id_update": [update], "contacts": contacts}))
    };
    let ids = json!({"user_id": {"previous": "BR.1", "current": "BR.2"}});
    assert_eq!(names(&updates(ids.clone(), json!(null))[0]), ("BR.1", vec!["BR.2"]));
    let phone = json!([{"wa_id": "553491234567", "user_id": "BR.2"}]);
    assert_eq!(names(&updates(ids, phone)[0]), ("BR.1", vec!["BR.2", "553491234567"]));
    let reported = updates(json!({"detail": "?"}), json!(null));
    assert!(matches!(reported.as_slice(),
        [Ok(GatewayEvent::Unknown(report))] if report.kind == "user_id_update"));
}

/// X2.
#[test]
fn new_keys_are_a_line_of_the_chat() {
    let reported = system(json!({"from": "1"}), json!({"type": "customer_identity_changed"}));
    assert_eq!(line(&reported[0]).1, SystemKind::IdentityChanged);
    assert_eq!(reported.len(), 1);
    let reported = system(json!({"from": "1"}), json!({"type": "moved_to_mars"}));
    assert!(matches!(reported.as_slice(),
        [Ok(GatewayEvent::Unknown(report))] if report.kind == "system.moved_to_mars"));
}

/// X8.
#[test]
fn a_status_names_the_recipient_by_what_hides_the_phone() {
    let names = |fields: Value| {
        let mut status = json!({"id": "wamid.O", "status": "sent"});
        status
            .as_object_mut()
            .expect("an object")
            .extend(fields.as_object().cloned().expect("one"));
        match &events("messages", json!({ "statuses": [status] }))[0] {
            Ok(GatewayEvent::Status(status)) => status.names.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(names(json!({"recipient_user_id": "BR.1"})), ["BR.1"]);
    let both = json!({"recipient_id": "553491234567", "recipient_user_id": "BR.1",
        "recipient_parent_user_id": "BR.ENT.2"});
    assert_eq!(names(both), ["BR.1", "BR.ENT.2"]);
    assert_eq!(names(json!({"recipient_id": "553491234567"})), [""; 0]);
}

/// X1, X2.
#[test]
fn a_call_is_told_once_it_has_ended() {
    let call = |fields: Value| {
        let mut call = json!({"id": "wacid.1", "from": "553491234567", "to": "551140028922",
            "event": "terminate", "direction": "USER_INITIATED", "timestamp": "1760000000"});
        call.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("one"));
        events("calls", json!({"calls": [call], "contacts": [maria()]}))
    };
    let missed = call(json!({"status": "FAILED"}));
    let (message, kind) = line(&missed[0]);
    assert_eq!(kind, SystemKind::MissedCall { video: false });
    assert_eq!(message.aliases, ["BR.13491208655302741918"]);
    assert_eq!(
        (message.provider_id.as_str(), message.timestamp),
        ("wacid.1", Some(at(1_760_000_000)))
    );
    let taken = call(json!({"status": "COMPLETED", "duration": 33}));
    assert_eq!(line(&taken[0]).1, SystemKind::Call { video: false, seconds: Some(33) });
    assert!(call(json!({"event": "connect"})).is_empty(), "it rings");
    assert!(call(json!({"direction": "BUSINESS_INITIATED"})).is_empty(), "the own call");
    assert!(matches!(call(json!({"event": "hold"})).as_slice(),
        [Ok(GatewayEvent::Unknown(report))] if report.kind == "call.hold"));
}
