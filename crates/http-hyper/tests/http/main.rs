//! The surface on real sockets, over the in-memory store.

mod campaigns;
mod dispatches;
mod events;
mod examples;
mod exports;
mod gateways;
mod hooks;
mod inbound;
mod limits;
mod operator;
mod operators;
mod order;
mod places;
mod provider_webhooks;
mod provider_webhooks_memory;
mod public;
mod reference;
mod safe_answers;
mod service;
mod site;
mod stopping;
mod webhooks;
