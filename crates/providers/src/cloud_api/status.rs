//! How far our messages came.

use recado_core::gateway::{GatewayEvent, Incoming, Preference, PreferenceReport, StatusEvent};
use recado_core::ids::MessageId;
use recado_core::messages::{DeliveryCode, Failure, MessageStatus};
use serde_json::Value;

use super::changes::unknown;
use super::message::id_of;
use super::people::{Person, contacts};
use super::webhook::Envelope;
use crate::shared::{array, clip, integer, seconds, text, text_at};

/// The recipient wants no marketing messages of this business.
const STOPPED: u32 = 131_050;

/// What one status tells: one event, and a second one when the contact wants no more marketing.
pub(super) fn read(_: &Envelope<'_>, value: &Value, status: &Value) -> Vec<Incoming> {
    let Some(word) = text(status, "status") else {
        return vec![Err("a status says nothing".to_owned())];
    };
    let reported = match word {
        "sent" => MessageStatus::Sent,
        "delivered" => MessageStatus::Delivered,
        "read" | "played" => MessageStatus::Read,
        "failed" => MessageStatus::Failed,
        other => return vec![unknown(format!("status.{other}"), status)],
    };
    let provider_id = match id_of(status, "id") {
        Ok(id) => id,
        Err(reason) => return vec![Err(reason)],
    };
    let timestamp = seconds(status, "timestamp");
    let mut events = vec![Ok(GatewayEvent::Status(StatusEvent {
        provider_id,
        reference: text(status, "biz_opaque_callback_data").and_then(MessageId::parse),
        status: reported,
        failure: (reported == MessageStatus::Failed).then(|| failure(status)),
        timestamp,
    }))];
    let codes = array(status, "errors").iter().filter_map(code);
    if reported == MessageStatus::Failed && codes.into_iter().any(|code| code == STOPPED) {
        let person =
            Person::of(status, &["recipient_id", "recipient_user_id"], contacts(value)).split();
        events.extend(person.map(|(peer, aliases)| {
            let preference = Preference::Stop;
            Ok(GatewayEvent::Preference(PreferenceReport { peer, aliases, preference, timestamp }))
        }));
    }
    events
}

fn code(error: &Value) -> Option<u32> {
    u32::try_from(integer(error, "code")?).ok()
}

/// Why a message failed, as its status reports it.
fn failure(status: &Value) -> Failure {
    let Some(error) = array(status, "errors").first() else {
        return Failure::new(DeliveryCode::Unknown, None);
    };
    let number = code(error);
    let told = text_at(error, &["error_data", "details"])
        .or_else(|| text(error, "title"))
        .or_else(|| text(error, "message"));
    let told = match (number, told) {
        (Some(number), Some(told)) => Some(format!("{number}: {}", clip(told))),
        (Some(number), None) => Some(number.to_string()),
        (None, told) => told.map(clip),
    };
    Failure::new(number.map_or(DeliveryCode::Unknown, DeliveryCode::of_official_report), told)
}
