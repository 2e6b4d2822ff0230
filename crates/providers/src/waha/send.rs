//! Sending (D38): at most three requests for information, then one request that sends.

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::gateway::{Content, Outgoing, SendFailure, SendResult};
use recado_core::messages::DeliveryCode;
use recado_core::transport::Transport;
use serde_json::json;

use super::address::{ChatAddress, chat_of, chat_of_group};
use super::api::{Api, RequestError};
use super::ids::raw_of;
use super::known::{Engine, SessionCache};
use super::numbers::{self, NumberCheck, is_channels_own, wants_check};
use super::{answer, session};
use crate::shared::parse;

/// The time limit of a send, which includes its requests for information.
struct TimeBudget<'a> {
    transport: &'a dyn Transport,
    began: Option<Duration>,
    whole: Duration,
    question: Duration,
    asked: u32,
}

impl<'a> TimeBudget<'a> {
    fn new(transport: &'a dyn Transport, api: &Api<'_>) -> Self {
        let (whole, question) = (api.timeout, api.question_time());
        Self { transport, began: transport.elapsed(), whole, question, asked: 0 }
    }

    /// The time that is left. Without a clock, every request for information counts with its full
    /// time limit.
    fn left(&self) -> Duration {
        let taken = match self.began.zip(self.transport.elapsed()) {
            Some((began, now)) => now.saturating_sub(began),
            None => self.question * self.asked,
        };
        self.whole.saturating_sub(taken)
    }

    /// How long one more request for information may take.
    fn ask(&mut self) -> Duration {
        let time = self.question.min(self.left());
        self.asked += 1;
        time
    }
}

/// The destination of a message.
struct ChatTarget {
    chat: String,
    /// The person's name, if the channel is known to use it.
    name: Option<String>,
}

/// Sends a text. If the engine accepts ids, the message gets one made from its own id, so that it
/// can be searched for, and reports of it can be matched.
pub(super) async fn send(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    outgoing: &Outgoing,
) -> SendResult {
    let Content::Text(text) = &outgoing.content else {
        let reason = "this kind of connection has no templates";
        return Err(SendFailure::refused(DeliveryCode::TemplateRejected, reason.to_owned()));
    };
    let api = Api::of(connection);
    let mut budget = TimeBudget::new(transport, &api);
    let engine = engine(transport, known, connection, &mut budget).await?;
    let target = target(transport, known, connection, outgoing, &mut budget).await?;
    let mut body = json!({"session": api.session, "chatId": target.chat, "text": text});
    if engine.is_some_and(Engine::knows_raw_ids) {
        body["id"] = raw_of(outgoing.reference).into();
    }
    let request = api.post(&["sendText"], &body).with_timeout(budget.left());
    let answered =
        transport.send(request).await.map_err(|error| SendFailure::of_transport(&error))?;
    let body = parse(&answered.body);
    if !(200..=299).contains(&answered.status) {
        known.forget_engine(connection);
        return Err(answer::failure(&answered, body.as_ref()));
    }
    let accepted = body.and_then(|body| answer::accepted(&body, target.name.as_deref()));
    accepted.ok_or_else(|| SendFailure::uncertain("the gateway's answer names no message"))
}

/// The engine, requested once; `None` if the gateway does not report it: then the answer to the
/// send shows whether anything is wrong. Only a gateway that cannot be reached stops the send here.
async fn engine(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    budget: &mut TimeBudget<'_>,
) -> Result<Option<Engine>, SendFailure> {
    if let Some(engine) = known.engine(connection) {
        return Ok(Some(engine));
    }
    let reported = match session::read(transport, known, connection, budget.ask()).await {
        Ok(session) if session.engine.is_none() => {
            session::try_engine(transport, known, connection, budget.ask()).await
        }
        reported => reported.map(|session| session.engine),
    };
    match reported {
        Ok(engine) => Ok(engine),
        Err(RequestError::Transport(error)) if !error.may_have_arrived() => {
            Err(SendFailure::of_transport(&error))
        }
        Err(_) => Ok(None),
    }
}

/// The destination of the message, with a number in the channel's form (R133).
async fn target(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    outgoing: &Outgoing,
    budget: &mut TimeBudget<'_>,
) -> Result<ChatTarget, SendFailure> {
    if let Some(code) = &outgoing.group {
        return Ok(ChatTarget { chat: chat_of_group(code), name: None });
    }
    let Some(person) = ChatAddress::person(&outgoing.recipient) else {
        let reason = "the recipient is not known by a phone or a LID";
        return Err(SendFailure::refused(DeliveryCode::RecipientUnreachable, reason.to_owned()));
    };
    let named = |name: String| ChatTarget { chat: chat_of(&name), name: Some(name) };
    if !wants_check(&person) {
        let name = is_channels_own(&person).then(|| person.clone());
        return Ok(ChatTarget { chat: chat_of(&person), name });
    }
    if let Some(name) = known.number(connection, &person) {
        return Ok(named(name));
    }
    match numbers::check(transport, known, connection, &person, budget.ask()).await {
        Ok(NumberCheck::Is(name)) => Ok(named(name)),
        Ok(NumberCheck::Missing) => {
            let reason = "the number is not on WhatsApp".to_owned();
            Err(SendFailure::refused(DeliveryCode::RecipientUnreachable, reason))
        }
        Ok(NumberCheck::Unknown) => Ok(ChatTarget { chat: chat_of(&person), name: None }),
        Err(trouble) => match numbers::failure(&trouble) {
            Some(failure) => Err(failure),
            None => Ok(ChatTarget { chat: chat_of(&person), name: None }),
        },
    }
}
