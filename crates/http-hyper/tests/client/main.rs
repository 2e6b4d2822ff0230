//! The guarded client on real sockets, against peers that do what each test says.

mod addresses;
mod lookups;
mod names;
mod outbound;
mod peer;
mod reuse;
mod status;
mod urls;
