//! Notifications between processes by core NATS, in place of those of the store (R463).

mod connection_log;
mod servers;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::rustls::crypto::ring;
use async_nats::rustls::{ClientConfig, RootCertStore};
use async_nats::{Client, ConnectOptions, Event, Subject};
use async_trait::async_trait;
use futures_util::StreamExt;
use recado_core::deliveries::{NotificationQueue, NotifiedQueues, QueueKey, Signals};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::sleep;
use uuid::Uuid;

use self::connection_log::{ConnectionLog, Problem};
use self::servers::User;
pub use self::servers::{InvalidNats, NatsServers, NatsSubject};
use crate::ids::random;

/// The least time between two messages.
const PAUSE: Duration = Duration::from_millis(5);
/// How many queues fit into one message, which then has 64 KiB. Servers take 1 MiB unless they are
/// told otherwise.
const AT_ONCE: usize = 1_000;
/// How many messages wait for the connection, or for their receipt.
const WAITING: usize = 16;
/// How long nothing may come before the server is asked whether it is there.
const PING: Duration = Duration::from_secs(10);
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// No further attempt: for a connection that nobody needs any more.
const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);
/// The length of the id of a process in a message.
const ID_LENGTH: usize = 32;
/// Follows the id in a message that a process sends to itself. When it arrives, the server knows
/// the subscription; other servers of a cluster may know it a moment later.
const SUBSCRIBED: &str = "-";

/// [`Signals`] by core NATS. All processes on one database need the same servers and the same
/// subject, which no other installation may use.
///
/// It connects when it is used first, and for ever, in a task of tokio. A lost notification costs
/// up to a second, as with any [`Signals`].
///
/// R463.
pub struct NatsSignals {
    shared: Arc<Shared>,
    task: Mutex<Option<AbortHandle>>,
}

impl fmt::Debug for NatsSignals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (servers, subject) = (&self.shared.servers, &self.shared.subject);
        let mut shown = f.debug_struct("NatsSignals");
        shown.field("servers", servers).field("subject", subject).finish_non_exhaustive()
    }
}

struct Shared {
    servers: NatsServers,
    subject: Subject,
    /// The id of this process: what it sends comes back to it, and is skipped.
    id: String,
    /// To send to the other processes.
    outgoing: NotificationQueue,
    /// Received from the other processes.
    incoming: NotificationQueue,
    log: ConnectionLog,
    connected: Notify,
    is_dropped: AtomicBool,
}

impl NatsSignals {
    /// Signals by these servers, on this subject.
    pub fn new(servers: NatsServers, subject: &NatsSubject) -> Self {
        let shared = Shared {
            servers,
            subject: subject.subject(),
            id: Uuid::from_bytes(random()).simple().to_string(),
            outgoing: NotificationQueue::new(AT_ONCE),
            incoming: NotificationQueue::for_received(),
            log: ConnectionLog::default(),
            connected: Notify::new(),
            is_dropped: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared), task: Mutex::default() }
    }

    /// Starts the task if it does not run already.
    fn keep(&self) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            *task = Some(runtime.spawn(run(Arc::clone(&self.shared))).abort_handle());
        }
    }
}

impl Drop for NatsSignals {
    fn drop(&mut self) {
        self.shared.is_dropped.store(true, Ordering::Release);
        if let Some(task) = self.task.get_mut().unwrap_or_else(PoisonError::into_inner) {
            task.abort();
        }
    }
}

#[async_trait]
impl Signals for NatsSignals {
    fn notify(&self, queues: &[QueueKey]) {
        self.keep();
        self.shared.outgoing.notify(queues);
    }

    async fn notified(&self) -> Option<Vec<QueueKey>> {
        self.keep();
        self.shared.incoming.take().await.into_queues()
    }
}

/// Sends and receives until it is dropped. The library connects again by itself; only an error of
/// its own ends a round.
async fn run(shared: Arc<Shared>) {
    loop {
        if let Err(error) = round(&shared).await {
            shared.log.report(Problem::Refused, &error.to_string());
        }
        sleep(LONGEST_WAIT).await;
    }
}

async fn round(shared: &Arc<Shared>) -> Result<(), async_nats::Error> {
    let options = shared.options()?;
    let client = options.connect(shared.servers.addresses.as_slice()).await?;
    let mut messages = client.subscribe(shared.subject.clone()).await?;
    let receiving = async {
        while let Some(message) = messages.next().await {
            shared.received(&message.payload);
        }
        Ok(())
    };
    tokio::select! {
        ended = receiving => ended,
        ended = shared.send(&client) => ended,
    }
}

