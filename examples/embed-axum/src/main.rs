//! Recado inside an axum application: its own routes beside ours, one process, one port.
//!
//! ```sh
//! cargo run -p embed-axum
//! curl -s http://127.0.0.1:3000/hello
//! curl -s http://127.0.0.1:3000/operator/v1/companies -H 'Authorization: Bearer change-me'
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use recado_core::gateway::Providers;
use recado_core::secret::SecretText;
use recado_core::{Parts, Recado, Settings};
use recado_http_hyper::{ClientOptions, GuardedClient, HttpOptions, PeerAddress, RecadoHttp};
// A clock, ids, a document folder and a timer; any implementation of the traits does.
use recado_runtime::{LocalFiles, RandomIds, SystemClock, TokioSpawner, TokioTimer};
use recado_store_sqlite::SqliteStore;
use tokio::sync::oneshot;

/// The core on an SQLite file of this folder.
async fn recado(folder: &Path) -> Result<Recado, Box<dyn Error>> {
    let store = SqliteStore::open(folder.join("app.db"))?;
    store.migrate()?;
    let parts = Parts {
        store: Arc::new(store),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds::new()),
        files: Arc::new(LocalFiles::new(folder.join("app-documents"))),
        spawner: Arc::new(TokioSpawner),
        transport: Arc::new(GuardedClient::new(ClientOptions::default())),
        gateway_transport: None,
        limiter: None,
        // Without a gateway nothing is sent; see recado-providers.
        providers: Providers::none(),
        settings: Settings::new("http://127.0.0.1:3000"),
    };
    Ok(Recado::start(parts).await?)
}

/// The application: a route of its own that uses the core without HTTP, and Recado's surface for
/// every path that the application does not know.
fn app(recado: Recado, operator_token: &str) -> Router {
    let operator_token = Some(SecretText::new(operator_token));
    let surface =
        RecadoHttp::new(recado.clone(), HttpOptions { operator_token, ..HttpOptions::default() });
    Router::new()
        .route("/hello", get(hello))
        .with_state(recado)
        .fallback_service(surface)
        .layer(from_fn(tell_peer))
}

/// Tells the surface who is at the other end: the inbound webhooks count calls by client.
async fn tell_peer(mut request: Request, next: Next) -> Response {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>() {
        let peer = PeerAddress(*peer);
        request.extensions_mut().insert(peer);
    }
    next.run(request).await
}

async fn hello(State(recado): State<Recado>) -> Result<String, StatusCode> {
    let companies = recado.access().companies().await;
    let companies = companies.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    Ok(format!("Hello from an application with {} companies\n", companies.len()))
}

/// Due jobs, such as asking the registry about organizations. A real program also waits longer
/// after failures.
async fn jobs(recado: Recado) {
    loop {
        while let Ok(true) = recado.jobs().run_one().await {}
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

/// The process's lease, sends that were left behind, deliveries that are old enough to go, and the
/// store's upkeep. What fails is tried again with the next round.
async fn upkeep(recado: Recado) {
    loop {
        let _ = recado.workers().renew().await;
        let _ = recado.sending().recover().await;
        let _ = recado.deliveries().sweep().await;
        let _ = recado.upkeep().await;
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
}

/// Sends what happens to webhooks, until `stop` is dropped.
async fn deliver(recado: Recado, stop: oneshot::Receiver<()>) {
    let timer = TokioTimer::named("dispatcher");
    recado.deliveries().run(&timer, async { drop(stop.await) }).await;
}

/// Sends the messages of campaigns, until `stop` is dropped.
async fn campaigns(recado: Recado, stop: oneshot::Receiver<()>) {
    let timer = TokioTimer::named("campaigns");
    recado.campaigns().run(&timer, async { drop(stop.await) }).await;
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let recado = recado(Path::new(".")).await?;
    let background = [tokio::spawn(jobs(recado.clone())), tokio::spawn(upkeep(recado.clone()))];
    let (going, stopped) = oneshot::channel();
    let worker = tokio::spawn(deliver(recado.clone(), stopped));
    let (sending, stopped) = oneshot::channel();
    let runner = tokio::spawn(campaigns(recado.clone(), stopped));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    println!("listening on http://{}", listener.local_addr()?);
    let stop = async {
        // Without a signal handler there is nothing to wait for.
        let _ = tokio::signal::ctrl_c().await;
    };
    let app = app(recado.clone(), "change-me");
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, app).with_graceful_shutdown(stop).await?;
    // What is in flight is finished while the lease is still renewed.
    drop((going, sending));
    worker.await?;
    runner.await?;
    background.iter().for_each(tokio::task::JoinHandle::abort);
    // What is still being sent is recorded as uncertain, and the lease given back.
    recado.sending().abandon_own().await?;
    Ok(recado.workers().release().await?)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{Request, header};
    use http_body_util::BodyExt;
    use serde_json::Value;
    use tower::ServiceExt;

    use super::*;

    async fn call(
        app: &Router,
        method: &str,
        path: &str,
        bearer: &str,
        body: &str,
    ) -> (u16, String) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::AUTHORIZATION, format!("Bearer {bearer}"))
            .body(Body::from(body.to_owned()))
            .expect("a request");
        let response = app.clone().oneshot(request).await.expect("infallible");
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (status, String::from_utf8(body.to_vec()).expect("UTF-8"))
    }

    fn field(body: &str, name: &str) -> String {
        let body: Value = serde_json::from_str(body).expect("JSON");
        body["data"][name].as_str().expect("a text").to_owned()
    }

    #[tokio::test]
    async fn a_contact_is_made_through_the_application() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let app = app(recado(folder.path()).await.expect("it starts"), "token");
        let (status, made) =
            call(&app, "POST", "/operator/v1/companies", "token", r#"{"name": "A"}"#).await;
        assert_eq!(status, 201, "{made}");
        let keys = format!("/operator/v1/companies/{}/keys", field(&made, "id"));
        let scopes = r#"{"name": "k", "scopes": ["contacts:write"]}"#;
        let key = field(&call(&app, "POST", &keys, "token", scopes).await.1, "key");

        let body = r#"{"phone": "+5511987654321", "name": "Ana"}"#;
        let (status, contact) = call(&app, "POST", "/api/v1/contacts", &key, body).await;
        assert_eq!(status, 201, "{contact}");
        assert!(contact.contains("+5511987654321"), "{contact}");

        let (status, hello) = call(&app, "GET", "/hello", "", "").await;
        assert_eq!((status, hello.contains("1 companies")), (200, true), "{hello}");
        assert_eq!(call(&app, "GET", "/nowhere", "", "").await.0, 404);
    }
    #[tokio::test]
    async fn calls_of_hooks_are_counted_by_peer() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let app = app(recado(folder.path()).await.expect("it starts"), "token");
        let ask = async |last: u8| {
            let peer = SocketAddr::from(([192, 0, 2, last], 4711));
            let request = Request::post("/api/webhooks/incoming/nobodys")
                .extension(ConnectInfo(peer))
                .body(Body::empty())
                .expect("a request");
            app.clone().oneshot(request).await.expect("infallible").status().as_u16()
        };
        for _ in 0..10 {
            assert_eq!(ask(1).await, 404);
        }
        assert_eq!((ask(1).await, ask(2).await), (429, 404));
    }
}
