//! Webhooks of the gateway `waha`: any body, with a valid signature.
#![no_main]

#[path = "../parsers/gateways.rs"]
mod gateways;

libfuzzer_sys::fuzz_target!(|body: &[u8]| gateways::Fuzzed::Waha.take(body));
