//! A [`World`] with inbound endpoints and templates to dispatch. Callers can use any client
//! address.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::backend::{Setup, StoreKind};
use crate::http::{Request, ScriptedAnswer, text};
use crate::messaging::{keys, with};
use crate::world::{FromStore, Tenant, World};

/// The header with an endpoint's secret.
pub const SECRET: &str = "x-service-secret";
/// The header in which a proxy gives the client's address.
pub const FORWARDED: &str = "x-forwarded-for";

/// An inbound endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its id.
    pub id: String,
    /// The last part of its path.
    pub slug: String,
    /// Its secret.
    pub secret: String,
}

impl Endpoint {
    /// The path to post to.
    pub fn path(&self) -> String {
        incoming(&self.slug)
    }

    /// A call with the secret.
    pub fn request(&self) -> Request {
        Request::new("POST", self.path()).header(SECRET, &self.secret)
    }
}

/// The path of an endpoint.
pub fn incoming(slug: &str) -> String {
    format!("/api/webhooks/incoming/{slug}")
}

/// The path of a template's dispatch.
pub fn dispatching(token: &str) -> String {
    format!("/api/webhooks/template-dispatch/{token}")
}

/// A client address that no other call of this test run uses.
pub fn unknown_client() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("100.{}.{}.{}", 1 + n / 62_500, n / 250 % 250, 1 + n % 250)
}

/// A world whose company has both features, and whose server trusts a proxy on this machine. Each
/// of its calls has a new client address, so that no test reaches a client's limit by accident.
#[derive(Debug)]
pub struct Intake {
    /// The world.
    pub world: World,
}

impl Deref for Intake {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl FromStore for Intake {
    async fn from_store(kind: StoreKind) -> Self {
        Self::with(kind, Setup::default()).await
    }
}

impl Intake {
    /// A world with these settings.
    pub async fn with(kind: StoreKind, setup: Setup) -> Self {
        let setup = Setup { trusted_proxies: &["127.0.0.0/8"], ..setup };
        let world = World::with(kind, setup).await;
        let intake = Self { world };
        intake.features(&intake.us, true, true).await;
        intake
    }

    /// Turns the features of a company on and off.
    pub async fn features(&self, tenant: &Tenant, inbound: bool, dispatch: bool) {
        let features = json!({"inbound_contacts": inbound, "template_dispatch": dispatch});
        let path = format!("/companies/{}", tenant.id);
        self.operator("PATCH", &path, json!({"features": features})).await.expect(200);
    }

    /// Another company with both features.
    pub async fn neighbour(&self, name: &str) -> Tenant {
        let tenant = self.tenant(name).await;
        self.features(&tenant, true, true).await;
        tenant
    }

    /// Creates an endpoint of our company with this mapping.
    pub async fn endpoint(&self, slug: &str, mapping: Value) -> Endpoint {
        self.endpoint_of(&self.us, slug, mapping, json!({})).await
    }

    /// Creates an endpoint of our company without a secret.
    pub async fn public(&self, slug: &str) -> Endpoint {
        self.endpoint_of(&self.us, slug, plain(), json!({"auth_mode": "public"})).await
    }

