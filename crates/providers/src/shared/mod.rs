//! Helper functions of all adapters, without rules of any gateway.

#[cfg(any(feature = "waha", feature = "evolution"))]
mod call_log;
mod calls;
mod json;
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) mod money;
#[cfg(feature = "cloud-api")]
mod multipart;
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) mod native;
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) mod offers;
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) mod proto;
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) mod referral;
mod signature;
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) mod stub;
pub(crate) mod texts;
mod url;
#[cfg(any(feature = "waha", feature = "evolution"))]
mod vcard;
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) mod vote;

#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) use call_log::call_log;
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) use calls::own_content;
pub(crate) use calls::{MAX_ANSWER, SEND_IDLE, clip, transport_text};
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) use json::boolean;
#[cfg(any(feature = "cloud-api", feature = "evolution"))]
pub(crate) use json::listed;
#[cfg(feature = "evolution")]
pub(crate) use json::object;
pub(crate) use json::{array, at, digits, integer, parse, text, text_at};
#[cfg(feature = "cloud-api")]
pub(crate) use json::{few, prose, seconds, word};
#[cfg(feature = "cloud-api")]
pub(crate) use multipart::{FilePart, with_form};
#[cfg(any(feature = "cloud-api", feature = "evolution"))]
pub(crate) use signature::same;
#[cfg(feature = "cloud-api")]
pub(crate) use signature::verify_hex_sha256;
#[cfg(feature = "waha")]
pub(crate) use signature::verify_hex_sha512;
#[cfg(any(feature = "cloud-api", feature = "waha"))]
pub(crate) use signature::{has_hex_digest, sole_header};
#[cfg(any(feature = "cloud-api", feature = "waha"))]
pub(crate) use url::is_same_origin;
pub(crate) use url::{join, query};
#[cfg(feature = "cloud-api")]
pub(crate) use url::{parameter, secure_host};
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) use vcard::card;
