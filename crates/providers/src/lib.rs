//! Recado's gateways: each module implements [`recado_core::gateway::Provider`] for one of them and
//! has a cargo feature of its own.
//!
//! | feature | gateway |
//! |---|---|
//! | `simulated` (default) | accepts everything and calls nobody |
#![forbid(unsafe_code)]

#[cfg(feature = "simulated")]
pub mod simulated;
