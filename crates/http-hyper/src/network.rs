//! The network as the client sees it: names become addresses, addresses become connections.

use std::io;
use std::net::SocketAddr;

use async_trait::async_trait;
use tokio::net::TcpStream;

/// Where a [`GuardedClient`](crate::GuardedClient) resolves names and opens connections. The guard
/// (D54) stands between the two: [`Network::connect`] is only ever called with an address that
/// [`Network::resolve`] answered for this very connection, or that the URL spelled out, and that
/// was found allowed. Implement it to bring a resolver of your own, or to see what is dialed.
#[async_trait]
pub trait Network: Send + Sync {
    /// The addresses of a name, in the order in which to try them. Addresses that a URL spells
    /// out, in whatever form, are not asked for.
    ///
    /// # Errors
    ///
    /// The name does not resolve; so does an empty answer say.
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((name, port)).await?.collect())
    }

    /// A connection to exactly this address.
    ///
    /// # Errors
    ///
    /// There is none to be had.
    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }
}

/// The network of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNetwork;

impl Network for SystemNetwork {}
