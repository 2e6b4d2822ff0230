//! Opens connections: every one of the process, for the pool and for notifications, is opened here
//! (R245).

use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::lookup_host;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Error, NoTls, SimpleQueryMessage, config,
};

use crate::conninfo::{Address, Host, ParameterError, SessionAttrs, SslMode, Target};

/// Where the server stands: a standby replays what a primary wrote.
const STANDING: &str = "SELECT pg_catalog.pg_is_in_recovery(), \
                        pg_catalog.current_setting('transaction_read_only')";

/// How long a host may be silent until the next one is tried beside it, where each has to say that
/// it is of the wanted kind (R247).
const SILENT: Duration = Duration::from_millis(300);

/// Why no connection was opened. Names the hosts, and the parameter where one is at fault.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct ConnectError {
    text: String,
    /// What the server answered last, if it answered.
    code: Option<SqlState>,
}

impl ConnectError {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: None }
    }

    /// What the server answered last, if it answered.
    pub(crate) fn into_code(self) -> Option<SqlState> {
        self.code
    }

    /// Whether the server knows no database of that name.
    pub fn is_unknown_database(&self) -> bool {
        self.code == Some(SqlState::INVALID_CATALOG_NAME)
    }
}

impl From<&Error> for ConnectError {
    fn from(error: &Error) -> Self {
        Self { text: describe(error), code: error.code().cloned() }
    }
}

impl From<Error> for ConnectError {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

/// What the server tells of its own accord; polling it drives the connection.
pub(crate) trait PollMessages {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>>;
}

impl<S, T> PollMessages for Connection<S, T>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>> {
        Connection::poll_message(self, cx)
    }
}

pub(crate) type Messages = Box<dyn PollMessages + Send>;
type Opened = (Client, Messages);
/// The future of a connection: large, so callers hold a pointer to it.
type Opening<'a> = Pin<Box<dyn Future<Output = Result<Opened, ConnectError>> + Send + 'a>>;

/// Drives a connection until it ends, or until `work` is done.
async fn driven<T>(
    messages: &mut Messages,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, ConnectError> {
    let ended = poll_fn(|cx| {
        loop {
            match ready!(messages.poll_message(cx)) {
                Some(Ok(_)) => {}
                Some(Err(error)) => return Poll::Ready(ConnectError::from(error)),
                None => return Poll::Ready(ConnectError::new("the server closed it".to_owned())),
            }
        }
    });
    tokio::select! {
        done = work => Ok(done?),
        ended = ended => Err(ended),
    }
}

/// A failed attempt; `ends` says that no other host is tried.
struct Failure {
    error: ConnectError,
    ends: bool,
}

/// An encrypted or a plain attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wire {
    Plain,
    /// Encrypted if the server can.
    #[cfg(feature = "tls")]
    Preferred,
    #[cfg(feature = "tls")]
    Encrypted,
}

/// Opens connections to a database.
#[derive(Clone)]
pub(crate) struct Connector {
    target: Arc<Target>,
    /// How long one attempt may take.
    timeout: Duration,
    #[cfg(feature = "tls")]
    tls: Option<tokio_postgres_rustls::MakeRustlsConnect>,
    /// The host that answered last.
    last: Arc<AtomicUsize>,
}

impl Connector {
    /// Reads the certificates of a target.
    pub(crate) fn new(target: Target, timeout: Duration) -> Result<Self, ParameterError> {
        #[cfg(not(feature = "tls"))]
        if !matches!(target.mode, SslMode::Disable | SslMode::Allow | SslMode::Prefer) {
            return Err(ParameterError::Unsupported {
                name: "sslmode",
                origin: crate::conninfo::Origin::Text,
                why: "needs a build with the feature `tls`",
            });
        }
        Ok(Self {
            #[cfg(feature = "tls")]
            tls: crate::tls::connector(&target)?,
            timeout: target.timeout.unwrap_or(timeout),
            target: Arc::new(target),
            last: Arc::default(),
        })
    }

