//! Dialing: a name is resolved once, every address is checked, and one that was checked is dialed
//! (D54).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use recado_core::transport::TransportError;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::guard::is_special;

/// How long an address may keep silent while there are others to try.
const SILENCE: Duration = Duration::from_secs(2);

/// Why no connection was made.
#[derive(Debug)]
pub(crate) enum DialError {
    /// An address that must not be called.
    Forbidden,
    /// The name does not resolve.
    Dns,
    /// Nobody accepts connections there.
    Refused,
    /// The network gave up.
    TimedOut,
    /// Anything else before a connection stood.
    Broken,
}

impl std::fmt::Display for DialError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        TransportError::from(self).fmt(f)
    }
}

impl std::error::Error for DialError {}

impl From<&DialError> for TransportError {
    fn from(error: &DialError) -> Self {
        match error {
            DialError::Forbidden => Self::Forbidden,
            DialError::Dns => Self::Dns,
            DialError::Refused => Self::Refused,
            DialError::TimedOut => Self::TimedOut { after_sending: false },
            DialError::Broken => Self::Broken { after_sending: false },
        }
    }
}

impl From<io::Error> for DialError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Broken,
        }
    }
}

/// Opens connections to checked addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialer {
    allow_private: bool,
}

impl Dialer {
    pub(crate) const fn new(allow_private: bool) -> Self {
        Self { allow_private }
    }

    pub(crate) async fn resolve(self, uri: &Uri) -> Result<Vec<SocketAddr>, DialError> {
        let https = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if https { 443 } else { 80 });
        let addresses = resolve(uri.host().unwrap_or_default(), port).await?;
        self.check(&addresses)?;
        Ok(addresses)
    }

    async fn dial(self, uri: Uri) -> Result<TcpStream, DialError> {
        let addresses = self.resolve(&uri).await?;
        let mut failed = DialError::Dns;
        let mut left = addresses.len();
        for address in addresses {
            left -= 1;
            match connect(address, left > 0).await {
                Ok(stream) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Err(error) => failed = error.into(),
            }
        }
        Err(failed)
    }

    /// One special address among several refuses the name.
    fn check(self, addresses: &[SocketAddr]) -> Result<(), DialError> {
        if addresses.is_empty() {
            return Err(DialError::Dns);
        }
        if !self.allow_private && addresses.iter().any(|address| is_special(address.ip())) {
            return Err(DialError::Forbidden);
        }
        Ok(())
    }
}

/// Connects; with others to try, an address that keeps silent is given up after a while.
async fn connect(address: SocketAddr, others: bool) -> io::Result<TcpStream> {
    let connecting = TcpStream::connect(address);
    if !others {
        return connecting.await;
    }
    let patient = tokio::time::timeout(SILENCE, connecting).await;
    patient.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, DialError> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    match tokio::net::lookup_host((host, port)).await {
        Ok(addresses) => Ok(addresses.collect()),
        Err(_) => Err(DialError::Dns),
    }
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<TcpStream>;
    type Error = DialError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, DialError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), DialError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let dialer = *self;
        Box::pin(async move { dialer.dial(uri).await.map(TokioIo::new) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sockets(addresses: &[&str]) -> Vec<SocketAddr> {
        let address = |text: &&str| SocketAddr::new(text.parse().expect("an address"), 443);
        addresses.iter().map(address).collect()
    }

    #[test]
    fn one_special_address_among_several_refuses_the_name() {
        let guarded = Dialer::new(false);
        assert!(guarded.check(&sockets(&["8.8.8.8", "1.1.1.1"])).is_ok());
        let mixed = sockets(&["8.8.8.8", "10.0.0.1"]);
        assert!(matches!(guarded.check(&mixed), Err(DialError::Forbidden)));
        assert!(Dialer::new(true).check(&mixed).is_ok());
    }

    #[tokio::test]
    async fn other_spellings_of_an_address_are_judged_by_what_they_resolve_to() {
        for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"] {
            let uri = format!("http://{host}:9/").parse().expect("a URI");
            let outcome = Dialer::new(false).dial(uri).await;
            assert!(matches!(outcome, Err(DialError::Forbidden)), "{host}");
        }
    }
}
