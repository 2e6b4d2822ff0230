//! A small receiver of Recado's webhooks, to read and to copy from. The page docs/webhooks.md
//! explains it.
//!
//! - [`Secrets`] verifies the signature over the raw body.
//! - [`Seen`] remembers which deliveries were accepted, in bounded memory.
//! - [`receiver`] answers as soon as an event is queued; the event is processed afterwards.
#![forbid(unsafe_code)]

mod receiver;
mod seen;
mod verify;

pub use receiver::{Event, MAX_BODY, Receiver, receiver};
pub use seen::Seen;
pub use verify::{PREVIOUS, SIGNATURE, Secrets, verify};
