//! The operator API: one file for each kind of record.

mod close_reasons;
mod companies;
mod contacts;
mod custom_fields;
mod deals;
mod documents;
mod keys;
mod links;
mod lists;
mod members;
mod organizations;
mod pipelines;
mod tags;

use crate::route::Route;

/// The routes of every file here, in the order of the documentation.
pub(crate) const TABLES: &[&[Route]] = &[
    companies::ROUTES,
    keys::ROUTES,
    members::ROUTES,
    pipelines::ROUTES,
    deals::ROUTES,
    tags::ROUTES,
    custom_fields::ROUTES,
    lists::ROUTES,
    close_reasons::ROUTES,
    organizations::ROUTES,
    contacts::ROUTES,
    documents::ROUTES,
    links::ROUTES,
];
