//! Workers: running processes with a lease, so that the sends of a process that died are found
//! (D36).

mod lease;
mod own_lease;
mod rendezvous;
mod worker;

pub use lease::{LEASE, Workers};
pub(crate) use own_lease::OwnLease;
pub(crate) use rendezvous::falls_to;
pub use worker::Worker;
