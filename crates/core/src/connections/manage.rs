//! Managing connections.

use super::check::first_check;
use super::handle::Connections;
use super::missed::after_outage;
use super::statuses::add_status_change;
use super::upkeep::{first_due, regular_jobs};
use super::{
    Capability, Connection, ConnectionChange, ConnectionDraft, ConnectionPatch, ConnectionStatus,
    ConnectionView, NewConnection,
};
use crate::Timestamp;
use crate::body::IntoBody;
use crate::error::{Error, NotFound};
use crate::gateway::{GatewayDestinations, Providers};
use crate::ids::{CompanyId, ConnectionId, JobId};
use crate::jobs::{Job, JobKind};
use crate::manage::{ManageResult, NOT_FOUND, invalid};
use crate::problems::Problems;
use crate::store::{ChangeSet, Conflict, Decided, RecordsExt, Removable, StoreError, UniqueKey};

impl Connections<'_> {
    /// All connections of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> ManageResult<Vec<ConnectionView>> {
        let connections = self.app.store().all_stored::<Connection>(company).await?;
        let mut views = Vec::with_capacity(connections.len());
        for connection in &connections {
            views.push(self.view(connection).await?);
        }
        Ok(views)
    }

    /// A connection.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`](crate::ManageError::NotFound).
    pub async fn get(&self, company: CompanyId, id: ConnectionId) -> ManageResult<ConnectionView> {
        match self.app.store().get::<Connection>((company, id)).await? {
            Some(connection) => Ok(self.view(&connection).await?),
            None => Err(NOT_FOUND),
        }
    }

    /// Creates a connection and the regular jobs that its gateway supports: for its groups (D64),
    /// its state, and missed messages.
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create(
        &self,
        company: CompanyId,
        body: impl IntoBody<NewConnection>,
    ) -> ManageResult<ConnectionView> {
        let draft = ConnectionDraft::parse(body, self.app.providers(), self.destinations())
            .map_err(invalid)?;
        let reported = draft.reports_status();
        let now = self.app.now();
        let connection = draft.connection(ConnectionId::new(self.app.uuid(now)), company, now);
        let view = self.plain_view(&connection);
        let jobs = regular_jobs(&connection, self.app.providers(), now);
        let mut changes = ChangeSet::new().insert(connection);
        for kind in jobs {
            let due_at = first_due(&kind, first_check(reported, now), now);
            let job = Job::due_now(JobId::new(self.app.uuid(now)), company, kind, now);
            changes = changes.insert(Job { due_at, ..job });
        }
        self.app.insert_all(changes, view).await
    }

    /// Changes a connection: any of its name, identifier, settings (merged; null removes one),
    /// `is_active` and status.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`ManageError::NotFound`](crate::ManageError::NotFound).
    pub async fn change(
        &self,
        company: CompanyId,
        id: ConnectionId,
        body: impl IntoBody<ConnectionChange>,
    ) -> ManageResult<ConnectionView> {
        let patch = ConnectionPatch::parse(body);
        let change = |connection: &Connection, now| {
            let gateway = self.app.providers().description(&connection.gateway);
            patch.apply(connection, gateway, self.destinations(), now)
        };
        let (connection, changed) = self.write(company, id, change).await?;
        let has_state = self.app.providers().can(&connection, Capability::State);
        if changed && has_state && patch.makes_doubtful() {
            self.check_soon(company, id).await?;
        }
        Ok(self.view(&connection).await?)
    }

    /// Deletes a connection, or deactivates it when messages, conversations, templates or contacts
    /// refer to it (D31a, R54).
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`](crate::ManageError::NotFound).
    pub async fn delete(&self, company: CompanyId, id: ConnectionId) -> ManageResult<()> {
        let store = self.app.store();
        let delete = |_, conflict: Option<Conflict>| async move {
            let connection = store.get::<Connection>((company, id)).await?.ok_or(NOT_FOUND)?;
            let is_referred = conflict == Some(Conflict::Reference);
            if is_referred || store.is_in_use(company, Removable::Connection(id)).await? {
                return Ok(Decided::unchanged(false));
            }
            Ok(Decided::new(ChangeSet::new().with(connection.delete()), true))
        };
        if self.app.decide_after(delete).await? {
            return Ok(());
        }
        let off = |connection: &Connection, now| {
            Ok(set(connection, now, |connection| connection.is_active = false))
        };
        self.write(company, id, off).await.map(|_| ())
    }

    /// Records whether a connection's gateway reaches the channel, as the gateway reported; returns
    /// whether it changed the status.
    ///
    /// # Errors
    ///
    /// [`NotFound`].
    pub async fn set_status(
        &self,
        company: CompanyId,
        id: ConnectionId,
        status: ConnectionStatus,
    ) -> Result<bool, Error<NotFound>> {
        let change = |connection: &Connection, now| {
            Ok(set(connection, now, |connection| connection.status = status))
        };
        // A status is always acceptable: the only possible error is that there is no connection.
        let written = self.write(company, id, change).await;
        written.map(|(_, changed)| changed).map_err(|error| error.map(|_| NotFound))
    }

    /// Records a gateway's answer about a connection that was `asked`. Nothing is written if
    /// another state was recorded during the request, which is newer.
    pub(super) async fn set_answered_status(
        &self,
        asked: &Connection,
        status: ConnectionStatus,
    ) -> Result<(), Error<NotFound>> {
        let change = |now_known: &Connection, now| Ok(answered(asked, now_known, status, now));
        let written = self.write(asked.company, asked.id, change).await;
        written.map(|_| ()).map_err(|error| error.map(|_| NotFound))
    }

    fn destinations(&self) -> &GatewayDestinations {
        &self.app.settings().gateway_destinations
    }

    async fn view(&self, connection: &Connection) -> Result<ConnectionView, StoreError> {
        let not_understood = self.not_understood(connection.company, connection.id).await?;
        Ok(ConnectionView { not_understood, ..self.plain_view(connection) })
    }

    /// That of a connection of which nothing is kept.
    fn plain_view(&self, connection: &Connection) -> ConnectionView {
        let gateway = self.app.providers().description(&connection.gateway);
        ConnectionView::new(connection, gateway, &self.app.settings().public_url)
    }

    /// Writes the result of `change`, again after a conflict; returns the connection and whether it
    /// differs. If it becomes usable, its groups (D64) and the messages that it missed are
    /// requested at once.
    async fn write(
        &self,
        company: CompanyId,
        id: ConnectionId,
        change: impl Fn(&Connection, Timestamp) -> Result<Connection, Problems> + Send + Sync,
    ) -> ManageResult<(Connection, bool)> {
        let store = self.app.store();
        let now = self.app.now();
        let jobs = [(); 2].map(|()| JobId::new(self.app.uuid(now)));
        let mut queued = Queued::Both;
        let change = &change;
        let write = |now, conflict: Option<Conflict>| {
            // One of them exists already; the conflict does not say which.
            if conflict == Some(Conflict::Taken(UniqueKey::JobSubject)) {
                queued = queued.fewer();
            }
            let queued = queued;
            async move {
                let stored = store.get::<Connection>((company, id)).await?.ok_or(NOT_FOUND)?;
                let connection = change(stored.value(), now).map_err(invalid)?;
                if connection == *stored.value() {
                    return Ok(Decided::unchanged((connection, None)));
                }
                let mut wanted = wanted(&stored, &connection, self.app.providers());
                for kind in wanted.iter_mut().flatten() {
                    self.reach_back(company, kind).await?;
                }
                let history = self.status_history(company, id).await?;
                let states = (stored.value(), &connection);
                let changes = ChangeSet::new().with(stored.update(connection.clone()));
                let mut changes = add_status_change(changes, states, history.as_ref(), now);
                let mut left_out = Vec::new();
                for ((job, kind), taken) in jobs.into_iter().zip(wanted).zip(queued.takes()) {
                    match kind {
                        Some(kind) if taken => {
                            changes = changes.insert(Job::due_now(job, company, kind, now));
                        }
                        Some(kind) => left_out.push(kind),
                        None => {}
                    }
                }
                Ok(Decided::new(changes, (connection, Some((left_out, now)))))
            }
        };
        let (connection, written) = self.app.decide_after(write).await?;
        let Some((left_out, at)) = written else { return Ok((connection, false)) };
        for kind in left_out {
            // It is queued already, perhaps for some minutes later. If this call fails, it is done
            // at that time.
            let _ = self.app.queue_job(company, kind, at).await;
        }
        Ok((connection, true))
    }
}

/// The connection after an answer about its state, unless its state or settings changed since the
/// request.
fn answered(
    asked: &Connection,
    known: &Connection,
    status: ConnectionStatus,
    now: Timestamp,
) -> Connection {
    match (known.status, &known.settings) == (asked.status, &asked.settings) {
        true => set(known, now, |connection| connection.status = status),
        false => known.clone(),
    }
}

/// The connection with a change; `updated_at` moves only when there is one.
fn set(
    connection: &Connection,
    now: Timestamp,
    change: impl FnOnce(&mut Connection),
) -> Connection {
    let mut changed = connection.clone();
    change(&mut changed);
    if changed != *connection {
        changed.updated_at = now;
    }
    changed
}

/// The requests to the gateway that became possible, or whose settings changed: for its groups, and
/// for missed messages.
fn wanted(before: &Connection, after: &Connection, gateways: &Providers) -> [Option<JobKind>; 2] {
    let was_off = !before.is_usable();
    let news = was_off || before.settings != after.settings;
    let (connection, usable) = (after.id, after.is_usable());
    let groups = gateways.can(after, Capability::Groups) && usable && news;
    let missed = gateways.can(after, Capability::History) && usable && was_off;
    [
        groups.then_some(JobKind::SyncGroupsOnce { connection }),
        missed.then(|| after_outage(connection, before.updated_at)),
    ]
}

/// Which of the jobs are created together with the change; fewer each time one of them turns out to
/// exist already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queued {
    Both,
    First,
    Second,
    Neither,
}

impl Queued {
    const fn fewer(self) -> Self {
        match self {
            Self::Both => Self::First,
            Self::First => Self::Second,
            Self::Second | Self::Neither => Self::Neither,
        }
    }

    const fn takes(self) -> [bool; 2] {
        match self {
            Self::Both => [true, true],
            Self::First => [true, false],
            Self::Second => [false, true],
            Self::Neither => [false, false],
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::super::samples;
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    fn connection(status: ConnectionStatus, settings: Value) -> Connection {
        let body = json!({
            "name": "Loja", "kind": "qr", "gateway": "waha", "status": status,
            "identifier": "5511987654321", "settings": settings,
        });
        let draft = ConnectionDraft::parse(
            body.as_object().expect("an object"),
            &samples::providers(),
            &GatewayDestinations::default(),
        );
        let (id, company) = (Uuid::from_u128(1), CompanyId::new(Uuid::from_u128(2)));
        draft.expect("acceptable").connection(ConnectionId::new(id), company, Timestamp::MIN)
    }

    #[test]
    fn an_answer_counts_only_for_what_was_asked_about() {
        let settings = |session: &str| {
            json!({
                "base_url": "https://a.example",
                "session": session,
                "api_key": "key",
                "webhook_hmac_key": "key",
            })
        };
        let (on, off) = (ConnectionStatus::Connected, ConnectionStatus::Disconnected);
        let asked = connection(off, settings("a"));
        for status in [on, off] {
            assert_eq!(answered(&asked, &asked, status, NOW).status, status);
        }
        let since = connection(on, settings("a"));
        assert_eq!(answered(&asked, &since, off, NOW), since, "a newer report stands");
        let other = connection(off, settings("b"));
        assert_eq!(answered(&asked, &other, on, NOW), other, "others were asked");
    }
}
