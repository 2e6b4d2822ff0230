//! A page that listens for what is new.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::site::Site;
use crate::stores::AnyError;

/// Where pages listen.
const LIVE: &str = "/console/live";

/// An open page.
#[derive(Debug)]
pub(super) struct Live(TcpStream);

impl Live {
    /// Begins to listen, as a page does.
    ///
    /// # Errors
    ///
    /// When the server refuses it.
    pub(super) async fn open(site: &Site) -> Result<Self, AnyError> {
        let mut stream = TcpStream::connect(site.target.address()).await?;
        let head = site.head("GET", LIVE, "accept: text/event-stream\r\n");
        stream.write_all(head.as_bytes()).await?;
        let mut answer = Vec::new();
        while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
            if stream.read_buf(&mut answer).await? == 0 {
                return Err("the server hung up".into());
            }
        }
        if answer.starts_with(b"HTTP/1.1 200") {
            return Ok(Self(stream));
        }
        Err(String::from_utf8_lossy(&answer).into_owned().into())
    }

    /// Fails where the server has closed it.
    ///
    /// # Errors
    ///
    /// When it did.
    pub(super) async fn still_open(&mut self) -> Result<(), AnyError> {
        let mut some = [0; 4096];
        match timeout(Duration::from_millis(1), self.0.read(&mut some)).await {
            Ok(Ok(0)) => Err("the server closed an open page".into()),
            Ok(Err(error)) => Err(error.into()),
            Ok(Ok(_)) | Err(_) => Ok(()),
        }
    }
}
