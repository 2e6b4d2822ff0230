//! Events that are not about messages. Each is handled on its own, between the batches.

use super::{EventOutcome, EventResult, Inbox};
use crate::error::{Error, NotFound};
use crate::gateway::{GatewayEvent, Identity, Keep, UnknownForm, UnknownReason};
use crate::ids::{CompanyId, ConnectionId};
use crate::jobs::JobKind;

/// How long after a group has changed the groups are read: many changes arrive together (R119).
const GROUPS_DELAY: std::time::Duration = std::time::Duration::from_secs(3);
/// How long after a reported state the gateway is checked.
const DOUBTED: std::time::Duration = std::time::Duration::from_secs(30);

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
            | GatewayEvent::NotOurs(_)
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
            GatewayEvent::Unknown(report) => {
                let body = &report.body.to_string();
                let keep = Keep {
                    kind: &report.kind,
                    reason: UnknownReason::UnknownKind,
                    form: UnknownForm::Gateway,
                    provider_id: report.provider_id.as_ref(),
                    body,
                    identity: Identity::Text(body),
                };
                self.keep(company, connection, &keep).await
            }
            GatewayEvent::NotOurs(reason) => Ok(EventResult::refused(reason)),
            _ => Ok(EventResult::ignored("is taken with others")),
        }
    }
}
