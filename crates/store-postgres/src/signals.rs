//! Notifications between processes, by `NOTIFY`: which queues have new deliveries.
//!
//! They are sent on connections of their own. If they were part of the transactions of commits, all
//! commits would wait for each other. One task sends at most one notification every few
//! milliseconds, for everything that was committed meanwhile; fewer, the longer they take (R455).

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::deliveries::{NotificationQueue, NotifiedQueues, QueueKey, Signals};
use recado_core::store::StoreError;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};
use tokio_postgres::{AsyncMessage, Client, Notification};

use crate::PostgresStore;
use crate::connector::{Connector, Messages};
use crate::failover::{Failover, Instance, WHICH};

/// The least and the most time between two notifications.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(500)];
/// How many times as long as the last notification took the pause after it is. Postgres sends one
/// notification at a time, and each costs more with every process that listens, so that with many
/// processes each sends fewer and larger ones.
const PAUSE_FACTOR: u32 = 4;
/// How many queues fit into one payload, which has to be shorter than 8,000 bytes.
const AT_ONCE: usize = 7_999 / NotifiedQueues::QUEUE_LENGTH;
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The notifications of a store, and the tasks that send and receive them.
pub(crate) struct Notifier {
    failover: Failover,
    /// To send to the other processes.
    outgoing: Arc<NotificationQueue>,
    /// Received from the other processes.
    incoming: Arc<NotificationQueue>,
    /// The process id of the server process that sends for this store: its notifications are
    /// skipped.
    own: Arc<AtomicI32>,
    tasks: Mutex<[Option<AbortHandle>; 2]>,
}

impl Notifier {
    pub(crate) fn new(failover: Failover) -> Self {
        Self {
            failover,
            outgoing: Arc::new(NotificationQueue::new(AT_ONCE)),
            incoming: Arc::new(NotificationQueue::for_received()),
            own: Arc::default(),
            tasks: Mutex::default(),
        }
    }

    /// Starts a task if it does not run already.
    fn keep<F: Future<Output = ()> + Send + 'static>(&self, at: usize, task: impl FnOnce() -> F) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(slot) = tasks.get_mut(at) else { return };
        if slot.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            *slot = Some(runtime.spawn(task()).abort_handle());
        }
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        let tasks = self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner);
        for task in tasks.iter().flatten() {
            task.abort();
        }
    }
}

/// The wait before the next attempt to connect. It grows with each failure in a row.
struct Backoff(Duration);

impl Backoff {
    async fn wait(&mut self) {
        sleep(self.0).await;
        self.0 = (self.0 * 2).min(LONGEST_WAIT);
    }
}

/// Sends notifications until the store is dropped.
async fn send(failover: Failover, outgoing: Arc<NotificationQueue>, own: Arc<AtomicI32>) {
    let mut backoff = Backoff(FIRST_WAIT);
    let mut connected: Option<(Client, Instance)> = None;
    loop {
        // The queues are taken only after connecting: more may be collected until then.
        let (client, server) = match connected.take() {
            Some(connected) if !connected.0.is_closed() => connected,
            _ => match connect_sender(&failover, &own).await {
                Ok(connected) => connected,
                Err(error) => {
                    tracing::warn!(%error, "other processes cannot be notified of new deliveries");
                    backoff.wait().await;
                    continue;
                }
            },
        };
        let notified = outgoing.take().await;
        let began = Instant::now();
        let notification = statement(&notified.to_text());
        let sent = tokio::select! {
            sent = client.batch_execute(&notification) => sent.map_err(StoreError::unavailable),
            () = failover.left(&server) => Err(StoreError::Unavailable(None)),
        };
        match sent {
            Ok(()) => {
                backoff = Backoff(FIRST_WAIT);
                connected = Some((client, server));
                sleep(pause_after(began.elapsed())).await;
            }
            Err(error) => {
                tracing::warn!(%error, "other processes were not notified of new deliveries");
                outgoing.add(NotifiedQueues::All);
                backoff.wait().await;
            }
        }
    }
}

/// How long to wait after a notification that took so long (R455).
fn pause_after(took: Duration) -> Duration {
    let [least, most] = PAUSES;
    (took * PAUSE_FACTOR).clamp(least, most)
}

/// The statements that send a payload, which consists of hexadecimal digits. The transaction turns
/// off `synchronous_commit` for itself, because a notification need not survive a crash of the
/// server.
fn statement(payload: &str) -> String {
    format!("BEGIN; SET LOCAL synchronous_commit = off; NOTIFY recado_lanes, '{payload}'; COMMIT")
}

