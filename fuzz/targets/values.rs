//! Fuzzes `parsers/values.rs`.
#![no_main]

#[path = "../parsers/values.rs"]
mod values;

libfuzzer_sys::fuzz_target!(|text: &str| values::take(text));
