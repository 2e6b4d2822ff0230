//! That a write comes from a page of the console itself (R420).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::{HOST, ORIGIN};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The name of the form field with the token.
pub(crate) const FIELD: &str = "csrf";
/// The header with the token.
pub(crate) const HEADER: &str = "x-csrf-token";

/// The token that every form of a session carries. Only who has the session can make it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct CsrfToken(String);

impl std::fmt::Debug for CsrfToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CsrfToken(***)")
    }
}

impl CsrfToken {
    /// R420. The token of a session: a hash of the session's own token.
    pub(crate) fn of(session: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"recado console form\0");
        hash.update(session.as_bytes());
        Self(URL_SAFE_NO_PAD.encode(hash.finalize()))
    }

    /// The text of the form field.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it is what a request shows, in the same time for every text.
    pub(crate) fn matches(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

/// R420. Whether a browser sent the request from a page of the same origin: `Sec-Fetch-Site` says
/// so, or, without it, `Origin` names the host of the request.
pub(crate) fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |value: Option<&http::HeaderValue>| {
        value.and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    if let Some(site) = text(headers.get("sec-fetch-site")) {
        return site == "same-origin";
    }
    let (Some(origin), Some(host)) = (text(headers.get(ORIGIN)), text(headers.get(HOST))) else {
        return false;
    };
    origin.split_once("://").is_some_and(|(_, named)| named.eq_ignore_ascii_case(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
        });
        pairs.collect()
    }

    /// R420.
    #[test]
    fn a_token_is_of_one_session() {
        let token = CsrfToken::of("a");
        assert!(token.matches(CsrfToken::of("a").expose()));
        assert!(!token.matches(CsrfToken::of("b").expose()) && !token.matches(""));
    }

    /// R420.
    #[test]
    fn only_a_page_of_the_same_origin_writes() {
        let host = ("host", "crm.example");
        assert!(is_same_origin(&headers(&[host, ("sec-fetch-site", "same-origin")])));
        assert!(is_same_origin(&headers(&[host, ("origin", "https://crm.example")])));
        for wrong in [
            &[host] as &[_],
            &[host, ("sec-fetch-site", "cross-site"), ("origin", "https://crm.example")],
            &[host, ("sec-fetch-site", "same-site")],
            &[host, ("sec-fetch-site", "none")],
            &[host, ("origin", "https://evil.example")],
            &[host, ("origin", "null")],
        ] {
            assert!(!is_same_origin(&headers(wrong)), "{wrong:?}");
        }
    }
}