    /// Opens a connection to the first host that answers and is of the wanted kind.
    pub(crate) fn open(&self) -> Opening<'_> {
        Box::pin(self.first_that_will_do())
    }

    async fn first_that_will_do(&self) -> Result<Opened, ConnectError> {
        let order = self.order();
        let wanted: &[SessionAttrs] = match self.target.session {
            SessionAttrs::PreferStandby => &[SessionAttrs::Standby, SessionAttrs::Any],
            _ => std::slice::from_ref(&self.target.session),
        };
        let (mut failures, mut code): (Vec<String>, _) = (Vec::new(), None);
        for wanted in wanted {
            let mut hosts = order.iter();
            let mut attempts = FuturesUnordered::new();
            loop {
                match hosts.next() {
                    Some(at) => attempts.push(self.attempt(*at, *wanted)),
                    None if attempts.is_empty() => break,
                    None => {}
                }
                let may_be_passed = *wanted != SessionAttrs::Any && hosts.len() > 0;
                let patience = if may_be_passed { SILENT } else { Duration::MAX };
                let Ok(Some((host, result))) = timeout(patience, attempts.next()).await else {
                    continue;
                };
                match result {
                    Ok(opened) => return Ok(opened),
                    Err(failure) => {
                        let text =
                            format!("{} port {}: {}", host.name, host.port, failure.error.text);
                        if !failures.contains(&text) {
                            failures.push(text);
                        }
                        code = failure.error.code.clone().or(code);
                        if failure.ends {
                            let text = failures.join("; ");
                            return Err(ConnectError { text, ..failure.error });
                        }
                    }
                }
            }
        }
        Err(ConnectError { text: failures.join("; "), code })
    }

    /// Tries a host, and remembers it if it answers.
    async fn attempt(&self, at: usize, wanted: SessionAttrs) -> (&Host, Result<Opened, Failure>) {
        let host = &self.target.hosts[at];
        let result = self.host(host, wanted).await;
        if result.is_ok() {
            self.last.store(at, Ordering::Relaxed);
        }
        (host, result)
    }

    /// Waits as long as an attempt may take.
    pub(crate) async fn in_time<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, ConnectError> {
        timeout(self.timeout, work).await.map_err(|_| self.late())
    }

    fn late(&self) -> ConnectError {
        ConnectError::new(format!("no answer within {} s", self.timeout.as_secs_f32()))
    }

    /// Whether hosts are chosen by chance.
    pub(crate) fn is_balanced(&self) -> bool {
        self.target.balance
    }

    /// The order in which hosts are tried: as they were named, after the one that answered last, so
    /// that a host that is silent does not delay each connection (R247); or by chance.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.target.hosts.len()).collect();
        if self.target.balance {
            let chance = RandomState::new();
            order.sort_by_key(|at| chance.hash_one(at));
        } else {
            let last = self.last.load(Ordering::Relaxed);
            order.sort_by_key(|at| *at != last);
        }
        order
    }

    /// Tries the addresses of a host.
    async fn host(&self, host: &Host, wanted: SessionAttrs) -> Result<Opened, Failure> {
        let goes_on = |text: String| Failure { error: ConnectError::new(text), ends: false };
        let addresses: Vec<Route> = match &host.address {
            Address::Socket(folder) => vec![Route::Socket(folder.clone())],
            Address::Ip(ip) => vec![Route::Ip(*ip)],
            Address::Name(name) => {
                let found = self.in_time(lookup_host((name.as_str(), host.port))).await;
                let found = found.map_err(|error| Failure { error, ends: false })?;
                let found = found.map_err(|error| goes_on(error.to_string()))?;
                found.map(|address| Route::Ip(address.ip())).collect()
            }
        };
        let mut last = goes_on("its name has no address".to_owned());
        for route in addresses {
            match self.in_time(self.route(host, &route, wanted)).await {
                Ok(Ok(opened)) => return Ok(opened),
                Ok(Err(failure)) if failure.ends => return Err(failure),
                Ok(Err(failure)) => last = failure,
                Err(error) => last = Failure { error, ends: false },
            }
        }
        Err(last)
    }

    /// Tries an address, encrypted or not as `sslmode` says.
    async fn route(
        &self,
        host: &Host,
        route: &Route,
        wanted: SessionAttrs,
    ) -> Result<Opened, Failure> {
        let mut config = self.target.config.clone();
        config.port(host.port);
        match route {
            Route::Socket(folder) => config.host(folder.to_string_lossy()),
            Route::Ip(ip) => config.host(&host.name).hostaddr(*ip),
        };
        if let Some(password) = &host.password {
            config.password(password);
        }
        let wires = self.wires(route);
        let mut errors: Vec<Failure> = Vec::new();
        for wire in wires {
            match self.wire(&config, *wire).await {
                Ok(opened) => return self.checked(opened, wanted).await,
                Err(error) => {
                    let goes_on = may_differ(&error);
                    errors.push(self.failure(&error));
                    if !goes_on {
                        break;
                    }
                }
            }
        }
        Err(merged(errors))
    }

    /// The ways to try in turn.
    fn wires(&self, route: &Route) -> &'static [Wire] {
        if matches!(route, Route::Socket(_)) {
            return &[Wire::Plain];
        }
        #[cfg(feature = "tls")]
        match self.target.mode {
            SslMode::Disable => &[Wire::Plain],
            SslMode::Allow => &[Wire::Plain, Wire::Encrypted],
            SslMode::Prefer => &[Wire::Preferred, Wire::Plain],
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => &[Wire::Encrypted],
        }
        #[cfg(not(feature = "tls"))]
        &[Wire::Plain]
    }

    async fn wire(&self, config: &Config, wire: Wire) -> Result<Opened, Error> {
        let mut config = config.clone();
        config.ssl_mode(match wire {
            Wire::Plain => config::SslMode::Disable,
            #[cfg(feature = "tls")]
            Wire::Preferred => config::SslMode::Prefer,
            #[cfg(feature = "tls")]
            Wire::Encrypted => config::SslMode::Require,
        });
        #[cfg(feature = "tls")]
        if let (true, Some(tls)) = (wire != Wire::Plain, &self.tls) {
            let (client, connection) = config.connect(tls.clone()).await?;
            return Ok((client, Box::new(connection)));
        }
        let (client, connection) = config.connect(NoTls).await?;
        Ok((client, Box::new(connection)))
    }

    /// The connection, if the server is of the wanted kind.
    async fn checked(&self, opened: Opened, wanted: SessionAttrs) -> Result<Opened, Failure> {
        if wanted == SessionAttrs::Any {
            return Ok(opened);
        }
        let (client, mut messages) = opened;
        let goes_on = |error| Failure { error, ends: false };
        let rows = driven(&mut messages, client.simple_query(STANDING)).await.map_err(goes_on)?;
        let row = rows.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some((row.get(0)?, row.get(1)?)),
            _ => None,
        });
        let Some((standby, read_only)) = row else {
            return Err(goes_on(ConnectError::new("it does not say where it stands".to_owned())));
        };
        let (standby, read_only) = (standby == "t", read_only == "on");
        match unlike(wanted, standby, read_only) {
            None => Ok((client, messages)),
            Some(why) => Err(goes_on(ConnectError::new(format!("{why} (target_session_attrs)")))),
        }
    }

    /// What an error means. As for libpq, a refusal by the server or of its certificate ends it,
    /// and other hosts are tried where one is not there or not ready.
    fn failure(&self, error: &Error) -> Failure {
        let is_tls = is_tls(error);
        let ends =
            error.as_db_error().map_or(is_tls, |db| *db.code() != SqlState::CANNOT_CONNECT_NOW);
        let at_fault = match self.target.mode {
            SslMode::VerifyFull if is_tls => " (sslmode=verify-full, sslrootcert)",
            SslMode::VerifyCa if is_tls => " (sslmode=verify-ca, sslrootcert)",
            SslMode::Require if is_tls => " (sslmode=require)",
            _ => "",
        };
        let text = format!("{}{at_fault}", describe(error));
        Failure { error: ConnectError { text, ..ConnectError::from(error) }, ends }
    }
}

