//! Webhooks of Evolution: any body, with a valid token.
#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|body: &[u8]| harness::Fuzzed::Evolution.take(body));
