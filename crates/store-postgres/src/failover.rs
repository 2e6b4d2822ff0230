//! Noticing that the database has moved to another server, while the one before keeps its
//! connections open and answers nothing: a machine that was frozen or cut off (R457).
//!
//! Whoever waits long for an answer opens a connection. If that reaches another server than before,
//! all connections to the one before are closed, and what waits on them fails as on any connection
//! that breaks.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::error::DbError;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::connector::Connector;

/// How long an answer may take before it is looked where the database is, and how often then.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long looking may take: a server that is silent must not hide one that was just promoted.
const LOOKING: Duration = Duration::from_secs(2);
/// How long no server may answer until connections are given up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(30);
/// Asks a server which one it is: two servers do not start in the same microsecond.
pub(crate) const WHICH: &str = "SELECT pg_catalog.pg_postmaster_start_time()";

/// A server, as long as it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instance(String);

impl Instance {
    /// The one that has answered [`WHICH`], alone or as the last of several statements.
    pub(crate) fn of(answer: &[SimpleQueryMessage]) -> Self {
        let started = answer.iter().rev().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        Self(started.unwrap_or_default().to_owned())
    }

    /// The one that a connection leads to.
    async fn behind(client: &Client) -> Option<Self> {
        client.simple_query(WHICH).await.ok().map(|answer| Self::of(&answer))
    }
}

/// Where the database is, for all connections of a store.
#[derive(Clone)]
pub(crate) struct Failover {
    connector: Connector,
    /// The server that was reached last; none while it is not known.
    current: watch::Sender<Option<Instance>>,
    /// When looking first failed, of attempts that have failed since.
    silent_since: Arc<Mutex<Option<Instant>>>,
}

impl Failover {
    pub(crate) fn new(connector: Connector) -> Self {
        Self { connector, current: watch::Sender::new(None), silent_since: Arc::default() }
    }

    /// Opens connections.
    pub(crate) const fn connector(&self) -> &Connector {
        &self.connector
    }

    /// A new connection leads to this server. Those to another one are closed, unless hosts are
    /// chosen by chance, where several servers are meant.
    pub(crate) fn reached(&self, instance: &Instance) {
        if !self.connector.is_balanced() {
            self.current.send_if_modified(|current| {
                let is_other = current.as_ref() != Some(instance);
                *current = Some(instance.clone());
                is_other
            });
        }
    }

    /// Waits until the database is elsewhere than where a connection leads to, or is given up.
    pub(crate) async fn left(&self, instance: &Instance) {
        let mut current = self.current.subscribe();
        let is_elsewhere = |current: &Option<Instance>| {
            current.as_ref().is_some_and(|current| current != instance)
        };
        if current.wait_for(is_elsewhere).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Awaits an answer of the server. While it takes long, it is looked where the database is.
    pub(crate) async fn answer<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = std::pin::pin!(answer);
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return answer,
                () = self.look_after_a_while() => {}
            }
        }
    }

    async fn look_after_a_while(&self) {
        sleep(PATIENCE).await;
        // Of all that wait, one looks.
        let Ok(mut silent_since) = self.silent_since.try_lock() else { return };
        if let Ok(Some(instance)) = timeout(LOOKING, self.look()).await {
            *silent_since = None;
            self.reached(&instance);
            return;
        }
        let since = *silent_since.get_or_insert_with(Instant::now);
        if since.elapsed() > GIVEN_UP_AFTER {
            tracing::warn!("no database server has answered for long; its connections are closed");
            *silent_since = None;
            self.current.send_replace(Some(Instance(String::new())));
        }
    }

    async fn look(&self) -> Option<Instance> {
        let (client, mut messages) = self.connector.open().await.ok()?;
        let driving = std::future::poll_fn(|cx| {
            while let std::task::Poll::Ready(message) = messages.poll_message(cx) {
                if !matches!(message, Some(Ok(_))) {
                    return std::task::Poll::Ready(());
                }
            }
            std::task::Poll::Pending
        });
        tokio::select! {
            instance = Instance::behind(&client) => instance,
            () = driving => None,
        }
    }
}

/// Whether a notice says that a commit was not replicated as it had to be: somebody cancelled the
/// wait for a standby, and the server answers as if it had been. A fail-over would lose what was
/// committed (R458).
pub(crate) fn is_not_replicated(notice: &DbError) -> bool {
    notice.routine() == Some("SyncRepWaitForLSN")
}
