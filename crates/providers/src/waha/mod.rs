//! WAHA, a gateway for phones that are paired by QR code.
//!
//! It runs one of several engines, whose answers and events differ. Common fields are read first;
//! fields of single engines are in the `_data` of a message and are read if known. Its webhooks are
//! signed, and contain one event each.

mod address;
mod answer;
mod answers;
mod api;
mod calls;
mod cards;
mod changes;
mod choices;
mod content;
mod context;
mod files;
mod find;
mod groups;
mod history;
mod ids;
mod kinds;
mod known;
mod message;
mod names;
mod naming;
mod notices;
mod numbers;
mod offers;
mod orders;
mod own;
mod pairing;
mod places;
mod presence;
mod proto;
mod reports;
mod send;
mod session;
mod target;
mod text;
mod trade;
mod webhook;

use std::sync::Arc;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::connections::{
    Capability, Connection, ConnectionKind, GatewayDescription, GatewayName, Setting,
};
use recado_core::gateway::{
    Accepted, Edit, FileKind, GatewayStatus, Incoming, Lookup, MediaFile, MessageKind, MessageName,
    Missed, Outgoing, Pairing, Provider, ProviderError, ProviderWebhook, Received, SendFailure,
    SendResult, Typing, TypingIn, WebhookRefused,
};
use recado_core::groups::GroupList;
use recado_core::transport::Transport;

use known::SessionCache;

/// The adapter. Settings of a connection: `base_url`, `session`, `api_key`, `webhook_hmac_key`,
/// `engine`, `timeout_ms`. Clones share a cache of engines, and of numbers in the channel's form.
#[derive(Clone, Debug)]
pub struct Waha {
    group_suffix: String,
    known: Arc<SessionCache>,
}

impl Waha {
    /// An adapter that writes group codes with this suffix (D2).
    pub fn new(group_suffix: impl Into<String>) -> Self {
        Self { group_suffix: group_suffix.into(), known: Arc::default() }
    }

    /// The description of the gateway.
    pub fn description() -> GatewayDescription {
        GatewayDescription::new(GatewayName::new("waha"))
            .serving(ConnectionKind::Qr)
            .setting(Setting::url("base_url").required())
            .setting(Setting::text("session").required())
            .setting(Setting::secret("api_key").required())
            .setting(Setting::secret("webhook_hmac_key").required())
            .setting(Setting::text("engine"))
            .sends(kinds::beside_text())
            .file_limit(FileKind::Document, kinds::MAX_FILE)
            .able([Capability::Text, Capability::Groups, Capability::History, Capability::Qr])
            .able([Capability::State, Capability::Webhook, Capability::FindSent, Capability::Names])
    }
}

#[async_trait]
impl Provider for Waha {
    fn describe(&self) -> GatewayDescription {
        Self::description()
    }

    async fn send(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        outgoing: &Outgoing,
    ) -> SendResult {
        send::send(transport, &self.known, connection, outgoing).await
    }

    fn kinds(&self, connection: &Connection) -> Vec<MessageKind> {
        kinds::of(&self.known, connection)
    }

    async fn edit(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
        edit: &Edit,
    ) -> Result<(), SendFailure> {
        changes::edit(transport, &self.known, connection, target, edit).await
    }

    async fn revoke(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> Result<(), SendFailure> {
        changes::revoke(transport, &self.known, connection, target).await
    }

    async fn mark_read(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> Result<(), ProviderError> {
        presence::mark_read(transport, &self.known, connection, target).await
    }

    async fn typing(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        whose: &TypingIn,
        state: Typing,
    ) -> Result<(), ProviderError> {
        presence::typing(transport, connection, whose, state).await
    }

    async fn find_sent(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        lookup: &Lookup,
    ) -> Result<Option<Accepted>, ProviderError> {
        find::find(transport, &self.known, connection, lookup).await
    }

    async fn status(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<GatewayStatus, ProviderError> {
        session::status(transport, &self.known, connection).await
    }

    async fn groups(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<GroupList, ProviderError> {
        groups::groups(transport, &self.known, connection, &self.group_suffix).await
    }

    async fn pairing(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<Pairing, ProviderError> {
        pairing::pairing(transport, &self.known, connection).await
    }

    async fn missed(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Missed, ProviderError> {
        history::missed(transport, &self.known, connection, &self.group_suffix, (from, to)).await
    }

    async fn names(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        name: &str,
    ) -> Result<Vec<String>, ProviderError> {
        names::names(transport, connection, name).await
    }

    async fn media(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        source: &str,
        limit: usize,
    ) -> Result<MediaFile, ProviderError> {
        files::media(transport, connection, source, limit).await
    }

    fn admit(
        &self,
        connection: &Connection,
        webhook: &ProviderWebhook,
    ) -> Result<(), WebhookRefused> {
        webhook::admit(connection, webhook).map(|_| ())
    }

    fn receive(
        &self,
        connection: &Connection,
        webhook: &ProviderWebhook,
    ) -> Result<Vec<Received>, WebhookRefused> {
        webhook::receive(&self.known, connection, &self.group_suffix, webhook)
    }

    fn read(&self, connection: &Connection, body: &serde_json::Value) -> Vec<Incoming> {
        webhook::read(&self.known, connection, &self.group_suffix, body)
    }
}
