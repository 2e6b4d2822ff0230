//! Evolution API, a gateway for phones that are paired by QR code: the contract of 2.3.7, with the
//! differences of 2.3.0 to 2.4.
//!
//! - It accepts no reference, so a send with an unknown outcome is proved by its `send.message`
//!   webhook or by searching for the text in the conversation.
//! - Most failed sends are answered with 400 and a text, but so are some messages that were sent:
//!   their outcome is unknown.
//! - It does not sign webhooks: the address contains a secret token.

mod answer;
mod answers;
mod body;
mod calls;
mod context;
mod files;
mod groups;
mod history;
mod marks;
mod media;
mod message;
mod names;
mod native;
mod offers;
mod orders;
mod orders_out;
mod parts;
mod polls;
mod send;
mod settings;
mod state;
mod status;
mod unknown;
mod values;
mod webhook;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::connections::{
    Capability, Connection, ConnectionKind, GatewayDescription, GatewayName, Setting,
};
use recado_core::gateway::{
    Accepted, Edit, GatewayStatus, Incoming, Lookup, MediaFile, MessageKind, MessageName, Missed,
    Outgoing, Pairing, Provider, ProviderError, ProviderWebhook, Received, SendFailure, SendResult,
    Typing, TypingIn, WebhookRefused,
};
use recado_core::groups::GroupList;
use recado_core::transport::Transport;

use files::FileCache;
use names::InstanceNames;

/// The adapter. Settings of a connection: `base_url` (a prefix of the path is kept), `instance`,
/// `api_key`, `webhook_token` (expected as `?token=` of the webhook's address), `timeout_ms`.
#[derive(Clone, Debug)]
pub struct Evolution {
    group_suffix: String,
    files: FileCache,
}

/// What it carries and does beside texts (R340).
const KINDS: [MessageKind; 17] = [
    MessageKind::Image,
    MessageKind::Video,
    MessageKind::Audio,
    MessageKind::Voice,
    MessageKind::Document,
    MessageKind::Sticker,
    MessageKind::Buttons,
    MessageKind::List,
    MessageKind::CtaUrl,
    MessageKind::Poll,
    MessageKind::Location,
    MessageKind::Contacts,
    MessageKind::Reaction,
    MessageKind::Read,
    MessageKind::Typing,
    MessageKind::Edit,
    MessageKind::Revoke,
];

impl Evolution {
    /// An adapter that writes group codes with this suffix (D2).
    pub fn new(group_suffix: impl Into<String>) -> Self {
        Self { group_suffix: group_suffix.into(), files: FileCache::default() }
    }

    /// The description of the gateway.
    pub fn description() -> GatewayDescription {
        GatewayDescription::new(GatewayName::new("evolution"))
            .serving(ConnectionKind::Qr)
            .setting(Setting::url("base_url").required())
            .setting(Setting::text("instance").required())
            .setting(Setting::secret("api_key").required())
            .setting(Setting::secret("webhook_token").required())
            .able([Capability::Text, Capability::Groups, Capability::History, Capability::Qr])
            .able([Capability::State, Capability::Webhook, Capability::FindSent])
            .sends(KINDS)
    }

    fn names<'a>(&'a self, connection: &'a Connection) -> InstanceNames<'a> {
        InstanceNames::new(&self.group_suffix, connection)
    }
}

#[async_trait]
impl Provider for Evolution {
    fn describe(&self) -> GatewayDescription {
        Self::description()
    }

    async fn send(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        outgoing: &Outgoing,
    ) -> SendResult {
        send::send(self.names(connection), transport, connection, outgoing).await
    }

    fn kinds(&self, _connection: &Connection) -> Vec<MessageKind> {
        Self::description().kinds()
    }

    async fn edit(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
        edit: &Edit,
    ) -> Result<(), SendFailure> {
        marks::edit(self.names(connection), transport, connection, target, edit).await
    }

    async fn revoke(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> Result<(), SendFailure> {
        marks::revoke(self.names(connection), transport, connection, target).await
    }

    async fn mark_read(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> Result<(), ProviderError> {
        marks::mark_read(self.names(connection), transport, connection, target).await
    }

    async fn typing(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        whose: &TypingIn,
        state: Typing,
    ) -> Result<(), ProviderError> {
        marks::typing(self.names(connection), transport, connection, whose, state).await
    }

    async fn find_sent(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        lookup: &Lookup,
    ) -> Result<Option<Accepted>, ProviderError> {
        history::find_sent(self.names(connection), transport, connection, lookup).await
    }

    async fn status(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<GatewayStatus, ProviderError> {
        state::status(transport, connection).await
    }

    async fn groups(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<GroupList, ProviderError> {
        groups::groups(self.names(connection), transport, connection).await
    }

    async fn pairing(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<Pairing, ProviderError> {
        state::pairing(transport, connection).await
    }

    async fn missed(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Missed, ProviderError> {
        history::missed(self.names(connection), transport, connection, from, to).await
    }

    async fn media(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        source: &str,
        limit: usize,
    ) -> Result<MediaFile, ProviderError> {
        media::media(transport, connection, &self.files, source, limit).await
    }

    fn admit(
        &self,
        connection: &Connection,
        webhook: &ProviderWebhook,
    ) -> Result<(), WebhookRefused> {
        webhook::verify(connection, webhook)
    }

    fn receive(
        &self,
        connection: &Connection,
        webhook: &ProviderWebhook,
    ) -> Result<Vec<Received>, WebhookRefused> {
        webhook::verify(connection, webhook)?;
        webhook::receive(connection, self.names(connection), &self.files, &webhook.body)
    }

    fn remove_secrets(&self, body: &mut serde_json::Value) {
        if let Some(body) = body.as_object_mut() {
            body.remove("apikey");
        }
    }

    fn read(&self, connection: &Connection, body: &serde_json::Value) -> Vec<Incoming> {
        webhook::read(connection, self.names(connection), None, body)
    }
}
