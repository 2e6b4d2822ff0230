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
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::connector::{ConnectError, Connector};

/// How long an answer may take before it is looked where the database is, and how often then.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long looking may take: a server that is silent must not hide one that was just promoted.
const LOOKING: Duration = Duration::from_secs(2);
/// How long no server may answer until connections are given up.
pub(crate) const GIVEN_UP_AFTER: Duration = Duration::from_secs(30);
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

/// For how long no server has answered those that looked.
#[derive(Clone, Copy, Debug, Default)]
struct Silence {
    /// When somebody looked in vain, first and last.
    span: Option<(Instant, Instant)>,
}

impl Silence {
    /// Somebody has looked in vain. Whether this went on for `long`, so that connections are given
    /// up; where nobody looked for a while, it has begun anew.
    fn goes_on(&mut self, now: Instant, long: Duration) -> bool {
        let is_same = |last: Instant| now.duration_since(last) <= 3 * (PATIENCE + LOOKING);
        let since = match self.span {
            Some((since, last)) if is_same(last) => since,
            _ => now,
        };
        self.span = Some((since, now));
        let is_over = now.duration_since(since) >= long;
        if is_over {
            self.span = None;
        }
        is_over
    }
}

/// Where the database is, for all connections of a store.
#[derive(Clone)]
pub(crate) struct Failover {
    connector: Connector,
    /// The server that was reached last; none while it is not known.
    current: watch::Sender<Option<Instance>>,
    silence: Arc<Mutex<Silence>>,
    given_up_after: Duration,
}

impl Failover {
    pub(crate) fn new(connector: Connector, given_up_after: Duration) -> Self {
        let current = watch::Sender::new(None);
        Self { connector, current, silence: Arc::default(), given_up_after }
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
        let Ok(mut silence) = self.silence.try_lock() else { return };
        match timeout(LOOKING, self.look()).await {
            Ok(Ok(instance)) => self.reached(&instance),
            // It answers, and has no room for another connection.
            Ok(Err(Some(_))) => {}
            Ok(Err(None)) | Err(_) => {
                if silence.goes_on(Instant::now(), self.given_up_after) {
                    tracing::warn!("no database server answers for long; connections are closed");
                    self.current.send_replace(Some(Instance(String::new())));
                }
                return;
            }
        }
        *silence = Silence::default();
    }

    /// The server to which a new connection leads, or what the last one that refuses answered.
    async fn look(&self) -> Result<Instance, Option<SqlState>> {
        let opened = self.connector.open().await.map_err(ConnectError::into_code);
        let (client, mut messages) = opened?;
        let driving = std::future::poll_fn(|cx| {
            while let std::task::Poll::Ready(message) = messages.poll_message(cx) {
                if !matches!(message, Some(Ok(_))) {
                    return std::task::Poll::Ready(());
                }
            }
            std::task::Poll::Pending
        });
        tokio::select! {
            instance = Instance::behind(&client) => instance.ok_or(None),
            () = driving => Err(None),
        }
    }
}

/// Whether a notice says that a commit was not replicated as it had to be: somebody cancelled the
/// wait for a standby, and the server answers as if it had been. A fail-over would lose what was
/// committed (R458).
pub(crate) fn is_not_replicated(notice: &DbError) -> bool {
    notice.routine() == Some("SyncRepWaitForLSN")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R457: a silence counts from its beginning, and one that was over does not count.
    #[test]
    fn connections_are_given_up_after_half_a_minute_of_silence_in_one_piece() {
        let (mut silence, began) = (Silence::default(), Instant::now());
        let mut goes_on =
            |seconds| silence.goes_on(began + Duration::from_secs(seconds), GIVEN_UP_AFTER);
        assert!(!goes_on(0));
        assert!(!goes_on(3600), "an hour in which nobody waited for an answer");
        let given_up = (0..).map(|n| 3600 + 3 * n).find(|seconds| goes_on(*seconds));
        assert_eq!(given_up, Some(3630));
        assert!(!goes_on(3633), "it begins anew");
    }
}
