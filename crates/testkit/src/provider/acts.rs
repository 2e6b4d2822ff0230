//! What a scripted provider is asked beside sends: changing a message, taking it back, marking it
//! as read, typing (X14).

use std::collections::VecDeque;

use recado_core::gateway::{Edit, MessageKind, MessageName, ProviderError, SendFailure, Typing};
use recado_core::ids::ConnectionId;

use super::ScriptedProvider;

/// What was asked, beside a send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// To change a message.
    Edit(MessageName, Edit),
    /// To take a message back.
    Revoke(MessageName),
    /// To mark a message as read.
    Read(MessageName),
    /// To show the person or group with this name that somebody types.
    Type(String, Typing),
}

/// A request beside sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActAsked {
    /// The connection.
    pub connection: ConnectionId,
    /// What was asked.
    pub act: Act,
}

/// The script of these requests.
#[derive(Default)]
pub(super) struct Acts {
    asked: Vec<ActAsked>,
    changes: VecDeque<Result<(), SendFailure>>,
    signs: VecDeque<Result<(), ProviderError>>,
    /// What every connection carries, if it is not what the described gateway does.
    pub(super) kinds: Option<Vec<MessageKind>>,
}

impl Acts {
    /// The answer to a change of a message.
    pub(super) fn change(&mut self, connection: ConnectionId, act: Act) -> Result<(), SendFailure> {
        self.asked.push(ActAsked { connection, act });
        self.changes.pop_front().unwrap_or(Ok(()))
    }

    /// The answer to a sign to the channel.
    pub(super) fn sign(&mut self, connection: ConnectionId, act: Act) -> Result<(), ProviderError> {
        self.asked.push(ActAsked { connection, act });
        self.signs.pop_front().unwrap_or(Ok(()))
    }
}

impl ScriptedProvider {
    /// Every request to change a message, to take one back, to mark as read or to type, in order.
    pub fn acts(&self) -> Vec<ActAsked> {
        self.script().acts.asked.clone()
    }

    /// Adds an answer to a change: an edit, or a message that is taken back. Each is used once, in
    /// order; further changes are done.
    pub fn then_change(&self, answer: Result<(), SendFailure>) -> &Self {
        self.script().acts.changes.push_back(answer);
        self
    }

    /// Adds an answer to a sign: a mark as read, or that somebody types. Each is used once, in
    /// order; further signs are shown.
    pub fn then_sign(&self, answer: Result<(), ProviderError>) -> &Self {
        self.script().acts.signs.push_back(answer);
        self
    }

    /// Sets what every connection carries; `None` makes it what the described gateway does.
    pub fn set_kinds(&self, kinds: Option<Vec<MessageKind>>) -> &Self {
        self.script().acts.kinds = kinds;
        self
    }
}
