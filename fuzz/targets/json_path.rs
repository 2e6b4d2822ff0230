//! Fuzzes `parsers/json_path.rs`.
#![no_main]

#[path = "../parsers/json_path.rs"]
mod json_path;

libfuzzer_sys::fuzz_target!(|input: &str| json_path::take(input));
