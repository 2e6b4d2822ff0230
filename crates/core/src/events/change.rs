//! What is new in the journal, without what it says: for pages that load again what they show.

use std::time::Duration;

use super::journal::{position, seen};
use super::{EventType, Events, JournalError, JournalPosition};
use crate::error::Error;
use crate::ids::{CompanyId, ContactId};
use crate::store::StoreError;

/// An event without its data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Its place among the others.
    pub at: JournalPosition,
    /// The same as a text, to continue from.
    pub position: String,
    /// What happened.
    pub event: EventType,
    /// The contact it is about.
    pub contact: Option<ContactId>,
}

/// How far [`Events::position_now`] goes back.
const OVERLAP: Duration = Duration::from_secs(5);
/// How many events it goes back at most.
const OVERLAP_EVENTS: u32 = 20;

impl Events<'_> {
    /// R423. What happened after a position, oldest first, at most `limit`.
    ///
    /// # Errors
    ///
    /// An `after` that is not a position of this company's journal.
    pub async fn changes(
        &self,
        company: CompanyId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<Change>, Error<JournalError>> {
        let key = self.app.cursor_key().await?;
        let after = position(key, company, "after", after)?;
        let events = self.app.store().events_after(company, &seen(None), after, limit).await?;
        let change = |(at, event): (JournalPosition, super::EventRecord)| Change {
            at,
            position: at.seal(key, company),
            event: event.event_type,
            contact: event.contact,
        };
        Ok(events.into_iter().map(change).collect())
    }

    /// R423. A position from which [`Events::changes`] misses nothing that a read after this one
    /// does not show. It lies some seconds back, because an event can be committed after one with
    /// a later position.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn position_now(&self, company: CompanyId) -> Result<String, StoreError> {
        let key = self.app.cursor_key().await?;
        let since = self.app.now().minus(OVERLAP);
        let store = self.app.store();
        let newest = store.newest_events(company, &seen(None), None, OVERLAP_EVENTS).await?;
        let settled = newest.iter().find(|(_, event)| event.at < since);
        let is_whole = newest.len() < usize::try_from(OVERLAP_EVENTS).unwrap_or(usize::MAX);
        let oldest = newest.last().filter(|_| !is_whole);
        let at = settled.or(oldest).map_or(JournalPosition::default(), |(at, _)| *at);
        Ok(at.seal(key, company))
    }
}
