//! The body of a delivery (6.1, D52): the envelope around the event's data, made from stored
//! values, so that every attempt has the same bytes.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::Timestamp;
use crate::events::EventType;
use crate::ids::{CompanyId, DeliveryId};

/// The body of a delivery (6.1).
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub(crate) struct Envelope<'a> {
    /// What happened; the same as the header `X-Service-Event`.
    event: EventType,
    /// The time of the change, not of the attempt (D52a).
    timestamp: Timestamp,
    /// The company it happened in.
    company_id: CompanyId,
    /// The delivery: the same in every attempt. Deduplicate by it.
    delivery_id: DeliveryId,
    /// What is reported.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    data: &'a RawValue,
}

/// The body of every attempt at a delivery. `data` is the event's, byte for byte.
///
/// # Panics
///
/// Never, for data that an [`Event`](crate::events::Event) was made with; text that is not JSON is
/// written as `null`.
pub fn envelope(
    event: EventType,
    at: Timestamp,
    company: CompanyId,
    delivery: DeliveryId,
    data: &str,
) -> String {
    let data: &RawValue = serde_json::from_str(data).unwrap_or(RawValue::NULL);
    let envelope =
        Envelope { event, timestamp: at, company_id: company, delivery_id: delivery, data };
    serde_json::to_string(&envelope).expect("an envelope holds nothing that JSON cannot write")
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_data_is_carried_byte_for_byte() {
        let data = r#"{"b":1.10,"a":"olá \u00e9 \/","n":12345678901234567890.000}"#;
        let (company, delivery) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let body = envelope(
            EventType::ContactCreated,
            Timestamp::from_millis(1_763_000_000_123),
            CompanyId::new(company),
            DeliveryId::new(delivery),
            data,
        );
        assert_eq!(
            body,
            format!(
                "{{\"event\":\"contact.created\",\"timestamp\":\"2025-11-13T02:13:20.123Z\",\
                 \"company_id\":\"{company}\",\"delivery_id\":\"{delivery}\",\"data\":{data}}}"
            )
        );
    }
}
