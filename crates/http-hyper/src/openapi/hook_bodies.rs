//! The request bodies of the hooks, of inbound endpoints, template sends and campaigns.
#![expect(dead_code, reason = "these types are schemas; nothing is read out of them")]

use std::collections::BTreeMap;

use recado_core::ids::{ConnectionId, ListId, TemplateId};
use recado_core::inbound::AuthMode;
use recado_core::prosas::{Brl, Prosas};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// Whatever another system writes.
pub(crate) struct AnyJson;

impl PartialSchema for AnyJson {
    fn schema() -> RefOr<Schema> {
        let types = [Type::Object, Type::Array, Type::String, Type::Number, Type::Boolean];
        let any = ObjectBuilder::new().schema_type(SchemaType::from_iter(types));
        any.description(Some("Any JSON, as the other system writes it.")).into()
    }
}

impl ToSchema for AnyJson {}

/// A dispatch.
#[derive(ToSchema)]
pub(crate) struct Dispatch {
    /// Anything that normalizes to a Brazilian phone number.
    phone_number: Option<String>,
    /// By position. Where it is there, the query's variables do not count.
    variables: Option<BTreeMap<String, String>>,
}

/// A new inbound endpoint.
#[derive(ToSchema)]
pub(crate) struct CreateEndpoint {
    /// The last part of its path; unique over all companies.
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{2,63}$")]
    slug: String,
    /// JSONPath expressions (RFC 9535) by key: `phone_number` (or `phone`), `first_name` (or
    /// `name`), native fields of the contact, and slugs of custom fields.
    variable_mapping: BTreeMap<String, String>,
    /// `secret_required` by default.
    auth_mode: Option<AuthMode>,
    /// What callers present: printable ASCII without spaces. One is made by default.
    #[schema(min_length = 16, max_length = 128)]
    secret: Option<String>,
    /// True by default.
    is_active: Option<bool>,
}

/// What changes of an inbound endpoint. Its secret changes by rotation.
#[derive(ToSchema)]
pub(crate) struct UpdateEndpoint {
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{2,63}$", nullable = false)]
    slug: Option<String>,
    /// The whole mapping.
    #[schema(nullable = false)]
    variable_mapping: Option<BTreeMap<String, String>>,
    #[schema(nullable = false)]
    auth_mode: Option<AuthMode>,
    #[schema(nullable = false)]
    is_active: Option<bool>,
}

/// A new secret of an inbound endpoint.
#[derive(ToSchema)]
pub(crate) struct RotateEndpointSecret {
    /// Printable ASCII without spaces. One is made by default.
    #[schema(min_length = 16, max_length = 128)]
    secret: Option<String>,
}

/// A template to a phone.
#[derive(ToSchema)]
pub(crate) struct SendTemplate {
    /// A phone. A group is none.
    to: String,
    /// Its name or id.
    #[schema(max_length = 512)]
    template: String,
    /// `pt_BR` by default, else the template's oldest.
    language: Option<String>,
    /// By position.
    variables: Option<BTreeMap<String, String>>,
    connection_id: Option<ConnectionId>,
}

/// A new campaign.
#[derive(ToSchema)]
pub(crate) struct CreateCampaign {
    #[schema(max_length = 200)]
    name: String,
    template_id: TemplateId,
    /// Whose contacts become its recipients when it is started.
    list_id: ListId,
    /// The only connection it sends through.
    connection_id: Option<ConnectionId>,
    /// The template's variables by position, alike for all.
    variables: Option<BTreeMap<String, String>>,
    /// 0 by default.
    prosas_per_message: Option<Prosas>,
    /// 0 by default.
    cost_brl_per_message: Option<Brl>,
    /// 10 by default.
    #[schema(minimum = 1, maximum = 1000)]
    messages_per_second: Option<u32>,
}

/// What changes of a campaign; null clears what a new one may leave out.
#[derive(ToSchema)]
pub(crate) struct UpdateCampaign {
    #[schema(max_length = 200, nullable = false)]
    name: Option<String>,
    #[schema(nullable = false)]
    template_id: Option<TemplateId>,
    /// Only before it is started.
    #[schema(nullable = false)]
    list_id: Option<ListId>,
    connection_id: Option<ConnectionId>,
    /// All of them.
    variables: Option<BTreeMap<String, String>>,
    prosas_per_message: Option<Prosas>,
    cost_brl_per_message: Option<Brl>,
    #[schema(minimum = 1, maximum = 1000, nullable = false)]
    messages_per_second: Option<u32>,
}
