#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! What Recado needs of a running process, over tokio: the parts that every program takes from its
//! system, and the work beside answering.
//!
//! - [`SystemClock`], [`RandomIds`], [`LocalFiles`], [`TokioTimer`], [`TokioSpawner`]: the system's
//!   time, ids, folder, waiting and tasks, as [`recado_core::Parts`] wants them.
//! - [`Background`]: everything that a process does beside answering (its lease, due jobs,
//!   deliveries, campaigns, recovery, upkeep), and its orderly end.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod background;
mod causes;
mod clock;
mod files;
mod ids;
mod spawner;
mod timer;

pub use background::{Background, BackgroundBuilder, Stopped, Stopping};
pub use causes::causes;
pub use clock::SystemClock;
pub use files::LocalFiles;
#[cfg(feature = "s3")]
pub use files::S3Files;
pub use ids::RandomIds;
pub use spawner::TokioSpawner;
pub use timer::TokioTimer;
