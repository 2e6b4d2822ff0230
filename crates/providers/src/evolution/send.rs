//! Sending a message of any kind.

use recado_core::connections::Connection;
use recado_core::gateway::{Accepted, Outgoing, SendFailure, SendResult};
use recado_core::messages::DeliveryCode;
use recado_core::transport::{OutboundRequest, Transport};
use serde_json::{Value, json};

use super::answer::{ErrorAnswer, is_success};
use super::names::{ChatAddress, InstanceNames};
use super::orders_out::{OutgoingOrder, message_key, ordered};
use super::settings::InstanceAddress;
use super::values::message_id;
use crate::shared::{SEND_IDLE, at, digits, json_with_file, parse};

/// The most digits of a phone. The gateway treats 18 digits and more as a group.
const MAX_DIGITS: usize = 15;

/// Sends one message, with one request.
pub(super) async fn send(
    names: InstanceNames<'_>,
    transport: &dyn Transport,
    connection: &Connection,
    outgoing: &Outgoing,
) -> SendResult {
    let mut order = ordered(names, &outgoing.content)?;
    if order.is_addressed {
        let Some(number) = address(names, outgoing) else {
            let reason = "the recipient has no name that this gateway knows";
            return Err(SendFailure::refused(DeliveryCode::RecipientUnreachable, reason));
        };
        order.fields.insert("number".to_owned(), json!(number));
        if let Some(quoted) = &outgoing.quoted {
            let quote = json!({"key": message_key(names, quoted),
                "message": {"conversation": quoted.content.as_deref().unwrap_or_default()}});
            order.fields.insert("quoted".to_owned(), quote);
        }
    }
    let mut request = request(&InstanceAddress::of(connection), order);
    request.max_idle = Some(SEND_IDLE);
    let response =
        transport.send(request).await.map_err(|error| SendFailure::of_transport(&error))?;
    if !is_success(response.status) {
        return Err(ErrorAnswer::read(&response).send_failure());
    }
    let record = parse(&response.body).unwrap_or_default();
    let id = at(&record, &["key"]).and_then(|key| message_id(key, "id"));
    let Some(provider_id) = id else {
        return Err(SendFailure::uncertain("the gateway's answer names no message"));
    };
    let (recipient, aliases) = names.recipient(&record);
    Ok(Accepted { provider_id, recipient, aliases })
}

/// The request: a file is written in base64 within the body, while it is sent.
fn request(address: &InstanceAddress<'_>, order: OutgoingOrder) -> OutboundRequest {
    let OutgoingOrder { operation, fields, file, .. } = order;
    match file {
        None => address.post(["message", operation], &Value::Object(fields)),
        Some((field, file)) => {
            let (body, attached) = json_with_file(&fields, &[field], file);
            let request = address.post(["message", operation], &Value::Null);
            OutboundRequest { body, ..request }.with_file(attached)
        }
    }
}

/// The recipient in the gateway's form: digits, a LID's address or a group's.
pub(super) fn address(names: InstanceNames<'_>, outgoing: &Outgoing) -> Option<String> {
    if let Some(code) = &outgoing.group {
        return Some(names.group_address(code));
    }
    match ChatAddress::parse(&outgoing.recipient)? {
        ChatAddress::Person(name) => {
            let fits = digits(&name).is_none_or(|digits| digits.len() <= MAX_DIGITS);
            fits.then_some(name)
        }
        ChatAddress::Group(_) | ChatAddress::Nobody => None,
    }
}
