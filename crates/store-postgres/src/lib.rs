#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! Recado's store on Postgres, for several processes on one database and for large data.
//!
//! # Design
//!
//! - A commit is one pipelined transaction: `BEGIN`, locks in a fixed order, preconditions, writes,
//!   events, `COMMIT`, sent at once and answered in one round trip. A statement that does not find
//!   the row it was decided on fails the transaction by itself.
//! - What very many commits rely on at a time, campaigns and connections, is held by locks that
//!   queue: a pause waits for the turns under way, and for no later ones.
//! - Every read is one statement, or several in one snapshot, also one round trip.
//! - Contacts are counted by the combination of the values that listings filter by: writers append
//!   differences, [`Upkeep`](recado_core::store::Upkeep) folds them. Totals never scan. So are
//!   messages; only totals of one contact, or between two times, are counted in an index.
//! - No index holds what a status report or a newer message changes of a message or conversation.
//! - Searches are answered by an index of trigrams of the text that the core gives, so they find
//!   what [`SearchQuery`](recado_core::contacts::SearchQuery) finds, without an extension.
//! - Statements are prepared and kept by connection: a pooler in between must be in session mode.
//! - Data is durable at the server's `synchronous_commit`; leave it on.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod access;
mod campaigns;
mod columns;
mod commit;
mod commit_entry;
mod connections;
mod contacts;
mod contacts_draft;
mod contacts_listing;
mod contacts_record;
mod contacts_search;
mod contacts_write;
mod conversations;
mod custom_fields;
mod deals;
mod deliveries;
mod deliveries_batch;
mod deliveries_due;
mod dispatches;
mod documents;
mod error;
mod events;
mod gathered;
mod groups;
mod inbound;
mod jobs;
mod limiter;
mod links;
mod lists;
mod message_refs;
mod messages;
mod messages_listing;
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
mod pool;
mod prosas;
mod reassign;
mod recipients;
mod records;
mod session;
mod signals;
mod table;
mod table_key;
mod templates;
#[cfg(feature = "tls")]
mod tls;
mod unknown_kinds;
mod upkeep;
mod webhooks;

pub use limiter::PostgresLimiter;
pub use migrate::MigrateError;
pub use pool::{Options, PostgresStore};
