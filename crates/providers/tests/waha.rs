//! The adapter of WAHA against recorded shapes and against a strict fake of every engine.
#![cfg(feature = "waha")]
#![expect(unreachable_pub, reason = "modules of one test program")]

#[path = "waha/answers.rs"]
mod answers;
#[path = "waha/carried.rs"]
mod carried;
#[path = "waha/changes.rs"]
mod changes;
#[path = "waha/contents.rs"]
mod contents;
#[path = "waha/files.rs"]
mod files;
#[path = "waha/files_out.rs"]
mod files_out;
#[path = "waha/finding.rs"]
mod finding;
#[path = "waha/futures.rs"]
mod futures;
#[path = "waha/groups.rs"]
mod groups;
#[path = "waha/history.rs"]
mod history;
#[path = "waha/inbound.rs"]
mod inbound;
#[path = "waha/kept.rs"]
mod kept;
#[path = "waha/names.rs"]
mod names;
#[path = "waha/notices.rs"]
mod notices;
#[path = "waha/offers.rs"]
mod offers;
#[path = "waha/offers_out.rs"]
mod offers_out;
#[path = "waha/outcomes.rs"]
mod outcomes;
#[path = "waha/own_messages.rs"]
mod own_messages;
#[path = "waha/places.rs"]
mod places;
#[path = "waha/reacting.rs"]
mod reacting;
#[path = "waha/referrals.rs"]
mod referrals;
#[path = "waha/reports.rs"]
mod reports;
#[path = "waha/robustness.rs"]
mod robustness;
#[path = "waha/sending.rs"]
mod sending;
#[path = "waha/sessions.rs"]
mod sessions;
#[path = "waha/signatures.rs"]
mod signatures;
#[path = "waha/support.rs"]
mod support;
