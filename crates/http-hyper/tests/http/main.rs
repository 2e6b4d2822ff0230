//! The surface on real sockets, over the in-memory store.

mod examples;
mod limits;
mod operator;
mod order;
mod outbound;
mod public;
mod service;
mod site;
mod stopping;
