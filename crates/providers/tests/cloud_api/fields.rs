//! The other fields of webhooks.

use recado_core::gateway::{Addressee, GatewayEvent, Incoming, Preference, Received};
use recado_core::messages::MessageType;
use recado_core::templates::{TemplateCategory, TemplateStatus};
use serde_json::{Value, json};

use crate::support::*;

fn preference(fields: Value) -> Vec<Incoming> {
    let mut wish = json!({"wa_id": "553491234567", "detail": "User requested to stop",
        "category": "marketing_messages", "value": "stop", "timestamp": 1_760_000_000});
    let own = wish.as_object_mut().expect("an object");
    own.extend(fields.as_object().cloned().expect("an object"));
    events("user_preferences", json!({"contacts": [maria()], "user_preferences": [wish]}))
}

fn is_kept(events: &[Incoming]) -> bool {
    matches!(events, [Ok(GatewayEvent::Unknown(_))])
}

#[test]
fn what_a_contact_wants_of_marketing_is_reported() {
    for (value, expected) in
        [("stop", Preference::Stop), ("resume", Preference::Resume), ("signup", Preference::Resume)]
    {
        match preference(json!({ "value": value })).as_slice() {
            [Ok(GatewayEvent::Preference(wish))] => {
                assert_eq!((wish.peer.as_str(), wish.preference), ("553491234567", expected));
                assert_eq!(wish.aliases, ["BR.13491208655302741918"]);
                assert_eq!(wish.timestamp, Some(at(1_760_000_000)));
            }
            other => panic!("{other:?}"),
        }
    }
    let reported = preference(json!({"wa_id": null, "user_id": "BR.7"}));
    assert!(
        matches!(reported.as_slice(), [Ok(GatewayEvent::Preference(wish))] if wish.peer == "BR.7")
    );
}

#[test]
fn other_preferences_are_kept_as_unknown() {
    let reported = preference(json!({"category": "utility_messages"}));
    assert!(matches!(reported.as_slice(),
        [Ok(GatewayEvent::Unknown(report))] if report.kind == "user_preferences.utility_messages"));
    let reported = preference(json!({"value": "maybe"}));
    assert!(matches!(reported.as_slice(),
        [Ok(GatewayEvent::Unknown(report))] if report.kind == "user_preferences.maybe"));
    assert!(is_kept(&preference(json!({"value": null}))));
    let nobodys =
        json!({"user_preferences": [{"category": "marketing_messages", "value": "stop"}]});
    assert!(is_kept(&events("user_preferences", nobodys)));
}

#[test]
fn a_preference_that_names_nobody_is_the_only_contacts() {
    let reported = preference(json!({"wa_id": null}));
    assert!(matches!(reported.as_slice(),
        [Ok(GatewayEvent::Preference(wish))] if wish.peer == "553491234567"));
}

fn echo(fields: Value) -> Vec<Incoming> {
    let mut echo = json!({"from": "551140028922", "to": "553491234567", "id": "wamid.ECHO1",
        "timestamp": "1760000000", "type": "text", "text": {"body": "Já te respondo"}});
    let own = echo.as_object_mut().expect("an object");
    own.extend(fields.as_object().cloned().expect("an object"));
    events("smb_message_echoes", json!({ "message_echoes": [echo] }))
}

#[test]
fn what_the_operator_writes_on_the_phone_is_an_echo_to_the_contact() {
    match echo(json!({"to_user_id": "BR.1"})).as_slice() {
        [Ok(GatewayEvent::Echo(reported))] => {
            assert_eq!(
                (reported.peer.as_str(), reported.message_type),
                ("553491234567", MessageType::Text)
            );
            assert_eq!(reported.aliases, ["BR.1"]);
            assert_eq!(reported.content.as_deref(), Some("Já te respondo"));
            assert_eq!((reported.push_name.as_ref(), reported.history), (None, false));
        }
        other => panic!("{other:?}"),
    }
    let reported = echo(json!({"type": "image", "image": {"id": "5", "mime_type": "image/png"}}));
    assert!(matches!(reported.as_slice(),
        [Ok(GatewayEvent::Echo(reported))] if reported.message_type == MessageType::Image));
    let reported = echo(json!({"type": "edit", "edit": {"original_message_id": "wamid.ECHO0",
        "message": {"type": "text", "text": {"body": "novo"}}}}));
    assert!(matches!(reported.as_slice(),
        [Ok(GatewayEvent::Edit { content, .. })] if content == "novo"));
    assert!(is_kept(&echo(json!({"to": null}))));
}

fn of_account(field: &str, value: &Value) -> Vec<GatewayEvent> {
    let account = Addressee::Account(ACCOUNT.to_owned());
    let read = |Received { to, event }| {
        assert_eq!(to, account);
        event.expect("readable")
    };
    receive(&change(field, value)).into_iter().map(read).collect()
}

