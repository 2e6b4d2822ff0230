//! Gateways on real sockets: a fake behind an HTTP server, and its webhooks.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recado_testkit::gateways::{AnswerMode, FakeRequest, Gateway, SignedWebhook};
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::http::{Request, ScriptedAnswer, text};
use crate::messaging::with;
use crate::receiver::{Received, read_request};
use crate::world::{Tenant, World, eventually};

/// The longest real delay of an answer. It is longer than the time limit of the caller.
const LATEST: Duration = Duration::from_secs(8);

/// An HTTP server with a fake gateway. Clones are handles on the same server.
#[derive(Clone)]
pub struct GatewayServer {
    /// The address that it listens on, or listened on before it was stopped.
    pub addr: SocketAddr,
    gateway: Arc<dyn Gateway>,
    tasks: Arc<Mutex<Tasks>>,
}

#[derive(Default)]
struct Tasks {
    accepting: Option<JoinHandle<()>>,
    serving: Vec<JoinHandle<()>>,
    /// How many requests were read completely.
    requests: usize,
}

impl fmt::Debug for GatewayServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayServer").field("addr", &self.addr).finish_non_exhaustive()
    }
}

impl GatewayServer {
    /// Starts a server for a fake. A clone of the fake shares its state.
    pub async fn start(gateway: impl Gateway + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let addr = listener.local_addr().expect("an address");
        let server = Self { addr, gateway: Arc::new(gateway), tasks: Arc::default() };
        server.listen(listener);
        server
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// How many requests it has read.
    pub fn requests(&self) -> usize {
        self.tasks().requests
    }

    /// Stops listening and closes every connection. Later connections are refused.
    pub async fn stop(&self) {
        let (accepting, serving) = {
            let mut tasks = self.tasks();
            (tasks.accepting.take(), std::mem::take(&mut tasks.serving))
        };
        for task in accepting.into_iter().chain(serving) {
            task.abort();
            // The socket is closed when the task has ended. The result only says that the task was
            // cancelled.
            let _ = task.await;
        }
    }

    /// Listens again, at the same address.
    pub async fn resume(&self) {
        let listener = eventually("the port is free again", || async {
            let bound: io::Result<TcpListener> = TcpListener::bind(self.addr).await;
            bound.ok()
        })
        .await;
        self.listen(listener);
    }

    fn listen(&self, listener: TcpListener) {
        let shared = self.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = tokio::spawn(shared.clone().serve(stream));
                shared.tasks().serving.push(serving);
            }
        });
        self.tasks().accepting = Some(accepting);
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve(self, mut stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let mut buffer = Vec::new();
        while let Some(request) = read_request(&mut stream, &mut buffer, 0).await {
            self.tasks().requests += 1;
            let reply = self.gateway.answer(&as_asked(request));
            match reply.mode {
                AnswerMode::Answer => {}
                AnswerMode::Late(wait) => tokio::time::sleep(wait.min(LATEST)).await,
                // On a connection that was accepted, a refusal is the same as a drop.
                // [`GatewayServer::stop`] is needed for connections that are refused.
                AnswerMode::Drop | AnswerMode::Refuse => return,
            }
            let head = format!(
                "HTTP/1.1 {} Something\r\ncontent-type: application/json\r\n\
                 content-length: {}\r\n\r\n",
                reply.status,
                reply.body.len()
            );
            let mut answer = head.into_bytes();
            answer.extend_from_slice(&reply.body);
            if stream.write_all(&answer).await.is_err() {
                return;
            }
        }
    }
}

fn as_asked(request: Received) -> FakeRequest {
    FakeRequest::new(&request.method, &request.path, request.headers, request.body)
}

/// The query part of a URL, with `?`; empty without parameters.
pub fn query_of(parameters: &[(String, String)]) -> String {
    let pairs: Vec<String> = parameters
        .iter()
        .map(|(name, value)| format!("{}={}", coded(name), coded(value)))
        .collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// Percent-encodes all characters that are not unreserved.
fn coded(text: &str) -> String {
    let coded = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    coded.collect()
}

impl World {
    /// Creates a connection to a gateway and returns its id.
    pub async fn gateway_connection(
        &self,
        kind: &str,
        gateway: &str,
        settings: Map<String, Value>,
        more: Value,
    ) -> String {
        self.gateway_connection_of(&self.us, kind, gateway, settings, more).await
    }

    /// Creates a connection of a given company to a gateway and returns its id.
    pub async fn gateway_connection_of(
        &self,
        tenant: &Tenant,
        kind: &str,
        gateway: &str,
        settings: Map<String, Value>,
        more: Value,
    ) -> String {
        let body = json!({
            "kind": kind, "name": format!("the {gateway}"), "identifier": "+551140028922",
            "gateway": gateway, "settings": settings,
        });
        text(&self.make_for(tenant, "C/connections", with(body, more)).await["id"])
    }

    /// A connection as the operator API shows it.
    pub async fn connection_view(&self, connection: &str) -> Value {
        self.operator_get(&format!("C/connections/{connection}")).await
    }

    /// Waits until a connection has this status.
    pub async fn connection_is(&self, connection: &str, status: &str) {
        eventually(&format!("the connection is {status}"), || async {
            (self.connection_view(connection).await["status"] == status).then_some(())
        })
        .await;
    }

    /// Posts a webhook to the address of a connection.
    pub async fn webhook(&self, connection: &str, webhook: &SignedWebhook) -> ScriptedAnswer {
        self.webhook_at(connection, "", webhook).await
    }

    /// Posts a webhook to the address of a connection with a suffix such as `/x`.
    pub async fn webhook_at(
        &self,
        connection: &str,
        suffix: &str,
        webhook: &SignedWebhook,
    ) -> ScriptedAnswer {
        webhook_request(connection, suffix, webhook).send(self.addr).await
    }

    /// Posts a webhook that must be accepted.
    pub async fn hooked(&self, connection: &str, webhook: &SignedWebhook) {
        let answer = self.webhook(connection, webhook).await;
        assert_eq!(answer.status, 200, "{}", answer.show());
        assert_eq!(answer.json(), json!({"ok": true}), "{}", answer.show());
    }
}

/// The request that posts a webhook to the address of a connection.
pub fn webhook_request(connection: &str, suffix: &str, webhook: &SignedWebhook) -> Request {
    let query = query_of(&webhook.query);
    let path = format!("/api/webhooks/provider/{connection}{suffix}{query}");
    let mut request = Request::new("POST", path).body(webhook.body.clone());
    for (name, value) in &webhook.headers {
        request = request.header(name, value.clone());
    }
    request
}
