//! What the adapters have in common: small tools without a rule of any gateway.
//!
//! Each adapter uses some of them; with few features on, the others are unused.
#![cfg_attr(
    not(all(feature = "cloud-api", feature = "waha", feature = "evolution")),
    expect(unused_imports, reason = "tools of adapters that are not compiled in")
)]

mod calls;
mod json;
mod signature;
mod url;

pub(crate) use calls::{MAX_ANSWER, SEND_IDLE, clip, send_failure, transport_text};
pub(crate) use json::{
    array, at, boolean, digits, integer, object, parse, prose, seconds, text, text_at, word,
};
pub(crate) use signature::{
    has_hex_digest, same, sole_header, verify_hex_sha256, verify_hex_sha512,
};
pub(crate) use url::{encode, join, query, same_origin};
