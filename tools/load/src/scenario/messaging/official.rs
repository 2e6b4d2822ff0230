//! Webhooks as the official API sends them.

use hmac::{Hmac, KeyInit, Mac};
use recado_core::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{Happening, TEXT};
use crate::dataset::{APP_SECRET, PHONE_NUMBER_ID};

/// The body of a call with one event.
pub(super) fn body(happening: &Happening, now: Timestamp) -> String {
    let seconds = (now.millis() / 1000).to_string();
    let mut value = json!({
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "551130000001", "phone_number_id": PHONE_NUMBER_ID},
    });
    let (field, told): (&str, Value) = match happening {
        Happening::Message { from, id } => {
            value["contacts"] = json!([{"profile": {"name": "Cliente"}, "wa_id": from}]);
            let text = json!({ "body": TEXT });
            let message = json!({"from": from, "id": id, "timestamp": seconds, "type": "text",
                "text": text});
            ("messages", message)
        }
        Happening::Status { status, id } => {
            let pricing = json!({"billable": true, "pricing_model": "PMP", "category": "utility"});
            let report = json!({"id": id, "status": status, "timestamp": seconds,
                "recipient_id": "5511990000000", "pricing": pricing});
            ("statuses", report)
        }
    };
    value[field] = json!([told]);
    let entry =
        json!({"id": "102290129340398", "changes": [{"field": "messages", "value": value}]});
    json!({"object": "whatsapp_business_account", "entry": [entry]}).to_string()
}

/// The `X-Hub-Signature-256` of a body.
pub(super) fn signature(body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(APP_SECRET.as_bytes())
        .expect("a key of any length is taken");
    mac.update(body);
    let digest = mac.finalize().into_bytes();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_hmac_of_the_body() {
        // The expected value was computed with another program.
        let expected = "sha256=674ee80cd196d4d3e6b2af2f3d6b55a99bc65691e446067c9f583068e344f021";
        assert_eq!(signature(b"{}"), expected);
    }

    #[test]
    fn a_call_reports_one_thing_of_the_number_of_the_dataset() {
        let now = Timestamp::from_millis(1_760_000_000_500);
        let happening = Happening::Status { status: "read", id: "load.out.7".to_owned() };
        let body: Value = serde_json::from_str(&body(&happening, now)).expect("JSON");
        let value = &body["entry"][0]["changes"][0]["value"];
        assert_eq!(value["metadata"]["phone_number_id"], PHONE_NUMBER_ID);
        assert_eq!(value["statuses"][0]["id"], "load.out.7");
        assert_eq!(value["statuses"][0]["timestamp"], "1760000000");
        assert!(value["messages"].is_null());
    }
}
