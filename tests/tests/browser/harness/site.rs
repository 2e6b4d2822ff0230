//! A site of one page, for tests of the harness.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// The site. It ends with the runtime of its test.
#[derive(Debug)]
pub(crate) struct Site {
    /// The address that it listens on.
    pub(crate) addr: SocketAddr,
}

impl Site {
    /// Serves this page for every path, with a policy that forbids inline scripts.
    pub(crate) async fn of(page: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let addr = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut asked = [0; 4096];
                    let _ = stream.read(&mut asked).await;
                    let answer = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n\
                         content-security-policy: default-src 'self'; style-src 'unsafe-inline'\r\n\
                         content-length: {}\r\nconnection: close\r\n\r\n{page}",
                        page.len()
                    );
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { addr }
    }
}
