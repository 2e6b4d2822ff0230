//! The peers of the tests on sockets, and a network that a test can observe.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use recado_core::transport::OutboundRequest;
use recado_http_hyper::{ClientOptions, GuardedClient, Network, Reach};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// A listener, and a URL that leads there.
pub(crate) async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/path?a=1", listener.local_addr().expect("an address"));
    (listener, url)
}

/// An address at which nobody listens as long as the socket is held.
pub(crate) fn closed() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a free port");
    let url = format!("http://{}/", socket.local_addr().expect("an address"));
    (socket, url)
}

pub(crate) fn open_client() -> GuardedClient {
    GuardedClient::new(ClientOptions { reach: Reach::Everything })
}

/// A delivery, as the delivery worker sends it.
pub(crate) fn delivery(url: &str) -> OutboundRequest {
    OutboundRequest {
        status_decides: true,
        ..OutboundRequest::post(url, Vec::new(), b"{}".to_vec())
    }
}

/// The same, but that it may arrive twice.
pub(crate) fn question(url: &str) -> OutboundRequest {
    OutboundRequest { repeatable: true, ..delivery(url) }
}

/// Reads a head up to its blank line; empty when the peer hung up.
pub(crate) async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).expect("ASCII")
}

/// Reads a [`delivery`]; whether there was one.
pub(crate) async fn read_delivery(stream: &mut TcpStream) -> bool {
    !read_head(stream).await.is_empty() && stream.read_exact(&mut [0; 2]).await.is_ok()
}

pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A simulated network: the test sets what names resolve to, and every connection leads to one peer
/// that answers everything, whatever address was dialed. It records look-ups and dials.
pub(crate) struct Watched {
    peer: SocketAddr,
    names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
    dialed: Mutex<Vec<SocketAddr>>,
}

impl Watched {
    /// With a peer that answers everything with these bytes.
    pub(crate) async fn answering(answer: &'static [u8]) -> Arc<Self> {
        let (listener, _) = listen().await;
        let peer = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    while read_delivery(&mut stream).await {
                        stream.write_all(answer).await.expect("written");
                    }
                });
            }
        });
        Arc::new(Self {
            peer,
            names: Mutex::default(),
            asked: Mutex::default(),
            dialed: Mutex::default(),
        })
    }

    /// Resolves a name to these lists of addresses, one after the other, and then always to the
    /// last.
    pub(crate) fn name(&self, name: &str, answers: &[&[&str]]) {
        let address = |text: &&str| text.parse().expect("an address");
        let answers = answers.iter().map(|answer| answer.iter().map(address).collect()).collect();
        lock(&self.names).insert(name.to_owned(), answers);
    }

    /// A client on this network, with the guard in force.
    pub(crate) fn guarded(self: &Arc<Self>) -> GuardedClient {
        self.reaching(Reach::default())
    }

    /// A client on this network that may call these addresses.
    pub(crate) fn reaching(self: &Arc<Self>, reach: Reach) -> GuardedClient {
        let network = Arc::clone(self) as Arc<dyn Network>;
        GuardedClient::with_network(ClientOptions { reach }, network)
    }

    /// The names that were resolved since the last call.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.asked))
    }

    /// The addresses that were dialed since the last call.
    pub(crate) fn dialed(&self) -> Vec<String> {
        let dialed = std::mem::take(&mut *lock(&self.dialed));
        dialed.iter().map(ToString::to_string).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Network for Watched {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        lock(&self.asked).push(name.to_owned());
        let mut names = lock(&self.names);
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let answers = names.get_mut(&name).ok_or(io::ErrorKind::NotFound)?;
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
        Ok(answer.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        lock(&self.dialed).push(address);
        TcpStream::connect(self.peer).await
    }
}
