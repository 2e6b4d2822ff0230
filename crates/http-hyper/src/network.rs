//! The network as the client sees it: names become addresses, addresses become connections.

use std::io;
use std::net::SocketAddr;

use async_trait::async_trait;
use tokio::net::TcpStream;

/// Where a [`GuardedClient`](crate::GuardedClient) resolves names and opens connections. The guard
/// (D54) stands between the two: [`Network::connect`] is only ever called with an address that
/// [`Network::resolve`] answered while this very connection waited for it, or that the URL spelled
/// out, and that was found allowed. Implement it to bring a resolver of your own, or to see what is
/// dialed.
#[async_trait]
pub trait Network: Send + Sync {
    /// The addresses of a name, in the order in which to try them. Addresses that a URL spells
    /// out, in whatever form, are not asked for.
    ///
    /// A client asks for a name and port once at a time, on behalf of all who want them meanwhile,
    /// and for at most 64 in all. It keeps no answer: who comes later has the name asked for
    /// again. What it asked for it lets end, even if nobody waits any more, since a look-up that
    /// is abandoned may go on holding what it holds. So this must end at some time; until then it
    /// counts among the 64.
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

/// The network of the operating system. Its resolver takes a thread of tokio's for blocking work
/// for each look-up, until the system gives up on the name, which can take half a minute; that the
/// client bounds the look-ups leaves the other threads to the rest of the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNetwork;

impl Network for SystemNetwork {}
