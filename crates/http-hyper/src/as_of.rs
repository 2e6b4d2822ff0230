//! Listings from a standby: who may be answered by them, and of what time they are (R462).

use http::HeaderMap;
use http::header::{CACHE_CONTROL, HeaderName, HeaderValue};
use recado_core::Recado;

use crate::error::Outcome;

/// Of what time a listing is that was read from a standby (R462).
const AS_OF: HeaderName = HeaderName::from_static("x-recado-as-of");

/// The same, whose listings may be a bit old, unless the caller asks for a fresh answer (RFC 9111,
/// 5.2.1.4).
///
/// R462.
pub(crate) fn with_stale_listings(recado: Recado, headers: &HeaderMap) -> Recado {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let mut directives = values.flat_map(|value| value.split(','));
    match directives.any(|directive| directive.trim().eq_ignore_ascii_case("no-cache")) {
        true => recado,
        false => recado.with_stale_listings(),
    }
}

/// An answer whose listing was read from a standby says of what time it is.
///
/// R462.
pub(crate) fn dated(outcome: Outcome, recado: &Recado) -> Outcome {
    let as_of = recado.listings_as_of().map(|at| HeaderValue::try_from(at.to_string()));
    match as_of {
        Some(Ok(at)) => outcome.map(|answer| answer.with_header(AS_OF, at)),
        _ => outcome,
    }
}
