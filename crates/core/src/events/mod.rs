//! Events in the outbox (6.1, D52): written in the commit that caused them.

mod change;
mod erase;
mod event;
mod journal;
mod opt_out;
mod position;
mod reads;

pub use change::Change;
pub(crate) use erase::{after_erasure, erase_events_job};
pub use event::{Event, EventType};
pub use journal::{Events, Journal, JournalEntry, JournalError, JournalRequest, NewestRequest};
#[cfg(feature = "openapi")]
pub(crate) use opt_out::OptOutData;
pub use opt_out::{OptOutSource, contact_opted_out};
pub use position::JournalPosition;
pub use reads::{Erased, EventReads, EventRecord, EventsAbout, Outbox, Swept};
