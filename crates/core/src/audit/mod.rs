//! Who acts, and the audit log (R384–R390).

mod acting;
mod entry;
mod handle;
mod list;
mod reads;
mod rule;

pub use acting::{Acting, Actor, ActorKind, OperationName};
pub use entry::{
    AuditAddress, AuditEntry, AuditEntryView, AuditOutcome, MAX_RECORDS, RecordRef, RecordRefs,
};
pub use handle::Audit;
pub use list::{AuditPage, AuditRequest};
pub(crate) use reads::RecentDenials;
pub use rule::{entry_of, is_logged};
