//! Messages from before the number was connected.

use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming};
use recado_core::messages::{MessageStatus, MessageType, SystemKind, SystemNotice};
use serde_json::{Value, json};

use crate::support::*;

const MARIA: &str = "553491234567";
const SHOP: &str = "551140028922";

fn thread(phase: u64, messages: &[Value]) -> Vec<Incoming> {
    events(
        "history",
        json!({"history": [{
        "metadata": {"phase": phase, "chunk_order": 1, "progress": 55},
        "threads": [{"id": MARIA, "messages": messages}]}]}),
    )
}

fn text(from: &str, to: Option<&str>, status: &str) -> Value {
    json!({"from": from, "to": to, "id": "wamid.H1", "timestamp": "1750000000", "type": "text",
        "text": {"body": "bom dia"}, "history_context": {"status": status}})
}

#[test]
fn both_sides_of_a_thread_are_distinguished() {
    match thread(0, &[text(SHOP, Some(MARIA), "READ")]).as_slice() {
        [Ok(GatewayEvent::Echo(reported)), Ok(GatewayEvent::Status(status))] => {
            assert_eq!((reported.peer.as_str(), reported.history), (MARIA, true));
            assert_eq!(reported.content.as_deref(), Some("bom dia"));
            assert_eq!(status.status, MessageStatus::Read);
            assert_eq!(status.provider_id, reported.provider_id);
        }
        other => panic!("{other:?}"),
    }
    match thread(0, &[text(MARIA, None, "READ")]).as_slice() {
        [Ok(GatewayEvent::Message(reported))] => {
            assert_eq!((reported.peer.as_str(), reported.history), (MARIA, true));
            assert_eq!(reported.timestamp, Some(at(1_750_000_000)));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_thread_names_the_other_side_where_the_message_does_not() {
    let reported = thread(1, &[text(SHOP, None, "SENT")]);
    assert!(
        matches!(reported.as_slice(), [Ok(GatewayEvent::Echo(reported))] if reported.peer == MARIA)
    );
}

#[test]
fn steps_of_the_history_are_reported_where_they_say_more() {
    for (word, expected) in [
        ("DELIVERED", Some(MessageStatus::Delivered)),
        ("PLAYED", Some(MessageStatus::Read)),
        ("ERROR", Some(MessageStatus::Failed)),
        ("SENT", None),
        ("PENDING", None),
        ("SOMETHING", None),
    ] {
        let reported = thread(1, &[text(SHOP, Some(MARIA), word)]);
        let status = reported.iter().find_map(|event| match event {
            Ok(GatewayEvent::Status(status)) => Some(status.status),
            _ => None,
        });
        assert_eq!(status, expected, "{word}");
    }
}

#[test]
fn a_placeholder_is_told_whether_its_file_follows_or_not() {
    let placeholder = |timestamp: i64| {
        json!({"from": MARIA, "id": "wamid.H2",
        "timestamp": timestamp.to_string(), "type": "media_placeholder"})
    };
    // The webhook's own time is 1760000000.
    let (recent, old) = (1_759_000_000, 1_750_000_000);
    for (phase, timestamp) in [(0, old), (0, recent), (1, recent), (1, old)] {
        match thread(phase, &[placeholder(timestamp)]).as_slice() {
            [Ok(GatewayEvent::Message(reported))] => {
                assert!(is_missing_file(reported), "{reported:?}");
                assert_eq!(reported.provider_id.as_str(), "wamid.H2");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Whether the message is a notice that its file is missing (X2).
fn is_missing_file(reported: &GatewayMessage) -> bool {
    let text = reported.blocks.content();
    reported.message_type == MessageType::System
        && reported.content.is_none()
        && reported.blocks.system == Some(SystemNotice::new(SystemKind::FileMissing))
        && text.as_deref() == Some("Arquivo não disponível")
}

/// X2: only the thread says to whom the business sent a file.
#[test]
fn a_file_that_the_business_sent_always_leaves_a_line() {
    for (phase, timestamp) in [(0, "1759990000"), (1, "1759000000"), (2, "1750000000")] {
        let placeholder = json!({"from": SHOP, "id": "wamid.H2", "timestamp": timestamp,
            "type": "media_placeholder", "history_context": {"status": "PLAYED"}});
        match thread(phase, &[placeholder]).as_slice() {
            [Ok(GatewayEvent::Echo(reported)), Ok(GatewayEvent::Status(status))] => {
                assert!(is_missing_file(reported), "{reported:?}");
                assert_eq!((reported.peer.as_str(), reported.history), (MARIA, true));
                assert_eq!(status.status, MessageStatus::Read);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn files_that_follow_are_messages_of_the_history() {
    let reported = events(
        "history",
        json!({"messages": [
        {"from": MARIA, "id": "wamid.H2", "timestamp": "1759000000", "type": "image",
            "image": {"id": "77", "mime_type": "image/jpeg"}},
        {"from": SHOP, "to": MARIA, "id": "wamid.H3", "timestamp": "1759000000", "type": "image",
            "image": {"id": "78", "mime_type": "image/jpeg"}}]}),
    );
    match reported.as_slice() {
        [Ok(GatewayEvent::Message(one)), Ok(GatewayEvent::Echo(other))] => {
            assert!(one.history && other.history);
            let url = one.media.as_ref().and_then(|media| media.url.as_deref());
            assert_eq!((url, other.peer.as_str()), (Some("cloud-media:77"), MARIA));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_business_is_known_with_and_without_its_ninth_digit() {
    let own = |fields: Value| {
        let mut value = of_number(fields);
        value["metadata"]["display_phone_number"] = json!("+55 34 99123-0000");
        let reported = receive(&change("history", &value)).remove(0).event.expect("readable");
        match reported {
            GatewayEvent::Echo(reported) => ("echo", reported.peer),
            GatewayEvent::Message(reported) => ("message", reported.peer),
            other => panic!("{other:?}"),
        }
    };
    let file = |from: &str, to: Value| {
        own(json!({"messages": [{"from": from, "to": to, "id": "wamid.H3", "type": "image",
            "timestamp": "1759000000", "image": {"id": "78", "mime_type": "image/jpeg"}}]}))
    };
    let (echo, message) = (("echo", MARIA.to_owned()), ("message", MARIA.to_owned()));
    for written in ["553491230000", "5534991230000", "+5534991230000"] {
        assert_eq!(file(written, json!(MARIA)), echo, "{written}");
        assert_eq!(file(MARIA, json!(written)), message, "{written}");
    }
    // Another number of the business: it wrote to a contact.
    assert_eq!(file("551133334444", json!(MARIA)), echo);
    assert_eq!(file(MARIA, json!(null)), message);
    let line = |message: Value| {
        own(json!({"history": [{"metadata": {"phase": 1},
            "threads": [{"id": MARIA, "messages": [message]}]}]}))
    };
    assert_eq!(line(text("553491230000", None, "SENT")), echo);
    assert_eq!(line(text("551133334444", None, "SENT")), echo);
    assert_eq!(line(text("5534991234567", None, "SENT")).0, "message");
    let mut scoped = text(MARIA, None, "SENT");
    scoped["from"] = json!("BR.1");
    assert_eq!(line(scoped), ("message", "BR.1".to_owned()));
}

#[test]
fn a_part_without_messages_is_kept_unless_its_reason_is_known() {
    for (parts, kind) in [
        (json!([{"errors": [{"code": 2_593_109}, {"code": 7}]}]), "history.part"),
        (json!([{"metadata": {"phase": 0}, "chats": [{"text": "x"}]}]), "history.part"),
        (json!(["x"]), "history.part"),
        (json!([{"threads": [{"id": MARIA, "conversation": ["x"]}]}]), "history.thread"),
    ] {
        match event("history", json!({ "history": parts })) {
            GatewayEvent::Unknown(kept) => {
                assert_eq!(kept.kind, kind);
                assert_eq!(kept.body["value"]["history"], parts);
            }
            other => panic!("{other:?}"),
        }
    }
    let empty = json!({"history": [{"threads": []}, {"threads": [{"messages": []}]}]});
    assert!(events("history", empty).is_empty());
}

/// X9.
#[test]
fn lists_beside_the_known_ones_are_kept_in_every_field() {
    let line = json!({"from": MARIA, "id": "wamid.1", "timestamp": "1750000000", "type": "text",
        "text": {"body": "x"}});
    for (field, known) in [
        ("messages", json!({"messages": [line]})),
        (
            "smb_message_echoes",
            json!({"message_echoes": [
            {"to": MARIA, "id": "wamid.1", "type": "text", "text": {"body": "x"}}]}),
        ),
        ("history", json!({"history": [{"threads": [{"id": MARIA, "messages": [line]}]}]})),
        ("calls", json!({"calls": [{"from": MARIA, "id": "wacid.1", "event": "terminate"}]})),
        ("user_preferences", json!({"user_preferences": [{"wa_id": MARIA, "value": "stop"}]})),
        ("user_id_update", json!({"user_id_update": [{"wa_id": MARIA, "user_id": "BR.1"}]})),
    ] {
        let mut lists = known;
        lists["notes"] = json!([{"from": MARIA, "text": "Oi"}]);
        let reported = events(field, lists);
        let [Ok(_), Ok(GatewayEvent::Unknown(kept))] = reported.as_slice() else {
            panic!("{field}: {reported:?}")
        };
        assert_eq!(kept.kind, format!("{field}.notes"));
        assert_eq!(kept.body["value"]["notes"], json!([{"from": MARIA, "text": "Oi"}]));
    }
}

#[test]
fn a_business_that_shares_no_history_reports_nothing() {
    let reported = events(
        "history",
        json!({"history": [{"errors": [{"code": 2_593_109,
        "title": "History sharing is turned off"}]}]}),
    );
    assert!(reported.is_empty());
}

#[test]
fn thousands_of_messages_with_a_bad_one_are_all_reported() {
    let messages: Vec<Value> = (0..3_000)
        .map(|n| match n {
            1_234 => json!({"id": "wamid.x", "type": "text"}),
            _ => json!({"from": MARIA, "id": format!("wamid.{n}"), "type": "text",
                "text": {"body": "x"}, "timestamp": "1750000000"}),
        })
        .collect();
    let reported = thread(2, &messages);
    assert_eq!(reported.len(), 3_000);
    let kept = reported.iter().position(|event| matches!(event, Ok(GatewayEvent::Unknown(_))));
    assert_eq!(kept, Some(1_234));
}
