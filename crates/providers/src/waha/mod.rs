//! WAHA, a gateway for phones that are paired by QR code.

use async_trait::async_trait;
use recado_core::connections::Connection;
use recado_core::gateway::{Outgoing, Provider, SendFailure, SendResult};
use recado_core::transport::Transport;

/// The adapter.
#[derive(Clone, Debug)]
pub struct Waha {
    group_suffix: String,
}

impl Waha {
    /// An adapter that writes group codes with this suffix (D2).
    pub fn new(group_suffix: impl Into<String>) -> Self {
        Self { group_suffix: group_suffix.into() }
    }
}

#[async_trait]
impl Provider for Waha {
    async fn send(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _outgoing: &Outgoing,
    ) -> SendResult {
        Err(SendFailure::uncertain(self.group_suffix.clone()))
    }
}
