//! Managing connections.

use serde_json::{Map, Value};

use super::check::first_look;
use super::missed::{PULL_AGAIN, after_outage};
use super::{Connection, ConnectionDraft, ConnectionPatch, ConnectionStatus, ConnectionView};
use crate::Recado;
use crate::error::{Error, NotFound};
use crate::ids::{CompanyId, ConnectionId, JobId};
use crate::jobs::{Job, JobKind};
use crate::manage::{ManageResult, NOT_FOUND, invalid};
use crate::problems::Problems;
use crate::store::{ChangeSet, CommitError, Conflict, UniqueKey};
use crate::{ManageError, Timestamp};

/// The use cases on connections. Made by [`Recado::connections`].
#[derive(Clone, Copy, Debug)]
pub struct Connections<'a> {
    pub(crate) app: &'a Recado,
}

impl Connections<'_> {
    /// All connections of a company.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn all(&self, company: CompanyId) -> ManageResult<Vec<ConnectionView>> {
        let connections = self.app.store().connections(company).await?;
        Ok(connections.iter().map(|connection| self.view(connection)).collect())
    }

    /// A connection.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn get(&self, company: CompanyId, id: ConnectionId) -> ManageResult<ConnectionView> {
        match self.app.store().connection(company, id).await? {
            Some(connection) => Ok(self.view(&connection)),
            None => Err(NOT_FOUND),
        }
    }

    /// Makes a connection, and the job that reads its groups every hour where its gateway can list
    /// them (D64).
    ///
    /// # Errors
    ///
    /// What is wrong with the body.
    pub async fn create(
        &self,
        company: CompanyId,
        body: &Map<String, Value>,
    ) -> ManageResult<ConnectionView> {
        let draft = ConnectionDraft::parse(body).map_err(invalid)?;
        let told = draft.tells_status();
        let now = self.app.now();
        let connection = draft.connection(ConnectionId::new(self.app.uuid(now)), company, now);
        let view = self.view(&connection);
        let (id, gateway) = (connection.id, connection.gateway);
        let mut changes = ChangeSet::new().insert(connection);
        let pull = JobKind::PullMissed { connection: id, since: now };
        for (wanted, kind, due_at) in [
            (gateway.lists_groups(), JobKind::SyncGroups { connection: id }, now),
            (
                gateway.tells_state(),
                JobKind::CheckConnection { connection: id },
                first_look(told, now),
            ),
            (gateway.tells_missed(), pull, now.plus(PULL_AGAIN)),
        ] {
            if wanted {
                let job = Job::due_now(JobId::new(self.app.uuid(now)), company, kind, now);
                changes = changes.insert(Job { due_at, ..job });
            }
        }
        self.app.insert_all(changes, view).await
    }

    /// Changes a connection: any of its name, identifier, settings (merged; null removes one),
    /// `is_active` and status.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, or [`ManageError::NotFound`].
    pub async fn change(
        &self,
        company: CompanyId,
        id: ConnectionId,
        body: &Map<String, Value>,
    ) -> ManageResult<ConnectionView> {
        let patch = ConnectionPatch::parse(body);
        let change = |connection: &Connection, now| patch.apply(connection, now);
        let (connection, changed) = self.write(company, id, change).await?;
        if changed && connection.gateway.tells_state() && patch.makes_doubtful() {
            self.check_soon(company, id).await?;
        }
        Ok(self.view(&connection))
    }

    /// Deletes a connection, or deactivates it when messages, conversations, templates or contacts
    /// refer to it (D31a).
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`].
    pub async fn delete(&self, company: CompanyId, id: ConnectionId) -> ManageResult<()> {
        let store = self.app.store();
        let mut attempts = self.app.attempts();
        let mut referred = false;
        loop {
            attempts.next::<ManageError>()?;
            let Some(connection) = store.connection(company, id).await? else {
                return Err(NOT_FOUND);
            };
            if referred || store.connection_in_use(company, id).await? {
                let off = |connection: &Connection, now| {
                    Ok(set(connection, now, |connection| connection.is_active = false))
                };
                return self.write(company, id, off).await.map(|_| ());
            }
            match store.commit(ChangeSet::new().with(connection.delete())).await {
                Ok(()) => return Ok(()),
                Err(CommitError::Conflict(conflict)) => referred = conflict == Conflict::Reference,
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
    }

    /// Records whether a connection's gateway reaches the channel, as the gateway told; answers
    /// whether that was news.
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
        // A status is never unacceptable: all that can be wrong is that there is no connection.
        let written = self.write(company, id, change).await;
        written.map(|(_, changed)| changed).map_err(|error| error.map(|_| NotFound))
    }

    fn view(&self, connection: &Connection) -> ConnectionView {
        ConnectionView::new(connection, &self.app.settings().public_url)
    }

    /// Writes what `change` makes of a connection, again after a conflict; answers it and whether
    /// it differs. One that can be used from now on has its groups read at once (D64), and is asked
    /// what happened while it could not.
    async fn write(
        &self,
        company: CompanyId,
        id: ConnectionId,
        change: impl Fn(&Connection, Timestamp) -> Result<Connection, Problems> + Send + Sync,
    ) -> ManageResult<(Connection, bool)> {
        let store = self.app.store();
        let now = self.app.now();
        let jobs = [(); 2].map(|()| JobId::new(self.app.uuid(now)));
        let mut attempts = self.app.attempts();
        let mut queued = Queued::Both;
        loop {
            let now = attempts.next()?;
            let Some(stored) = store.connection(company, id).await? else {
                return Err(NOT_FOUND);
            };
            let connection = change(stored.value(), now).map_err(invalid)?;
            if connection == *stored.value() {
                return Ok((connection, false));
            }
            let mut changes = ChangeSet::new().with(stored.update(connection.clone()));
            for (job, kind) in jobs.into_iter().zip(queued.of(&stored, &connection)) {
                if let Some(kind) = kind {
                    changes = changes.insert(Job::due_now(job, company, kind, now));
                }
            }
            match store.commit(changes).await {
                Ok(()) => return Ok((connection, true)),
                // One of them is waiting to be worked on already; which one is not told.
                Err(CommitError::Conflict(Conflict::Taken(UniqueKey::JobSubject))) => {
                    queued = queued.fewer();
                }
                Err(CommitError::Conflict(_)) => {}
                Err(CommitError::Store(error)) => return Err(Error::Store(error)),
            }
        }
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

/// Which jobs a connection is given when it can be used again; fewer each time one of them turns
/// out to wait already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queued {
    /// Reading its groups, and asking what it has missed.
    Both,
    /// Reading its groups.
    Groups,
    /// Asking what it has missed.
    Missed,
    /// None.
    Neither,
}

impl Queued {
    const fn fewer(self) -> Self {
        match self {
            Self::Both => Self::Groups,
            Self::Groups => Self::Missed,
            Self::Missed | Self::Neither => Self::Neither,
        }
    }

    /// What the gateway is asked now, that it could not be asked before or with other settings.
    fn of(self, before: &Connection, after: &Connection) -> [Option<JobKind>; 2] {
        let was_off = !before.is_usable();
        let news = was_off || before.settings != after.settings;
        let (connection, gateway) = (after.id, after.gateway);
        let groups = matches!(self, Self::Both | Self::Groups) && gateway.lists_groups();
        let missed = matches!(self, Self::Both | Self::Missed) && gateway.tells_missed();
        let usable = after.is_usable();
        [
            (groups && usable && news).then_some(JobKind::SyncGroupsOnce { connection }),
            (missed && usable && was_off).then(|| after_outage(connection, before.updated_at)),
        ]
    }
}
