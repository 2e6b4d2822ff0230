//! The options of the surface, its limits, and the gate of `/readyz`.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Body;
use ipnet::IpNet;
use recado_core::documents::MAX_DOCUMENT_BYTES;
use recado_core::secret::SecretText;

use crate::cells::Cells;
use crate::mount::{Mount, MountedBody};
use crate::surface::{Surface, surface};

/// Writes the metrics of the process as Prometheus text.
pub type RenderMetrics = Arc<dyn Fn() -> String + Send + Sync>;

/// Draws the text of a QR code as PNG. Clones share it.
#[derive(Clone)]
pub struct QrPainter(Arc<Draw>);

type Draw = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

impl QrPainter {
    /// A painter with this function, which returns `None` for a text that cannot be drawn.
    pub fn new(draw: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(draw))
    }

    pub(crate) fn draw(&self, text: &str) -> Option<Vec<u8>> {
        (self.0)(text)
    }
}

impl fmt::Debug for QrPainter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QrPainter")
    }
}

/// Which paths a service answers. All others are 404 there, as if they did not exist (R182).
///
/// To keep the operator API and `/metrics` from the public, make two services over the same core,
/// one with [`Paths::Public`] and one with [`Paths::Operator`], and serve each on a listener of its
/// own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// All there are.
    #[default]
    All,
    /// All but the operator API and `/metrics`.
    Public,
    /// The operator API, `/metrics`, `/healthz` and `/readyz`, and no other.
    Operator,
}

impl Paths {
    /// Whether a decoded path is among them (R182).
    pub(crate) fn include(self, path: &str) -> bool {
        let is_operators = surface(path) == Surface::Operator || path == "/metrics";
        match self {
            Self::All => true,
            Self::Public => !is_operators,
            Self::Operator => is_operators || matches!(path, "/healthz" | "/readyz"),
        }
    }
}

/// The options of the HTTP surface.
#[derive(Clone, Default)]
pub struct HttpOptions {
    /// Which paths are answered.
    pub paths: Paths,
    /// The operator's token; without one (or with an empty one) the operator API answers 404.
    pub operator_token: Option<SecretText>,
    /// Writes the answer of `/metrics`; without it that path is 404.
    pub metrics: Option<RenderMetrics>,
    /// The gate of `/readyz`. Keep a clone and close it when shutdown begins.
    pub readiness: Readiness,
    /// Proxies whose `X-Forwarded-For` is trusted: behind them, clients are counted by it (D13,
    /// R181). Needs the peer's address, see [`PeerAddress`](crate::PeerAddress).
    pub trusted_proxies: Vec<IpNet>,
    /// Draws pairing codes if the gateway makes no picture; without it there is none then.
    pub qr_painter: Option<QrPainter>,
    /// Limits on requests.
    pub limits: Limits,
    /// Where the other cells of the installation answer (R460).
    pub cells: Cells,
    /// Services of the program, see [`HttpOptions::mounted`].
    pub mounts: Vec<Mount>,
}

impl HttpOptions {
    /// R418. Mounts a service of the program: it gets every path that is the prefix or below it,
    /// except where [`Paths::Operator`] is answered alone. The request has the client's
    /// [`ClientNet`](recado_core::access::ClientNet) as an extension, as trusted proxies name it.
    /// Limits of connections, the request's id, the log, metrics and what follows a panic are as
    /// for all other paths. `GET /` leads to the first that is mounted.
    #[must_use]
    pub fn mounted<S, B>(mut self, prefix: &'static str, service: S) -> Self
    where
        S: hyper::service::Service<
                Request<MountedBody>,
                Response = Response<B>,
                Error = Infallible,
            > + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: fmt::Display,
    {
        self.mounts.push(Mount::new(prefix, service));
        self
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("paths", &self.paths)
            .field("operator_token", &self.operator_token)
            .field("metrics", &self.metrics.is_some())
            .field("readiness", &self.readiness)
            .field("trusted_proxies", &self.trusted_proxies)
            .field("qr_painter", &self.qr_painter)
            .field("limits", &self.limits)
            .field("cells", &self.cells)
            .field("mounts", &self.mounts)
            .finish()
    }
}

/// Limits on what is read of one request.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a body under `/api/v1` (D5).
    pub public_body: usize,
    /// Bytes of a JSON body of the operator API (D70).
    pub operator_body: usize,
    /// Bytes of a document (D70).
    pub document: usize,
    /// Bytes of all bodies of gateways' calls together, beyond the first 64 KiB of each. One body
    /// at a time may exceed it. When it is used up, those who hold much give way (R183). A body
    /// waits at most 5 seconds for memory.
    pub gateway_bodies: usize,
    /// How many bodies with files to be sent are read at once (R352); others wait, at most 5
    /// seconds.
    pub file_bodies: usize,
    /// How long a JSON body may take to arrive, and how long a body with a file may pause.
    pub body_timeout: Duration,
    /// How long a document may take to arrive.
    pub document_timeout: Duration,
    /// How long the store may take to say that it is ready.
    pub ready_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            public_body: 1024 * 1024,
            operator_body: 16 * 1024 * 1024,
            document: MAX_DOCUMENT_BYTES,
            gateway_bodies: 64 * 1024 * 1024,
            file_bodies: 64,
            body_timeout: Duration::from_secs(30),
            document_timeout: Duration::from_secs(120),
            ready_timeout: Duration::from_secs(2),
        }
    }
}

/// Whether the process accepts traffic. Clones share one gate; it is open at first and closes once.
#[derive(Clone, Debug)]
pub struct Readiness(Arc<AtomicBool>);

impl Default for Readiness {
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

impl Readiness {
    /// An open gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Closes the gate: from now on `/readyz` answers 503.
    pub fn close(&self) {
        self.0.store(false, Ordering::Release);
    }

    /// Whether the gate is open.
    pub fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R182.
    #[test]
    fn the_operators_paths_are_apart_from_all_others() {
        for path in ["/operator", "/operator/v1/companies", "/operator/x", "/metrics"] {
            assert!(Paths::Operator.include(path) && !Paths::Public.include(path), "{path}");
        }
        for path in [
            "/",
            "/api/v1/contacts",
            "/api/webhooks/incoming/x",
            "/l/x",
            "/media/x/y/z",
            "/api/openapi.json",
            "/docs",
            "/docs/reference.js",
            "/operators",
            "/metrics/",
            "/healthz/",
        ] {
            assert!(!Paths::Operator.include(path) && Paths::Public.include(path), "{path}");
        }
        for path in ["/healthz", "/readyz"] {
            assert!(Paths::Operator.include(path) && Paths::Public.include(path), "{path}");
        }
        assert!(Paths::default().include("/metrics") && Paths::default().include("/l/x"));
    }
}
