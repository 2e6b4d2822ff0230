//! [`Provider`] for the official cloud API.

use async_trait::async_trait;
use recado_core::connections::{Connection, GatewayDescription};
use recado_core::gateway::{
    GatewayStatus, Handshake, Incoming, MediaFile, MessageName, Outgoing, Provider, ProviderError,
    ProviderTemplate, ProviderWebhook, Received, SendResult, Typing, TypingIn, WebhookRefused,
};
use recado_core::transport::Transport;

use super::settings::ApiSettings;
use super::{CloudApi, media, receipts, send, state, templates, webhook};

#[async_trait]
impl Provider for CloudApi {
    fn describe(&self) -> GatewayDescription {
        Self::description()
    }

    async fn send(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        outgoing: &Outgoing,
    ) -> SendResult {
        send::send(transport, &ApiSettings::of(connection), &self.uploaded, outgoing).await
    }

    async fn mark_read(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        target: &MessageName,
    ) -> Result<(), ProviderError> {
        receipts::mark_read(transport, &ApiSettings::of(connection), target).await
    }

    async fn typing(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        whose: &TypingIn,
        state: Typing,
    ) -> Result<(), ProviderError> {
        receipts::typing(transport, &ApiSettings::of(connection), whose, state).await
    }

    async fn status(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<GatewayStatus, ProviderError> {
        state::status(transport, &ApiSettings::of(connection)).await
    }

    async fn templates(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
    ) -> Result<Vec<ProviderTemplate>, ProviderError> {
        templates::templates(transport, &ApiSettings::of(connection)).await
    }

    async fn media(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        source: &str,
        limit: usize,
    ) -> Result<MediaFile, ProviderError> {
        media::media(transport, &ApiSettings::of(connection), source, limit).await
    }

    fn handshake(&self, connection: &Connection, webhook: &ProviderWebhook) -> Handshake {
        webhook::handshake(connection, webhook)
    }

    fn admit(
        &self,
        _connection: &Connection,
        webhook: &ProviderWebhook,
    ) -> Result<(), WebhookRefused> {
        webhook::admit(webhook)
    }

    fn receive(
        &self,
        connection: &Connection,
        webhook: &ProviderWebhook,
    ) -> Result<Vec<Received>, WebhookRefused> {
        webhook::receive(self, connection, webhook)
    }

    fn read(&self, connection: &Connection, body: &serde_json::Value) -> Vec<Incoming> {
        webhook::read(self, connection, body)
    }
}
