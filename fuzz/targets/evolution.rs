//! Webhooks of the gateway `evolution`: any body, with a valid token.
#![no_main]

#[path = "../parsers/gateways.rs"]
mod gateways;

libfuzzer_sys::fuzz_target!(|body: &[u8]| gateways::Fuzzed::Evolution.take(body));
