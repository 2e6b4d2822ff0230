//! Events that are not about messages. Each is handled on its own, between the batches.

use super::{EventOutcome, EventResult, Inbox};
use crate::error::{Error, NotFound};
use crate::gateway::{GatewayEvent, MAX_KIND, UnknownKind, UnknownReport, shape};
use crate::ids::{CompanyId, ConnectionId};
use crate::jobs::JobKind;
use crate::store::{ChangeSet, Decided, RecordsExt};

/// How long after a group has changed the groups are read: many changes arrive together (R119).
const GROUPS_DELAY: std::time::Duration = std::time::Duration::from_secs(3);
/// How long after a reported state the gateway is checked.
const DOUBTED: std::time::Duration = std::time::Duration::from_secs(30);
/// How many kinds of a connection are kept (R105).
const MAX_KINDS: usize = 200;

/// Whether an event is handled on its own.
pub(super) const fn is_alone(event: &GatewayEvent) -> bool {
    matches!(
        event,
        GatewayEvent::Connection(_)
            | GatewayEvent::Groups(_)
            | GatewayEvent::GroupsChanged
            | GatewayEvent::StateDoubtful
            | GatewayEvent::Template(_)
            | GatewayEvent::Unknown(_)
    )
}

fn stored(is_news: bool) -> EventResult {
    EventResult::of(if is_news { EventOutcome::Stored } else { EventOutcome::Duplicate })
}

impl Inbox<'_> {
    /// Handles an event that [`is_alone`].
    pub(super) async fn take_alone(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        event: GatewayEvent,
    ) -> Result<EventResult, Error<NotFound>> {
        let app = self.app;
        match event {
            GatewayEvent::Connection(status) => {
                let is_news = app.connections().set_status(company, connection, status).await?;
                if is_news {
                    // Webhooks come late and in any order, so the gateway is asked for the current
                    // state.
                    app.connections().check_in(company, connection, DOUBTED).await?;
                }
                Ok(stored(is_news))
            }
            GatewayEvent::Groups(groups) => {
                match app.groups().merge(company, connection, groups).await {
                    Ok(()) => Ok(EventResult::of(EventOutcome::Stored)),
                    Err(Error::Rejected(refused)) => Ok(EventResult::refused(refused.to_string())),
                    Err(Error::Denied(denied)) => Ok(EventResult::refused(denied.to_string())),
                    Err(Error::Busy) => Err(Error::Busy),
                    Err(Error::Store(error)) => Err(Error::Store(error)),
                }
            }
            GatewayEvent::GroupsChanged => {
                let kind = JobKind::SyncGroupsOnce { connection };
                Ok(stored(app.queue_job(company, kind, app.now().plus(GROUPS_DELAY)).await?))
            }
            GatewayEvent::StateDoubtful => {
                Ok(stored(app.connections().check_soon(company, connection).await?))
            }
            GatewayEvent::Template(report) => {
                app.templates().follow(company, connection, &report).await
            }
            GatewayEvent::Unknown(report) => self.keep_unknown(company, connection, &report).await,
            _ => Ok(EventResult::ignored("is taken with others")),
        }
    }

    /// Keeps the kind and the shape of an event that the adapter does not know.
    async fn keep_unknown(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        report: &UnknownReport,
    ) -> Result<EventResult, Error<NotFound>> {
        let store = self.app.store();
        let named: String = report.kind.chars().filter(|c| !c.is_control()).collect();
        let kind = &named.chars().take(MAX_KIND).collect::<String>();
        let shape = &shape(&report.body);
        let keep = |now| async move {
            let changes =
                match store.get::<UnknownKind>((company, connection, kind.clone())).await? {
                    Some(known) => ChangeSet::new().with(known.update(UnknownKind {
                        shape: shape.clone(),
                        seen: known.seen.saturating_add(1),
                        last_at: now,
                        ..known.value().clone()
                    })),
                    None if store.unknown_kinds(company, connection).await?.len() >= MAX_KINDS => {
                        let ignored = "too many unknown kinds are kept already";
                        return Ok(Decided::unchanged(EventResult::ignored(ignored)));
                    }
                    None => ChangeSet::new().insert(UnknownKind {
                        company,
                        connection,
                        kind: kind.clone(),
                        shape: shape.clone(),
                        seen: 1,
                        first_at: now,
                        last_at: now,
                    }),
                };
            Ok(Decided::new(changes, EventResult::of(EventOutcome::Stored)))
        };
        match self.app.decide(keep).await {
            // Many at once count as one, so that no other work waits for this record.
            Err(Error::Busy) => Ok(EventResult::ignored("others of its kind are being noted")),
            kept => kept,
        }
    }
}
