//! Webhooks of Evolution: any body, rightly signed.
#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|body: &[u8]| harness::Fuzzed::Evolution.take(body));
