//! What an operator has halted: sending (D75), or writing (D76).
//!
//! A halt is a row, so that it holds for every process and over restarts. Processes keep what they
//! read for two seconds. That is enough for what only has to stop soon. That nothing is written
//! once writing is halted does not depend on it: every commit has
//! [`Precondition::Open`](crate::store::Precondition::Open).

mod halt;
mod handle;
mod known;

pub use halt::{Halt, HaltKind, HaltSubject, Halted, OnHold};
pub use handle::{Halts, Resumed, SETTLED_AFTER};
pub(crate) use known::KnownHalts;
