//! Who wrote a message, and in which group.

use recado_core::gateway::{GatewayEvent, Provider};
use recado_providers::cloud_api::CloudApi;
use recado_testkit::gateways::FakeCloud;
use serde_json::{Value, json};

use crate::support::*;

#[test]
fn a_writer_with_a_username_is_known_by_scoped_id_only() {
    let reported = event(
        "messages",
        json!({
        "contacts": [{"profile": {"name": "Ana"}, "user_id": "BR.1", "parent_user_id": "BR.ENT.2"}],
        "messages": [{"from_user_id": "BR.1", "id": "wamid.1", "timestamp": 1_760_000_000,
            "type": "text", "text": {"body": "Oi"}}]}),
    );
    let GatewayEvent::Message(reported) = reported else { panic!("no message") };
    assert_eq!(reported.peer, "BR.1");
    assert_eq!(reported.aliases, ["BR.ENT.2"]);
    assert_eq!(reported.push_name.as_deref(), Some("Ana"));
    assert_eq!(reported.timestamp, Some(at(1_760_000_000)));
}

#[test]
fn the_contacts_of_a_change_are_distinguished() {
    let text = |from: &str, id: &str| {
        json!({"from": from, "id": id, "timestamp": "1760000000",
        "type": "text", "text": {"body": "Oi"}})
    };
    let reported = events(
        "messages",
        json!({
        "contacts": [{"profile": {"name": "Ana"}, "wa_id": "1", "user_id": "BR.1"},
            {"profile": {"name": "Bia"}, "wa_id": "2", "user_id": "BR.2"}],
        "messages": [text("2", "wamid.2"), text("1", "wamid.1"), text("3", "wamid.3")]}),
    );
    let names: Vec<_> = reported
        .into_iter()
        .map(|event| match event {
            Ok(GatewayEvent::Message(reported)) => {
                (reported.peer, reported.aliases, reported.push_name)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let named = |peer: &str, alias: &str, name: &str| {
        (peer.to_owned(), vec![alias.to_owned()], Some(name.to_owned()))
    };
    assert_eq!(names[0], named("2", "BR.2", "Bia"));
    assert_eq!(names[1], named("1", "BR.1", "Ana"));
    assert_eq!(names[2], ("3".to_owned(), Vec::new(), None));
}

#[test]
fn somebody_whom_only_the_contacts_name_is_not_lost() {
    let contact = json!({"profile": {"name": "Maria"}, "user_id": "BR.1"});
    let reported = event(
        "messages",
        json!({"contacts": [contact], "messages": [
        {"id": "wamid.1", "type": "text", "text": {"body": "Oi"}}]}),
    );
    assert!(
        matches!(&reported, GatewayEvent::Message(reported)
        if reported.peer == "BR.1" && reported.push_name.as_deref() == Some("Maria")),
        "{reported:?}"
    );
    let contact =
        json!({"profile": {"name": "Maria"}, "wa_id": "5534991234567", "user_id": "BR.1"});
    let reported = event(
        "messages",
        json!({"contacts": [contact], "messages": [
        {"from": "553491234567", "id": "wamid.1", "type": "text", "text": {"body": "Oi"}}]}),
    );
    assert!(
        matches!(&reported, GatewayEvent::Message(reported)
        if reported.peer == "553491234567" && reported.push_name.as_deref() == Some("Maria")
            && reported.aliases.iter().any(|alias| alias == "BR.1")),
        "{reported:?}"
    );
}

#[test]
fn a_message_in_a_group_is_the_groups_with_its_writer() {
    let reported =
        message(json!({"type": "text", "text": {"body": "Oi"}, "group_id": "Y2FwaV9ncm91cA"}));
    assert_eq!(reported.peer, "Y2FwaV9ncm91cA@g.us");
    assert_eq!(reported.participant.as_deref(), Some("553491234567"));
    assert!(reported.aliases.is_empty());
}

/// X2: the channel's id of a person is not always the phone.
#[test]
fn a_lone_contact_names_the_sender_whatever_its_number() {
    let text = |from: &str, id: &str| json!({"from": from, "id": id, "type": "text", "text": {"body": "Oi"}});
    let contact = |wa_id: &str, name: &str| json!({"profile": {"name": name}, "wa_id": wa_id});
    let names = |contacts: Value, messages: Value| -> Vec<_> {
        let reported = events("messages", json!({"contacts": contacts, "messages": messages}));
        let named = reported.into_iter().map(|event| match event {
            Ok(GatewayEvent::Message(reported)) => (reported.peer, reported.push_name),
            other => panic!("{other:?}"),
        });
        named.collect()
    };
    let named = |peer: &str, name: Option<&str>| (peer.to_owned(), name.map(str::to_owned));
    let ana = contact("5215512345678", "Ana");
    let both = json!([text("525512345678", "wamid.1"), text("525512345678", "wamid.2")]);
    assert_eq!(names(json!([ana]), both), vec![named("525512345678", Some("Ana")); 2]);
    // Of two senders it is not known whose it is, and of two entries neither.
    let apart = json!([text("1", "wamid.1"), text("2", "wamid.2")]);
    assert_eq!(names(json!([ana]), apart), [named("1", None), named("2", None)]);
    let bia = contact("5215587654321", "Bia");
    let one = json!([text("525512345678", "wamid.1")]);
    assert_eq!(names(json!([ana, bia]), one), [named("525512345678", None)]);
}

/// D2: an id that already has the suffix is whole.
#[test]
fn a_group_id_with_the_suffix_is_not_given_another() {
    let peer =
        |id: &str| message(json!({"type": "text", "text": {"body": "Oi"}, "group_id": id})).peer;
    assert_eq!(peer("120363025246125486@g.us"), "120363025246125486@g.us");
    assert_eq!(peer("120363025246125486"), "120363025246125486@g.us");
    let own = |id: &str| {
        let body = change(
            "messages",
            &of_number(json!({"messages": [{"from": "1", "id": "wamid.1",
            "type": "text", "text": {"body": "Oi"}, "group_id": id}]})),
        );
        let webhook = FakeCloud::new().webhook_body(&body);
        let adapter = CloudApi::with_group_suffix("grupo");
        let received = adapter.receive(&plain(), &webhook.webhook()).expect("rightly signed");
        match &received[0].event {
            Ok(GatewayEvent::Message(reported)) => reported.peer.clone(),
            other => panic!("{other:?}"),
        }
    };
    for id in ["12036", "12036@g.us", "12036@grupo"] {
        assert_eq!(own(id), "12036@grupo", "{id}");
    }
}
