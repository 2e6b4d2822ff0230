//! The application over a socket, with a slow gateway: the messages after hang-ups and after a
//! stop.

use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use axum::response::Response;
use axum::routing::post;
use http_body_util::BodyExt;
use recado::access::{Caller, CompanyDraft, KeyDraft, Scopes};
use recado::query::Params;
use recado::serde_json::{Map, Value, from_str, json, to_value};
use recado::store::RecordsExt;
use recado::workers::Worker;
use recado::{Parts, Recado, Stopped};
use recado_testkit::ScriptedProvider;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt;

use super::*;

const TOKEN: &str = "token";

fn body(value: Value) -> Map<String, Value> {
    let Value::Object(body) = value else { panic!("no object: {value}") };
    body
}

/// The application on a file, with a gateway that the test controls.
struct Site {
    _folder: tempfile::TempDir,
    recado: Recado,
    gateway: ScriptedProvider,
    caller: Caller,
    key: String,
    /// How many calls of its own handler have ended, also by a hang-up.
    ended: watch::Sender<usize>,
}

impl Site {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = SqliteStore::open(folder.path().join("app.db")).expect("a file");
        store.migrate().expect("migrated");
        let gateway = ScriptedProvider::new();
        let settings = Settings::new("http://127.0.0.1:3000");
        let parts = recado::parts(Arc::new(store), settings, folder.path().join("documents"));
        let parts = Parts { providers: gateway.everywhere(), ..parts };
        let core = Installation::start(parts).await.expect("it starts");
        let recado = core.by(Acting::program("test"));
        let draft = CompanyDraft::named("Padaria").expect("a name");
        let company = recado.access().create_company(draft).await.expect("made").id;
        let key = KeyDraft::new("k", Scopes::all());
        let key = recado.access().create_key(company, key).await.expect("made").secret;
        let connection = json!({
            "kind": "qr", "name": "Loja", "identifier": "5511940028922", "gateway": "simulated",
        });
        recado.connections().create(company, &body(connection)).await.expect("made");
        let caller = recado.access().trusted(company).await.expect("it is there");
        let (key, ended) = (key.expose().to_owned(), watch::Sender::new(0));
        Self { _folder: folder, recado, gateway, caller, key, ended }
    }

    /// The application with one more route of its own.
    fn app(&self) -> Router {
        let own = Router::new()
            .route("/remind", post(remind))
            .with_state(self.recado.installation().clone());
        app(self.recado.installation().clone(), TOKEN)
            .merge(own.layer(Extension(self.ended.clone())))
    }

    /// Serves it with its background work.
    async fn serve(&self, drain_timeout: Duration) -> (SocketAddr, Background) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let app = self.app().into_make_service_with_connect_info::<SocketAddr>();
        let mut background = Background::builder(&self.recado).drain_timeout(drain_timeout).spawn();
        background.serve(|stopping| axum::serve(listener, app).with_graceful_shutdown(stopping));
        (address, background)
    }

    /// Begins a request that sends a message, and does not wait for the answer.
    async fn begin(&self, address: SocketAddr, path: &str, to: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.expect("connected");
        let body = json!({"to": to, "message": "Oi"}).to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.key,
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("written");
        stream.write_all(body.as_bytes()).await.expect("written");
        stream
    }

    /// The status and the kind of error of every message.
    async fn messages(&self) -> Vec<(Value, Value)> {
        let listed = self.recado.messages().list(&self.caller, &Params::new(Vec::new())).await;
        let shown = listed.expect("a page").items.into_iter().map(|message| {
            let message = to_value(message).expect("JSON");
            (message["status"].clone(), message["error_type"].clone())
        });
        shown.collect()
    }

    async fn leases(&self) -> usize {
        self.recado.store().all::<Worker>(()).await.expect("read").len()
    }
}

/// Counts a call when it ends in any way.
struct Ended(watch::Sender<usize>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.send_modify(|ended| *ended += 1);
    }
}

/// A handler of the application's own that sends.
async fn remind(
    caller: ApiCaller,
    State(core): State<Installation>,
    Extension(ended): Extension<watch::Sender<usize>>,
    sent: String,
) -> Result<String, ApiError> {
    let _ended = Ended(ended);
    let sent = body(from_str(&sent).expect("JSON"));
    let recado = core.by(Acting::caller(&caller, "remind"));
    Ok(recado.sending().send_text(&caller, &sent).await?.message_id.to_string())
}

async fn refused(app: &Router, path: &str) -> Response {
    let request = Request::builder().uri(path).body(Body::empty()).expect("a request");
    app.clone().oneshot(request).await.expect("infallible")
}

