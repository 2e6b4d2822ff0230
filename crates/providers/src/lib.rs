#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! Recado's gateways: each module implements [`recado_core::gateway::Provider`] for one of them and
//! has a cargo feature of its own. All features are on by default.
//!
//! | feature | gateway |
//! |---|---|
//! | `simulated` | accepts everything and calls nobody |
//! | `cloud-api` | the official cloud API of WhatsApp |
//! | `waha` | WAHA: phones paired by QR code |
//! | `evolution` | Evolution API: phones paired by QR code |
//!
//! The adapters translate and do nothing else: what is repeated, looked up, kept or refused is the
//! core's business. They log nothing, and reach the network only through the transport that each
//! call hands them.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "cloud-api")]
pub mod cloud_api;
#[cfg(feature = "evolution")]
pub mod evolution;
#[cfg(any(feature = "cloud-api", feature = "waha", feature = "evolution"))]
mod shared;
#[cfg(feature = "simulated")]
pub mod simulated;
#[cfg(feature = "waha")]
pub mod waha;
