//! The inbox: what gateways report, stored and acted upon (2.4, 3, D27–D31a, D41–D44, D64–D67).

mod alone;
mod batch;
mod error;
mod event_ids;
mod facts;
mod gather;
mod handle;
mod keep;
mod late_content;
mod learn_names;
mod lookup;
mod messages;
mod own_sends;
mod parse;
mod people;
mod person;
mod preferences;
mod receive;
mod replay;
mod reports;
mod result;
mod tidy;
mod webhook;
mod workspace;

pub use error::InboxError;
pub use event_ids::EventIds;
pub use facts::{Batch, BatchFacts};
pub(crate) use gather::{Deciding, Lookups};
pub use handle::Inbox;
pub(crate) use learn_names::learn_names_job;
pub use parse::{parse_event, parse_events};
pub use replay::{ReplayCursor, Replayed};
pub use reports::REPORT_KEPT;
pub use result::{EventOutcome, EventResult, NotUnderstood};
pub(crate) use tidy::tidy_group;
pub use webhook::{CalledConnection, ProviderWebhookError, ReceivedWebhook, WEBHOOK_LIMIT};