async fn connect_sender(
    failover: &Failover,
    own: &AtomicI32,
) -> Result<(Client, Instance), StoreError> {
    let (client, driving) = connect(failover.connector(), |_| {}).await?;
    tokio::spawn(driving);
    let asked = async {
        let row = client.query_one("SELECT pg_backend_pid()", &[]).await?;
        Ok((row.get(0), client.simple_query(WHICH).await?))
    };
    let asked = failover.connector().in_time(asked).await.map_err(StoreError::unavailable)?;
    let (id, server) =
        asked.map_err(|error: tokio_postgres::Error| StoreError::unavailable(error))?;
    own.store(id, Ordering::Release);
    Ok((client, Instance::of(&server)))
}

/// Receives notifications until the store is dropped.
async fn listen(failover: Failover, incoming: Arc<NotificationQueue>, own: Arc<AtomicI32>) {
    let mut backoff = Backoff(FIRST_WAIT);
    let mut missed = false;
    loop {
        let receive = {
            let (incoming, own) = (incoming.clone(), own.clone());
            move |payload: Notification| {
                if payload.process_id() != own.load(Ordering::Acquire) {
                    incoming.add(NotifiedQueues::of_text(payload.payload().as_bytes()));
                }
            }
        };
        match connect(failover.connector(), receive).await {
            Ok((client, mut driving)) => {
                let listening = async {
                    let listening = format!("LISTEN recado_lanes; {WHICH}");
                    if let Ok(server) = client.simple_query(&listening).await {
                        backoff = Backoff(FIRST_WAIT);
                        if missed {
                            incoming.add(NotifiedQueues::All);
                        }
                        failover.left(&Instance::of(&server)).await;
                    }
                };
                tokio::select! {
                    () = listening => {}
                    () = &mut driving => {}
                }
                tracing::warn!("the connection that hears of other processes' deliveries is gone");
            }
            Err(error) => {
                tracing::warn!(%error, "other processes' deliveries cannot be heard of");
            }
        }
        missed = true;
        backoff.wait().await;
    }
}

type Driving = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Connects outside of the pool. The returned future drives the connection.
async fn connect(
    connector: &Connector,
    receive: impl FnMut(Notification) + Send + 'static,
) -> Result<(Client, Driving), StoreError> {
    let (client, messages) = connector.open().await.map_err(StoreError::unavailable)?;
    Ok((client, drive(messages, receive)))
}

fn drive(
    mut messages: Messages,
    mut receive: impl FnMut(Notification) + Send + 'static,
) -> Driving {
    Box::pin(async move {
        while let Some(Ok(message)) = poll_fn(|context| messages.poll_message(context)).await {
            if let AsyncMessage::Notification(payload) = message {
                receive(payload);
            }
        }
    })
}

#[async_trait]
impl Signals for PostgresStore {
    fn notify(&self, queues: &[QueueKey]) {
        let notifier = &self.notifier;
        notifier.keep(0, || {
            send(notifier.failover.clone(), notifier.outgoing.clone(), notifier.own.clone())
        });
        notifier.outgoing.notify(queues);
    }

    async fn notified(&self) -> Option<Vec<QueueKey>> {
        let notifier = &self.notifier;
        notifier.keep(1, || {
            listen(notifier.failover.clone(), notifier.incoming.clone(), notifier.own.clone())
        });
        notifier.incoming.take().await.into_queues()
    }
}

#[cfg(test)]
mod tests {
    use recado_core::ids::{CompanyId, WebhookId};
    use uuid::Uuid;

    use super::*;

    fn payload(count: usize) -> String {
        let keys = (1..=count as u128).map(|n| QueueKey {
            company: CompanyId::new(Uuid::from_u128(n)),
            webhook: WebhookId::new(Uuid::from_u128(n << 64)),
        });
        NotifiedQueues::These(keys.collect()).to_text()
    }

    #[test]
    fn a_full_payload_is_short_enough() {
        assert!((7_936..8_000).contains(&payload(AT_ONCE).len()));
    }

    #[test]
    fn a_notification_relaxes_durability_for_itself_alone() {
        let statement = statement(&payload(1));
        let statements: Vec<&str> = statement.split("; ").collect();
        assert_eq!(statements.first(), Some(&"BEGIN"));
        assert_eq!(statements.last(), Some(&"COMMIT"));
        let set: Vec<&&str> = statements.iter().filter(|it| it.starts_with("SET")).collect();
        assert_eq!(set, [&"SET LOCAL synchronous_commit = off"]);
    }

    /// R455.
    #[test]
    fn notifications_that_take_long_are_sent_less_often() {
        let pauses = [0, 1, 2, 20, 124, 125, 9_000].map(|took| {
            let pause = pause_after(Duration::from_millis(took));
            u64::try_from(pause.as_millis()).unwrap()
        });
        assert_eq!(pauses, [5, 5, 8, 80, 496, 500, 500]);
    }
}
