//! Messages of the newer interactive kind, whose buttons have parameters as JSON in a text.

use recado_core::messages::OfferKind;
use serde_json::Value;

use super::body::MessageContent;
use super::offers::{offered, offered_if_any};
use crate::shared::native;

/// What the message offers; `None` if nothing of it is known.
pub(super) fn interactive(part: &Value) -> Option<MessageContent> {
    let (offer, order) = native::offered(part);
    let mut said = match offer.kind {
        OfferKind::Other => offered_if_any(offer)?,
        _ => offered(offer),
    };
    said.blocks.order = order;
    Some(said)
}
