#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! The rules of Recado, a messaging and CRM service, without any I/O.
//!
//! An [`Installation`] is built from a [`Store`](store::Store) and the other [`Parts`]. It reads.
//! [`Recado`] is its handle for one who acts ([`Installation::by`]), cheap to clone, with the use
//! cases grouped by feature: `recado.contacts().create(&caller, …)`.
//!
//! Every rule is a plain function over plain data, or the `decide` of a [`UseCase`]: its input is
//! what was read, its output a [`ChangeSet`](store::ChangeSet) and the answer. Time, ids and
//! randomness are arguments ([`Clock`], [`Ids`]).
//!
//! # Adding a change
//!
//! 1. Name the rule: a pure function beside the feature it belongs to, with the section of the API
//!    reference it comes from, and a property test.
//! 2. Say what it has to read: a method of the feature's read trait, or another field of a query
//!    that exists, with its promise in the trait's contract.
//! 3. Say what it writes: rows that exist, or a new variant of [`store::Row`].
//! 4. Write the use case: `load`, `decide`. Relied on but not written? A
//!    [`Precondition`](store::Precondition).
//! 5. Extend the memory store first, then the databases; add the bullet's test to the conformance
//!    suite.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod access;
pub mod accounts;
mod app;
pub mod audit;
pub mod body;
pub mod campaigns;
mod cell;
mod clock;
mod code;
mod commit;
pub mod connections;
pub mod contacts;
pub mod conversations;
pub mod custom_fields;
pub mod deals;
pub mod deliveries;
pub mod dispatches;
pub mod documents;
mod error;
#[cfg(feature = "openapi")]
pub mod event_schemas;
pub mod events;
pub mod figures;
pub mod form;
pub mod gateway;
pub mod groups;
pub mod halts;
pub mod idempotency;
pub mod ids;
pub mod imports;
pub mod inbound;
pub mod inbox;
pub mod input;
mod installation;
pub mod jobs;
pub mod json;
pub mod json_path;
pub mod keyed_hash;
pub mod leads;
pub mod links;
mod listings;
pub mod lists;
mod long_deletions;
mod manage;
pub mod messages;
#[cfg(feature = "openapi")]
pub mod openapi;
pub mod organizations;
pub mod page;
mod person_export;
mod problems;
pub mod prosas;
pub mod query;
mod recado;
pub mod remembered_opt_outs;
pub mod retention;
mod runner;
pub mod secret;
pub mod sending;
mod standby;
pub mod store;
#[cfg(any(test, feature = "strategies"))]
pub mod strategies;
pub mod tags;
mod tasks;
pub mod templates;
pub mod text;
pub mod transport;
pub mod uploads;
mod use_case;
pub mod webhooks;
mod words;
pub mod workers;

pub use app::{Installation, Parts, Settings};
pub use body::{IntoBody, IntoField};
pub use cell::Cell;
pub use clock::{Clock, Timestamp};
pub use code::{Code, Kind};
pub use error::{Error, NotFound, Rejection};
pub use ids::Ids;
pub use manage::{ManageError, ManageResult};
pub use person_export::{ExportError, PersonExport};
pub use problems::Problems;
pub use recado::Recado;
pub use standby::{Replica, Standby, StandbyFigures};
pub use tasks::{CutOff, Spawner, Tasks, Work};
pub use use_case::UseCase;
