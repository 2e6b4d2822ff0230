//! Fuzzes `parsers/query.rs`.
#![no_main]

#[path = "../parsers/query.rs"]
mod query;

libfuzzer_sys::fuzz_target!(|query: &str| query::take(query));
