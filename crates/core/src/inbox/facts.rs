//! A batch of events, and what is read for it.

use std::collections::BTreeMap;

use super::EventIds;
use super::person::Person;
use crate::Timestamp;
use crate::campaigns::Recipient;
use crate::connections::Connection;
use crate::conversations::{StopWords, asks_to_stop};
use crate::gateway::{GatewayMessage, Incoming, Providers, UnknownEvent};
use crate::groups::GroupCode;
use crate::ids::{CompanyId, ConnectionId, UnknownEventId};
use crate::jobs::Job;
use crate::messages::{MediaLinks, Message, ProviderMessageId, Referred};
use crate::prosas::LedgerLine;
use crate::store::Stored;

/// Events of one connection that are decided together.
#[derive(Clone, Debug)]
pub struct Batch {
    pub(super) company: CompanyId,
    pub(super) connection: ConnectionId,
    pub(super) events: Vec<(Incoming, EventIds)>,
    pub(super) stop_words: StopWords,
    pub(super) group_suffix: String,
    pub(super) gateways: Providers,
    pub(super) links: MediaLinks,
}

impl Batch {
    /// Whether a message asks to stop (D43). A vote does not: its words are those of the poll.
    pub(super) fn asks_to_stop(&self, event: &GatewayMessage) -> bool {
        if event.is_vote() {
            return false;
        }
        let (content, button) = (event.content.as_deref(), event.pressed());
        asks_to_stop(event.message_type, content, button.as_ref(), &self.stop_words)
    }
}

/// What a batch reads.
#[derive(Debug)]
pub struct BatchFacts {
    pub(super) connection: Option<Stored<Connection>>,
    pub(super) referred: Vec<Referred>,
    pub(super) messages: Vec<Stored<Message>>,
    /// The campaigns' recipients of these messages.
    pub(super) recipients: Vec<Stored<Recipient>>,
    /// The debits of those recipients; read only where the channel withholds a message (X16).
    pub(super) debits: Vec<Stored<LedgerLine>>,
    /// `None` when contacts could not be read.
    pub(super) people: Option<Vec<Person>>,
    /// Those of the named groups that are stored for the connection.
    pub(super) groups: Vec<GroupCode>,
    pub(super) export_frontier: Option<Timestamp>,
    /// Whether the company erases what senders delete; read only where something was deleted.
    pub(super) erases: bool,
    /// The jobs that report messages whose content is late (X5).
    pub(super) announcements: Vec<Stored<Job>>,
    /// What is kept of these events already (X9).
    pub(super) kept: KeptFacts,
}

/// What is read of kept events for a batch.
#[derive(Debug, Default)]
pub(super) struct KeptFacts {
    /// Those that are kept already.
    pub(super) known: BTreeMap<UnknownEventId, Stored<UnknownEvent>>,
    /// Those of messages whose content comes now.
    pub(super) late: BTreeMap<ProviderMessageId, Stored<UnknownEvent>>,
    /// Those that give way to new ones.
    pub(super) giving_way: Vec<Stored<UnknownEvent>>,
}
