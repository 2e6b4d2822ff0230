//! Fuzzes `parsers/json.rs`.
#![no_main]

#[path = "../parsers/json.rs"]
mod json;

libfuzzer_sys::fuzz_target!(|body: &[u8]| json::take(body));
