//! Descriptions of the gateways of [`recado-providers`](https://docs.rs/recado-providers), for
//! tests that do not need their adapters.

use recado_core::connections::{
    Capability, Connection, ConnectionKind, GatewayDescription, GatewayName, Setting, SharedWebhook,
};
use recado_core::gateway::MessageKind;

/// The names of the described gateways, in the order of [`all`].
pub const NAMES: [GatewayName; 4] = [
    GatewayName::new("simulated"),
    GatewayName::new("cloud_api"),
    GatewayName::new("waha"),
    GatewayName::new("evolution"),
];

/// The descriptions of all gateways.
pub fn all() -> [GatewayDescription; 4] {
    [simulated(), cloud_api(), waha(), evolution()]
}

/// The simulated gateway: both kinds of connection, no required setting, connected at once.
pub fn simulated() -> GatewayDescription {
    GatewayDescription::new(GatewayName::new("simulated"))
        .setting(Setting::integer("delay_ms", 0, 3_600_000))
        .setting(Setting::boolean("reports"))
        .able([Capability::Text, Capability::Template])
        .sends(all_but(&[MessageKind::Text, MessageKind::Template]))
}

/// What a connection carries by the description of its gateway. A simulated one carries polls on QR
/// connections only; one of a gateway that is not described carries everything.
pub fn kinds(connection: &Connection) -> Vec<MessageKind> {
    let described = all().into_iter().find(|known| *known.name() == connection.gateway);
    let is_qr = connection.kind == ConnectionKind::Qr;
    let kinds = described.map_or_else(|| all_but(&[]), |described| described.kinds());
    kinds.into_iter().filter(|kind| is_qr || *kind != MessageKind::Poll).collect()
}

fn all_but(left_out: &[MessageKind]) -> Vec<MessageKind> {
    MessageKind::ALL.iter().copied().filter(|kind| !left_out.contains(kind)).collect()
}

/// The official cloud API: templates, and one webhook address for all numbers of an account.
pub fn cloud_api() -> GatewayDescription {
    GatewayDescription::new(GatewayName::new("cloud_api"))
        .serving(ConnectionKind::OfficialCloud)
        .setting(Setting::text("phone_number_id").required())
        .setting(Setting::secret("access_token").required())
        .setting(Setting::secret("app_secret").required())
        .setting(Setting::secret("verify_token").required())
        .setting(Setting::text("business_account_id"))
        .setting(Setting::url("api_base"))
        .setting(Setting::text("api_version"))
        .able([Capability::Text, Capability::Template, Capability::TemplateList])
        .able([Capability::State, Capability::Webhook, Capability::OptOuts])
        .sends(all_but(&[
            MessageKind::Text,
            MessageKind::Template,
            MessageKind::Poll,
            MessageKind::Edit,
            MessageKind::Revoke,
        ]))
        .sharing_webhook(SharedWebhook {
            secret: "app_secret".into(),
            number: "phone_number_id".into(),
            account: "business_account_id".into(),
        })
}

/// A QR gateway that supports every operation.
pub fn waha() -> GatewayDescription {
    GatewayDescription::new(GatewayName::new("waha"))
        .serving(ConnectionKind::Qr)
        .setting(Setting::url("base_url").required())
        .setting(Setting::text("session").required())
        .setting(Setting::secret("api_key").required())
        .setting(Setting::secret("webhook_hmac_key").required())
        .able([Capability::Text, Capability::Groups, Capability::History, Capability::Qr])
        .able([Capability::State, Capability::Webhook, Capability::FindSent, Capability::Names])
}

/// A QR gateway that cannot answer a contact's other ids.
pub fn evolution() -> GatewayDescription {
    GatewayDescription::new(GatewayName::new("evolution"))
        .serving(ConnectionKind::Qr)
        .setting(Setting::url("base_url").required())
        .setting(Setting::text("instance").required())
        .setting(Setting::secret("api_key").required())
        .setting(Setting::secret("webhook_token").required())
        .able([Capability::Text, Capability::Groups, Capability::History, Capability::Qr])
        .able([Capability::State, Capability::Webhook, Capability::FindSent])
}
