//! Traces: the spans of requests, jobs, commits, calls of gateways and attempts at deliveries,
//! exported to a collector by OTLP (R310).
//!
//! A span has the ids that the log has as well, kinds, counts and outcomes. Never a path, a query,
//! a body, an address, a name, a phone, a key or what a gateway answered (D70).

mod causes;
mod collector;
mod export;
mod finish;
mod request_id;
mod spans;

pub(crate) use export::{Export, layer};
pub(crate) use spans::Traces;
