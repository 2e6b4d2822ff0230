//! Repeated calls: the same key and body get the first answer again (D37).

mod about;
mod call;
mod calls;

pub use about::contact_of_answer;
pub use call::{CallKey, CallState, HEADER, KEY_CHARS, RememberedCall, is_remembered};
pub use calls::{Begun, CallError, Calls, KEEP, Ticket, hash_of};
