//! Starting a server: store, core, HTTP surface and background loops, wired from [`Options`].

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use recado_core::documents::Files;
use recado_core::store::Store;
use recado_core::transport::Transport;
use recado_core::{Clock, Ids, Recado};

use crate::options::Options;

/// Puts something else around a store.
pub type WrapStore = Box<dyn FnOnce(Arc<dyn Store>) -> Arc<dyn Store> + Send>;

/// Parts that tests replace; `None` takes what the options say.
#[derive(Default)]
pub struct Overrides {
    /// The time.
    pub clock: Option<Arc<dyn Clock>>,
    /// Ids and secrets.
    pub ids: Option<Arc<dyn Ids>>,
    /// The bytes of documents.
    pub files: Option<Arc<dyn Files>>,
    /// Calls to the outside.
    pub transport: Option<Arc<dyn Transport>>,
    /// Wraps the store that was opened, for failures and pauses.
    pub wrap_store: Option<WrapStore>,
    /// Leaves out the background loops, for tests that take their steps themselves.
    pub no_background: bool,
}

impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overrides")
            .field("no_background", &self.no_background)
            .finish_non_exhaustive()
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The options are wrong.
    #[error(transparent)]
    Config(#[from] crate::ConfigError),
    /// The database cannot be opened or migrated.
    #[error("the database cannot be used: {0}")]
    Store(#[from] recado_core::store::StoreError),
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}: {error}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// Why not.
        error: std::io::Error,
    },
}

/// A server that runs in this process.
#[derive(Debug)]
pub struct Running {
    /// The address it listens on.
    pub addr: SocketAddr,
    /// The core, for calls without HTTP.
    pub recado: Recado,
}

impl Running {
    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Stops gracefully: readiness turns 503, no more connections, what is in flight is finished
    /// within 30 seconds, and so are the background loops.
    pub async fn stop(self) {}
}

/// Starts a server: opens the store, migrates it unless told not to, listens, and spawns the
/// background loops on the current runtime.
///
/// # Errors
///
/// [`StartError`].
pub async fn start(_options: Options, _overrides: Overrides) -> Result<Running, StartError> {
    Err(StartError::Config(crate::ConfigError(vec!["not wired yet".to_owned()])))
}

/// The address that links begin with: the configured one, else the one listened on, where
/// "anywhere" counts as this machine.
pub(crate) fn public_url(options: &Options, bound: SocketAddr) -> String {
    if let Some(url) = &options.public_url {
        return url.clone();
    }
    let mut addr = bound;
    if addr.ip().is_unspecified() {
        addr.set_ip(match addr {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{addr}")
}
