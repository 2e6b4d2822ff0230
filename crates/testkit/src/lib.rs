#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! Tools for developers who write a store or a provider, or who test their own rules on Recado.
//!
//! - [`MemoryStore`]: the model. A literal, slow implementation that is easy to check.
//! - [`conformance`]: a test for every promise of [`recado_core::store`]. It runs on any store.
//! - [`provider_conformance`]: a test for every promise of a
//!   [`Provider`](recado_core::gateway::Provider). It runs on any adapter.
//! - [`differential`]: runs the same random commands on a store and on the model.
//! - [`phone_forms`]: every form in which a channel writes a number, on any store.
//! - [`Kit`]: a complete [`recado_core::Recado`] on any store. Tests control time ([`TestClock`]),
//!   ids ([`SeededIds`]), documents ([`MemoryFiles`]), outbound requests ([`ScriptedTransport`])
//!   and gateways ([`ScriptedProvider`]). Background work runs within the future that waits for it
//!   ([`AttachedSpawner`]). [`FaultyStore`] and [`FaultyFiles`] fail on demand.
//! - [`contents`]: a message of each kind.
//! - [`gateways`]: fakes of the gateways that are as strict as the real ones.
//! - [`bucket`]: as much of S3 as documents need.
//! - [`property!`], with the feature `proptest`: properties with async bodies, over the values of
//!   `recado_core::strategies`.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bucket;
pub mod clock;
pub mod conformance;
pub mod contents;
pub mod descriptions;
#[cfg(feature = "proptest")]
pub mod differential;
pub mod files;
pub mod gateways;
/// The guides of the repository. Their code is compiled and run by its tests.
#[cfg(all(doc, not(doctest)))]
pub mod guide {
    #[doc = include_str!("../guides/testing-your-rules.md")]
    pub mod testing_your_rules {}
    #[doc = include_str!("../guides/writing-a-provider.md")]
    pub mod writing_a_provider {}
    #[doc = include_str!("../guides/writing-a-store.md")]
    pub mod writing_a_store {}
}
pub mod ids;
pub mod kit;
mod kit_messages;
pub mod memory;
#[cfg(feature = "nats")]
pub mod nats;
pub mod passwords;
#[cfg(feature = "proptest")]
pub mod phone_forms;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "proptest")]
pub mod property;
pub mod provider;
pub mod provider_conformance;
pub mod spawner;
pub mod store;
pub mod transport;

pub use clock::TestClock;
pub use files::{FailureAt, FaultyFiles, FileOp, MemoryFiles};
pub use ids::SeededIds;
pub use kit::Kit;
pub use memory::MemoryStore;
pub use passwords::TestPasswords;
pub use provider::ScriptedProvider;
pub use spawner::AttachedSpawner;
pub use store::{FaultyStore, StoreFailure, StoreOp};
pub use transport::{ScriptedReceiver, ScriptedTransport};