/// Whether the other way, encrypted or not, may end otherwise: if the server refuses who comes by
/// this one, or where encrypting failed.
fn may_differ(error: &Error) -> bool {
    error.as_db_error().is_none_or(|db| db.code().code().starts_with("28"))
}

/// The failure of a host that was tried in several ways.
fn merged(failures: Vec<Failure>) -> Failure {
    let ends = failures.last().is_none_or(|last| last.ends);
    let code = failures.last().and_then(|last| last.error.code.clone());
    let mut texts: Vec<String> = Vec::new();
    for failure in failures {
        if !texts.contains(&failure.error.text) {
            texts.push(failure.error.text);
        }
    }
    Failure { error: ConnectError { text: texts.join("; tried otherwise: "), code }, ends }
}

/// What a server is, if that is not what is wanted.
fn unlike(wanted: SessionAttrs, standby: bool, read_only: bool) -> Option<&'static str> {
    match wanted {
        SessionAttrs::ReadWrite if read_only => Some("it is read-only, read-write is wanted"),
        SessionAttrs::ReadOnly if !read_only => Some("it is read-write, read-only is wanted"),
        SessionAttrs::Primary if standby => Some("it is a standby, a primary is wanted"),
        SessionAttrs::Standby if !standby => Some("it is a primary, a standby is wanted"),
        _ => None,
    }
}

/// Whether encrypting failed, or the server cannot.
fn is_tls(error: &Error) -> bool {
    error.to_string().starts_with("error performing TLS handshake")
}

/// The error with its causes. The server's `DETAIL` is left out, because it may quote rows.
fn describe(error: &Error) -> String {
    if let Some(db) = error.as_db_error() {
        return format!("{} ({})", db.message(), db.code().code());
    }
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        let shown = cause.to_string();
        if !text.ends_with(&shown) {
            text = format!("{text}: {shown}");
        }
        next = cause.source();
    }
    text
}

/// How an address is reached.
enum Route {
    Socket(PathBuf),
    Ip(IpAddr),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R247.
    #[test]
    fn a_server_is_what_is_wanted_or_says_what_it_is() {
        use SessionAttrs::{Any, Primary, ReadOnly, ReadWrite, Standby};
        // Wanted, and whether a primary, a primary that is set to be read-only, and a standby do.
        for (wanted, fits) in [
            (Any, [true, true, true]),
            (ReadWrite, [true, false, false]),
            (ReadOnly, [false, true, true]),
            (Primary, [true, true, false]),
            (Standby, [false, false, true]),
        ] {
            let servers = [(false, false), (false, true), (true, true)];
            let found = servers.map(|(standby, only)| unlike(wanted, standby, only).is_none());
            assert_eq!(found, fits, "{wanted:?}");
        }
    }
}
