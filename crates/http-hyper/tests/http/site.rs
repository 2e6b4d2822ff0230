//! A server on its own port, and a client that sends given bytes.

use std::net::SocketAddr;
use std::sync::Arc;

use recado_core::secret::SecretText;
use recado_http_hyper::{
    Cells, Drained, HttpOptions, Limits, Paths, QrPainter, Readiness, RecadoHttp, RenderMetrics,
    ServeOptions, serve_with,
};
use recado_runtime::TokioSpawner;
use recado_testkit::Kit;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) const TOKEN: &str = "operator-token-of-the-tests";

pub(crate) struct Site {
    pub(crate) kit: Kit,
    pub(crate) address: SocketAddr,
    pub(crate) readiness: Readiness,
    pub(crate) stop: Option<oneshot::Sender<()>>,
    pub(crate) served: JoinHandle<Drained>,
}

pub(crate) struct Setup {
    pub(crate) kit: Kit,
    pub(crate) token: Option<&'static str>,
    pub(crate) serve: ServeOptions,
    pub(crate) metrics: Option<RenderMetrics>,
    pub(crate) limits: Limits,
    pub(crate) qr_painter: Option<QrPainter>,
    /// The trusted proxies.
    pub(crate) trusted: &'static [&'static str],
    pub(crate) paths: Paths,
}

impl Setup {
    pub(crate) async fn new() -> Self {
        let metrics: RenderMetrics = Arc::new(|| "recado_up 1\n".to_owned());
        Self {
            kit: Kit::builder().spawner(TokioSpawner).build().await,
            token: Some(TOKEN),
            serve: ServeOptions::default(),
            metrics: Some(metrics),
            limits: Limits::default(),
            qr_painter: None,
            trusted: &[],
            paths: Paths::All,
        }
    }

    pub(crate) async fn start(self) -> Site {
        let readiness = Readiness::new();
        let options = HttpOptions {
            cells: Cells::default(),
            mounts: Vec::new(),
            paths: self.paths,
            operator_token: self.token.map(SecretText::new),
            metrics: self.metrics,
            readiness: readiness.clone(),
            trusted_proxies: self
                .trusted
                .iter()
                .map(|network| network.parse().expect("a network"))
                .collect(),
            qr_painter: self.qr_painter,
            limits: self.limits,
        };
        let service = RecadoHttp::new(self.kit.app.clone(), options);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(serve_with(listener, service, self.serve, async {
            let _ = stopped.await;
        }));
        Site { kit: self.kit, address, readiness, stop: Some(stop), served }
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("{error}: {}", String::from_utf8_lossy(&self.body));
        })
    }

    /// The status and the code of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String) {
        let json = self.json();
        assert_eq!(json["success"], false, "{json}");
        (self.status, json["code"].as_str().expect("a code").to_owned())
    }

    /// The status and the code of a hook's refusal.
    pub(crate) fn hook_refusal(&self) -> (u16, String) {
        let json = self.json();
        assert_eq!(json["ok"], false, "{json}");
        assert!(json["message"].is_string() && json.get("success").is_none(), "{json}");
        assert!(json.get("details").is_none(), "{json}");
        (self.status, json["code"].as_str().expect("a code").to_owned())
    }

    /// The data of a success.
    pub(crate) fn data(&self) -> Value {
        let json = self.json();
        assert_eq!(json["success"], true, "{json}");
        json["data"].clone()
    }
}

/// Reads one answer; `head` says that none of its body comes.
pub(crate) async fn read_reply(stream: &mut TcpStream, head: bool) -> Option<Reply> {
    let mut bytes = Vec::new();
    let end = loop {
        let mut byte = [0];
        if stream.read(&mut byte).await.ok()? == 0 {
            return None;
        }
        bytes.push(byte[0]);
        if bytes.ends_with(b"\r\n\r\n") {
            break bytes.len();
        }
    };
    let text = String::from_utf8(bytes[..end].to_vec()).expect("ASCII");
    let mut lines = text.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().expect("a status");
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let mut reply = Reply { status, headers, body: Vec::new() };
    let length = reply.header("content-length").map_or(0, |n| n.parse().expect("a length"));
    if !head {
        reply.body = vec![0; length];
        stream.read_exact(&mut reply.body).await.ok()?;
    }
    Some(reply)
}

impl Site {
    pub(crate) async fn new() -> Self {
        Setup::new().await.start().await
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("the server listens")
    }

    /// Writes these bytes on a connection of their own and reads one answer.
    pub(crate) async fn raw(&self, request: &[u8]) -> Option<Reply> {
        let mut stream = self.connect().await;
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(request).await;
        read_reply(&mut stream, request.starts_with(b"HEAD")).await
    }

    pub(crate) async fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: test\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        let request = [head.as_bytes(), body].concat();
        self.raw(&request).await.unwrap_or_else(|| panic!("no answer to {method} {path}"))
    }

    /// A call of the public API with the kit's key.
    pub(crate) async fn api(&self, method: &str, path: &str, body: &str) -> Reply {
        self.send(method, &format!("/api/v1{path}"), &self.bearer(), body.as_bytes()).await
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.kit.key)
    }

    /// A call of the operator API.
    pub(crate) async fn operator(&self, method: &str, path: &str, body: &str) -> Reply {
        let headers = format!("Authorization: Bearer {TOKEN}\r\n");
        self.send(method, &format!("/operator/v1{path}"), &headers, body.as_bytes()).await
    }

    /// A call of the operator API about the kit's company.
    pub(crate) async fn company(&self, method: &str, path: &str, body: &str) -> Reply {
        let path = format!("/companies/{}{path}", self.kit.company.id);
        self.operator(method, &path, body).await
    }
}
