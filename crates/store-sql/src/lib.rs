#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! The layout of Recado's records in SQL tables. The stores of all SQL dialects use it.
//!
//! A record is declared by `record!` (see src/record.rs): its table, its key and its columns. The
//! names of the columns, writing a record and reading it back follow from the declaration
//! ([`Layout`]). The dialect decides how one cell is written and read: a store implements
//! [`CellWriter`] and [`CellReader`], and makes its statements from [`TableDef`].
//!
//! Secrets are sealed with the keys of a [`Sealer`], in the columns that a record declares as
//! sealed; a store writes and reads records by [`Layout::write_sealed`] and
//! [`Layout::read_sealed`].
//!
//! The files have the names of the features in `recado_core`.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs)]

mod cell;
mod field;
mod key;
mod key_file;
mod progress;
mod record;
mod sealed;
mod sealing;
pub mod transfer;
mod unique;

mod access;
mod accounts;
mod audit;
mod campaigns;
mod connections;
mod contacts;
mod conversations;
mod custom_fields;
mod deals;
mod deliveries;
mod dispatches;
mod documents;
mod gateway;
mod groups;
mod halts;
mod idempotency;
mod inbound;
mod jobs;
mod leads;
mod links;
mod lists;
mod messages;
mod migration;
mod organizations;
mod prosas;
mod remembered_opt_outs;
mod tags;
mod templates;
mod uploads;
mod webhooks;
mod workers;

pub use cell::{CellReader, CellWriter, signed};
pub use deliveries::log_text;
pub use field::{Column, Field};
pub use key::write_key;
pub use key_file::KeyFileError;
pub use migration::{
    EXPANDS, MigrationPlan, PlannedMigration, PlannedTable, TableWork, expands,
    forbidden_in_expansion, summary, worked_on,
};
pub use progress::SealingProgress;
pub use record::{Layout, SealedColumn, SealedForm, TableDef};
pub use sealed::sealed_columns;
pub use sealing::{
    MissingKeys, OpenError, Place, SEALED_PREFIX, SealedCounts, Sealer, SealingKey, SealingKeyId,
};
pub use unique::{table_of, unique_columns};
