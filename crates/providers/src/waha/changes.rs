//! Changing messages that were sent, and taking them back (X14).

use recado_core::connections::Connection;
use recado_core::gateway::{Edit, MessageName, SendFailure};
use recado_core::transport::{Method, OutboundRequest, Transport};
use serde_json::{Value, json};

use super::api::{Api, said};
use super::known::SessionCache;
use super::orders::cannot;
use super::target::{self, TimeBudget};
use super::{answer, naming};
use crate::shared::parse;

/// Why a message that is gone from the engine cannot be changed.
const GONE: &str = "the gateway does not have the message any more";

/// Changes the text of a message, or the caption of its file.
pub(super) async fn edit(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    name: &MessageName,
    edit: &Edit,
) -> Result<(), SendFailure> {
    let body = json!({"text": edit.text, "linkPreview": true});
    let answered = change(transport, known, connection, name, (Method::Put, Some(&body))).await?;
    // Engines that drive a browser answer so where the channel lets nothing be changed.
    if answered.trim_ascii().is_empty() || answered.trim_ascii() == b"null" {
        return Err(cannot("the gateway did not change the message"));
    }
    Ok(())
}

/// Takes a message back from everybody.
pub(super) async fn revoke(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    name: &MessageName,
) -> Result<(), SendFailure> {
    change(transport, known, connection, name, (Method::Delete, None)).await.map(|_| ())
}

fn names_a_session(words: &str) -> bool {
    words.to_lowercase().contains("session")
}

/// Asks for a change of one message; the body of the answer.
async fn change(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    name: &MessageName,
    (method, body): (Method, Option<&Value>),
) -> Result<Vec<u8>, SendFailure> {
    let api = Api::of(connection);
    let mut budget = TimeBudget::new(transport, &api);
    let engine = target::engine(transport, known, connection, &mut budget).await?;
    let exact = naming::exact(transport, &api, engine, name, &mut budget).await;
    let id = exact.ok_or_else(|| cannot(GONE))?;
    // The chat as the id names it.
    let chat = id.split('_').nth(1).unwrap_or_default();
    let path = [api.session, "chats", chat, "messages", &id];
    let request = OutboundRequest { method, ..api.post(&path, body.unwrap_or(&Value::Null)) };
    let request = match body {
        Some(_) => request,
        None => OutboundRequest { body: Vec::new(), ..request },
    };
    let request = request.with_timeout(budget.left());
    let answered =
        transport.send(request).await.map_err(|error| SendFailure::of_transport(&error))?;
    match answered.status {
        200..=299 => Ok(answered.body),
        _ => {
            known.forget_engine(connection);
            let body = parse(&answered.body);
            Err(match body.as_ref().and_then(said) {
                // The message is missing, and not the session.
                Some(words) if answered.status == 404 && !names_a_session(&words) => cannot(&words),
                _ => answer::failure(&answered, body.as_ref()),
            })
        }
    }
}
