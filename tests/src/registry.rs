//! A registry of organizations on a real socket, for tests of the whole binary.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The registry. Callers wait until the test lets it answer.
#[derive(Clone, Debug)]
pub struct FakeRegistry {
    /// The address that it listens on.
    pub addr: SocketAddr,
    answers: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    given_up: Arc<AtomicUsize>,
}

impl FakeRegistry {
    /// Starts a registry that does not answer yet.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let addr = listener.local_addr().expect("an address");
        let (answers, asked, given_up) = (Arc::default(), Arc::default(), Arc::default());
        let registry = Self { addr, answers, asked, given_up };
        let shared = registry.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(shared.clone().serve(stream));
            }
        });
        registry
    }

    /// Makes it answer from now on.
    pub fn answer(&self) {
        self.answers.store(true, Ordering::SeqCst);
    }

    /// The number of requests.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// The number of requests whose callers ceased to wait.
    pub fn given_up(&self) -> usize {
        self.given_up.load(Ordering::SeqCst)
    }

    async fn serve(self, mut stream: TcpStream) {
        let mut request = Vec::new();
        let mut chunk = [0; 1024];
        while !request.windows(4).any(|window| window == b"\r\n\r\n") {
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(n) => request.extend_from_slice(&chunk[..n]),
            }
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        if !self.answers.load(Ordering::SeqCst) {
            // Does not answer, until the caller closes the connection.
            while !matches!(stream.read(&mut chunk).await, Ok(0) | Err(_)) {}
            self.given_up.fetch_add(1, Ordering::SeqCst);
            return;
        }
        let body = r#"{"razao_social":"PADARIA AURORA LTDA","nome_fantasia":"Aurora"}"#;
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}
