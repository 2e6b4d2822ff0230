//! Numbers that asked to stop and whose contacts were deleted: each is kept as a keyed hash, so that
//! the person stays opted out if it comes back (R413–R416).

mod heed;
mod record;

pub(crate) use heed::{is_remembered, kept_on_deletion};
pub use record::{OptOutHash, RememberedOptOut};
