//! End-to-end tests: statements of the API reference, seen from outside, on both stores.
//!
//! Each test runs over a real socket, as `name::sqlite` and `name::postgres`.

#![expect(clippy::cloned_ref_to_slice_refs, reason = "a list of one id reads best as a list")]

mod access;
mod attacks;
mod bad_input;
mod binary;
mod contacts_create;
mod contacts_delete;
mod contacts_export;
mod contacts_get;
mod contacts_list;
mod contacts_update;
mod custom_fields;
mod errors;
mod focus;
mod health;
mod isolation;
mod kill;
mod links;
mod lists;
mod operator_companies;
mod operator_contacts;
mod operator_crm;
mod operator_records;
mod organizations;
mod outage;
mod rates;
mod two_processes;
