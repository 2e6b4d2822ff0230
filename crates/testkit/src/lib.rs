//! For people who write a store of their own or test their own rules on Recado.
//!
//! - [`MemoryStore`]: the model. Literal, slow, obviously right.
//! - [`conformance`]: a test for every promise of [`recado_core::store`], to be run on any store.
//! - [`clock`], [`ids`]: time and chance under control.
#![forbid(unsafe_code)]

pub mod clock;
pub mod conformance;
pub mod ids;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;

pub use clock::TestClock;
pub use ids::SeededIds;
pub use memory::MemoryStore;
