//! The time that a send has, and where it goes.

use std::time::Duration;

use recado_core::connections::Connection;
use recado_core::gateway::SendFailure;
use recado_core::groups::GroupCode;
use recado_core::messages::DeliveryCode;
use recado_core::transport::Transport;

use super::address::{ChatAddress, chat_of, chat_of_group};
use super::api::{Api, RequestError};
use super::known::{Engine, SessionCache};
use super::numbers::{self, NumberCheck, is_channels_own, wants_check};
use super::{kinds, session};

/// The time limit of a send, which includes its requests for information.
pub(super) struct TimeBudget<'a> {
    transport: &'a dyn Transport,
    began: Option<Duration>,
    whole: Duration,
    question: Duration,
    asked: u32,
}

impl<'a> TimeBudget<'a> {
    pub(super) fn new(transport: &'a dyn Transport, api: &Api<'_>) -> Self {
        let (whole, question) = (api.timeout, api.question_time());
        Self { transport, began: transport.elapsed(), whole, question, asked: 0 }
    }

    /// The time that is left. Without a clock, every request for information counts with its full
    /// time limit.
    pub(super) fn left(&self) -> Duration {
        let taken = match self.began.zip(self.transport.elapsed()) {
            Some((began, now)) => now.saturating_sub(began),
            None => self.question * self.asked,
        };
        self.whole.saturating_sub(taken)
    }

    /// How long one more request for information may take. Something is always left for the send.
    pub(super) fn ask(&mut self) -> Duration {
        let time = self.question.min(self.left() / 2);
        self.asked += 1;
        time
    }
}

/// The destination of a message.
pub(super) struct ChatTarget {
    pub(super) chat: String,
    /// The person's name, if the channel is known to use it.
    pub(super) name: Option<String>,
}

/// The engine, requested once; that of the settings, or `None`, if the gateway does not report it:
/// then the answer to the send shows whether anything is wrong. Only a gateway that cannot be
/// reached stops the send here.
pub(super) async fn engine(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    budget: &mut TimeBudget<'_>,
) -> Result<Option<Engine>, SendFailure> {
    if let Some(engine) = known.engine(connection) {
        return Ok(Some(engine));
    }
    let reported = match session::read(transport, known, connection, budget.ask()).await {
        Ok(session) if session.engine.is_none() && kinds::configured(connection).is_none() => {
            session::try_engine(transport, known, connection, budget.ask()).await
        }
        reported => reported.map(|session| session.engine),
    };
    match reported {
        Ok(engine) => Ok(engine.or_else(|| kinds::configured(connection))),
        Err(RequestError::Transport(error)) if !error.may_have_arrived() => {
            Err(SendFailure::of_transport(&error))
        }
        Err(_) => Ok(kinds::configured(connection)),
    }
}

/// The destination of a message to this person or group, with a number in the channel's form
/// (R133).
pub(super) async fn target(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    (recipient, group): (&str, Option<&GroupCode>),
    budget: &mut TimeBudget<'_>,
) -> Result<ChatTarget, SendFailure> {
    if let Some(code) = group {
        return Ok(ChatTarget { chat: chat_of_group(code), name: None });
    }
    let Some(person) = ChatAddress::person(recipient) else {
        let reason = "the recipient is not known by a phone or a LID";
        return Err(SendFailure::refused(DeliveryCode::RecipientUnreachable, reason));
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
            let reason = "the number is not on WhatsApp";
            Err(SendFailure::refused(DeliveryCode::RecipientUnreachable, reason))
        }
        Ok(NumberCheck::Unknown) => Ok(ChatTarget { chat: chat_of(&person), name: None }),
        Err(trouble) => match numbers::failure(&trouble) {
            Some(failure) => Err(failure),
            None => Ok(ChatTarget { chat: chat_of(&person), name: None }),
        },
    }
}
