//! Webhooks of CloudApi: any body, with a valid signature.
#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|body: &[u8]| harness::Fuzzed::CloudApi.take(body));
