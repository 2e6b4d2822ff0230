//! Webhooks of CloudApi: any body, rightly signed.
#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|body: &[u8]| harness::Fuzzed::CloudApi.take(body));
