//! Who acts, and the audit log (R384–R390).

mod acting;
mod denials;
mod entry;
mod handle;
mod list;
mod reads;
mod recent_reads;
mod rule;

pub use acting::{Acting, Actor, ActorKind, OperationName};
pub(crate) use denials::RecentDenials;
pub use entry::{
    AuditAddress, AuditEntry, AuditEntryView, AuditOutcome, MAX_RECORDS, RecordRef, RecordRefs,
};
pub use handle::Audit;
pub use list::{AuditPage, AuditRequest};
pub(crate) use recent_reads::RecentReads;
pub use rule::{entry_of, is_logged};
