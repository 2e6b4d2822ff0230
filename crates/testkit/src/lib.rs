#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! For people who write a store of their own or test their own rules on Recado.
//!
//! - [`MemoryStore`]: the model. Literal, slow, obviously right.
//! - [`conformance`]: a test for every promise of [`recado_core::store`], to be run on any store.
//! - [`provider_conformance`]: a test for every promise of a
//!   [`Provider`](recado_core::gateway::Provider), to be run on any adapter.
//! - [`differential`]: the same random commands to a store and to the model.
//! - [`Kit`]: a whole [`recado_core::Recado`] on any store, with time ([`TestClock`]), chance
//!   ([`SeededIds`]), documents ([`MemoryFiles`]) and the outside world
//!   ([`ScriptedTransport`], [`ScriptedProvider`]) under control, and work that ends with whoever
//!   waits for it ([`AttachedSpawner`]); [`FaultyStore`] and [`FaultyFiles`] fail on demand.
//! - [`gateways`]: fakes of the gateways that are as strict as the real ones.
//! - [`property!`], with the feature `proptest`: properties whose bodies are async, over the values of
//!   `recado_core::strategies`.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod clock;
pub mod conformance;
pub mod descriptions;
#[cfg(feature = "proptest")]
pub mod differential;
pub mod files;
pub mod gateways;
pub mod ids;
pub mod kit;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "proptest")]
pub mod property;
pub mod provider;
pub mod provider_conformance;
pub mod spawner;
pub mod store;
mod talk;
pub mod transport;

pub use clock::TestClock;
pub use files::{FailureAt, FaultyFiles, FileOp, MemoryFiles};
pub use ids::SeededIds;
pub use kit::Kit;
pub use memory::MemoryStore;
pub use provider::ScriptedProvider;
pub use spawner::AttachedSpawner;
pub use store::{FaultyStore, StoreFailure, StoreOp};
pub use transport::{ScriptedReceiver, ScriptedTransport};
