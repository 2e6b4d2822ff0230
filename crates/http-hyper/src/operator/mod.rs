//! The operator API: one file for each kind of record.

mod audit;
mod campaigns;
mod close_reasons;
mod companies;
mod connections;
mod contacts;
mod conversations;
mod crud;
mod custom_fields;
mod deals;
mod deliveries;
mod documents;
mod gateways;
mod inbound;
mod keys;
mod leads;
mod links;
mod lists;
mod logins;
mod marks;
mod members;
mod messages;
mod operator_tokens;
mod organizations;
mod pipelines;
mod prosas;
mod tags;
mod templates;
mod webhooks;

use crate::route::Route;

/// The routes of every file here, in the order of the documentation, each with its feature.
pub(crate) const TABLES: &[(&str, &[Route])] = &[
    ("companies", companies::ROUTES),
    ("operator-tokens", operator_tokens::ROUTES),
    ("audit", audit::ROUTES),
    ("keys", keys::ROUTES),
    ("members", members::ROUTES),
    ("logins", logins::ROUTES),
    ("connections", connections::ROUTES),
    ("connections", gateways::ROUTES),
    ("pipelines", pipelines::ROUTES),
    ("deals", deals::ROUTES),
    ("tags", tags::ROUTES),
    ("custom-fields", custom_fields::ROUTES),
    ("lists", lists::ROUTES),
    ("close-reasons", close_reasons::ROUTES),
    ("organizations", organizations::ROUTES),
    ("contacts", contacts::ROUTES),
    ("conversations", conversations::ROUTES),
    ("lead-memory", leads::ROUTES),
    ("messages", messages::ROUTES),
    ("messages", marks::ROUTES),
    ("prosas", prosas::ROUTES),
    ("templates", templates::ROUTES),
    ("documents", documents::ROUTES),
    ("links", links::ROUTES),
    ("webhooks", webhooks::ROUTES),
    ("deliveries", deliveries::ROUTES),
    ("inbound", inbound::ROUTES),
    ("campaigns", campaigns::ROUTES),
];