    /// Creates an endpoint of a given company with more settings.
    pub async fn endpoint_of(
        &self,
        tenant: &Tenant,
        slug: &str,
        mapping: Value,
        more: Value,
    ) -> Endpoint {
        let body = with(json!({"slug": slug, "variable_mapping": mapping}), more);
        let made = self.make_for(tenant, "C/inbound-endpoints", body).await;
        Endpoint {
            id: text(&made["id"]),
            slug: slug.to_owned(),
            secret: made["secret"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// Changes an endpoint of our company.
    pub async fn change_endpoint(&self, endpoint: &Endpoint, body: Value) -> Value {
        let path = format!("C/inbound-endpoints/{}", endpoint.id);
        self.operator("PATCH", &path, body).await.expect(200)
    }

    /// Makes a call from a new client address.
    pub async fn knock(&self, request: Request) -> ScriptedAnswer {
        self.send(request.header(FORWARDED, unknown_client())).await
    }

    /// Posts to an endpoint with its secret.
    pub async fn hand_in(&self, endpoint: &Endpoint, body: &Value) -> ScriptedAnswer {
        self.knock(endpoint.request().json(body)).await
    }

    /// Posts these bytes to an endpoint with its secret.
    pub async fn hand_in_bytes(
        &self,
        endpoint: &Endpoint,
        body: impl Into<bytes::Bytes>,
    ) -> ScriptedAnswer {
        self.knock(endpoint.request().body(body)).await
    }

    /// Posts a body that must be accepted, and returns the answer's body.
    pub async fn taken(&self, endpoint: &Endpoint, body: Value) -> Value {
        self.hand_in(endpoint, &body).await.expect_ok()
    }

    /// Dispatches a template with a JSON body.
    pub async fn dispatch(&self, token: &str, body: &Value) -> ScriptedAnswer {
        self.knock(Request::new("POST", dispatching(token)).json(body)).await
    }

    /// Dispatches a template with a query string and no body.
    pub async fn dispatch_query(&self, token: &str, query: &str) -> ScriptedAnswer {
        self.knock(Request::new("POST", format!("{}?{query}", dispatching(token)))).await
    }

    /// Dispatches a template to a phone without variables.
    pub async fn dispatch_to(&self, token: &str, phone: &str) -> ScriptedAnswer {
        self.dispatch(token, &json!({"phone_number": phone})).await
    }

    /// Dispatches a template to a phone. This must be accepted. Returns the answer's body.
    pub async fn dispatched(&self, token: &str, phone: &str) -> Value {
        self.dispatch_to(token, phone).await.expect_ok()
    }

    /// Creates an approved template and returns its token.
    pub async fn token(&self, name: &str, category: &str, body: &str) -> String {
        text(&self.template(name, category, body).await["token"])
    }
}

/// A mapping for bodies whose members have the names of our fields.
pub fn plain() -> Value {
    json!({"phone_number": "$.phone", "first_name": "$.name"})
}

impl ScriptedAnswer {
    /// Asserts a success of an inbound call, and returns the body.
    #[track_caller]
    pub fn expect_ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.show());
        assert_eq!(self.header("content-type"), "application/json", "{}", self.show());
        let body = self.json();
        assert_eq!(body["ok"], Value::Bool(true), "{}", self.show());
        body
    }

    /// Asserts a refused inbound call in the exact form of D4.
    #[track_caller]
    pub fn expect_hook_error(&self, status: u16, code: &str) {
        let body = self.hook_error(status, code);
        assert_eq!(keys(&body), ["code", "message", "ok"], "{}", self.show());
    }

    /// Asserts a refused repetition that names the first dispatch, and returns its `existing`.
    #[track_caller]
    pub fn expect_duplicate(&self) -> Value {
        let body = self.hook_error(409, "DUPLICATE_SEND");
        assert_eq!(keys(&body), ["code", "existing", "message", "ok"], "{}", self.show());
        assert_eq!(
            keys(&body["existing"]),
            ["message_id", "next_eligible_at", "sent_at"],
            "{}",
            self.show()
        );
        body["existing"].clone()
    }

    /// Asserts a 429 of an inbound call, and returns the seconds to wait.
    #[track_caller]
    pub fn expect_limited(&self) -> u64 {
        self.expect_hook_error(429, "RATE_LIMITED");
        let wait = self.header("retry-after").parse().expect("whole seconds to wait");
        assert!(wait >= 1, "{}", self.show());
        wait
    }

    #[track_caller]
    fn hook_error(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.show());
        assert_eq!(self.header("content-type"), "application/json", "{}", self.show());
        let body = self.json();
        assert_eq!(body["ok"], Value::Bool(false), "{}", self.show());
        assert_eq!(body["code"], code, "{}", self.show());
        let message = body["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "no message in {}", self.show());
        body
    }
}