async fn call(app: &Router, method: &str, path: &str, bearer: &str, body: &str) -> (u16, String) {
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

#[tokio::test]
async fn a_contact_is_made_through_the_application() {
    let site = Site::new().await;
    let app = site.app();
    let new = r#"{"phone": "+5511987654321", "name": "Ana"}"#;
    let (status, contact) = call(&app, "POST", "/api/v1/contacts", &site.key, new).await;
    assert_eq!(status, 201, "{contact}");
    assert!(contact.contains("+5511987654321"), "{contact}");
    let hello = call(&app, "GET", "/hello", &site.key, "").await;
    assert_eq!(hello, (200, "Hello, Padaria\n".to_owned()));
    assert_eq!(call(&app, "GET", "/operator/v1/companies", TOKEN, "").await.0, 200);
    assert_eq!(call(&app, "GET", "/nowhere", "", "").await.0, 404);
}

#[tokio::test]
async fn a_route_of_the_application_refuses_as_the_api_does() {
    let site = Site::new().await;
    let app = site.app();
    let theirs = call(&app, "GET", "/api/v1/contacts", "wrong", "").await;
    assert_eq!(theirs.0, 401);
    assert_eq!(call(&app, "GET", "/hello", "wrong", "").await, theirs);
    assert!(refused(&app, "/hello").await.headers().contains_key("x-request-id"));
    let missing = r#"{"message": "Oi"}"#;
    let theirs = call(&app, "POST", "/api/v1/send/message", &site.key, missing).await;
    assert_eq!(theirs.0, 400);
    assert_eq!(call(&app, "POST", "/remind", &site.key, missing).await, theirs);
    let company = format!("/operator/v1/companies/{}", site.caller.company());
    let basic = call(&app, "PATCH", &company, TOKEN, r#"{"plan": "starter"}"#).await;
    assert_eq!(basic.0, 200, "{}", basic.1);
    let theirs = call(&app, "GET", "/api/v1/contacts", &site.key, "").await;
    assert_eq!(theirs.0, 403);
    assert_eq!(call(&app, "GET", "/hello", &site.key, "").await, theirs);
}

#[tokio::test]
async fn calls_of_routes_of_the_application_use_the_allowance_of_their_key() {
    let site = Site::new().await;
    let app = site.app();
    let key = json!({"name": "k", "scopes": [], "rate_per_minute": 1}).to_string();
    let keys = format!("/operator/v1/companies/{}/keys", site.caller.company());
    let (status, made) = call(&app, "POST", &keys, TOKEN, &key).await;
    assert_eq!(status, 201, "{made}");
    let made: Value = from_str(&made).expect("JSON");
    let key = made["data"]["key"].as_str().expect("a key");
    let statuses = [
        call(&app, "GET", "/hello", key, "").await.0,
        call(&app, "GET", "/hello", key, "").await.0,
    ];
    assert_eq!(statuses, [200, 429]);
}

#[tokio::test]
async fn calls_of_hooks_are_counted_by_peer() {
    let site = Site::new().await;
    let app = site.app();
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

#[tokio::test]
async fn a_send_whose_client_hung_up_comes_to_its_end() {
    let site = Site::new().await;
    let (address, background) = site.serve(Duration::from_secs(20)).await;
    let gate = site.gateway.hold();
    for (count, path) in [(1, "/remind"), (2, "/api/v1/send/message")] {
        let hung_up = site.begin(address, path, &format!("+551199123000{count}")).await;
        gate.reached(count).await;
        drop(hung_up);
    }
    site.ended.subscribe().wait_for(|ended| *ended == 1).await.expect("the hang-up is seen");
    assert!(site.messages().await.iter().all(|(status, _)| status == "pending"));
    gate.open();
    site.recado.tasks().finished().await;
    assert_eq!(site.messages().await, [("sent".into(), Value::Null), ("sent".into(), Value::Null)]);
    assert_eq!(background.stop().await, Stopped::Whole);
}

#[tokio::test]
async fn a_stop_waits_for_sends_whose_clients_hung_up_and_loses_no_outcome() {
    let site = Site::new().await;
    let (address, background) = site.serve(Duration::from_secs(20)).await;
    let gate = site.gateway.hold();
    for (count, path) in [(1, "/remind"), (2, "/api/v1/send/message")] {
        let hung_up = site.begin(address, path, &format!("+551199123000{count}")).await;
        gate.reached(count).await;
        drop(hung_up);
    }
    site.ended.subscribe().wait_for(|ended| *ended == 1).await.expect("the hang-up is seen");
    let mut waits = site.begin(address, "/remind", "+5511991230003").await;
    gate.reached(3).await;

    let stopping = tokio::spawn(background.stop());
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!stopping.is_finished(), "it waits for the gateway");
    assert!(site.messages().await.iter().all(|(status, _)| status == "pending"));
    assert_eq!(site.leases().await, 1, "the lease is kept meanwhile");

    gate.open();
    let mut answer = [0; 15];
    waits.read_exact(&mut answer).await.expect("who waits is answered");
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    drop(waits);
    assert_eq!(stopping.await.expect("no panic"), Stopped::Whole);
    let sent = ("sent".into(), Value::Null);
    assert_eq!(site.messages().await, [sent.clone(), sent.clone(), sent]);
    assert_eq!(site.leases().await, 0, "it was given up");
}

#[tokio::test]
async fn what_a_gateway_never_answers_is_uncertain_once_the_deadline_has_passed() {
    let site = Site::new().await;
    let (address, background) = site.serve(Duration::from_millis(200)).await;
    let gate = site.gateway.hold();
    let hung_up = site.begin(address, "/remind", "+5511991230001").await;
    gate.reached(1).await;
    drop(hung_up);
    site.ended.subscribe().wait_for(|ended| *ended == 1).await.expect("the hang-up is seen");
    assert_eq!(background.stop().await, Stopped::CutOff);
    let uncertain = ("failed".into(), "delivery_uncertain".into());
    assert_eq!(site.messages().await, [uncertain]);
    assert_eq!(site.leases().await, 0, "no other process has to wait for it");
    drop(gate);
}

#[test]
fn the_application_has_40_lines_of_code_at_most() {
    let source = include_str!("main.rs").lines().map(str::trim);
    let code = source.filter(|line| !line.is_empty() && !line.starts_with("//"));
    let count = code.count();
    assert!(count <= 40, "{count} lines");
}
