//! The credential of a request.

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// The token of the one `Authorization` header; the scheme word is matched without case (D6).
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn of(values: &[&'static str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_static(value));
        }
        bearer(&headers).map(str::to_owned)
    }

    #[test]
    fn the_scheme_is_matched_without_case() {
        for value in ["Bearer rk_1", "bearer rk_1", "BEARER  rk_1"] {
            assert_eq!(of(&[value]).as_deref(), Some("rk_1"));
        }
    }

    #[test]
    fn anything_but_one_bearer_header_is_no_token() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["Basic rk_1"]), None);
        assert_eq!(of(&["rk_1"]), None);
        assert_eq!(of(&["Bearer"]), None);
        assert_eq!(of(&["Bearer rk_1", "Bearer rk_1"]), None);
    }
}
