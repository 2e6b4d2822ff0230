//! The OpenAPI 3.1 document: made from the table of routes and from the schemas of the types in
//! requests and answers, so that it lists exactly the paths that are served.
//!
//! It is made by the tests, which compare it with `openapi.json`; what is served is that file. So
//! programs that embed this crate do not compile a generator of schemas.

pub(crate) mod bodies;
#[cfg(test)]
mod descriptions;
#[cfg(test)]
mod document;
#[cfg(test)]
mod events;
#[cfg(test)]
mod examples;
mod gateways;
#[cfg(test)]
mod names;
mod operation;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tags;
#[cfg(test)]
mod tests;

pub(crate) use operation::{Operation, ParamKind, QueryParam};
use recado_core::connections::GatewayView;
use serde_json::Value;

/// The document without the parts that differ between processes.
const WRITTEN: &str = include_str!("../../openapi.json");

/// The OpenAPI 3.1 document of the public API and the operator API, as JSON: for a process with
/// these gateways, whose names and settings it lists.
pub fn openapi(gateways: &[GatewayView]) -> String {
    let mut document: Value = serde_json::from_str(WRITTEN).expect("the reviewed document is JSON");
    gateways::add(&mut document, gateways);
    document.to_string()
}
