//! The inbox: what gateways tell of, stored and acted upon (2.4, 3, D27–D31a, D41–D44, D64–D67).

mod batch;
mod event_ids;
mod messages;
mod parse;
mod people;
mod reports;
mod result;
mod workspace;

pub use batch::{Batch, BatchFacts};
pub use event_ids::EventIds;
pub use parse::parse_event;
pub use reports::REPORT_KEPT;
pub(crate) use reports::steps;
pub use result::{EventOutcome, EventResult};

use crate::Recado;
use crate::error::{Error, NotFound};
use crate::gateway::{GatewayEvent, Incoming};
use crate::ids::{CompanyId, ConnectionId};

/// The most events of one call (D67).
pub const MAX_EVENTS: usize = 1_000;
/// How many events are decided and committed together.
const BATCH: usize = 100;

/// The use cases on what gateways tell of. Made by [`Recado::inbox`].
#[derive(Clone, Copy, Debug)]
pub struct Inbox<'a> {
    pub(crate) app: &'a Recado,
}

impl Inbox<'_> {
    /// Takes events of a connection, in order, and answers a result for each. An event that cannot
    /// be read, or that changes nothing, never stands in the way of the others.
    ///
    /// Idempotent: an event that comes again is a duplicate. Everything that was answered `stored`
    /// is durable, with the events it causes. A failure of the store leaves the first events
    /// stored; send all of them again.
    ///
    /// # Errors
    ///
    /// [`NotFound`] when the company has no such connection.
    pub async fn receive(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        events: Vec<Incoming>,
    ) -> Result<Vec<EventResult>, Error<NotFound>> {
        if self.app.store().connection(company, connection).await?.is_none() {
            return Err(Error::Rejected(NotFound));
        }
        let mut results = Vec::with_capacity(events.len());
        let mut waiting = Vec::new();
        for event in events {
            match event {
                Ok(GatewayEvent::Connection(status)) => {
                    results.extend(self.flush(company, connection, &mut waiting).await?);
                    let changed =
                        self.app.connections().set_status(company, connection, status).await?;
                    results.push(if changed {
                        EventResult::of(EventOutcome::Stored)
                    } else {
                        EventResult::of(EventOutcome::Duplicate)
                    });
                }
                Ok(GatewayEvent::Groups(groups)) => {
                    results.extend(self.flush(company, connection, &mut waiting).await?);
                    results.push(
                        match self.app.groups().merge(company, connection, groups).await {
                            Ok(()) => EventResult::of(EventOutcome::Stored),
                            Err(Error::Rejected(refused)) => {
                                EventResult::refused(refused.to_string())
                            }
                            Err(Error::Denied(denied)) => EventResult::refused(denied.to_string()),
                            Err(Error::Busy) => return Err(Error::Busy),
                            Err(Error::Store(error)) => return Err(Error::Store(error)),
                        },
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

    /// Decides and commits the waiting events together; one by one when others keep changing what
    /// they are about.
    async fn flush(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        waiting: &mut Vec<Incoming>,
    ) -> Result<Vec<EventResult>, Error<NotFound>> {
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let links = self.app.media_links().await?.clone();
        let batch = Batch::new(self.app, company, connection, links, std::mem::take(waiting));
        match self.app.run(&batch).await {
            Err(Error::Busy) if batch.len() > 1 => {
                let mut results = Vec::with_capacity(batch.len());
                for single in batch.singles() {
                    results.extend(self.app.run(&single).await?);
                }
                Ok(results)
            }
            answer => answer,
        }
    }
}
