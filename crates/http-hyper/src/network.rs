//! The client's network: resolving names to addresses, and connecting to addresses.

use std::io;
use std::net::SocketAddr;

use async_trait::async_trait;
use tokio::net::TcpStream;

/// Where a [`GuardedClient`](crate::GuardedClient) resolves names and opens connections. The guard
/// (D54) stands between the two: [`Network::connect`] is only called with an allowed address: one
/// that [`Network::resolve`] returned while this connection waited for it, or one in the URL
/// itself. Implement it to use your own resolver, or to observe connections.
#[async_trait]
pub trait Network: Send + Sync {
    /// The addresses of a name, in the order in which to try them. It is not called for addresses
    /// in a URL, in any form.
    ///
    /// A client has one call for a name and port at a time, shared by all callers that wait for it,
    /// and at most 64 in all. It keeps no results: a later caller causes a new call. The client
    /// never drops a call, even if no caller waits any more, since an abandoned look-up may still
    /// occupy its resources. So this must end at some time; until then it counts among the 64.
    ///
    /// # Errors
    ///
    /// The name does not resolve; an empty answer means the same.
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((name, port)).await?.collect())
    }

    /// A connection to exactly this address.
    ///
    /// # Errors
    ///
    /// The connection failed.
    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }
}

/// The network of the operating system. Each look-up occupies one of tokio's threads for blocking
/// work until the system gives up on the name, which can take half a minute. As the client bounds
/// the look-ups, the other threads stay free for the rest of the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNetwork;

impl Network for SystemNetwork {}
