//! Fuzzes `parsers/inbound.rs`.
#![no_main]

#[path = "../parsers/inbound.rs"]
mod inbound;

libfuzzer_sys::fuzz_target!(|input: &str| inbound::take(input));
