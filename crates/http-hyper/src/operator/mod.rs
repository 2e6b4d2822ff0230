//! The operator API: one file for each kind of record.

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
mod members;
mod messages;
mod organizations;
mod pipelines;
mod prosas;
mod tags;
mod templates;
mod webhooks;

use crate::route::Route;

/// The routes of every file here, in the order of the documentation.
pub(crate) const TABLES: &[&[Route]] = &[
    companies::ROUTES,
    keys::ROUTES,
    members::ROUTES,
    connections::ROUTES,
    gateways::ROUTES,
    pipelines::ROUTES,
    deals::ROUTES,
    tags::ROUTES,
    custom_fields::ROUTES,
    lists::ROUTES,
    close_reasons::ROUTES,
    organizations::ROUTES,
    contacts::ROUTES,
    conversations::ROUTES,
    leads::ROUTES,
    messages::ROUTES,
    prosas::ROUTES,
    templates::ROUTES,
    documents::ROUTES,
    links::ROUTES,
    webhooks::ROUTES,
    deliveries::ROUTES,
    inbound::ROUTES,
    campaigns::ROUTES,
];
