//! The official cloud API of WhatsApp.

use async_trait::async_trait;
use recado_core::connections::Connection;
use recado_core::gateway::{Outgoing, Provider, SendFailure, SendResult};
use recado_core::transport::Transport;

/// The adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct CloudApi;

impl CloudApi {
    /// The adapter.
    pub const fn new() -> Self {
        Self
    }
}

#[async_trait]
impl Provider for CloudApi {
    async fn send(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _outgoing: &Outgoing,
    ) -> SendResult {
        Err(SendFailure::uncertain(""))
    }
}
