//! The guarded client on real sockets, against peers that behave as each test specifies.

mod addresses;
mod files;
mod gateways;
mod lookups;
mod names;
mod outbound;
mod peer;
mod reuse;
mod status;
mod urls;
