//! Tags on contacts and reasons for closing conversations.

mod draft;
mod manage;
mod tag;

pub use draft::{CloseReasonDraft, TagDraft, TagPatch};
pub use manage::Tags;
pub use tag::{CloseReason, Tag};
