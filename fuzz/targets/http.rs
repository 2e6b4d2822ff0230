//! Fuzzes `parsers/http.rs`.
#![no_main]

#[path = "../parsers/http.rs"]
mod http;

libfuzzer_sys::fuzz_target!(|input: &str| http::take(input));
