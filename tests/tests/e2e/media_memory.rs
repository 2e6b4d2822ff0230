//! The memory of a server that receives, fetches and sends large files: X10.

use bytes::Bytes;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use hyper_util::rt::TokioIo;
use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{StoreKind, both_stores, text};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const MIB: usize = 1024 * 1024;
/// The largest document.
const LARGE: usize = 100 * MIB;
const FRAME: usize = 64 * 1024;

/// A field of `/proc/PID/status`, in KiB.
fn memory(process: &Process, field: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id()));
    let status = status.expect("a Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("it is there");
    line.trim().trim_end_matches("kB").trim().parse().expect("a number")
}

/// Forgets the highest memory so far.
fn forget_peak(process: &Process) {
    std::fs::write(format!("/proc/{}/clear_refs", process.id()), "5").expect("allowed");
}

fn frame(n: usize) -> Bytes {
    let mut frame = vec![b' '; FRAME];
    if n == 0 {
        frame[..9].copy_from_slice(b"%PDF-1.7\n");
    }
    frame.into()
}

/// Serves documents of so many bytes to whoever asks.
async fn file_server(size: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/large.pdf", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = stream.read_u8().await else { return };
                    head.push(byte);
                }
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n");
                let _ = stream.write_all(head.as_bytes()).await;
                for n in 0..size / FRAME {
                    if stream.write_all(&frame(n)).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

/// Posts a form with a document of so many bytes, which is made as it is written.
async fn post_form(process: &Process, key: &str, to: &str, size: usize) -> (u16, Value) {
    let head = format!(
        "--xyz\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\n{to}\r\n\
         --xyz\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\ndocument\r\n\
         --xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n"
    );
    let frames = (0..size / FRAME).map(frame);
    let tail = Bytes::from_static(b"\r\n--xyz--\r\n");
    let all = std::iter::once(Bytes::from(head)).chain(frames).chain(std::iter::once(tail));
    let all = all.map(|bytes| Ok::<_, std::convert::Infallible>(Frame::data(bytes)));
    let body = StreamBody::new(futures_util::stream::iter(all));
    let stream = TcpStream::connect(process.addr).await.expect("connected");
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.expect("a connection");
    tokio::spawn(connection);
    let request = http::Request::post("/api/v1/send/media")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "multipart/form-data; boundary=xyz")
        .body(body)
        .expect("a request");
    let answer = sender.send_request(request).await.expect("an answer");
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&body).expect("JSON"))
}

async fn started(kind: StoreKind) -> (Process, Database, String) {
    let database = Database::migrated(kind);
    let args = ["--allow-private-destinations"];
    let process = Process::serve(&database, &args).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let body = json!({
        "kind": "qr", "name": "Q", "identifier": "5511999990000", "gateway": "simulated",
        "settings": {"reports": false},
    });
    operator_at(process.addr, &us.id, "POST", "C/connections", body).await.expect(201);
    (process, database, us.key)
}

/// X10: 100 MB, by address and by form, with less than 8 MB more memory.
#[both_stores]
async fn a_document_of_100_mb_goes_through_in_small_memory(kind: StoreKind) {
    if !cfg!(target_os = "linux") {
        println!("NOT RUN: the memory of a process is read from /proc");
        return;
    }
    let (process, _database, key) = started(kind).await;
    let small = file_server(MIB).await;
    let send = async |url: &str| {
        let body = json!({"to": "+5511987654321", "type": "document", "url": url});
        let request = recado_tests::Request::new("POST", "/api/v1/send/media").bearer(&key);
        request.json(&body).send(process.addr).await
    };
    // What the first sends need stays.
    for _ in 0..3 {
        send(&small).await.expect(200);
        let (status, answer) = post_form(&process, &key, "+5511987654321", MIB).await;
        assert_eq!(status, 200, "{answer}");
    }
    let large = file_server(LARGE).await;
    for by_form in [false, true] {
        forget_peak(&process);
        let before = memory(&process, "VmRSS:");
        match by_form {
            false => drop(send(&large).await.expect(200)),
            true => {
                let (status, answer) = post_form(&process, &key, "+5511987654321", LARGE).await;
                assert_eq!((status, text(&answer["data"]["type"])), (200, "document".to_owned()));
            }
        }
        let rise = memory(&process, "VmHWM:").saturating_sub(before);
        println!("100 MB by {}: {rise} KiB", if by_form { "form" } else { "address" });
        assert!(rise < 8 * 1024, "{rise} KiB more");
    }
}

/// R352: 50 at once stay below 64 MiB more.
#[both_stores]
async fn fifty_documents_at_once_stay_below_a_bound(kind: StoreKind) {
    if !cfg!(target_os = "linux") {
        println!("NOT RUN: the memory of a process is read from /proc");
        return;
    }
    let (process, _database, key) = started(kind).await;
    post_form(&process, &key, "+5511987654321", MIB).await;
    forget_peak(&process);
    let before = memory(&process, "VmRSS:");
    // The last four digits steer the simulated gateway.
    let sends = (100..150).map(|n| {
        let to = format!("+55119876{n:05}");
        let (process, key) = (&process, key.as_str());
        async move { post_form(process, key, &to, 4 * MIB).await }
    });
    let began = std::time::Instant::now();
    for (status, answer) in futures_util::future::join_all(sends).await {
        assert_eq!(status, 200, "{answer}");
    }
    let rise = memory(&process, "VmHWM:").saturating_sub(before);
    println!("50 at once: {rise} KiB, {:?}", began.elapsed());
    assert!(rise < 64 * 1024, "{rise} KiB more");
}
