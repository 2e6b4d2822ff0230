//! The headers of a delivery (6.2, D53, D56).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::Timestamp;
use crate::events::EventType;
use crate::ids::DeliveryId;
use crate::webhooks::{SigningSecret, SigningSecrets};

const USER_AGENT: &str = concat!("Recado-Webhooks/", env!("CARGO_PKG_VERSION"));

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// `X-Service-Signature` of a body: `sha256=` and the HMAC-SHA256 in lower-case hexadecimal (6.2).
/// The key is the whole secret as UTF-8 (D56).
pub fn sign(secret: &SigningSecret, body: &str) -> String {
    format!("sha256={}", hex(&mac(secret.expose().as_bytes(), &[body.as_bytes()])))
}

/// The `v1` signatures of Standard Webhooks with one secret. Verifiers use as the key either the
/// secret's own bytes or the base64 decoding of its text after `whsec_`. There is a signature for
/// each, since the header may contain several and one that matches is enough (R62).
pub fn standard_signatures(
    secret: &SigningSecret,
    id: DeliveryId,
    seconds: i64,
    body: &str,
) -> Vec<String> {
    let (id, seconds) = (id.to_string(), seconds.to_string());
    let parts: [&[u8]; 5] = [id.as_bytes(), b".", seconds.as_bytes(), b".", body.as_bytes()];
    let mut signatures = vec![mac(secret.expose().as_bytes(), &parts)];
    signatures.extend(secret.decoded().map(|key| mac(&key, &parts)));
    signatures.into_iter().map(|mac| format!("v1,{}", STANDARD.encode(mac))).collect()
}

/// The headers of an attempt that is made at `now`: signed with the secrets that are valid then
/// (D1).
pub fn headers(
    secrets: &SigningSecrets,
    standard: bool,
    event: EventType,
    id: DeliveryId,
    body: &str,
    now: Timestamp,
) -> Vec<(String, String)> {
    let previous = secrets.previous_at(now);
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("user-agent", USER_AGENT.to_owned()),
        ("x-service-event", event.as_str().to_owned()),
        ("x-service-delivery", id.to_string()),
        ("x-service-signature", sign(&secrets.current, body)),
    ];
    if let Some(previous) = previous {
        headers.push(("x-service-signature-previous", sign(previous, body)));
    }
    if standard {
        let seconds = now.millis().div_euclid(1_000);
        let signatures: Vec<String> = std::iter::once(&secrets.current)
            .chain(previous)
            .flat_map(|secret| standard_signatures(secret, id, seconds, body))
            .collect();
        headers.extend([
            ("webhook-id", id.to_string()),
            ("webhook-timestamp", seconds.to_string()),
            ("webhook-signature", signatures.join(" ")),
        ]);
    }
    headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_999);

    fn id() -> DeliveryId {
        DeliveryId::new(Uuid::from_u128(7))
    }

    fn of(headers: &[(String, String)], name: &str) -> Option<String> {
        headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn secrets() -> SigningSecrets {
        SigningSecrets::new(SigningSecret::stored("It's a Secret to Everybody".to_owned()))
    }

    // The example that GitHub publishes for its webhooks, which are signed in the same way.
    /// 6.2, 5.4.
    #[test]
    fn a_published_example_is_signed_as_published() {
        assert_eq!(
            sign(&secrets().current, "Hello, World!"),
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        );
    }

    // The example of the Standard Webhooks specification.
    /// R62.
    #[test]
    fn a_published_example_of_standard_webhooks_is_signed_as_published() {
        let secret = SigningSecret::stored("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned());
        let body = r#"{"test": 2432232314}"#;
        let key = secret.decoded().expect("base64");
        let parts: [&[u8]; 3] = [b"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.", body.as_bytes(), b""];
        let signature = STANDARD.encode(mac(&key, &parts));
        assert_eq!(signature, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn every_attempt_names_its_event_and_its_delivery() {
        let headers = headers(&secrets(), false, EventType::MessageSent, id(), "{}", NOW);
        assert_eq!(of(&headers, "x-service-event").as_deref(), Some("message.sent"));
        assert_eq!(of(&headers, "x-service-delivery"), Some(id().to_string()));
        assert_eq!(of(&headers, "content-type").as_deref(), Some("application/json"));
        assert!(of(&headers, "user-agent").expect("one").starts_with("Recado-Webhooks/"));
        assert_eq!(of(&headers, "x-service-signature-previous"), None);
        assert_eq!(of(&headers, "webhook-id"), None);
    }

    /// D56.
    #[test]
    fn after_a_rotation_both_secrets_sign_for_a_day() {
        let old = secrets();
        let new = SigningSecret::from_random([9; 32]);
        let rotated = old.rotated(new.clone(), NOW);
        let both = headers(&rotated, true, EventType::MessageSent, id(), "{}", NOW);
        assert_eq!(of(&both, "x-service-signature"), Some(sign(&new, "{}")));
        assert_eq!(of(&both, "x-service-signature-previous"), Some(sign(&old.current, "{}")));
        // Two for the new secret, whose text is base64, one for the old one, whose is not.
        assert_eq!(of(&both, "webhook-signature").expect("some").split(' ').count(), 3);
        let later = NOW.plus(crate::webhooks::ROTATION);
        let one = headers(&rotated, true, EventType::MessageSent, id(), "{}", later);
        assert_eq!(of(&one, "x-service-signature-previous"), None);
        assert_eq!(of(&one, "webhook-timestamp").as_deref(), Some("1763086400"));
    }
}
