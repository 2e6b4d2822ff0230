//! A small receiver of Recado's webhooks, to read and to copy from. The page on receiving,
//! docs/webhooks.md, says why it does what it does.
//!
//! - [`Secrets`] verifies the signature over the raw body.
//! - [`Seen`] knows what was taken already, in bounded memory.
//! - [`receiver`] answers as soon as an event is handed over; what is done about it comes after.
#![forbid(unsafe_code)]

mod receiver;
mod seen;
mod verify;

pub use receiver::{Event, MAX_BODY, Receiver, receiver};
pub use seen::Seen;
pub use verify::{PREVIOUS, SIGNATURE, Secrets, verify};
