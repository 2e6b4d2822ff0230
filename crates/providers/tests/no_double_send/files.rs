//! The files of messages, and the web that they are fetched from.

use async_trait::async_trait;
use recado_core::gateway::{MessageKind, OutgoingFile};
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport, TransportError};
use recado_testkit::contents;

use crate::kinds;
use crate::wire::Wire;

/// A file for a message of this kind, with this mark in it.
pub fn marked(kind: MessageKind, mark: &str) -> OutgoingFile {
    let bytes = kinds::bytes_of(kind, mark);
    contents::stored("application/octet-stream", &kinds::name_of(mark), &bytes)
}

/// Where such a file is fetched.
pub fn address_of(kind: MessageKind, mark: &str) -> String {
    format!("https://files.example/{}/{}", kind.as_str(), kinds::name_of(mark))
}

/// The web: as slow and lossy as the network to the gateway.
#[derive(Clone, Debug)]
pub struct Web(pub Wire);

#[async_trait]
impl Transport for Web {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        self.0.pause().await;
        if let Some(error) = self.0.lost() {
            return Err(error);
        }
        let (path, name) = request.url.rsplit_once('/').expect("an address");
        let kind = path.rsplit('/').next().and_then(MessageKind::parse).expect("a kind");
        let mark = kinds::mark_in_text(name).expect("a mark");
        Ok(OutboundResponse::new(200, kinds::bytes_of(kind, &mark)))
    }

    async fn check(&self, _url: &str) -> Result<(), TransportError> {
        Ok(())
    }
}
