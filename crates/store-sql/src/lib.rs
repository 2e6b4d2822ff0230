#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! How Recado's records are laid out in SQL tables, said once for the stores of all dialects.
//!
//! A record is declared by `record!`, which src/record.rs explains: its table, its key and its
//! columns. From that follow the names of the columns, writing a record and reading it back
//! ([`Layout`]). How one cell is written and read is the dialect's: a store implements [`CellWriter`]
//! and [`CellReader`], and makes its statements from [`TableDef`].
//!
//! The files have the names of the features in `recado_core`.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs)]

mod cell;
mod field;
mod key;
mod record;
mod unique;

mod access;
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
mod idempotency;
mod inbound;
mod jobs;
mod leads;
mod links;
mod lists;
mod messages;
mod organizations;
mod prosas;
mod tags;
mod templates;
mod webhooks;
mod workers;

pub use cell::{CellReader, CellWriter, signed};
pub use deliveries::log_text;
pub use field::{Column, Field};
pub use key::write_key;
pub use record::{Layout, TableDef};
pub use unique::{table_of, unique_columns};
