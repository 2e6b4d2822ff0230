//! Sending (D38): requests for information, then one request that sends.

use recado_core::connections::Connection;
use recado_core::gateway::{
    Accepted, Content, MessageKind, Outgoing, ReactionContent, SendFailure, SendResult,
};
use recado_core::transport::{Method, OutboundRequest, OutboundResponse, Transport};
use serde_json::{Value, json};

use super::api::Api;
use super::ids::raw_of;
use super::known::{Engine, SessionCache};
use super::orders::{Order, cannot, order};
use super::target::{self, ChatTarget, TimeBudget};
use super::{answer, kinds, naming};
use crate::shared::vote::derived_id;
use crate::shared::{json_with_file, parse};

/// Sends a message. If the engine accepts ids, the message gets one made from its own id, so that
/// it can be searched for, and reports of it can be matched.
pub(super) async fn send(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    outgoing: &Outgoing,
) -> SendResult {
    let kind = outgoing.content.kind();
    if kind != MessageKind::Template && !kinds::of(known, connection).contains(&kind) {
        return Err(cannot("the engine of the session does not carry it"));
    }
    let api = Api::of(connection);
    let mut budget = TimeBudget::new(transport, &api);
    if let Content::Reaction(reaction) = &outgoing.content {
        return react(transport, known, connection, (outgoing, reaction), budget).await;
    }
    let order = order(&outgoing.content)?;
    let engine = target::engine(transport, known, connection, &mut budget).await?;
    let to = (&*outgoing.recipient, outgoing.group.as_ref());
    let target = target::target(transport, known, connection, to, &mut budget).await?;
    let quoted = match &outgoing.quoted {
        // A quote that the engine does not have is left out, as most engines would do.
        Some(name) if order.quotes => {
            naming::exact(transport, &api, engine, name, &mut budget).await
        }
        _ => None,
    };
    let request = request(&api, order, &target, outgoing, engine, quoted);
    let answered = transport
        .send(request.with_timeout(budget.left()))
        .await
        .map_err(|error| SendFailure::of_transport(&error))?;
    let body = accepted_body(known, connection, &answered)?;
    let accepted = body.and_then(|body| answer::accepted(&body, target.name.as_deref()));
    accepted.ok_or_else(|| SendFailure::uncertain("the gateway's answer names no message"))
}

/// The request that sends.
fn request(
    api: &Api<'_>,
    order: Order,
    target: &ChatTarget,
    outgoing: &Outgoing,
    engine: Option<Engine>,
    quoted: Option<String>,
) -> OutboundRequest {
    let takes_id = order.takes_id && engine.is_some_and(Engine::knows_raw_ids);
    let id = takes_id.then(|| raw_of(outgoing.reference));
    let order = order
        .with_text("session", Some(api.session))
        .with_text("chatId", Some(&target.chat))
        .with_text("id", id.as_deref())
        .with_text("reply_to", quoted.as_deref());
    let Order { route, fields, file, .. } = order;
    match file {
        None => api.post(&[route], &Value::Object(fields)),
        Some((path, file)) => {
            let (body, attached) = json_with_file(&fields, path, file);
            let request = api.post(&[route], &Value::Null);
            OutboundRequest { body, ..request }.with_file(attached)
        }
    }
}

/// The body of a success, if it is JSON; otherwise the failure.
fn accepted_body(
    known: &SessionCache,
    connection: &Connection,
    answered: &OutboundResponse,
) -> Result<Option<Value>, SendFailure> {
    let body = parse(&answered.body);
    if (200..=299).contains(&answered.status) {
        return Ok(body);
    }
    known.forget_engine(connection);
    Err(answer::failure(answered, body.as_ref()))
}

/// Reacts to a message, or withdraws the reaction. Engines that drive a browser answer without an
/// id: the reaction gets one made from ours (R336).
async fn react(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    (outgoing, reaction): (&Outgoing, &ReactionContent),
    mut budget: TimeBudget<'_>,
) -> SendResult {
    let api = Api::of(connection);
    let engine = target::engine(transport, known, connection, &mut budget).await?;
    let exact = naming::exact(transport, &api, engine, &reaction.target, &mut budget).await;
    let id = exact.ok_or_else(|| cannot("the gateway does not have the message any more"))?;
    let emoji = reaction.emoji.as_deref().unwrap_or_default();
    let body = json!({"session": api.session, "messageId": id, "reaction": emoji});
    let request = OutboundRequest { method: Method::Put, ..api.post(&["reaction"], &body) };
    let answered = transport
        .send(request.with_timeout(budget.left()))
        .await
        .map_err(|error| SendFailure::of_transport(&error))?;
    let body = accepted_body(known, connection, &answered)?;
    if let Some(accepted) = body.as_ref().and_then(|body| answer::accepted(body, None)) {
        return Ok(accepted);
    }
    let says_nothing = body.is_some() || answered.body.is_empty();
    let own = derived_id("reaction", &[&raw_of(outgoing.reference)]);
    match own.filter(|_| says_nothing && !engine.is_some_and(Engine::knows_raw_ids)) {
        Some(provider_id) => Ok(Accepted { provider_id, recipient: None, aliases: Vec::new() }),
        None => Err(SendFailure::uncertain("the gateway's answer names no message")),
    }
}
