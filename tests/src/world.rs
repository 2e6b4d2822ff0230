//! One installation for one test: a fresh database, a server on a socket, a company with a key.

use std::collections::BTreeSet;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::backend::{Database, Setup, StoreKind, TestServer};
use crate::behind_proxy;
use crate::http::{Request, ScriptedAnswer, text};

/// The operator token of every test server.
pub const OPERATOR: &str = "operator-token-of-the-tests-0123456789";

/// All scopes of 5.1.
pub const SCOPES: [&str; 5] =
    ["contacts:read", "contacts:write", "messages:read", "messages:send", "lead_memory:read"];

/// The arguments that a test can have: a world, or only the kind of store.
pub trait FromStore: Sized {
    /// Makes the argument.
    fn from_store(kind: StoreKind) -> impl Future<Output = Self>;
}

impl FromStore for StoreKind {
    async fn from_store(kind: StoreKind) -> Self {
        kind
    }
}

impl FromStore for World {
    async fn from_store(kind: StoreKind) -> Self {
        Self::start(kind).await
    }
}

/// A company, and its key with every scope and a rate limit that no test reaches by accident.
#[derive(Clone, Debug)]
pub struct Tenant {
    /// The company's id.
    pub id: String,
    /// The key.
    pub key: String,
}

/// An installation with one server process inside the test.
#[derive(Debug)]
pub struct World {
    /// The address that the server listens on.
    pub addr: SocketAddr,
    /// The running server, with the control of its clock, documents and outbound requests.
    pub server: TestServer,
    /// The database.
    pub database: Database,
    /// Our company.
    pub us: Tenant,
}

impl World {
    /// A world on a fresh database.
    pub async fn start(kind: StoreKind) -> Self {
        Self::with(kind, Setup::default()).await
    }

    /// A world on a fresh database with other settings.
    pub async fn with(kind: StoreKind, setup: Setup) -> Self {
        let database = Database::migrated(kind);
        let server = TestServer::start(&database, setup).await;
        let addr = server.addr;
        let us = tenant_at(addr, "Acme", "enterprise").await;
        Self { addr, server, database, us }
    }

    /// The kind of its store.
    pub fn kind(&self) -> StoreKind {
        self.database.kind()
    }

    /// Another company on the enterprise plan.
    pub async fn tenant(&self, name: &str) -> Tenant {
        tenant_at(self.addr, name, "enterprise").await
    }

    /// A key of ours with these scopes.
    pub async fn key_with(&self, scopes: &[&str]) -> String {
        let key = self.make("C/keys", json!({"name": "some", "scopes": scopes})).await;
        text(&key["key"])
    }

    /// A key of ours with all scopes and these rates.
    pub async fn key_rated(&self, rate: u32, export_rate: u32) -> String {
        let body = json!({
            "name": "rated", "scopes": SCOPES,
            "rate_per_minute": rate, "export_rate_per_minute": export_rate,
        });
        text(&self.make("C/keys", body).await["key"])
    }

    /// Sends a request as it is.
    pub async fn send(&self, request: Request) -> ScriptedAnswer {
        request.send(self.addr).await
    }

    /// Sends a request with our key.
    pub async fn call(&self, request: Request) -> ScriptedAnswer {
        request.bearer(&self.us.key).send(self.addr).await
    }

    /// GET with our key.
    pub async fn get(&self, path: &str) -> ScriptedAnswer {
        self.get_as(&self.us.key, path).await
    }

    /// GET with a given key.
    pub async fn get_as(&self, key: &str, path: &str) -> ScriptedAnswer {
        Request::new("GET", path).bearer(key).send(self.addr).await
    }

    /// POST with our key.
    pub async fn post(&self, path: &str, body: Value) -> ScriptedAnswer {
        self.post_as(&self.us.key, path, body).await
    }

    /// POST with a given key.
    pub async fn post_as(&self, key: &str, path: &str, body: Value) -> ScriptedAnswer {
        Request::new("POST", path).bearer(key).json(&body).send(self.addr).await
    }

