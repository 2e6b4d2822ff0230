//! The surface on real sockets, over the in-memory store.

mod events;
mod examples;
mod limits;
mod operator;
mod order;
mod public;
mod service;
mod site;
mod stopping;
mod webhooks;
