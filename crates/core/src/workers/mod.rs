//! Workers: running processes with a lease, so that the sends of a process that died are found
//! (D36).

mod companies;
mod lease;
mod own_lease;
mod rendezvous;
mod worker;

pub(crate) use companies::delivering;
#[cfg(test)]
pub(crate) use lease::WITHOUT_SHARDS;
pub use lease::{LEASE, SHARD_LEASE, Workers};
pub(crate) use own_lease::OwnLease;
pub(crate) use rendezvous::falls_to;
pub use worker::Worker;
