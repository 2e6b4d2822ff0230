//! Statuses of outbound messages.

use recado_core::gateway::{GatewayEvent, Incoming, NamesReport, Preference, StatusEvent};
use recado_core::messages::{DeliveryCode, MessageStatus};
use serde_json::{Value, json};

use crate::support::*;

fn status(fields: Value) -> Vec<GatewayEvent> {
    let mut status = json!({"id": "wamid.OUT1", "timestamp": "1760000005",
        "recipient_id": "553491234567",
        "biz_opaque_callback_data": REFERENCE});
    let own = status.as_object_mut().expect("an object");
    own.extend(fields.as_object().cloned().expect("an object"));
    let reported = events("messages", json!({ "statuses": [status] }));
    reported.into_iter().map(|event| event.expect("readable")).collect()
}

fn one(fields: Value) -> StatusEvent {
    match status(fields).as_slice() {
        [GatewayEvent::Status(status)] => status.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_step_is_reported_with_our_reference() {
    for (word, expected) in [
        ("sent", MessageStatus::Sent),
        ("delivered", MessageStatus::Delivered),
        ("read", MessageStatus::Read),
        ("played", MessageStatus::Read),
    ] {
        let reported =
            one(json!({"status": word, "pricing": {"billable": true, "category": "utility"},
            "conversation": {"id": "c", "expiration_timestamp": "1760086400"}}));
        assert_eq!(reported.provider_id.as_str(), "wamid.OUT1");
        assert_eq!(reported.status, expected);
        assert_eq!(reported.reference, Some(reference()));
        assert_eq!(reported.timestamp, Some(at(1_760_000_005)));
        assert_eq!(reported.failure, None);
    }
}

#[test]
fn references_of_other_programs_are_none() {
    for other in [json!("msg:01J8Z6"), json!(""), json!(7), json!(null)] {
        let reported = one(json!({"status": "sent", "biz_opaque_callback_data": other}));
        assert_eq!(reported.reference, None);
    }
}

#[test]
fn a_failure_has_the_code_and_the_details() {
    let reported = one(json!({"status": "failed", "errors": [{"code": 131_049,
        "title": "This message was not delivered", "message": "This message was not delivered",
        "error_data": {"details": "In order to maintain a healthy ecosystem"}, "href": "https://x"}]}));
    assert_eq!(reported.status, MessageStatus::Failed);
    let failure = reported.failure.expect("a reason");
    assert_eq!(failure.code, DeliveryCode::MarketingLimited);
    let text = "131049: In order to maintain a healthy ecosystem";
    assert_eq!(failure.message.as_deref(), Some(text));
}

#[test]
fn a_reported_failure_is_never_uncertain() {
    for code in [1, 2, 131_000, 131_016, 999_999] {
        let reported = one(json!({"status": "failed", "errors": [{"code": code, "title": "x"}]}));
        let failure = reported.failure.expect("a reason");
        assert_eq!(failure.code, DeliveryCode::Unknown, "{code}");
        assert!(!failure.is_uncertain());
    }
    for errors in [json!([]), json!(null), json!("x"), json!([7]), json!([{"code": -1}])] {
        let reported = one(json!({"status": "failed", "errors": errors}));
        assert_eq!(reported.failure.expect("a reason").code, DeliveryCode::Unknown);
    }
}

#[test]
fn a_contact_who_stopped_marketing_is_reported_besides() {
    let reported = status(json!({"status": "failed", "recipient_user_id": "BR.134912",
        "errors": [{"code": 131_050, "title": "stopped"}]}));
    match reported.as_slice() {
        [GatewayEvent::Status(status), GatewayEvent::Names(_), GatewayEvent::Preference(wish)] => {
            let failure = status.failure.as_ref().expect("a reason");
            assert_eq!(failure.code, DeliveryCode::RecipientOptedOut);
            assert_eq!((wish.peer.as_str(), wish.preference), ("553491234567", Preference::Stop));
            assert_eq!(wish.aliases, ["BR.134912"]);
            assert_eq!(wish.timestamp, Some(at(1_760_000_005)));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_status_brings_the_recipients_names_where_there_is_more_than_a_phone() {
    let names = |reported: Vec<GatewayEvent>| match reported.as_slice() {
        [GatewayEvent::Status(_)] => None,
        [GatewayEvent::Status(_), GatewayEvent::Names(NamesReport { peer, aliases })] => {
            Some((peer.clone(), aliases.clone()))
        }
        other => panic!("{other:?}"),
    };
    let both = Some(("553491234567".to_owned(), vec!["BR.134912".to_owned()]));
    for word in ["sent", "delivered", "read", "failed"] {
        let reported = status(json!({"status": word, "recipient_user_id": "BR.134912"}));
        assert_eq!(names(reported), both, "{word}");
        assert_eq!(names(status(json!({ "status": word }))), None, "{word}");
    }
    let with = |contact: Value, recipient: Value| {
        let mut status = json!({"id": "wamid.OUT1", "status": "sent"});
        status
            .as_object_mut()
            .expect("an object")
            .extend(recipient.as_object().cloned().expect("one"));
        let reported = events("messages", json!({"contacts": [contact], "statuses": [status]}));
        names(reported.into_iter().map(|event| event.expect("readable")).collect())
    };
    let maria = json!({"wa_id": "553491234567", "user_id": "BR.134912"});
    assert_eq!(with(maria.clone(), json!({"recipient_id": "553491234567"})), both);
    assert_eq!(with(maria.clone(), json!({"recipient_user_id": "BR.134912"})), both);
    assert_eq!(with(maria.clone(), json!({"recipient_id": "551140028922"})), None);
    assert_eq!(
        with(json!({"wa_id": "553491234567"}), json!({"recipient_id": "553491234567"})),
        None
    );
    let scoped = json!({"recipient_user_id": "BR.134912"});
    assert_eq!(with(json!({"user_id": "BR.134912"}), scoped), None);
    assert_eq!(
        with(maria, json!({"recipient_type": "group", "recipient_id": "553491234567"})),
        None
    );
}

#[test]
fn a_failure_of_the_account_makes_its_state_doubtful() {
    for code in [131_042, 131_031, 368, 190] {
        let reported =
            status(json!({"status": "failed", "errors": [{"code": code, "title": "x"}]}));
        assert!(
            matches!(reported.as_slice(), [GatewayEvent::Status(_), GatewayEvent::StateDoubtful]),
            "{code} {reported:?}"
        );
    }
    one(json!({"status": "failed", "errors": [{"code": 131_026, "title": "x"}]}));
}

#[test]
fn statuses_of_groups_are_statuses() {
    let reported = one(json!({"status": "read", "recipient_type": "group", "recipient_id": "g",
        "recipient_participant_id": "553491234567"}));
    assert_eq!(reported.status, MessageStatus::Read);
}

#[test]
fn an_unknown_status_is_kept_by_its_name() {
    match status(json!({"status": "teleported"})).as_slice() {
        [GatewayEvent::Unknown(report)] => assert_eq!(report.kind, "status.teleported"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_bad_status_of_many_loses_no_other() {
    let statuses: Vec<Value> = (0..1_000)
        .map(|n| match n {
            3 => json!({"status": "sent"}),
            4 => json!({"id": "wamid.4"}),
            5 => json!("sent"),
            _ => json!({"id": format!("wamid.{n}"), "status": "sent", "timestamp": "1760000000"}),
        })
        .collect();
    let reported =
        events("messages", json!({"contacts": [maria(), maria()], "statuses": statuses}));
    assert_eq!(reported.len(), 1_000);
    let is_kept = |event: &Incoming| matches!(event, Ok(GatewayEvent::Unknown(_)));
    assert_eq!(reported.iter().filter(|it| is_kept(it)).count(), 3);
}
