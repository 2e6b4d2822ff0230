//! Workers: running processes with a lease, so that the sends of a process that died are found
//! (D36).

mod companies;
mod lease;
mod own_lease;
mod rendezvous;
mod worker;

pub(crate) use companies::delivering;
pub use lease::Workers;
pub(crate) use own_lease::OwnLease;
pub(crate) use rendezvous::falls_to;
#[cfg(test)]
pub(crate) use worker::WITHOUT_SHARDS;
pub use worker::{LEASE, SHARD_LEASE, Worker};
