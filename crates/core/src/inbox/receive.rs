//! Accepting events of a connection: in batches, and one by one if necessary.

use super::alone::is_alone;
use super::error::of_connection;
use super::gather::{Entered, Signal};
use super::handle::Inbox;
use super::tidy::tidy;
use super::{Batch, EventResult, InboxError};
use crate::connections::Connection;
use crate::error::Error;
use crate::gateway::Incoming;
use crate::ids::{CompanyId, ConnectionId};
use crate::store::{RecordsExt, StoreError};

/// How many events are decided and committed together (R50).
const BATCH: usize = 100;

impl Inbox<'_> {
    /// Accepts events of a connection, in order, and returns a result for each. An event that
    /// cannot be read, or that changes nothing, does not affect the others.
    ///
    /// Idempotent: an event that comes again is a duplicate. Everything with the result `stored` is
    /// durable, with the events that it causes. After a failure of the store, some events may be
    /// stored; send all of them again.
    ///
    /// # Errors
    ///
    /// [`InboxError`].
    pub async fn receive(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        events: Vec<Incoming>,
    ) -> Result<Vec<EventResult>, Error<InboxError>> {
        if events.is_empty()
            && self.app.store().get::<Connection>((company, connection)).await?.is_none()
        {
            return Err(Error::Rejected(InboxError::NotFound));
        }
        let mut results = Vec::with_capacity(events.len());
        let mut waiting = Vec::new();
        for event in events {
            match event.and_then(tidy) {
                Ok(event) if is_alone(&event) => {
                    results.extend(self.flush(company, connection, &mut waiting).await?);
                    results.push(
                        self.take_alone(company, connection, event).await.map_err(of_connection)?,
                    );
                }
                event => {
                    waiting.push(event);
                    if waiting.len() >= BATCH {
                        results.extend(self.flush(company, connection, &mut waiting).await?);
                    }
                }
            }
        }
        results.extend(self.flush(company, connection, &mut waiting).await?);
        Ok(results)
    }

    /// [`Inbox::receive`] for events that a gateway itself posted: also records that its connection
    /// was heard (X9).
    ///
    /// # Errors
    ///
    /// [`InboxError`].
    pub async fn receive_posted(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        events: Vec<Incoming>,
    ) -> Result<Vec<EventResult>, Error<InboxError>> {
        let results = self.receive(company, connection, events).await?;
        // The events are stored, whether the time is or not.
        let _ = self.app.connections().heard(company, connection).await;
        Ok(results)
    }

    /// Handles the waiting events, together with those of other waiting calls.
    async fn flush(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        waiting: &mut Vec<Incoming>,
    ) -> Result<Vec<EventResult>, Error<InboxError>> {
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let events = std::mem::take(waiting);
        let gather = self.app.gather();
        let key = (company, connection);
        let leader = match gather.enter(key, || events.clone()) {
            Entered::Leads(leader) => leader,
            Entered::Waits(mut waiter) => match waiter.signal().await {
                Some(Signal::Taken(results)) => return Ok(results),
                Some(Signal::Lead) => gather.lead(key),
                None => return self.take(company, connection, events).await,
            },
        };
        let mut room = BATCH.saturating_sub(events.len());
        let others = leader.take(|other: &Vec<Incoming>| {
            let fits = other.len() <= room;
            room -= if fits { other.len() } else { 0 };
            fits
        });
        if others.is_empty() {
            return self.take(company, connection, events).await;
        }
        let own = events.len();
        let mut all = events.clone();
        all.extend(others.iter().flat_map(|other| other.question.iter().cloned()));
        match self.take(company, connection, all).await {
            Ok(mut results) => {
                let mut rest = results.split_off(own);
                for other in others {
                    let left = rest.split_off(other.question.len().min(rest.len()));
                    other.taken(std::mem::replace(&mut rest, left));
                }
                Ok(results)
            }
            // The error may concern the events of some calls only.
            Err(_) => {
                drop(others);
                self.take(company, connection, events).await
            }
        }
    }

    /// Decides and commits events together; one by one if concurrent writes keep conflicting, or if
    /// the store cannot store some of them.
    async fn take(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        events: Vec<Incoming>,
    ) -> Result<Vec<EventResult>, Error<InboxError>> {
        let links = self.app.media_links().await?;
        let batch = Batch::new(self.app, company, connection, links, events);
        match self.app.run(&batch).await {
            Err(error) if batch.len() > 1 && may_be_of_one(&error) => {
                let (mut results, mut first_error) = (Vec::with_capacity(batch.len()), None);
                for single in batch.into_singles() {
                    match self.app.run(&single).await {
                        Ok(result) => results.extend(result),
                        // The events after it are handled all the same; the gateway repeats the
                        // call because of this one.
                        Err(error) if may_be_of_one(&error) => {
                            first_error.get_or_insert(error);
                        }
                        Err(error) => return Err(error),
                    }
                }
                first_error.map_or(Ok(results), Err)
            }
            answer => answer,
        }
    }
}

/// Whether an error may concern a single event: concurrent writes keep conflicting, or the store
/// cannot store it.
const fn may_be_of_one<E>(error: &Error<E>) -> bool {
    matches!(error, Error::Busy | Error::Store(StoreError::Corrupt(_)))
}
