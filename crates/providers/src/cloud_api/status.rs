//! Statuses of outbound messages.

use recado_core::gateway::{
    GatewayEvent, Incoming, NamesReport, Preference, PreferenceReport, StatusEvent,
};
use recado_core::ids::MessageId;
use recado_core::messages::{DeliveryCode, Failure, MessageStatus};
use serde_json::Value;

use super::changes::Change;
use super::errors::{ErrorClass, class_of};
use super::message::id_of;
use super::people::NamedPerson;
use crate::shared::{array, clip, integer, seconds, text, text_at};

/// The fields that name the recipient.
const RECIPIENT: [&str; 3] = ["recipient_id", "recipient_user_id", "recipient_parent_user_id"];
/// The recipient has stopped marketing messages of this business.
const STOPPED: u32 = 131_050;

/// The events of one status: the message's status, further names of the recipient, the recipient's
/// stop of marketing messages, and problems of the account.
pub(super) fn read(change: &Change<'_>, status: &Value) -> Vec<Incoming> {
    let Some(word) = text(status, "status") else {
        let kind = "a status says nothing".to_owned();
        return vec![change.unknown_item(kind, "statuses", status, &RECIPIENT)];
    };
    let reported = match word {
        "sent" => MessageStatus::Sent,
        "delivered" => MessageStatus::Delivered,
        "read" | "played" => MessageStatus::Read,
        "failed" => MessageStatus::Failed,
        other => {
            let kind = format!("status.{other}");
            return vec![change.unknown_item(kind, "statuses", status, &RECIPIENT)];
        }
    };
    let provider_id = match id_of(status, "id") {
        Ok(id) => id,
        Err(reason) => return vec![change.unknown_item(reason, "statuses", status, &RECIPIENT)],
    };
    let timestamp = seconds(status, "timestamp");
    let person = recipient(change, status);
    let mut events = vec![Ok(GatewayEvent::Status(StatusEvent {
        provider_id,
        reference: text(status, "biz_opaque_callback_data").and_then(MessageId::parse),
        status: reported,
        failure: (reported == MessageStatus::Failed).then(|| failure(status)),
        timestamp,
        names: person.hidden_names(),
    }))];
    // Mostly there is only a phone, which needs no event.
    if person.has_scoped_name() {
        let names = person.clone().split();
        let report = names.map(|(peer, aliases)| NamesReport::new(peer, aliases));
        events.extend(report.map(|report| Ok(GatewayEvent::Names(report))));
    }
    if reported != MessageStatus::Failed {
        return events;
    }
    let codes: Vec<u32> = array(status, "errors").iter().filter_map(code).collect();
    if codes.contains(&STOPPED) {
        events.extend(person.split().map(|(peer, aliases)| {
            let preference = Preference::Stop;
            Ok(GatewayEvent::Preference(PreferenceReport {
                aliases,
                timestamp,
                history: false,
                ..PreferenceReport::new(peer, preference)
            }))
        }));
    }
    if codes.iter().any(|code| class_of(*code) == Some(ErrorClass::Connection)) {
        events.push(Ok(GatewayEvent::StateDoubtful));
    }
    events
}

/// The recipient; without names if it is a group.
fn recipient(change: &Change<'_>, status: &Value) -> NamedPerson {
    match text(status, "recipient_type") {
        Some("group") => NamedPerson::default(),
        _ => NamedPerson::of(status, &RECIPIENT, &change.contacts),
    }
}

fn code(error: &Value) -> Option<u32> {
    u32::try_from(integer(error, "code")?).ok()
}

/// Why a message failed, as its status reports it.
fn failure(status: &Value) -> Failure {
    let Some(error) = array(status, "errors").first() else {
        return Failure::new(DeliveryCode::Unknown, None);
    };
    let known = code(error).map_or(DeliveryCode::Unknown, DeliveryCode::of_official_report);
    Failure::new(known, reported(error))
}

/// The code of an error and its text; `None` if it has neither.
pub(super) fn reported(error: &Value) -> Option<String> {
    let reported = text_at(error, &["error_data", "details"])
        .or_else(|| text(error, "title"))
        .or_else(|| text(error, "message"));
    match (code(error), reported) {
        (Some(number), Some(reported)) => Some(format!("{number}: {}", clip(reported))),
        (Some(number), None) => Some(number.to_string()),
        (None, reported) => reported.map(clip),
    }
}
