//! The adapter of the official cloud API against recorded shapes and against a strict fake.
#![cfg(feature = "cloud-api")]
#![expect(unreachable_pub, reason = "modules of one test program")]

#[path = "cloud_api/answers.rs"]
mod answers;
#[path = "cloud_api/blocks.rs"]
mod blocks;
#[path = "cloud_api/changes.rs"]
mod changes;
#[path = "cloud_api/errors.rs"]
mod errors;
#[path = "cloud_api/fields.rs"]
mod fields;
#[path = "cloud_api/flows.rs"]
mod flows;
#[path = "cloud_api/futures.rs"]
mod futures;
#[path = "cloud_api/history.rs"]
mod history;
#[path = "cloud_api/inbound.rs"]
mod inbound;
#[path = "cloud_api/kinds.rs"]
mod kinds;
#[path = "cloud_api/media.rs"]
mod media;
#[path = "cloud_api/receipts.rs"]
mod receipts;
#[path = "cloud_api/robustness.rs"]
mod robustness;
#[path = "cloud_api/senders.rs"]
mod senders;
#[path = "cloud_api/sending.rs"]
mod sending;
#[path = "cloud_api/signatures.rs"]
mod signatures;
#[path = "cloud_api/statuses.rs"]
mod statuses;
#[path = "cloud_api/support.rs"]
mod support;
#[path = "cloud_api/templates.rs"]
mod templates;
#[path = "cloud_api/uploads.rs"]
mod uploads;