    /// PATCH with our key.
    pub async fn patch(&self, path: &str, body: Value) -> ScriptedAnswer {
        self.patch_as(&self.us.key, path, body).await
    }

    /// PATCH with a given key.
    pub async fn patch_as(&self, key: &str, path: &str, body: Value) -> ScriptedAnswer {
        Request::new("PATCH", path).bearer(key).json(&body).send(self.addr).await
    }

    /// DELETE with our key.
    pub async fn delete(&self, path: &str) -> ScriptedAnswer {
        Request::new("DELETE", path).bearer(&self.us.key).send(self.addr).await
    }

    /// POST /contacts with our key.
    pub async fn post_contact(&self, body: Value) -> ScriptedAnswer {
        self.post("/api/v1/contacts", body).await
    }

    /// PATCH of a contact with our key.
    pub async fn patch_contact(&self, id: &str, body: Value) -> ScriptedAnswer {
        self.patch(&format!("/api/v1/contacts/{id}"), body).await
    }

    /// Creates a contact and returns the `data` of the answer.
    pub async fn create(&self, body: Value) -> Value {
        self.create_as(&self.us, body).await
    }

    /// Creates a contact of a given company.
    pub async fn create_as(&self, tenant: &Tenant, body: Value) -> Value {
        let answer = self.post_as(&tenant.key, "/api/v1/contacts", body).await;
        answer.expect(201)["contact"].clone()
    }

    /// Creates a contact and returns its id.
    pub async fn create_id(&self, body: Value) -> String {
        text(&self.create(body).await["id"])
    }

    /// The detail form of a contact.
    pub async fn detail(&self, id: &str) -> Value {
        self.get(&format!("/api/v1/contacts/{id}")).await.expect(200)
    }

    /// The list form of a contact.
    pub async fn listed(&self, id: &str) -> Value {
        let answer = self.get("/api/v1/contacts?limit=100").await;
        answer.expect(200);
        let found = answer.items().into_iter().find(|contact| contact["id"] == id);
        found.unwrap_or_else(|| panic!("contact {id} is not in {}", answer.show()))
    }

    /// The ids in a listing with this query, in order.
    pub async fn list_ids(&self, query: &str) -> Vec<String> {
        let answer = self.get(&format!("/api/v1/contacts?{query}")).await;
        answer.expect(200);
        answer.ids()
    }

    /// A call to the operator API. A path that begins with `C/` is below our company's path.
    pub async fn operator(&self, method: &str, path: &str, body: Value) -> ScriptedAnswer {
        self.operator_for(&self.us, method, path, body).await
    }

    /// A call to the operator API for a given company.
    pub async fn operator_for(
        &self,
        tenant: &Tenant,
        method: &str,
        path: &str,
        body: Value,
    ) -> ScriptedAnswer {
        operator_at(self.addr, &tenant.id, method, path, body).await
    }

    /// GET of the operator API.
    pub async fn operator_get(&self, path: &str) -> Value {
        self.operator("GET", path, Value::Null).await.expect(200)
    }

    /// Creates a record by the operator API, such as `C/tags`, and returns it.
    pub async fn make(&self, path: &str, body: Value) -> Value {
        self.make_for(&self.us, path, body).await
    }

    /// Creates a record of a given company.
    pub async fn make_for(&self, tenant: &Tenant, path: &str, body: Value) -> Value {
        self.operator_for(tenant, "POST", path, body).await.expect(201)
    }

    /// Imports a contact with the operator API and returns its id.
    pub async fn import(&self, body: Value) -> String {
        text(&self.make("C/contacts", body).await["id"])
    }

    /// Creates an active custom field and returns its id.
    pub async fn field(&self, slug: &str) -> String {
        text(&self.make("C/custom-fields", json!({"label": slug, "slug": slug})).await["id"])
    }

    /// Creates an active list and returns its id.
    pub async fn list(&self, name: &str) -> String {
        text(&self.make("C/lists", json!({"name": name})).await["id"])
    }