impl Shared {
    /// How to connect. The servers are those that were named: what servers say of others is not
    /// believed, since they say it before they have shown a certificate.
    fn options(self: &Arc<Self>) -> Result<ConnectOptions, async_nats::Error> {
        let (told, asked) = (Arc::clone(self), Arc::clone(self));
        let options = ConnectOptions::new()
            .name("recado")
            .retry_on_initial_connect()
            .ignore_discovered_servers()
            .require_tls(self.servers.needs_tls)
            .tls_client_config(tls()?)
            .ping_interval(PING)
            .client_capacity(WAITING)
            .subscription_capacity(AT_ONCE)
            .reconnect_delay_callback(move |attempts| asked.wait_before(attempts))
            .event_callback(move |event| {
                told.happened(&event);
                async {}
            });
        Ok(match &self.servers.user {
            None => options,
            Some(User::Token(token)) => options.token(token.expose().to_owned()),
            Some(User::Password(user, password)) => {
                options.user_and_password(user.clone(), password.expose().to_owned())
            }
        })
    }

    fn wait_before(&self, attempts: usize) -> Duration {
        match self.is_dropped.load(Ordering::Acquire) {
            true => NEVER,
            false => wait_before(attempts),
        }
    }

    fn happened(&self, event: &Event) {
        match event {
            // The subscription was sent before whatever is sent from now on.
            Event::Connected => self.connected.notify_one(),
            // Messages were dropped.
            Event::SlowConsumer(_) => self.incoming.add(NotifiedQueues::All),
            event => {
                if let Some((kind, problem)) = Problem::of(event) {
                    self.log.report(kind, &problem);
                }
            }
        }
    }

    /// Sends what is collected, and one such after each time that it has connected.
    async fn send(&self, client: &Client) -> Result<(), async_nats::Error> {
        loop {
            let text = tokio::select! {
                () = self.connected.notified() => SUBSCRIBED.to_owned(),
                queues = self.outgoing.take() => queues.to_text(),
            };
            let message = format!("{}{text}", self.id);
            if let Err(error) = client.publish(self.subject.clone(), message.into()).await {
                // It may be larger than the server takes; the one for all queues is short.
                if text.is_empty() || text == SUBSCRIBED {
                    return Err(error.into());
                }
                self.outgoing.add(NotifiedQueues::All);
            }
            sleep(PAUSE).await;
        }
    }

    fn received(&self, message: &[u8]) {
        let (sender, text) = message.split_at_checked(ID_LENGTH).unwrap_or((&[], &[]));
        let is_subscribed = text == SUBSCRIBED.as_bytes();
        if sender != self.id.as_bytes() {
            if !is_subscribed {
                self.incoming.add(NotifiedQueues::of_text(text));
            }
        } else if is_subscribed {
            // What others sent until now may be lost.
            self.incoming.add(NotifiedQueues::All);
            self.log.works();
        }
    }
}

/// The wait before an attempt to connect. It grows with each failure in a row.
fn wait_before(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(2)).unwrap_or(u32::MAX);
    match attempts {
        0 | 1 => Duration::ZERO,
        _ => FIRST_WAIT.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST_WAIT),
    }
}

/// With the authorities of the system, or of the file that `SSL_CERT_FILE` names.
fn tls() -> Result<ClientConfig, async_nats::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    // Named, since another library of the program may have brought a second one.
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use recado_core::ids::{CompanyId, WebhookId};

    use super::*;

    fn signals() -> NatsSignals {
        let servers = "nats://ana:hunter2@127.0.0.1:1".parse().expect("an address");
        NatsSignals::new(servers, &"recado.deliveries".parse().expect("a subject"))
    }

    /// R463.
    #[tokio::test]
    async fn own_messages_are_skipped_and_the_own_subscription_means_all_queues() {
        let (one, two) = (signals(), signals());
        let key =
            QueueKey { company: CompanyId::new(Uuid::nil()), webhook: WebhookId::new(Uuid::max()) };
        let text = NotifiedQueues::These([key].into()).to_text();
        let of = |signals: &NatsSignals, text: &str| format!("{}{text}", signals.shared.id);
        one.shared.received(of(&one, &text).as_bytes());
        one.shared.received(of(&two, SUBSCRIBED).as_bytes());
        one.shared.received(of(&two, &text).as_bytes());
        assert_eq!(one.notified().await, Some(vec![key]));
        for everything in [of(&one, SUBSCRIBED), of(&two, ""), of(&two, "?"), "?".to_owned()] {
            one.shared.received(everything.as_bytes());
            assert_eq!(one.notified().await, None, "{everything}");
        }
    }

    #[test]
    fn the_waits_between_attempts_grow() {
        let waits =
            [0, 1, 2, 3, 4, 7, 8, usize::MAX].map(|attempts| wait_before(attempts).as_millis());
        assert_eq!(waits, [0, 0, 100, 200, 400, 3_200, 5_000, 5_000]);
        let signals = signals();
        let shared = Arc::clone(&signals.shared);
        assert_eq!(shared.wait_before(1), Duration::ZERO);
        drop(signals);
        assert_eq!(shared.wait_before(1), NEVER);
    }

    #[test]
    fn the_password_is_not_printed() {
        let shown = format!("{:?}", signals());
        assert!(shown.contains("127.0.0.1:1") && !shown.contains("hunter2"), "{shown}");
    }
}
