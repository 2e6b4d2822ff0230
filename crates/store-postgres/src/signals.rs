//! Words between processes, by `NOTIFY`: whose queues have something new.
//!
//! They go through connections of their own. In the transaction of a commit they would make all
//! commits wait for each other; so one task says at most one word every few milliseconds, for
//! everything that was committed meanwhile.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::deliveries::{Lane, Signals};
use recado_core::ids::{CompanyId, WebhookId};
use recado_core::store::StoreError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Connection, Notification};
use uuid::Uuid;

use crate::PostgresStore;
use crate::pool::Dial;

/// The least time between two words.
const PAUSE: Duration = Duration::from_millis(5);
/// How many queues fit into one word, which has to be shorter than 8,000 bytes.
const AT_ONCE: usize = 7_999 / LANE;
/// The length of a queue in a word: two ids in hexadecimal digits.
const LANE: usize = 64;
/// How many queues are remembered until somebody asks; beyond it, all have to be looked at.
const REMEMBERED: usize = 10_000;
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Queues that were rung for.
#[derive(Default)]
struct Rung {
    lanes: BTreeSet<Lane>,
    everywhere: bool,
}

/// Collects queues until somebody takes them.
#[derive(Default)]
struct Bell {
    rung: Mutex<Rung>,
    changed: Notify,
}

impl Bell {
    fn lock(&self) -> MutexGuard<'_, Rung> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds queues; none means all.
    fn ring(&self, lanes: impl IntoIterator<Item = Lane>, most: usize) {
        let mut rung = self.lock();
        let before = rung.lanes.len();
        let mut none = true;
        for lane in lanes {
            none = false;
            if !rung.everywhere {
                rung.lanes.insert(lane);
            }
        }
        if none || rung.lanes.len() > most {
            *rung = Rung { lanes: BTreeSet::new(), everywhere: true };
        } else if rung.lanes.len() == before && before > 0 {
            return;
        }
        drop(rung);
        self.changed.notify_one();
    }

    /// What was rung for, once something was.
    async fn taken(&self) -> Rung {
        loop {
            let rung = std::mem::take(&mut *self.lock());
            if rung.everywhere || !rung.lanes.is_empty() {
                return rung;
            }
            self.changed.notified().await;
        }
    }
}

/// Queues as a word; nothing stands for all.
fn word(rung: &Rung) -> String {
    let mut word = String::with_capacity(rung.lanes.len() * LANE);
    for lane in &rung.lanes {
        let _ = write!(word, "{}{}", lane.company.uuid().simple(), lane.webhook.uuid().simple());
    }
    word
}

/// The queues of a word; none for a word that says all, or that cannot be read.
fn queues(word: &str) -> Vec<Lane> {
    let lane = |text: &[u8]| {
        let (company, webhook) = text.split_at_checked(LANE / 2)?;
        Some(Lane {
            company: CompanyId::new(Uuid::try_parse_ascii(company).ok()?),
            webhook: WebhookId::new(Uuid::try_parse_ascii(webhook).ok()?),
        })
    };
    word.as_bytes().chunks(LANE).map(lane).collect::<Option<_>>().unwrap_or_default()
}

/// The bells of a store and the tasks that carry their sound.
pub(crate) struct Bells {
    dial: Arc<Dial>,
    /// What others are to be told.
    said: Arc<Bell>,
    /// What others told.
    heard: Arc<Bell>,
    /// The process of the server that speaks for us.
    own: Arc<AtomicI32>,
    tasks: Mutex<[Option<AbortHandle>; 2]>,
}

impl Bells {
    pub(crate) fn new(dial: Dial) -> Self {
        Self {
            dial: Arc::new(dial),
            said: Arc::default(),
            heard: Arc::default(),
            own: Arc::default(),
            tasks: Mutex::default(),
        }
    }

    /// Sees to it that a task runs.
    fn keep<F: Future<Output = ()> + Send + 'static>(&self, at: usize, task: impl FnOnce() -> F) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = tasks.get_mut(at) else { return };
        if place.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            *place = Some(runtime.spawn(task()).abort_handle());
        }
    }
}

impl Drop for Bells {
    fn drop(&mut self) {
        let tasks = self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner);
        for task in tasks.iter().flatten() {
            task.abort();
        }
    }
}

/// Grows with each failure in a row.
struct Backoff(Duration);

impl Backoff {
    async fn wait(&mut self) {
        sleep(self.0).await;
        self.0 = (self.0 * 2).min(LONGEST_WAIT);
    }
}

/// Says what is to be said, for as long as the store lives.
async fn speak(dial: Arc<Dial>, said: Arc<Bell>, own: Arc<AtomicI32>) {
    let mut backoff = Backoff(FIRST_WAIT);
    let mut connected: Option<Client> = None;
    loop {
        // It is said by whoever is connected: until then, more may come to it.
        let client = match connected.take() {
            Some(client) if !client.is_closed() => client,
            _ => match speaker(&dial, &own).await {
                Ok(client) => client,
                Err(error) => {
                    tracing::warn!(%error, "other processes cannot be told of new deliveries");
                    backoff.wait().await;
                    continue;
                }
            },
        };
        let rung = said.taken().await;
        match client.batch_execute(&saying(&word(&rung))).await {
            Ok(()) => {
                backoff = Backoff(FIRST_WAIT);
                connected = Some(client);
                sleep(PAUSE).await;
            }
            Err(error) => {
                tracing::warn!(%error, "other processes were not told of new deliveries");
                said.ring([], AT_ONCE);
                backoff.wait().await;
            }
        }
    }
}

