//! What all requests share.

use std::net::IpAddr;
use std::sync::OnceLock;

use bytes::Bytes;
use recado_core::audit::{Acting, Actor, OperationName};
use recado_core::{Installation, Recado};
use tokio::sync::watch;

use crate::budget::MemoryBudget;
use crate::exports::Exports;
use crate::file_body::FileBodies;
use crate::forwarding::Forwarder;
use crate::known_operators::KnownOperators;
use crate::logging::RequestLog;
use crate::options::HttpOptions;
use crate::readers::Readers;

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) installation: Installation,
    pub(crate) options: HttpOptions,
    /// The memory for the large bodies of gateways' calls.
    pub(crate) budget: MemoryBudget,
    /// The bodies with files that are being read.
    pub(crate) file_bodies: FileBodies,
    /// Who is reading files by links.
    pub(crate) readers: Readers,
    /// The exports of contacts that are being made.
    pub(crate) exports: Exports,
    /// The OpenAPI document, made at its first request.
    pub(crate) document: OnceLock<Bytes>,
    /// The lines of requests.
    pub(crate) log: RequestLog,
    /// Who has shown the operator's token.
    pub(crate) operators: KnownOperators,
    /// Hands calls on to other cells.
    pub(crate) forwarder: Forwarder,
    /// Every write under way holds a receiver.
    pub(crate) writes: watch::Sender<()>,
}

impl Shared {
    /// The handle for a call from outside that shows neither a key nor an operator's token.
    pub(crate) fn outside(&self, operation: OperationName, from: IpAddr) -> Recado {
        self.installation.by(Acting::new(Actor::Outside, operation, Some(from)))
    }
}
