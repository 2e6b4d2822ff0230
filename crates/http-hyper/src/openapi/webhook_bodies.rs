//! The request bodies of outbound webhooks.
#![expect(dead_code, reason = "these types are schemas; nothing is read out of them")]

use utoipa::ToSchema;

/// A new outbound webhook.
#[derive(ToSchema)]
pub(crate) struct CreateWebhook {
    /// http or https, without a user and a fragment.
    #[schema(max_length = 2048)]
    url: String,
    /// `*` for all events, those of later versions included, or their names.
    #[schema(min_items = 1)]
    events: Vec<String>,
    /// What deliveries are signed with: printable ASCII. One is made by default.
    #[schema(min_length = 16, max_length = 128)]
    secret: Option<String>,
    /// True by default.
    is_active: Option<bool>,
    /// Whether deliveries carry the headers of Standard Webhooks too; false by default.
    standard_headers: Option<bool>,
}

/// What changes of an outbound webhook. Its secret changes by rotation.
#[derive(ToSchema)]
pub(crate) struct UpdateWebhook {
    #[schema(max_length = 2048, nullable = false)]
    url: Option<String>,
    /// The whole set.
    #[schema(min_items = 1, nullable = false)]
    events: Option<Vec<String>>,
    #[schema(nullable = false)]
    is_active: Option<bool>,
    #[schema(nullable = false)]
    standard_headers: Option<bool>,
}

/// A new signing secret.
#[derive(ToSchema)]
pub(crate) struct RotateSecret {
    /// Printable ASCII. One is made by default.
    #[schema(min_length = 16, max_length = 128)]
    secret: Option<String>,
}
