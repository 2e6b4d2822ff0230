//! The gateways of a program, as the operator API shows them.

use serde::Serialize;

use crate::gateway::MessageKind;

use super::{Capability, ConnectionKind, Connections, GatewayDescription, GatewayName, Setting};

/// A setting of a gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct SettingView {
    /// Its name in `settings` of a connection.
    pub name: String,
    /// `text`, `url`, `integer` or `boolean`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub form: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// Whether it is stored and never returned.
    pub secret: bool,
}

impl SettingView {
    fn new(setting: &Setting) -> Self {
        Self {
            name: setting.name().to_owned(),
            form: setting.form().as_str(),
            required: setting.is_required(),
            secret: setting.is_secret(),
        }
    }
}

/// A gateway that connections can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Gateway))]
#[non_exhaustive]
pub struct GatewayView {
    /// Its name: `gateway` of its connections.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: GatewayName,
    /// The kind of its connections; null where it serves both.
    pub kind: Option<ConnectionKind>,
    /// The settings of its connections.
    pub settings: Vec<SettingView>,
    /// What it can do.
    pub can: Vec<Capability>,
    /// What it carries and does; a connection of it may do less.
    pub kinds: Vec<MessageKind>,
}

impl GatewayView {
    /// The view of a gateway with this description.
    pub fn new(gateway: &GatewayDescription) -> Self {
        Self {
            name: gateway.name().clone(),
            kind: gateway.kind(),
            settings: gateway.settings().iter().map(SettingView::new).collect(),
            can: gateway.capabilities().to_vec(),
            kinds: gateway.kinds(),
        }
    }
}

impl Connections<'_> {
    /// The gateways of this process, in the order in which the program added them.
    pub fn gateways(&self) -> Vec<GatewayView> {
        self.app.providers().descriptions().map(GatewayView::new).collect()
    }
}
