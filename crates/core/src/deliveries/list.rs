//! The operator's listing of deliveries (D56a).

use super::DeliveryStatus;
use crate::events::EventType;
use crate::ids::WebhookId;
use crate::page::PageRequest;
use crate::query::{InvalidParameter, Params};

/// Which deliveries to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Only deliveries with this status.
    pub status: Option<DeliveryStatus>,
    /// Only those of this webhook.
    pub webhook: Option<WebhookId>,
    /// Only those of these events.
    pub event: Option<EventType>,
}

/// The parameters of the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryRequest {
    /// Which deliveries.
    pub filter: DeliveryFilter,
    /// Which page.
    pub page: PageRequest,
}

impl DeliveryRequest {
    /// Reads `status`, `webhook_id`, `event`, `page`, `limit`.
    ///
    /// # Errors
    ///
    /// The first parameter that is not acceptable.
    pub fn parse(params: &Params) -> Result<Self, InvalidParameter> {
        let filter = DeliveryFilter {
            status: params.read("status", "pending, delivered or failed", DeliveryStatus::parse)?,
            webhook: params.read("webhook_id", "a UUID", WebhookId::parse)?,
            event: params.read("event", "the name of an event", EventType::parse)?,
        };
        Ok(Self { filter, page: PageRequest::parse(params)? })
    }
}
