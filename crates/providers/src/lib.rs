#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! Recado's gateways: each module implements [`recado_core::gateway::Provider`] for one of them and
//! has a cargo feature of its own. All features are on by default.
//!
//! | feature | gateway |
//! |---|---|
//! | `simulated` | accepts everything and calls no server |
//! | `cloud-api` | the official cloud API of WhatsApp |
//! | `waha` | WAHA: phones paired by QR code |
//! | `evolution` | Evolution API: phones paired by QR code |
//!
//! The adapters only translate: the core decides what is repeated, searched, stored or refused.
//! They log nothing, and use the network only through the transport that each call gets.
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
