//! Deliveries as they are sent, and changed ones.

use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use recado_core::Timestamp;
use recado_core::deliveries::{envelope, headers};
use recado_core::events::EventType;
use recado_core::ids::{CompanyId, DeliveryId};
use recado_core::webhooks::{SigningSecret, SigningSecrets};
use uuid::Uuid;

/// A delivery as it arrives, and whether a receiver with this secret may trust it.
#[derive(Clone, Debug)]
pub(crate) struct Vector {
    pub(crate) name: String,
    pub(crate) secret: String,
    pub(crate) body: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) good: bool,
}

impl Vector {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn bad(mut self, name: &str) -> Self {
        self.name = format!("{}, {name}", self.name);
        self.good = false;
        self
    }
}

/// A generated secret, with both characters that only base64url has.
pub(crate) fn made(byte: u8) -> SigningSecret {
    let mut bytes = [byte; 32];
    bytes[..6].copy_from_slice(&[0xfb, 0xef, 0xbe, 0xff, 0xff, 0xff]);
    let secret = SigningSecret::from_random(bytes);
    assert!(secret.expose().contains("----") && secret.expose().contains("____"));
    secret
}

/// A secret in plain base64 with padding, the form that verifiers of Standard Webhooks accept as
/// text.
pub(crate) fn given(byte: u8) -> SigningSecret {
    SigningSecret::parse(&format!("whsec_{}", STANDARD.encode([byte; 32]))).expect("a secret")
}

#[expect(clippy::disallowed_methods, reason = "verifiers look at the clock of the machine")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    Timestamp::from_millis(i64::try_from(since.as_millis()).expect("before the year 292278994"))
}

/// Texts for which a signature over anything but the raw UTF-8 is wrong.
const CONTENTS: [&str; 4] = [
    "Hello",
    "Olá, São João! Ação às 10h",
    "🎉 你好 \u{1f468}\u{200d}\u{1f469} e\u{301}",
    "</script>\u{2028}\u{7f}\u{0} \\u00e1 \r\n\t",
];

fn delivery(content: &str, secrets: &SigningSecrets, at: Timestamp) -> Vector {
    let (company, id) = (CompanyId::new(Uuid::from_u128(7)), DeliveryId::new(Uuid::from_u128(9)));
    let data = serde_json::json!({ "content": content, "contact": { "name": "Zoë" } }).to_string();
    let body = envelope(EventType::MessageReceived, at, company, id, &data);
    let headers = headers(secrets, true, EventType::MessageReceived, id, &body, at);
    let secret = secrets.current.expose().to_owned();
    Vector { name: format!("{content:?}"), secret, body, headers, good: true }
}

/// Deliveries of each content with this secret: as they were sent, with a changed body, and to a
/// receiver with another secret; and one during a rotation, to receivers with the old and the new
/// secret.
pub(crate) fn vectors(secret: &SigningSecret, other: &SigningSecret) -> Vec<Vector> {
    let now = now();
    let mut vectors = Vec::new();
    for content in CONTENTS {
        let good = delivery(content, &SigningSecrets::new(secret.clone()), now);
        let mut changed = good.clone().bad("the body changed");
        changed.body = changed.body.replace("Zoë", "Zoe");
        let mut wrong = good.clone().bad("another secret");
        wrong.secret = other.expose().to_owned();
        vectors.extend([good, changed, wrong]);
    }
    let rotated = SigningSecrets::new(other.clone()).rotated(secret.clone(), now);
    let new = delivery("rotated", &rotated, now);
    let mut old = new.clone();
    old.secret = other.expose().to_owned();
    let mut older = new.clone().bad("a secret from before");
    older.secret = made(99).expose().to_owned();
    vectors.extend([new, old, older]);
    vectors
}

/// The same for the headers of Standard Webhooks, and cases that only they protect from.
pub(crate) fn standard_vectors(secret: &SigningSecret, other: &SigningSecret) -> Vec<Vector> {
    let secrets = SigningSecrets::new(secret.clone());
    let good = delivery("Olá", &secrets, now());
    let replayed = Timestamp::from_millis(now().millis() - 6 * 60 * 1_000);
    let replayed = delivery("Olá", &secrets, replayed).bad("sent again after 6 minutes");
    let fresh = good.header("webhook-timestamp").to_owned();
    let redated = replayed.clone().with_header("webhook-timestamp", &fresh).bad("with a new time");
    let renamed = Uuid::from_u128(8).to_string();
    let renamed = good.with_header("webhook-id", &renamed).bad("under another id");
    let mut vectors = vectors(secret, other);
    vectors.extend([replayed, redated, renamed]);
    vectors
}
