//! The pull journal: the company's events in the order in which they were stored, for receivers
//! that were unreachable for longer than deliveries are tried (6.1).

use serde::Serialize;
use serde_json::value::RawValue;

use super::position::JournalPosition;
use super::{EventRecord, EventType};
use crate::access::{Caller, Scope};
use crate::error::Error;
use crate::ids::{CompanyId, EventId};
use crate::query::{InvalidParameter, Params};
use crate::{Recado, Timestamp, page};

/// The parameters of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRequest {
    after: Option<String>,
    event: Option<EventType>,
    limit: u32,
}

impl JournalRequest {
    /// Reads `after`, `event`, `limit`.
    ///
    /// # Errors
    ///
    /// The first parameter that is not acceptable.
    pub fn parse(params: &Params) -> Result<Self, InvalidParameter> {
        let public = |text: &str| EventType::parse(text).filter(|event| event.is_public());
        Ok(Self {
            after: params.text("after")?.map(str::to_owned),
            event: params.read("event", "the name of an event", public)?,
            limit: page::limit(params)?,
        })
    }
}

/// Why the journal was not read.
pub type JournalError = InvalidParameter;

/// An event as the journal lists it: the envelope of a delivery without the delivery (6.1).
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct JournalEntry {
    /// The event's id; the same in every read.
    pub event_id: EventId,
    /// What happened.
    pub event: EventType,
    /// The time of the change.
    pub timestamp: Timestamp,
    /// The company it happened in.
    pub company_id: CompanyId,
    /// The `data` of deliveries; null once the contact was deleted (D74).
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub data: Option<Box<RawValue>>,
}

impl JournalEntry {
    fn new(event: &EventRecord) -> Self {
        Self {
            event_id: event.id,
            event: event.event_type,
            timestamp: event.at,
            company_id: event.company,
            data: event.shown_data().and_then(|data| RawValue::from_string(data.to_owned()).ok()),
        }
    }
}

/// A part of the journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Journal {
    /// The events, oldest first.
    pub entries: Vec<JournalEntry>,
    /// The `limit` that was applied.
    pub limit: u32,
    /// The position to continue from: send it as `after`. It does not expire, and stays the same if
    /// nothing new was read.
    pub position: String,
    /// Whether more can be read at once.
    pub has_more: bool,
}

/// The use cases on events. Made by [`Recado::events`].
#[derive(Clone, Copy, Debug)]
pub struct Events<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// The journal of events.
    pub fn events(&self) -> Events<'_> {
        Events { app: self }
    }
}

impl Events<'_> {
    /// Reads the journal from a position on: oldest first, each event once, also while events are
    /// written; it reaches back as far as the retention (6.4, R63).
    ///
    /// # Errors
    ///
    /// A key without `events:read`; an `after` that is not a position of this company's journal.
    pub async fn journal(
        &self,
        caller: &Caller,
        request: &JournalRequest,
    ) -> Result<Journal, Error<JournalError>> {
        caller.require(Scope::EventsRead)?;
        let (company, key) = (caller.company(), self.app.cursor_key().await?);
        let after = match &request.after {
            None => JournalPosition::default(),
            Some(text) => JournalPosition::open(key, company, text).ok_or_else(|| {
                let reason = "must be a position that this journal answered";
                Error::Rejected(InvalidParameter::new("after", reason))
            })?,
        };
        let types: Vec<EventType> = match request.event {
            Some(event) => vec![event],
            None => EventType::public().collect(),
        };
        let store = self.app.store();
        let mut events = store.events_after(company, &types, after, request.limit + 1).await?;
        let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
        let has_more = events.len() > limit;
        events.truncate(limit);
        let position = events.last().map_or(after, |(position, _)| *position);
        Ok(Journal {
            entries: events.iter().map(|(_, event)| JournalEntry::new(event)).collect(),
            limit: request.limit,
            position: position.seal(key, company),
            has_more,
        })
    }
}
