//! Dialing: a name is resolved once, every address is checked, and one that was checked is dialed
//! (D54).

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use recado_core::transport::TransportError;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::guard::is_special;
use crate::network::Network;
use crate::stream::Stream;
use crate::target::{Host, Target};

/// How long an address may keep silent while there are others to try.
const SILENCE: Duration = Duration::from_secs(2);

/// Opens connections to checked addresses.
#[derive(Clone)]
pub(crate) struct Connector {
    allow_private: bool,
    network: Arc<dyn Network>,
    tls: TlsConnector,
}

impl Connector {
    pub(crate) fn new(allow_private: bool, network: Arc<dyn Network>) -> Self {
        Self { allow_private, network, tls: TlsConnector::from(Arc::new(tls_config())) }
    }

    /// The addresses of a target, all of them allowed.
    pub(crate) async fn addresses(
        &self,
        target: &Target,
    ) -> Result<Vec<SocketAddr>, TransportError> {
        let addresses = match &target.host {
            Host::Address(address) => vec![SocketAddr::new(*address, target.port)],
            Host::Name(name) => {
                let resolved = self.network.resolve(name, target.port).await;
                resolved.map_err(|_| TransportError::Dns)?
            }
        };
        if addresses.is_empty() {
            return Err(TransportError::Dns);
        }
        // One special address among several refuses the name.
        if !self.allow_private && addresses.iter().any(|address| is_special(address.ip())) {
            return Err(TransportError::Forbidden);
        }
        Ok(addresses)
    }

    /// A connection to a target, over TLS if it asks for it.
    pub(crate) async fn connect(&self, target: &Target) -> Result<Stream, TransportError> {
        let stream = self.dial(self.addresses(target).await?).await?;
        let _ = stream.set_nodelay(true);
        if !target.https {
            return Ok(Stream::plain(stream));
        }
        let name = server_name(&target.host).ok_or(TransportError::Tls)?;
        let secured = self.tls.connect(name, stream).await.map_err(|_| TransportError::Tls)?;
        Ok(Stream::tls(secured))
    }

    async fn dial(&self, addresses: Vec<SocketAddr>) -> Result<TcpStream, TransportError> {
        let mut failed = TransportError::Dns;
        let mut left = addresses.len();
        for address in addresses {
            left -= 1;
            match self.try_address(address, left > 0).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failed = no_connection(&error),
            }
        }
        Err(failed)
    }

    /// Connects; with others to try, an address that keeps silent is given up after a while.
    async fn try_address(&self, address: SocketAddr, others: bool) -> io::Result<TcpStream> {
        let connecting = self.network.connect(address);
        if !others {
            return connecting.await;
        }
        let patient = tokio::time::timeout(SILENCE, connecting).await;
        patient.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

fn tls_config() -> ClientConfig {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    // Named, not left to the features that other crates of a program happen to turn on.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has every protocol version that rustls calls safe")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

/// Whom the certificate must be made out to.
fn server_name(host: &Host) -> Option<ServerName<'static>> {
    match host {
        Host::Address(address) => Some(ServerName::from(*address)),
        Host::Name(name) => {
            let relative = name.strip_suffix('.').unwrap_or(name);
            ServerName::try_from(relative.to_owned()).ok()
        }
    }
}

fn no_connection(error: &io::Error) -> TransportError {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => TransportError::Refused,
        io::ErrorKind::TimedOut => TransportError::TimedOut { after_sending: false },
        _ => TransportError::Broken { after_sending: false },
    }
}
