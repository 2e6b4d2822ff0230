//! Webhooks of the gateways. Each input is the body of a call with a valid signature, so that the
//! code after the verification is reached.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use recado_core::Timestamp;
use recado_core::connections::{Connection, ConnectionDraft};
use recado_core::gateway::{
    Addressee, GatewayDestinations, GatewayEvent, Provider, ProviderWebhook, Providers,
    WebhookRefused,
};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_providers::cloud_api::CloudApi;
use recado_providers::evolution::Evolution;
use recado_providers::waha::Waha;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Sha256, Sha512};
use uuid::Uuid;

const SECRET: &str = "fuzz";

/// The gateways whose webhooks are fuzzed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fuzzed {
    /// The official API.
    CloudApi,
    /// WAHA.
    Waha,
    /// Evolution API.
    Evolution,
}

fn providers() -> Providers {
    Providers::none()
        .with(Arc::new(CloudApi::new()))
        .with(Arc::new(Waha::new("g.us")))
        .with(Arc::new(Evolution::new("g.us")))
}

fn connection(kind: &str, gateway: &str, settings: Value) -> Connection {
    let body = json!({"kind": kind, "name": "Fuzz", "identifier": "551140028922",
        "gateway": gateway, "settings": settings});
    let draft = ConnectionDraft::parse(
        body.as_object().expect("an object"),
        &providers(),
        &GatewayDestinations::default(),
    )
    .expect("fits");
    let (id, company) = (ConnectionId::new(Uuid::nil()), CompanyId::new(Uuid::nil()));
    draft.connection(id, company, Timestamp::from_millis(0))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha256(body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any key");
    mac.update(body);
    hex(&mac.finalize().into_bytes())
}

fn sha512(body: &[u8]) -> String {
    let mut mac = Hmac::<Sha512>::new_from_slice(SECRET.as_bytes()).expect("any key");
    mac.update(body);
    hex(&mac.finalize().into_bytes())
}

impl Fuzzed {
    fn parts(self) -> (Box<dyn Provider>, Connection) {
        match self {
            Self::CloudApi => {
                let settings = json!({"phone_number_id": "106540352242922", "access_token": "t",
                    "app_secret": SECRET, "verify_token": "v", "business_account_id": "1"});
                let connection = connection("official_cloud", "cloud_api", settings);
                (Box::new(CloudApi::new()), connection)
            }
            Self::Waha => {
                let settings = json!({"base_url": "http://waha:3000", "session": "loja1",
                    "api_key": "k", "webhook_hmac_key": SECRET});
                (Box::new(Waha::new("g.us")), connection("qr", "waha", settings))
            }
            Self::Evolution => {
                let settings = json!({"base_url": "http://evo:8080", "instance": "loja1",
                    "api_key": "k", "webhook_token": SECRET});
                (Box::new(Evolution::new("g.us")), connection("qr", "evolution", settings))
            }
        }
    }

    fn webhook(self, body: &[u8]) -> ProviderWebhook {
        let header = |name: &str, value: String| vec![(name.to_owned(), value)];
        let (headers, query) = match self {
            Self::CloudApi => {
                (header("x-hub-signature-256", format!("sha256={}", sha256(body))), Vec::new())
            }
            Self::Waha => (header("x-webhook-hmac", sha512(body)), Vec::new()),
            Self::Evolution => (Vec::new(), header("token", SECRET.to_owned())),
        };
        ProviderWebhook { headers, query, body: body.to_vec() }
    }

    /// Translates a body and checks that a signed one is never unauthorized, that only JSON is
    /// translated, and that nothing panics.
    pub(crate) fn take(self, body: &[u8]) {
        let (provider, connection) = self.parts();
        let webhook = self.webhook(body);
        provider.admit(&connection, &webhook).expect("the head is right");
        let taken = provider.receive(&connection, &webhook);
        assert_ne!(taken, Err(WebhookRefused::Unauthorized), "it is signed");
        // Unpaired surrogates and broken UTF-8 are replaced, nothing else. A number may be larger
        // than a float.
        let text = String::from_utf8_lossy(body);
        let is_json = text.contains("\\u") || serde_json::from_str::<&RawValue>(&text).is_ok();
        assert!(taken.is_err() || is_json, "what is no JSON is not translated");
        // What is told to another number or account is read again by its own connection.
        let settings = &connection.settings;
        let is_here = |to: &Addressee| match to {
            Addressee::Called => true,
            Addressee::Number(number) => settings.text("phone_number_id") == Some(number),
            Addressee::Account(account) => settings.text("business_account_id") == Some(account),
        };
        let here = taken.into_iter().flatten().filter(|received| is_here(&received.to));
        for event in here.filter_map(|received| received.event.ok()) {
            read_again(provider.as_ref(), &connection, &event);
        }
    }
}

/// What is kept of an event that was not understood is read again as it was.
fn read_again(provider: &dyn Provider, connection: &Connection, event: &GatewayEvent) {
    let kept = match event {
        GatewayEvent::Unknown(report) => Some(&report.body),
        GatewayEvent::Message(message) | GatewayEvent::Echo(message) => message.raw.as_ref(),
        _ => None,
    };
    if let Some(kept) = kept {
        let again = provider.read(connection, kept);
        assert!(again.contains(&Ok(event.clone())), "{event:?} is read as {again:?}");
    }
}
