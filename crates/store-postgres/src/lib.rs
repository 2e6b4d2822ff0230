#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! Recado's store on Postgres, for several processes on one database and for large data.
//!
//! # Design
//!
//! - A commit is one pipelined transaction: `BEGIN`, locks in a fixed order, preconditions, writes,
//!   events and `COMMIT` are sent at once and answered in one round trip. A statement that does not
//!   find the row that the decision relied on makes the transaction fail.
//! - Campaigns and connections, which very many commits rely on at the same time, are protected by
//!   advisory locks whose waiters queue: pausing a campaign waits for the commits under way, but
//!   not for later ones.
//! - A read is one statement, or several in one snapshot; in both cases it takes one round trip.
//! - Contacts are counted by the combination of the values that listings filter by. Writers append
//!   differences; [`Upkeep`](recado_core::store::Upkeep) adds them to the counts. A total never
//!   scans contacts. Messages are counted in the same way; only totals of one contact, or between
//!   two times, are counted in an index.
//! - No index has the columns that a status report changes in a message, or that a newer message
//!   changes in a conversation.
//! - Searches use an index of the trigrams of the core's search text. They find exactly what
//!   [`SearchQuery`](recado_core::contacts::SearchQuery) finds. No extension is needed.
//! - Statements are prepared and kept by connection. A connection pooler between store and server
//!   must be in session mode; [`PostgresStore::connect`] refuses one that is not.
//! - The engine has to be Postgres, or to behave as it does: advisory locks of transactions that
//!   all connections share, triggers on statements with transition tables, `SKIP LOCKED`, and
//!   `LISTEN` with `NOTIFY` unless other [`Signals`](recado_core::deliveries::Signals) are used.
//!   [`PostgresStore::migrate`] tries all but the last, and refuses an engine that lacks one.
//! - Data is as durable as the server's `synchronous_commit` makes it; leave that on.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod access;
mod accounts;
mod activity;
mod campaigns;
mod channel_lookup;
mod columns;
mod commit;
mod commit_changes;
mod commit_entry;
mod commit_group;
mod commit_locks;
mod commit_merge;
mod commit_stale;
#[cfg(test)]
mod commit_tests;
mod connections;
mod connector;
mod conninfo;
mod contacts;
mod contacts_draft;
mod contacts_listing;
mod contacts_record;
mod contacts_search;
mod contacts_slice;
mod contacts_write;
mod conversations;
mod custom_fields;
mod deals;
mod deliveries;
mod deliveries_batch;
mod deliveries_due;
mod dispatches;
mod documents;
mod empty;
mod error;
mod events;
mod failover;
mod figures;
mod gathered;
mod groups;
mod inbound;
mod jobs;
mod lanes;
mod limiter;
mod links;
mod lists;
mod message_refs;
mod messages;
mod messages_listing;
mod messages_search;
mod messages_write;
mod migrate;
mod outbox;
mod param;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod plans_campaigns;
#[cfg(test)]
mod plans_deliveries;
#[cfg(test)]
mod plans_gateways;
#[cfg(test)]
mod plans_messages;
#[cfg(test)]
mod plans_people;
#[cfg(test)]
mod plans_search;
mod pool;
mod pool_use;
mod poolers;
mod portions;
mod prosas;
mod reassign;
mod recipients;
mod records;
mod row_lookups;
mod sealing;
mod session;
mod shards;
mod shared_calls;
mod signals;
mod standby;
mod table;
mod table_key;
mod templates;
#[cfg(feature = "tls")]
mod tls;
mod transfer;
mod unknown_events;
mod upkeep;
mod webhooks;

pub use connector::ConnectError;
pub use conninfo::{ConnectionParameters, Origin, ParameterError};
pub use limiter::PostgresLimiter;
pub use migrate::{EngineFeature, MigrateError};
pub use pool::{Options, PostgresStore};
pub use pool_use::PoolUse;
pub use recado_store_sql::{
    KeyFileError, MigrationPlan, MissingKeys, PlannedMigration, PlannedTable, SealedCounts, Sealer,
    SealingKey, SealingKeyId, TableWork,
};
