//! Reading again what was kept because it was not understood (X9).

use serde::Serialize;

use super::{Batch, EventOutcome, Inbox, InboxError, parse_event};
use crate::connections::Connection;
use crate::error::Error;
use crate::gateway::{
    GatewayEvent, GatewayMessage, Incoming, KeptOrder, KeptQuery, UnknownEvent, UnknownForm,
    UnknownReason,
};
use crate::ids::{CompanyId, ConnectionId, UnknownEventId};
use crate::messages::MessageType;
use crate::store::{ChangeSet, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;
use crate::{Recado, Timestamp};

/// How many events one step reads.
const STEP: u32 = 20;

/// How many kept events were read again, and what became of them (X9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// Those that were read.
    pub looked_at: u64,
    /// Those that are understood now, and kept no longer.
    pub told: u64,
    /// Those that are kept still.
    pub still_unknown: u64,
}

impl Replayed {
    /// The numbers of two steps together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            looked_at: self.looked_at + other.looked_at,
            told: self.told + other.told,
            still_unknown: self.still_unknown + other.still_unknown,
        }
    }
}

/// Where a replay goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayCursor {
    /// When it began: what came since is left out, so that it ends.
    until: Timestamp,
    after: (Timestamp, UnknownEventId),
}

impl Inbox<'_> {
    /// Reads some kept events of a company again, of one connection or of all, the oldest first
    /// (X9). What they tell now is stored as a check of the history is (D65): at its own time,
    /// without an unread message or `message.received`. An event that is understood is kept no
    /// longer. Returns the cursor of the next step; `None` after the last one.
    ///
    /// Safe to repeat, to break off, and to run beside a server.
    ///
    /// # Errors
    ///
    /// [`InboxError`], and failures of the store; what was read before is done.
    pub async fn replay(
        &self,
        company: CompanyId,
        connection: Option<ConnectionId>,
        cursor: Option<ReplayCursor>,
    ) -> Result<(Replayed, Option<ReplayCursor>), Error<InboxError>> {
        let until = cursor.map_or_else(|| self.app.now(), |cursor| cursor.until);
        let order = KeptOrder::OldestFirst { after: cursor.map(|cursor| cursor.after) };
        let query = KeptQuery { connection, kind: None, order, limit: STEP };
        let page = self.app.store().unknown_events(company, &query).await?.events;
        let mut done = Replayed::default();
        let mut next = None;
        for event in &page {
            if event.received_at > until {
                return Ok((done, None));
            }
            done.looked_at += 1;
            let told = match self.tell(event).await {
                // One event that cannot be stored does not keep the others from being told.
                Err(
                    Error::Busy
                    | Error::Rejected(InboxError::NotFound)
                    | Error::Store(StoreError::Corrupt(_)),
                ) => false,
                told => told?,
            };
            if told {
                done.told += 1;
                // If it has changed since, it is gone, or is read again by the next replay.
                self.app.commit_once(ChangeSet::new().with(event.delete())).await?;
            } else {
                done.still_unknown += 1;
            }
            next = Some(ReplayCursor { until, after: (event.received_at, event.id) });
        }
        Ok((done, next.filter(|_| page.len() >= STEP as usize)))
    }

    /// Stores what a kept event tells now; returns whether all of it is understood.
    async fn tell(&self, event: &Stored<UnknownEvent>) -> Result<bool, Error<InboxError>> {
        let (company, id) = (event.company, event.connection);
        let connection = self.app.store().get::<Connection>((company, id)).await?;
        let Some(connection) = connection else { return Ok(false) };
        let read = read_again(self.app, event, &connection);
        if event.reason == UnknownReason::ContradictingIdentities {
            return self.is_resolved(company, id, read.unwrap_or_default()).await;
        }
        // It is known now that it means nothing here.
        if read.as_ref().is_some_and(Vec::is_empty) {
            return Ok(true);
        }
        let read = read.unwrap_or_default();
        let read_in_all = read.len();
        let known: Vec<Incoming> = read.into_iter().filter(is_understood).collect();
        if known.is_empty() {
            return Ok(self.was_told(event).await?);
        }
        let is_whole = known.len() == read_in_all;
        // The state of a template is read from the gateway, and may have changed since.
        let is_template = |known: &Incoming| matches!(known, Ok(GatewayEvent::Template(_)));
        let known = known.into_iter().filter(|known| !is_template(known));
        let known = known.map(|known| known.map(|known| past(known, event)));
        let known = self.asked_for(known.collect());
        let results = self.receive(company, id, known).await?;
        let is_refused = results.iter().any(|result| result.result == EventOutcome::Refused);
        Ok(is_whole && !is_refused)
    }

    /// Whether an unsupported message got its content in another way since (X5).
    async fn was_told(&self, event: &UnknownEvent) -> Result<bool, StoreError> {
        let Some(id) = &event.provider_id else { return Ok(false) };
        if event.reason != UnknownReason::Unsupported {
            return Ok(false);
        }
        let ids = std::slice::from_ref(id);
        let referred = self.app.store().referred(event.company, event.connection, ids).await?;
        let mut messages = referred.iter().filter_map(|referred| referred.message.as_ref());
        Ok(messages.any(|message| message.message_type != MessageType::Unsupported))
    }

    /// Whether the names of a message contradict each other no longer, because the contacts were
    /// merged. The message itself is stored.
    async fn is_resolved(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        read: Vec<Incoming>,
    ) -> Result<bool, Error<InboxError>> {
        let links = self.app.media_links().await?;
        let batch = Batch::new(self.app, company, connection, links, read);
        let facts = batch.load(self.app.store()).await?;
        let unavailable = || Error::Rejected(InboxError::ContactStateUnavailable);
        let people = facts.people.as_ref().ok_or_else(unavailable)?;
        let Some(connection) = &facts.connection else { return Ok(false) };
        let mut named = batch.reported().filter_map(|message| batch.names(message)).peekable();
        Ok(named.peek().is_some()
            && !named.any(|names| names.contradict(people, &connection.platform)))
    }
}

