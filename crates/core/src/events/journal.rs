//! The pull journal: the company's events in the order in which they were stored, for receivers
//! that were unreachable for longer than deliveries are tried (6.1).

use serde::Serialize;
use serde_json::value::RawValue;

use super::position::JournalPosition;
use super::{EventRecord, EventType};
use crate::access::{Caller, Scope};
use crate::contacts::CursorKey;
use crate::error::Error;
use crate::ids::{CompanyId, EventId};
use crate::query::{InvalidParameter, Params};
use crate::store::StoreError;
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

/// What of the journal a person looks at: the newest events, or those before a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewestRequest {
    before: Option<String>,
    /// Only events of this type.
    pub event: Option<EventType>,
    limit: u32,
}

impl NewestRequest {
    /// Reads `before`, `event`, `limit`.
    ///
    /// # Errors
    ///
    /// The first parameter that is not acceptable.
    pub fn parse(params: &Params) -> Result<Self, InvalidParameter> {
        let JournalRequest { event, limit, .. } = JournalRequest::parse(params)?;
        Ok(Self { before: params.text("before")?.map(str::to_owned), event, limit })
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

/// The types that a reader of the journal sees, or the one of them that was asked for.
pub(super) fn seen(event: Option<EventType>) -> Vec<EventType> {
    match event {
        Some(event) => vec![event],
        None => EventType::public().collect(),
    }
}

pub(super) fn position(
    key: &CursorKey,
    company: CompanyId,
    parameter: &str,
    text: &str,
) -> Result<JournalPosition, Error<JournalError>> {
    JournalPosition::open(key, company, text).ok_or_else(|| {
        let reason = "must be a position that this journal answered";
        Error::Rejected(InvalidParameter::new(parameter, reason))
    })
}

impl Events<'_> {
    /// The newest events of a company, newest first, for a person who looks. `position` is that of
    /// the oldest one that was read: send it as `before`. An event that is committed late may
    /// appear between others that were read before; a program reads [`Events::journal`].
    ///
    /// # Errors
    ///
    /// A `before` that is not a position of this company's journal.
    pub async fn newest(
        &self,
        company: CompanyId,
        request: &NewestRequest,
    ) -> Result<Journal, Error<JournalError>> {
        let key = self.app.cursor_key().await?;
        let before = match &request.before {
            None => None,
            Some(text) => Some(position(key, company, "before", text)?),
        };
        let (store, types) = (self.app.store(), seen(request.event));
        let events = store.newest_events(company, &types, before, request.limit + 1).await?;
        Ok(part(events, request.limit, key, company, before.unwrap_or_default()))
    }

    /// An event of a company, as its journal lists it; `None` for one that is not there, and for
    /// one that the journal does not list.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn get(
        &self,
        company: CompanyId,
        id: EventId,
    ) -> Result<Option<JournalEntry>, StoreError> {
        let event = self.app.store().event(company, id).await?;
        let listed = event.filter(|event| event.event_type.is_public());
        Ok(listed.as_ref().map(JournalEntry::new))
    }

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
            Some(text) => position(key, company, "after", text)?,
        };
        let (store, types) = (self.app.store(), seen(request.event));
        let events = store.events_after(company, &types, after, request.limit + 1).await?;
        Ok(part(events, request.limit, key, company, after))
    }
}

/// The part of at most `limit` events of which one more was read, if there is one. Its position is
/// that of its last event; without one, `start`.
fn part(
    mut events: Vec<(JournalPosition, EventRecord)>,
    limit: u32,
    key: &CursorKey,
    company: CompanyId,
    start: JournalPosition,
) -> Journal {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = events.len() > most;
    events.truncate(most);
    let position = events.last().map_or(start, |(position, _)| *position);
    Journal {
        entries: events.iter().map(|(_, event)| JournalEntry::new(event)).collect(),
        limit,
        position: position.seal(key, company),
        has_more,
    }
}
