//! The conformance suite: one test for every promise of [`recado_core::store`]. It runs on any
//! store.
//!
//! Implement [`Harness`] for your store, then write in a test file of its crate
//!
//! ```no_run
//! use recado_testkit::MemoryStore;
//!
//! /// A database that nothing else uses: here the model, which is a harness of itself.
//! async fn fresh() -> MemoryStore {
//!     MemoryStore::new()
//! }
//!
//! recado_testkit::conformance_suite!(fresh);
//! # fn main() {}
//! ```
//!
//! Each promise becomes a test of its own, so that the name of a failing test shows the store and
//! the promise. A store that is being written can run some topics only: `conformance_suite!(fresh,
//! topics: [commits])`. The tests use `#[tokio::test]`: the crate needs `tokio` with `macros` and
//! `rt-multi-thread`.

mod about_contacts;
pub mod access;
pub mod accounts;
pub mod activity;
pub mod audit;
mod call_site;
mod campaign_scene;
pub mod campaigns;
pub mod cascades;
pub mod channel_cascades;
pub mod channel_keys;
pub mod channel_references;
pub mod channel_rows;
mod channel_scene;
pub mod commits;
pub mod connections;
pub mod contacts_draft;
pub mod contacts_export;
pub mod contacts_filters;
pub mod contacts_listing;
pub mod contacts_search;
pub mod contacts_totals;
pub mod conversations;
pub mod deals;
pub mod deliveries_due;
pub mod deliveries_listing;
pub mod dispatches;
pub mod documents;
pub mod enrollment;
pub mod figures;
pub mod forgotten;
pub mod halts;
pub mod inbound_rows;
pub mod jobs;
pub mod journal;
#[cfg(feature = "proptest")]
pub mod limiter;
pub mod links;
pub mod lists;
pub mod message_rows;
pub mod messages;
pub mod messages_listing;
pub mod messages_search;
pub mod outbound_rows;
mod outbound_scene;
pub mod outbox;
pub mod portions;
pub mod preconditions;
pub mod prosas;
pub mod races;
pub mod reassign;
pub mod reassign_duplicates;
pub mod recipients;
pub mod references;
pub mod removal;
pub mod routed;
pub mod rows;
mod scene;
mod suite;
mod topics;
pub mod unique_keys;
pub mod unknown_events;
pub mod upkeep;

use std::sync::Arc;

use async_trait::async_trait;
use recado_core::access::Limiter;
use recado_core::events::Event;
use recado_core::ids::CompanyId;
use recado_core::store::Store;

/// A database that no other test uses. It is empty when the test begins.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The database.
    async fn store(&self) -> Arc<dyn Store>;

    /// A second handle on the same database, like that of another process; `None` if the store
    /// cannot have one.
    async fn second(&self) -> Option<Arc<dyn Store>>;

    /// All events of a company, in the order of their commits.
    async fn events(&self, company: CompanyId) -> Vec<Event>;
}

/// The state of rate limits that no other test uses.
#[async_trait]
pub trait LimiterHarness: Send + Sync {
    /// The limiter.
    async fn limiter(&self) -> Arc<dyn Limiter>;

    /// A second limiter on the same state, like that of another process; `None` if there cannot be
    /// one.
    async fn second(&self) -> Option<Arc<dyn Limiter>>;
}