/// The statements that say a word, which is hexadecimal digits. It need not survive a crash of the
/// server. That holds for this transaction alone: behind a pooler that hands out the connection by
/// transactions, the next one may be a commit that has to be durable.
fn saying(word: &str) -> String {
    format!("BEGIN; SET LOCAL synchronous_commit = off; NOTIFY recado_lanes, '{word}'; COMMIT")
}

async fn speaker(dial: &Dial, own: &AtomicI32) -> Result<Client, StoreError> {
    let (client, driving) = connect(dial, |_| {}).await?;
    tokio::spawn(driving);
    let row = client.query_one("SELECT pg_backend_pid()", &[]).await;
    let row = row.map_err(StoreError::unavailable)?;
    own.store(row.get(0), Ordering::Release);
    Ok(client)
}

/// Hears what others say, for as long as the store lives.
async fn listen(dial: Arc<Dial>, heard: Arc<Bell>, own: Arc<AtomicI32>) {
    let mut backoff = Backoff(FIRST_WAIT);
    let mut missed = false;
    loop {
        let hear = {
            let (heard, own) = (heard.clone(), own.clone());
            move |word: Notification| {
                if word.process_id() != own.load(Ordering::Acquire) {
                    heard.ring(queues(word.payload()), REMEMBERED);
                }
            }
        };
        match connect(&dial, hear).await {
            Ok((client, mut driving)) => {
                let listening = async {
                    let listening = client.batch_execute("LISTEN recado_lanes").await;
                    if listening.is_ok() {
                        backoff = Backoff(FIRST_WAIT);
                        if missed {
                            heard.ring([], REMEMBERED);
                        }
                        pending::<()>().await;
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

/// Connects outside of the pool; the future that is answered drives the connection.
async fn connect(
    dial: &Dial,
    hear: impl FnMut(Notification) + Send + 'static,
) -> Result<(Client, Driving), StoreError> {
    let connecting = async {
        #[cfg(feature = "tls")]
        if let Some(tls) = &dial.tls {
            let (client, connection) = dial.config.connect(tls.clone()).await?;
            return Ok((client, drive(connection, hear)));
        }
        let (client, connection) = dial.config.connect(tokio_postgres::NoTls).await?;
        Ok((client, drive(connection, hear)))
    };
    match timeout(dial.timeout, connecting).await {
        Ok(connected) => {
            connected.map_err(|error: tokio_postgres::Error| StoreError::unavailable(error))
        }
        Err(late) => Err(StoreError::unavailable(late)),
    }
}

fn drive<S, T>(
    mut connection: Connection<S, T>,
    mut hear: impl FnMut(Notification) + Send + 'static,
) -> Driving
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    Box::pin(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(word) = message {
                hear(word);
            }
        }
    })
}

#[async_trait]
impl Signals for PostgresStore {
    fn ring(&self, lanes: &[Lane]) {
        let bells = &self.bells;
        bells.keep(0, || speak(bells.dial.clone(), bells.said.clone(), bells.own.clone()));
        bells.said.ring(lanes.iter().copied(), AT_ONCE);
    }

    async fn rung(&self) -> Option<Vec<Lane>> {
        let bells = &self.bells;
        bells.keep(1, || listen(bells.dial.clone(), bells.heard.clone(), bells.own.clone()));
        let rung = bells.heard.taken().await;
        (!rung.everywhere).then(|| rung.lanes.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(n: u128) -> Lane {
        Lane {
            company: CompanyId::new(Uuid::from_u128(n)),
            webhook: WebhookId::new(Uuid::from_u128(n << 64)),
        }
    }

    #[test]
    fn a_word_that_is_full_says_the_same_to_whoever_hears_it() {
        let lanes: Vec<Lane> = (1..=AT_ONCE as u128).map(lane).collect();
        let word = word(&Rung { lanes: lanes.iter().copied().collect(), everywhere: false });
        assert!(word.len() < 8_000);
        assert_eq!(queues(&word), lanes);
    }

    #[test]
    fn a_word_relaxes_durability_for_itself_alone() {
        let saying = saying(&word(&Rung { lanes: [lane(1)].into(), everywhere: false }));
        let statements: Vec<&str> = saying.split("; ").collect();
        assert_eq!(statements.first(), Some(&"BEGIN"));
        assert_eq!(statements.last(), Some(&"COMMIT"));
        let set: Vec<&&str> = statements.iter().filter(|it| it.starts_with("SET")).collect();
        assert_eq!(set, [&"SET LOCAL synchronous_commit = off"]);
    }

    #[test]
    fn words_that_cannot_be_read_say_all() {
        for word in ["", "x", &"g".repeat(LANE), &"0".repeat(LANE + 1)] {
            assert_eq!(queues(word), []);
        }
    }

    #[tokio::test]
    async fn more_queues_than_fit_are_all_queues() {
        let bell = Bell::default();
        bell.ring((1..=3).map(lane), 3);
        assert_eq!(bell.taken().await.lanes.len(), 3);
        bell.ring((1..=4).map(lane), 3);
        bell.ring([lane(1)], 3);
        let rung = bell.taken().await;
        assert!(rung.everywhere && rung.lanes.is_empty());
    }
}
