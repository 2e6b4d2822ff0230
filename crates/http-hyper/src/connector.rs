//! Dialing: a name is resolved once, every address is checked, and one that was checked is dialed
//! (D54, R230). Connections that are opened at the same time may share a look-up; each checks its
//! result.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use recado_core::transport::{Host, TransportError};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::guard::Reach;
use crate::lookups::LookUps;
use crate::network::Network;
use crate::stream::{Counted, Stream};
use crate::target::OutboundTarget;

/// How long to wait for an address while there are others to try.
const SILENCE: Duration = Duration::from_secs(2);

/// Opens connections to checked addresses.
#[derive(Clone)]
pub(crate) struct Connector {
    reach: Reach,
    network: Arc<dyn Network>,
    look_ups: Arc<LookUps>,
    tls: TlsConnector,
}

impl Connector {
    pub(crate) fn new(reach: Reach, network: Arc<dyn Network>) -> Self {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Self::with_roots(reach, network, roots)
    }

    pub(crate) fn with_roots(
        reach: Reach,
        network: Arc<dyn Network>,
        roots: RootCertStore,
    ) -> Self {
        let tls = TlsConnector::from(Arc::new(tls_config(roots)));
        let look_ups = LookUps::new(Arc::clone(&network));
        Self { reach, network, look_ups, tls }
    }

    /// The addresses of a target, all of them allowed.
    pub(crate) async fn addresses(
        &self,
        target: &OutboundTarget,
    ) -> Result<Vec<SocketAddr>, TransportError> {
        let addresses = match &target.host {
            Host::Address(address) => vec![SocketAddr::new(*address, target.port)],
            Host::Name(name) => self.look_ups.addresses(name, target.port).await,
        };
        if addresses.is_empty() {
            return Err(TransportError::Dns);
        }
        // One forbidden address among several refuses the name.
        if !addresses.iter().all(|address| self.reach.permits(&target.host, *address)) {
            return Err(TransportError::Forbidden);
        }
        Ok(addresses)
    }

    /// A connection to a target, over TLS if it asks for it.
    pub(crate) async fn connect(&self, target: &OutboundTarget) -> Result<Stream, TransportError> {
        let stream = self.dial(self.addresses(target).await?).await?;
        let _ = stream.set_nodelay(true);
        if !target.https {
            return Ok(Stream::plain(stream));
        }
        let name = server_name(&target.host).ok_or(TransportError::Tls)?;
        let counted = Counted::new(stream);
        let secured = self.tls.connect(name, counted).await.map_err(|_| TransportError::Tls)?;
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

    /// Connects; with others to try, only for a limited time.
    async fn try_address(&self, address: SocketAddr, others: bool) -> io::Result<TcpStream> {
        let connecting = self.network.connect(address);
        if !others {
            return connecting.await;
        }
        let patient = tokio::time::timeout(SILENCE, connecting).await;
        patient.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

fn tls_config(roots: RootCertStore) -> ClientConfig {
    // Named here, so that it does not depend on the features that other crates of a program turn
    // on.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has every protocol version that rustls calls safe")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

/// The name that the certificate must have.
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

#[cfg(test)]
pub(crate) mod tests {
    use async_trait::async_trait;
    use bytes::Bytes;
    use rcgen::{CertifiedKey, generate_simple_self_signed};
    use rustls::ServerConfig;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;
    use crate::exchange::{BodyRead, Live};
    use crate::request_body::OutgoingBody;

    /// A network in which every name and address leads to one peer.
    struct OnePeer(SocketAddr);

    #[async_trait]
    impl Network for OnePeer {
        async fn resolve(&self, _: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
            Ok(vec![SocketAddr::new([8, 8, 8, 8].into(), port)])
        }

        async fn connect(&self, _: SocketAddr) -> io::Result<TcpStream> {
            TcpStream::connect(self.0).await
        }
    }

    /// A certificate for `hook.example`, and the configuration of a server that has it.
    pub(crate) fn server_config() -> (CertificateDer<'static>, ServerConfig) {
        let names = vec!["hook.example".to_owned(), "9.9.9.9".to_owned()];
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).expect("a certificate");
        let certificate = cert.der().clone();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .expect("a certificate and its key");
        (certificate, config)
    }

    /// The configuration of a client that trusts only this certificate.
    pub(crate) fn client_config(certificate: CertificateDer<'static>) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(certificate).expect("a certificate");
        tls_config(roots)
    }

    /// A peer with a certificate for `hook.example` that answers one byte with `ok`.
    async fn secure_peer() -> (SocketAddr, CertificateDer<'static>) {
        let (certificate, config) = server_config();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                while matches!(stream.read(&mut [0; 4096]).await, Ok(1..)) {
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    stream.write_all(answer).await.expect("written");
                    stream.flush().await.expect("flushed");
                }
            }
        });
        (address, certificate)
    }

    pub(crate) fn trusting(
        certificate: Option<CertificateDer<'static>>,
        peer: SocketAddr,
    ) -> Connector {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificate);
        Connector::with_roots(Reach::Public, Arc::new(OnePeer(peer)), roots)
    }

    async fn connect(connector: &Connector, url: &str) -> Result<Stream, TransportError> {
        connector.connect(&OutboundTarget::parse(url).expect("a URL")).await
    }

    #[tokio::test]
    async fn a_certificate_must_be_trusted_and_made_out_to_the_host() {
        let (peer, certificate) = secure_peer().await;
        let trusting_it = trusting(Some(certificate), peer);
        for url in ["https://hook.example/", "https://HOOK.example.:8443/", "https://9.9.9.9/"] {
            assert!(connect(&trusting_it, url).await.is_ok(), "{url}");
        }
        for url in ["https://other.example/", "https://8.8.8.8/", "https://a.hook.example/"] {
            let outcome = connect(&trusting_it, url).await;
            assert_eq!(outcome.err(), Some(TransportError::Tls), "{url}");
        }
        let distrusting = Connector::new(Reach::Public, Arc::new(OnePeer(peer)));
        let outcome = connect(&distrusting, "https://hook.example/").await;
        assert_eq!(outcome.err(), Some(TransportError::Tls));
    }

    #[tokio::test]
    async fn requests_follow_one_another_over_tls() {
        let (peer, certificate) = secure_peer().await;
        let stream = connect(&trusting(Some(certificate), peer), "https://hook.example/").await;
        let mut live = Live::begin(stream.expect("a connection")).await.expect("begun");
        for _ in 0..3 {
            let mut request = http::Request::new(OutgoingBody::of_bytes(Bytes::new()));
            request.headers_mut().insert("host", "hook.example".parse().expect("a value"));
            let mut answer = live.ask(request).await.expect("an answer");
            let mut body = Vec::new();
            let read = live.read(answer.body_mut(), &mut body, 100).await.expect("a body");
            assert_eq!((read, body.as_slice()), (BodyRead::Whole, &b"ok"[..]));
            assert!(live.is_usable());
        }
    }
}
