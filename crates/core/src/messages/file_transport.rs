//! What adapters call to get the files of messages.

use std::time::Duration;

use async_trait::async_trait;

use crate::Recado;
use crate::connections::Connection;
use crate::transport::{Origin, OutboundRequest, OutboundResponse, Transport, TransportError};

/// Calls the gateway itself at the addresses in its connection's settings, and everything else like
/// any address that others set: what a gateway reports must not lead to what only gateways may
/// reach (R231).
pub(super) struct FileTransport<'a> {
    gateway: &'a dyn Transport,
    elsewhere: &'a dyn Transport,
    own: Vec<Origin>,
}

impl<'a> FileTransport<'a> {
    pub(super) fn of(app: &'a Recado, connection: &Connection) -> Self {
        let gateway = app.providers().description(&connection.gateway);
        let own = gateway.map(|gateway| connection.settings.origins(gateway));
        Self {
            gateway: app.gateway_transport(),
            elsewhere: app.transport(),
            own: own.unwrap_or_default(),
        }
    }

    fn to(&self, url: &str) -> &'a dyn Transport {
        let is_own = Origin::of(url).is_ok_and(|origin| self.own.contains(&origin));
        if is_own { self.gateway } else { self.elsewhere }
    }
}

#[async_trait]
impl Transport for FileTransport<'_> {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        self.to(&request.url).send(request).await
    }

    async fn check(&self, url: &str) -> Result<(), TransportError> {
        self.to(url).check(url).await
    }

    fn elapsed(&self) -> Option<Duration> {
        self.gateway.elapsed()
    }
}
