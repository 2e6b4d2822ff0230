//! Messages that were sent are changed and taken back, received ones are marked as read, and a
//! person is shown that somebody writes (X14).

use recado_core::connections::Connection;
use recado_core::gateway::{Edit, MessageName, ProviderError, SendFailure, Typing, TypingIn};
use recado_core::transport::{Method, OutboundRequest, Transport};
use serde_json::{Value, json};

use super::answer::{ErrorAnswer, is_success, unreachable};
use super::names::InstanceNames;
use super::orders_out::message_key;
use super::settings::InstanceAddress;

/// How long the gateway shows that somebody writes, in milliseconds: it answers after that.
const SHOWN_MILLIS: u64 = 1_000;

async fn change(transport: &dyn Transport, request: OutboundRequest) -> Result<(), SendFailure> {
    let response =
        transport.send(request).await.map_err(|error| SendFailure::of_transport(&error))?;
    match is_success(response.status) {
        true => Ok(()),
        false => Err(ErrorAnswer::read(&response).send_failure()),
    }
}

async fn tell(transport: &dyn Transport, request: OutboundRequest) -> Result<(), ProviderError> {
    let response = transport.send(request).await.map_err(|error| unreachable(&error))?;
    match is_success(response.status) {
        true => Ok(()),
        false => Err(ErrorAnswer::read(&response).provider_error()),
    }
}

pub(super) async fn edit(
    names: InstanceNames<'_>,
    transport: &dyn Transport,
    connection: &Connection,
    target: &MessageName,
    edit: &Edit,
) -> Result<(), SendFailure> {
    let body = json!({"number": names.jid(&target.chat), "key": message_key(names, target),
        "text": edit.text});
    let request = InstanceAddress::of(connection).post(["chat", "updateMessage"], &body);
    change(transport, request).await
}

pub(super) async fn revoke(
    names: InstanceNames<'_>,
    transport: &dyn Transport,
    connection: &Connection,
    target: &MessageName,
) -> Result<(), SendFailure> {
    let body = message_key(names, target);
    let address = InstanceAddress::of(connection);
    let request = address.post(["chat", "deleteMessageForEveryone"], &body);
    change(transport, request.with_method(Method::Delete)).await
}

pub(super) async fn mark_read(
    names: InstanceNames<'_>,
    transport: &dyn Transport,
    connection: &Connection,
    target: &MessageName,
) -> Result<(), ProviderError> {
    let body: Value = json!({ "readMessages": [message_key(names, target)] });
    let request = InstanceAddress::of(connection).post(["chat", "markMessageAsRead"], &body);
    tell(transport, request).await
}

pub(super) async fn typing(
    names: InstanceNames<'_>,
    transport: &dyn Transport,
    connection: &Connection,
    whose: &TypingIn,
    state: Typing,
) -> Result<(), ProviderError> {
    let number = match &whose.group {
        Some(code) => names.group_address(code),
        None => names.jid(&whose.recipient),
    };
    let (presence, delay) = match state {
        Typing::Text => ("composing", SHOWN_MILLIS),
        Typing::Recording => ("recording", SHOWN_MILLIS),
        Typing::Paused => ("paused", 0),
    };
    let body = json!({"number": number, "presence": presence, "delay": delay});
    let request = InstanceAddress::of(connection).post(["chat", "sendPresence"], &body);
    tell(transport, request).await
}
