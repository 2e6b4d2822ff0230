//! Receivers that do harm.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::sleep;

use super::{Answered, answer};

/// How long a slow one thinks: less than the server waits by default.
const SLOWNESS: Duration = Duration::from_secs(9);
/// What a flooding one writes at once.
const FLOOD: usize = 64 * 1024;

/// Answers, but late.
pub(super) async fn slow(request: Request<Incoming>) -> Answered {
    drop(request.into_body().collect().await);
    sleep(SLOWNESS).await;
    answer(StatusCode::NO_CONTENT, "")
}

/// Accepts, reads, and never answers.
pub(super) async fn silent(listener: TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(read_on(stream));
    }
}

async fn read_on(mut stream: TcpStream) {
    let mut buffer = vec![0; 4096];
    while matches!(stream.read(&mut buffer).await, Ok(read) if read > 0) {}
}

/// Answers 200 with a body that never ends.
pub(super) async fn flooding(listener: TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(async move { drop(flood(stream).await) });
    }
}

async fn flood(mut stream: TcpStream) -> std::io::Result<()> {
    let mut buffer = vec![0; 4096];
    if stream.read(&mut buffer).await? == 0 {
        return Ok(());
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
    let mut chunk = format!("{FLOOD:x}\r\n").into_bytes();
    chunk.extend(std::iter::repeat_n(b'x', FLOOD));
    chunk.extend(b"\r\n");
    loop {
        stream.write_all(&chunk).await?;
    }
}

/// An address that nobody else gets and that refuses connections: bound, and not listened on.
pub(super) fn dead() -> std::io::Result<(TcpSocket, SocketAddr)> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let address = socket.local_addr()?;
    Ok((socket, address))
}
