#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! What Recado needs in a running process, with tokio: the parts that the operating system
//! supplies, and the background work.
//!
//! - [`SystemClock`], [`RandomIds`], [`LocalFiles`], [`TokioTimer`], [`TokioSpawner`],
//!   [`ArgonPasswords`]: clock, ids, documents, timer, tasks and passwords, for
//! [`recado_core::Parts`].
//! - `nats`, with the feature of this name: notifications between processes by NATS.
//! - `oidc`, with the feature of this name: a provider that members sign in with.
//! - [`Background`]: everything that a process does besides answering requests (its lease, due
//!   jobs, deliveries, campaigns, recovery, upkeep), and its orderly shutdown.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod background;
mod causes;
mod clock;
mod files;
mod ids;
#[cfg(feature = "nats")]
pub mod nats;
#[cfg(feature = "oidc")]
pub mod oidc;
mod passwords;
mod spawner;
mod timer;

pub use background::{Background, BackgroundBuilder, Stopped, Stopping};
pub use causes::causes;
pub use clock::SystemClock;
pub use files::LocalFiles;
#[cfg(feature = "s3")]
pub use files::S3Files;
pub use ids::RandomIds;
pub use passwords::ArgonPasswords;
pub use spawner::TokioSpawner;
pub use timer::TokioTimer;