    /// Stores a document of a contact and returns its id.
    pub async fn document(&self, contact: &str, name: &str, bytes: &'static [u8]) -> String {
        let company = &self.us.id;
        let path = format!(
            "/operator/v1/companies/{company}/contacts/{contact}/documents?filename={name}"
        );
        let answer = Request::new("POST", path).bearer(OPERATOR).body(bytes).send(self.addr).await;
        text(&answer.expect(201)["id"])
    }

    /// The bytes of a document, or the answer if it was refused.
    pub async fn document_bytes(
        &self,
        contact: &str,
        document: &str,
    ) -> Result<Vec<u8>, ScriptedAnswer> {
        let path = format!("C/contacts/{contact}/documents/{document}");
        let answer = self.operator("GET", &path, Value::Null).await;
        if answer.status == 200 { Ok(answer.body.to_vec()) } else { Err(answer) }
    }

    /// Reads the whole export in pages of `limit` and returns the ids.
    pub async fn export(&self, limit: usize) -> Vec<String> {
        export_at(self.addr, &self.us.key, limit).await
    }

    /// Stops the server and starts another one with the same database, clock, documents and
    /// transport.
    pub async fn restart(&mut self) {
        self.server.restart(&self.database).await;
        self.addr = self.server.addr;
    }

    /// Advances the test clock.
    pub fn advance(&self, by: Duration) {
        self.server.clock.advance(by);
    }
}

/// Reads a whole export and returns the ids. Panics if an id repeats or the export does not end.
pub async fn export_at(addr: SocketAddr, key: &str, limit: usize) -> Vec<String> {
    let mut seen = Vec::new();
    let mut unique = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/api/v1/contacts?order_by=created_at&limit={limit}{cursor}");
        let answer = Request::new("GET", path).bearer(key).send(addr).await;
        answer.expect(200);
        for id in answer.ids() {
            assert!(unique.insert(id.clone()), "the export repeats {id}");
            seen.push(id);
        }
        match answer.json()["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return seen,
        }
    }
}

/// A call to the operator API of a server.
pub async fn operator_at(
    addr: SocketAddr,
    company: &str,
    method: &str,
    path: &str,
    body: Value,
) -> ScriptedAnswer {
    let path = match path.strip_prefix("C/") {
        Some(rest) => format!("/operator/v1/companies/{company}/{rest}"),
        None => format!("/operator/v1{path}"),
    };
    let request = Request::new(method, path).bearer(OPERATOR);
    let request = if body.is_null() { request } else { request.json(&body) };
    request.send(addr).await
}

/// Creates a company with a plan, and a key.
pub async fn tenant_at(addr: SocketAddr, name: &str, plan: &str) -> Tenant {
    let company = json!({"name": name, "plan": plan});
    let company = operator_at(addr, "", "POST", "/companies", company).await.expect(201);
    let id = text(&company["id"]);
    let key = json!({
        "name": "all", "scopes": SCOPES,
        "rate_per_minute": 1_000_000, "export_rate_per_minute": 1_000_000,
    });
    let key = operator_at(addr, &id, "POST", "C/keys", key).await.expect(201);
    Tenant { key: text(&key["key"]), id }
}

/// The n-th valid Brazilian mobile number.
pub fn phone(n: u32) -> String {
    format!("+55119{:08}", 80_000_000 + n)
}

/// An id that no record has, of the same cell as those of our company.
pub fn unknown_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let cell = if behind_proxy::in_use() { "8000-8010" } else { "7000-8000" };
    format!("0192f0c1-0000-{cell}-{:012x}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Waits until a server is ready, and returns what it says of that.
pub async fn ready_at(addr: SocketAddr) -> Value {
    eventually("it is ready", || async {
        let answer = Request::new("GET", "/readyz").send(addr).await;
        (answer.status == 200).then(|| answer.json())
    })
    .await
}

/// Repeats a question until it has an answer, for changes that a background task makes soon.
pub async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut look: impl FnMut() -> F,
) -> T {
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(std::time::Instant::now() < deadline, "it never happened: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
