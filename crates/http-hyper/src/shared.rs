//! What all requests share.

use recado_core::Recado;
use tokio::sync::watch;

use crate::budget::MemoryBudget;
use crate::options::HttpOptions;

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) recado: Recado,
    pub(crate) options: HttpOptions,
    /// What the large bodies of gateways' calls may take.
    pub(crate) budget: MemoryBudget,
    /// Makes the OpenAPI document, which names the path that serves it.
    pub(crate) document: fn() -> String,
    /// Every write under way holds a receiver.
    pub(crate) writes: watch::Sender<()>,
}
