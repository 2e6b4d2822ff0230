//! Faulty receivers.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::sleep;

use super::{Answered, answer};

/// The delay of a slow receiver: less than the server waits by default.
const SLOWNESS: Duration = Duration::from_secs(9);
/// How many bytes a flooding receiver writes at once.
const FLOOD: usize = 64 * 1024;

/// Answers late.
pub(super) async fn slow(request: Request<Incoming>) -> Answered {
    drop(request.into_body().collect().await);
    sleep(SLOWNESS).await;
    answer(StatusCode::NO_CONTENT, "")
}

/// Accepts connections, reads, and never answers.
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

/// Answers 200 with an endless body.
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

/// An address that refuses connections. It is bound but not listening, so that no other program
/// gets it.
pub(super) fn dead() -> std::io::Result<(TcpSocket, SocketAddr)> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let address = socket.local_addr()?;
    Ok((socket, address))
}