#[test]
fn what_becomes_of_a_template_is_asked_to_its_account() {
    for (event, expected) in [
        ("APPROVED", Some(TemplateStatus::Approved)),
        ("REINSTATED", Some(TemplateStatus::Approved)),
        ("PENDING", Some(TemplateStatus::Pending)),
        ("IN_APPEAL", Some(TemplateStatus::Paused)),
        ("REJECTED", Some(TemplateStatus::Rejected)),
        ("PAUSED", Some(TemplateStatus::Paused)),
        ("DISABLED", Some(TemplateStatus::Paused)),
        ("FLAGGED", Some(TemplateStatus::Paused)),
        ("ARCHIVED", Some(TemplateStatus::Paused)),
        ("DELETED", Some(TemplateStatus::Paused)),
        ("PENDING_DELETION", Some(TemplateStatus::Paused)),
        ("LIMIT_EXCEEDED", Some(TemplateStatus::Paused)),
        ("LOCKED", Some(TemplateStatus::Paused)),
        ("SOMETHING_NEW", Some(TemplateStatus::Paused)),
        ("UNARCHIVED", None),
    ] {
        let reported = of_account(
            "message_template_status_update",
            &json!({"event": event,
            "message_template_id": 1_689_556_908_129_832_u64, "message_template_name": "promo",
            "message_template_language": "pt_BR", "reason": "NONE",
            "message_template_category": "MARKETING"}),
        );
        match reported.as_slice() {
            [GatewayEvent::Template(report)] => {
                let named = (report.name.as_deref(), report.language.as_deref());
                assert_eq!(named, (Some("promo"), Some("pt_BR")));
                assert_eq!(report.provider_id.as_deref(), Some("1689556908129832"));
                assert_eq!(report.status, expected, "{event}");
                assert_eq!(report.category, Some(TemplateCategory::Marketing));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_template_is_reported_by_its_id_or_by_name_and_language() {
    let field = "message_template_status_update";
    let reported = of_account(field, &json!({"event": "PAUSED", "message_template_id": 7}));
    match reported.as_slice() {
        [GatewayEvent::Template(report)] => {
            assert_eq!(report.provider_id.as_deref(), Some("7"));
            assert_eq!((&report.name, &report.language), (&None, &None));
        }
        other => panic!("{other:?}"),
    }
    for nameless in [
        json!({"event": "PAUSED"}),
        json!({"event": "PAUSED", "message_template_name": "promo"}),
        json!({"event": "PAUSED", "message_template_language": "pt_BR"}),
    ] {
        let reported = receive(&change(field, &nameless));
        assert!(
            matches!(reported.as_slice(), [Received { event: Ok(GatewayEvent::Unknown(_)), .. }]),
            "{reported:?}"
        );
    }
}

#[test]
fn a_category_changes_when_it_has_changed_and_not_before() {
    let mut value = json!({"message_template_id": 1, "message_template_name": "promo",
        "message_template_language": "pt_BR", "new_category": "UTILITY",
        "correct_category": "MARKETING", "category_update_timestamp": 1_760_086_400});
    assert!(of_account("template_category_update", &value).is_empty());
    value["previous_category"] = json!("UTILITY");
    value["new_category"] = json!("MARKETING");
    match of_account("template_category_update", &value).as_slice() {
        [GatewayEvent::Template(report)] => {
            assert_eq!((report.status, report.category), (None, Some(TemplateCategory::Marketing)));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn news_of_the_account_make_its_state_doubtful() {
    let reported = of_account(
        "account_update",
        &json!({"event": "DISABLED_UPDATE",
        "ban_info": {"waba_ban_state": "SCHEDULE_FOR_DISABLE"}}),
    );
    assert_eq!(reported, [GatewayEvent::StateDoubtful]);
}

#[test]
fn known_fields_without_meaning_here_are_left_out() {
    for field in ["message_template_quality_update", "smb_app_state_sync"] {
        assert!(receive(&change(field, &json!({"event": "x"}))).is_empty(), "{field}");
    }
}

#[test]
fn unknown_fields_are_kept_by_name() {
    for (field, value) in [
        ("telepathy", json!({"x": 1})),
        ("group_lifecycle_update", json!(null)),
        ("account_alerts", json!({"event": "x"})),
        ("phone_number_quality_update", json!({"event": "x"})),
        ("business_capability_update", json!({"event": "x"})),
    ] {
        match receive(&change(field, &value)).as_slice() {
            [Received { to: Addressee::Called, event: Ok(GatewayEvent::Unknown(report)) }] => {
                let body = json!({"field": field, "value": value});
                assert_eq!((report.kind.as_str(), &report.body), (field, &body));
            }
            other => panic!("{other:?}"),
        }
    }
    let reported = event("messages", json!({"something": []}));
    let kind = "messages.something";
    assert!(matches!(reported, GatewayEvent::Unknown(report) if report.kind == kind));
    let reported = event("messages", json!({}));
    assert!(matches!(reported, GatewayEvent::Unknown(report) if report.kind == "messages"));
}
