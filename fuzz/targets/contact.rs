//! Fuzzes `parsers/contact.rs`.
#![no_main]

#[path = "../parsers/contact.rs"]
mod contact;

libfuzzer_sys::fuzz_target!(|body: &[u8]| contact::take(body));
