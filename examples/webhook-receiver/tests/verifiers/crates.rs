//! The crate `standardwebhooks`: always run.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use standardwebhooks::Webhook;

use crate::vectors::{Vector, given, made, standard_vectors};

fn verify(webhook: &Webhook, vector: &Vector) -> bool {
    let pairs = vector.headers.iter();
    let headers: HeaderMap = pairs
        .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")))
        .collect();
    webhook.verify(vector.body.as_bytes(), &headers).is_ok()
}

fn whole(secret: &str) -> Webhook {
    Webhook::from_bytes(secret.as_bytes().to_vec()).expect("bytes")
}

/// The text that every library accepts: plain base64 with padding.
fn rewritten(secret: &str) -> String {
    let plain = secret["whsec_".len()..].replace('-', "+").replace('_', "/");
    format!("whsec_{plain}{}", "=".repeat((4 - plain.len() % 4) % 4))
}

#[test]
fn the_crate_verifies_with_the_whole_secret_as_bytes() {
    for vector in standard_vectors(&made(1), &made(2)) {
        assert_eq!(verify(&whole(&vector.secret), &vector), vector.good, "{}", vector.name);
    }
}

#[test]
fn the_crate_verifies_with_a_secret_rewritten_as_plain_base64() {
    for vector in standard_vectors(&made(1), &made(2)) {
        let webhook = Webhook::new(&rewritten(&vector.secret)).expect("plain base64");
        assert_eq!(verify(&webhook, &vector), vector.good, "{}", vector.name);
    }
}

#[test]
fn the_crate_takes_a_secret_that_was_given_in_plain_base64_as_it_is() {
    for vector in standard_vectors(&given(1), &given(2)) {
        if vector.secret.ends_with('=') {
            let webhook = Webhook::new(&vector.secret).expect("plain base64");
            assert_eq!(verify(&webhook, &vector), vector.good, "{}", vector.name);
        }
    }
}

#[test]
fn the_crate_refuses_a_made_secret_as_text_rather_than_verify_wrongly() {
    assert!(Webhook::new(made(1).expose()).is_err());
}

#[test]
fn a_secret_that_is_no_base64_verifies_as_bytes() {
    let secret = recado_core::webhooks::SigningSecret::parse("a secret of somebody's own");
    for vector in standard_vectors(&secret.expect("a secret"), &made(2)) {
        assert_eq!(verify(&whole(&vector.secret), &vector), vector.good, "{}", vector.name);
    }
}

#[test]
fn the_header_carries_signatures_of_32_bytes_in_plain_base64() {
    for vector in standard_vectors(&made(1), &made(2)) {
        for signature in vector.header("webhook-signature").split(' ') {
            let bytes = STANDARD.decode(signature.strip_prefix("v1,").expect("v1"));
            assert_eq!(bytes.expect("plain base64").len(), 32);
        }
    }
}
