//! What the gateway got, for tests.

use std::sync::{Arc, Mutex, PoisonError};

use recado_core::gateway::{Edit, MessageName, Outgoing, Typing};
use recado_core::ids::ConnectionId;

/// How many requests are shown: the newest.
const MOST: usize = 1_000;

/// What was asked of the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeenAct {
    /// To send a message.
    Send {
        /// The message.
        outgoing: Box<Outgoing>,
        /// How many bytes its file had, which was read to its end.
        file_bytes: Option<u64>,
    },
    /// To change a message.
    Edit(MessageName, Edit),
    /// To take a message back.
    Revoke(MessageName),
    /// To mark a message as read.
    Read(MessageName),
    /// To show a person that somebody types.
    Type(String, Typing),
}

/// A request to the simulated gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRequest {
    /// The connection.
    pub connection: ConnectionId,
    /// What was asked.
    pub act: SeenAct,
}

/// The requests to a simulated gateway since it is watched. Clones show the same.
#[derive(Clone, Debug, Default)]
pub struct SeenRequests(Arc<Mutex<Vec<SeenRequest>>>);

impl SeenRequests {
    /// The newest requests, at most 1,000, in order.
    pub fn all(&self) -> Vec<SeenRequest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn add(&self, connection: ConnectionId, act: SeenAct) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push(SeenRequest { connection, act });
    }
}
