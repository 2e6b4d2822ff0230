//! The request bodies of the hooks.
#![expect(dead_code, reason = "these types are schemas; nothing is read out of them")]

use std::collections::BTreeMap;

#[cfg(test)]
use utoipa::openapi::RefOr;
#[cfg(test)]
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
#[cfg(test)]
use utoipa::{PartialSchema, ToSchema};

/// Whatever another system writes.
pub(crate) struct AnyJson;

#[cfg(test)]
impl PartialSchema for AnyJson {
    fn schema() -> RefOr<Schema> {
        let types = [Type::Object, Type::Array, Type::String, Type::Number, Type::Boolean];
        let any = ObjectBuilder::new().schema_type(SchemaType::from_iter(types));
        any.description(Some("Any JSON, as the other system writes it.")).into()
    }
}

#[cfg(test)]
impl ToSchema for AnyJson {}

/// A dispatch.
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct Dispatch {
    /// Anything that normalizes to a Brazilian phone number.
    phone_number: Option<String>,
    /// By position. Where it is there, the query's variables do not count.
    variables: Option<BTreeMap<String, String>>,
}
