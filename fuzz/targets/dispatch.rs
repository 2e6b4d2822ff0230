//! Fuzzes `parsers/dispatch.rs`.
#![no_main]

#[path = "../parsers/dispatch.rs"]
mod dispatch;

libfuzzer_sys::fuzz_target!(|input: &str| dispatch::take(input));
