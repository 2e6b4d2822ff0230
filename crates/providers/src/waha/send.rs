//! Sending (D38): at most two questions, then one request that sends.

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::gateway::{Content, Outgoing, SendFailure, SendResult};
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::transport::Transport;
use serde_json::json;

use super::address::{Address, chat_of, chat_of_group};
use super::api::{Api, Trouble};
use super::ids::raw_of;
use super::known::{Engine, Known};
use super::numbers::{self, Checked, is_brazilian_mobile};
use super::{answer, session};
use crate::shared::{parse, send_failure};

/// What is left of a send's time, less what its questions may have taken: they are counted in full,
/// as there is no clock here.
struct Budget {
    left: Duration,
    question: Duration,
}

impl Budget {
    fn ask(&mut self) {
        self.left = self.left.saturating_sub(self.question);
    }
}

/// Where a message goes.
struct Target {
    chat: String,
    /// The person's name, where the channel is known to use it.
    name: Option<String>,
}

/// Sends a text. With an engine that takes ids the message gets that of ours, so that it can be
/// looked up, and any report of it leads back to it.
pub(super) async fn send(
    transport: &dyn Transport,
    known: &Known,
    connection: &Connection,
    outgoing: &Outgoing,
) -> SendResult {
    let Content::Text(text) = &outgoing.content else {
        let reason = "this kind of connection has no templates";
        return Err(SendFailure::refused(DeliveryCode::TemplateRejected, reason.to_owned()));
    };
    let api = Api::of(connection);
    let mut budget = Budget { left: api.timeout, question: api.question_time() };
    let engine = engine(transport, known, connection, &mut budget).await?;
    let target = target(transport, known, connection, outgoing, &mut budget).await?;
    let mut body = json!({"session": api.session, "chatId": target.chat, "text": text});
    if engine.is_some_and(Engine::knows_raw_ids) {
        body["id"] = raw_of(outgoing.reference).into();
    }
    let request = api.post(&["sendText"], &body).with_timeout(budget.left);
    let answered = transport.send(request).await.map_err(|error| send_failure(&error))?;
    let body = parse(&answered.body);
    if !(200..=299).contains(&answered.status) {
        known.forget_engine(connection);
        return Err(answer::failure(answered.status, body.as_ref()));
    }
    let accepted = body.and_then(|body| answer::accepted(&body, target.name.as_deref()));
    accepted.ok_or_else(|| SendFailure::uncertain("the gateway's answer names no message"))
}

/// The engine, asked for once; `None` where that fails in a way that need not stop the send.
async fn engine(
    transport: &dyn Transport,
    known: &Known,
    connection: &Connection,
    budget: &mut Budget,
) -> Result<Option<Engine>, SendFailure> {
    if let Some(engine) = known.engine(connection) {
        return Ok(Some(engine));
    }
    budget.ask();
    match session::engine(transport, known, connection, budget.question).await {
        Ok(engine) => Ok(engine),
        Err(Trouble::Transport(error)) if !error.may_have_arrived() => Err(send_failure(&error)),
        Err(trouble @ Trouble::Status(401 | 404, _)) => {
            let failure = Failure::new(DeliveryCode::Configuration, trouble.text());
            Err(SendFailure::Connection(failure))
        }
        Err(_) => Ok(None),
    }
}

/// Where the message goes, with a number in the form that the channel uses.
async fn target(
    transport: &dyn Transport,
    known: &Known,
    connection: &Connection,
    outgoing: &Outgoing,
    budget: &mut Budget,
) -> Result<Target, SendFailure> {
    if let Some(code) = &outgoing.group {
        return Ok(Target { chat: chat_of_group(code), name: None });
    }
    let Some(person) = Address::person(&outgoing.recipient) else {
        let reason = "the recipient is not known by a phone or a LID";
        return Err(SendFailure::refused(DeliveryCode::RecipientUnreachable, reason.to_owned()));
    };
    let named = |name: String| Target { chat: chat_of(&name), name: Some(name) };
    if !is_brazilian_mobile(&person) {
        return Ok(Target { chat: chat_of(&person), name: None });
    }
    if let Some(name) = known.number(connection, &person) {
        return Ok(named(name));
    }
    budget.ask();
    match numbers::check(transport, known, connection, &person).await {
        Ok(Checked::Is(name)) => Ok(named(name)),
        Ok(Checked::Missing) => {
            let reason = "the number is not on WhatsApp".to_owned();
            Err(SendFailure::refused(DeliveryCode::RecipientUnreachable, reason))
        }
        Ok(Checked::Unknown) => Ok(Target { chat: chat_of(&person), name: None }),
        Err(trouble) => match numbers::failure(&trouble) {
            Some(failure) => Err(failure),
            None => Ok(Target { chat: chat_of(&person), name: None }),
        },
    }
}
