//! Kinds of messages that nobody can show.

use recado_core::messages::MessageType;
use serde_json::{Value, json};

use crate::messages::{block, read, says};

/// X9.
#[test]
fn a_kind_that_is_not_known_is_a_message_all_the_same() {
    for (message, kind) in [
        (json!({"somethingNewMessage": "x", "messageContextInfo": {}}), "somethingNewMessage"),
        (json!({"pollCreationMessageV3": {"options": []}}), "pollCreationMessageV3"),
        (json!({"templateMessage": {}}), "templateMessage"),
        (json!({"interactiveMessage": {"nativeFlowMessage": {}}}), "interactiveMessage"),
        (json!({}), "x"),
        (Value::Null, "x"),
    ] {
        let read = read("x", message.clone());
        assert_eq!((read.message_type, &read.content), (MessageType::Unsupported, &None));
        let shown = json!({"reason": null, "provider_type": kind});
        assert_eq!(block(&read, "unsupported"), shown, "{message}");
    }
}

/// X9.
#[test]
fn what_text_it_has_stays() {
    let note = json!({"extendedTextMessage": {"text": "Conta de luz"}});
    for (kind, part, text) in [
        ("newsletterAdminInviteMessage", json!({"caption": "Veja o canal"}), "Veja o canal"),
        ("pollResultSnapshotMessage", json!({"name": "Quando?"}), "Quando?"),
        ("requestPaymentMessage", json!({ "noteMessage": note }), "Conta de luz"),
        ("newKindMessage", json!({"body": {"text": "Olá"}}), "Olá"),
    ] {
        let message = read(kind, json!({ kind: part }));
        assert_eq!((message.message_type, message.content), (MessageType::Unsupported, says(text)));
    }
    let hidden = json!({"placeholderMessage": {"type": "MASK_LINKED_DEVICES"}});
    let shown = json!({"reason": "MASK_LINKED_DEVICES", "provider_type": "placeholderMessage"});
    assert_eq!(block(&read("placeholderMessage", hidden), "unsupported"), shown);
}