/// The events of a kept body as they are read now; `None` if nobody reads it.
fn read_again(
    app: &Recado,
    event: &UnknownEvent,
    connection: &Connection,
) -> Option<Vec<Incoming>> {
    let body = event.body.json()?;
    match event.form {
        UnknownForm::Gateway => Some(app.provider(&connection.gateway)?.read(connection, &body)),
        UnknownForm::Neutral => Some(vec![parse_event(&body, &app.settings().group_suffix)]),
        UnknownForm::Text => None,
    }
}

/// Whether an event is neither unknown, nor unreadable, nor a message that nobody can show.
fn is_understood(event: &Incoming) -> bool {
    match event {
        Err(_) | Ok(GatewayEvent::Unknown(_) | GatewayEvent::NotOurs(_)) => false,
        Ok(GatewayEvent::Message(message) | GatewayEvent::Echo(message)) => {
            message.message_type != MessageType::Unsupported
        }
        Ok(_) => true,
    }
}

/// An event as one of the past: at its own time, or when it came. What it says about the present
/// is asked of the gateway.
fn past(event: GatewayEvent, kept: &UnknownEvent) -> GatewayEvent {
    let came = |at: Option<Timestamp>| Some(at.unwrap_or(kept.received_at));
    let message = |message: GatewayMessage| GatewayMessage {
        history: true,
        timestamp: came(message.timestamp),
        ..message
    };
    match event {
        GatewayEvent::Message(reported) => GatewayEvent::Message(message(reported)),
        GatewayEvent::Echo(reported) => GatewayEvent::Echo(message(reported)),
        GatewayEvent::Edit { provider_id, content, timestamp } => {
            GatewayEvent::Edit { provider_id, content, timestamp: came(timestamp) }
        }
        GatewayEvent::Deleted { provider_id, timestamp } => {
            GatewayEvent::Deleted { provider_id, timestamp: came(timestamp) }
        }
        GatewayEvent::Status(mut status) => {
            status.timestamp = came(status.timestamp);
            GatewayEvent::Status(status)
        }
        GatewayEvent::Preference(mut report) => {
            report.timestamp = came(report.timestamp);
            report.history = true;
            GatewayEvent::Preference(report)
        }
        GatewayEvent::OwnSend(mut sent) => {
            sent.timestamp = came(sent.timestamp);
            GatewayEvent::OwnSend(sent)
        }
        GatewayEvent::Connection(_) => GatewayEvent::StateDoubtful,
        GatewayEvent::Groups(_) => GatewayEvent::GroupsChanged,
        event => event,
    }
}
