//! End-to-end tests: statements of the API reference, seen from outside, on both stores.
//!
//! Each test runs over a real socket, as `name::sqlite` and `name::postgres`.

#![expect(clippy::cloned_ref_to_slice_refs, reason = "a list of one id reads best as a list")]

mod access;
mod attacks;
mod attacks_talk;
mod bad_input;
mod binary;
mod channel_names;
mod connections;
mod contacts_create;
mod contacts_delete;
mod contacts_export;
mod contacts_get;
mod contacts_list;
mod contacts_update;
mod conversations;
mod custom_fields;
mod echoes;
mod errors;
mod focus;
mod groups;
mod health;
mod idempotency;
mod inbound;
mod isolation;
mod isolation_talk;
mod kill;
mod kill_sends;
mod lead_memory;
mod links;
mod lists;
mod media;
mod messages_list;
mod operator_companies;
mod operator_contacts;
mod operator_crm;
mod operator_records;
mod opt_out;
mod organizations;
mod outage;
mod prosas;
mod rates;
mod reports;
mod send_checks;
mod sending;
mod sending_groups;
mod talk_contacts;
mod talk_races;
mod talk_secrecy;
mod talk_two_processes;
mod templates_operator;
mod two_processes;
mod unreadable_contact;
