//! What an operator has halted: sending (D75), or writing (D76).
//!
//! A halt is a row, so that it holds for every process and over restarts. Processes keep what they
//! read for two seconds. That is enough for what only has to stop soon. That nothing is written
//! once writing is halted does not depend on it: every commit has
//! [`Precondition::Open`](crate::store::Precondition::Open), except those that write only workers,
//! shards and halts.
//!
//! # Moving
//!
//! What copies an installation, or a company of it, goes through these steps:
//!
//! 1. [`Halts::hold`], or [`Halts::hold_company`]: no more calls begin. Wait [`SETTLED_AFTER`],
//!    then until no message is pending any more, for as long as a gateway may take.
//! 2. [`Halts::close`]: when it has returned, no commit and no claim of a job follows.
//!    Housekeeping, which goes without commits, may still be under way in other living processes:
//!    if there are any, wait [`SETTLED_AFTER`] once more.
//! 3. Copy and compare. Rows of the kinds `Worker`, `Shard` and `Halt` belong to the processes
//!    and the halts of the source, which still change: they are left out.
//! 4. [`Halts::close`] with other [`Whereabouts`]: the source stays closed, and calls are handed on
//!    to the new cell by processes that know where it answers. Or [`Halts::open`] after a failure.

mod copy;
mod halt;
mod handle;
mod known;
mod named;

pub use copy::CopyHeld;
pub use halt::{Halt, HaltKind, HaltSubject, Halted, OnHold, Whereabouts};
pub use handle::{Halts, NOTICED_AFTER, Resumed, SETTLED_AFTER};
pub(crate) use known::KnownHalts;
pub use named::NameGiven;
