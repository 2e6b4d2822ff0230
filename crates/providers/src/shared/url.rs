//! Building URLs: percent-encoding, joining, comparing origins.

#[cfg(feature = "cloud-api")]
use recado_core::transport::Host;
#[cfg(any(feature = "cloud-api", feature = "waha"))]
use recado_core::transport::Origin;

/// Percent-encodes a text for one segment of a path or one value of a query: only letters, digits,
/// `-`, `.`, `_` and `~` stay.
pub(crate) fn encode(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    // A segment of dots would mean the current or the parent folder.
    if !encoded.is_empty() && encoded.bytes().all(|byte| byte == b'.') {
        return encoded.replace('.', "%2E");
    }
    encoded
}

/// A base address and the segments of a path beneath it, each percent-encoded.
pub(crate) fn join(base: &str, segments: &[&str]) -> String {
    let mut url = base.trim_end_matches('/').to_owned();
    for segment in segments {
        url.push('/');
        url.push_str(&encode(segment));
    }
    url
}

/// Parameters as a query: `?a=1&b=2`, each percent-encoded; nothing for none.
pub(crate) fn query(parameters: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = parameters
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// The first value of a parameter of an address, decoded; `None` if it is empty.
#[cfg(feature = "cloud-api")]
pub(crate) fn parameter(url: &str, name: &str) -> Option<String> {
    let query = url.split('#').next()?.split_once('?')?.1;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.find(|(known, _)| *known == name)?.1;
    decode(value).filter(|value| !value.is_empty())
}

/// Decodes percent-encoding; `None` if it is not well-formed.
#[cfg(feature = "cloud-api")]
fn decode(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut nibble = || char::from(rest.next()?).to_digit(16);
                u8::try_from(nibble()? * 16 + nibble()?).ok()?
            }
            b'+' => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Whether an address has the same scheme, host and port as the gateway's (R107).
#[cfg(any(feature = "cloud-api", feature = "waha"))]
pub(crate) fn is_same_origin(base: &str, url: &str) -> bool {
    Origin::of(base).is_ok_and(|base| Origin::of(url).as_ref() == Ok(&base))
}

/// The host of an address that is called by TLS, in lower case.
#[cfg(feature = "cloud-api")]
pub(crate) fn secure_host(url: &str) -> Option<String> {
    match Origin::of(url).ok()? {
        Origin { https: true, host: Host::Name(name), .. } => Some(name.to_ascii_lowercase()),
        _ => None,
    }
}

#[cfg(all(test, feature = "cloud-api", feature = "waha", feature = "evolution"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_segment_cannot_leave_its_place() {
        assert_eq!(
            join("https://a.example/", &["api", "a/../b", "x y"]),
            "https://a.example/api/a%2F..%2Fb/x%20y"
        );
        assert_eq!(join("https://a.example/v", &["..", "."]), "https://a.example/v/%2E%2E/%2E");
        assert_eq!(query(&[("a", "1&b=2"), ("c", "é")]), "?a=1%26b%3D2&c=%C3%A9");
        assert_eq!(query(&[]), "");
    }

    #[test]
    fn a_parameter_is_read_as_it_was_written() {
        for (url, expected) in [
            ("https://a.example/x?limit=1&after=MjQZD", Some("MjQZD")),
            ("https://a.example/x?after=a%3D%3D%26+b#?after=no", Some("a==& b")),
            ("https://a.example/x?after=", None),
            ("https://a.example/x?after=%4", None),
            ("https://a.example/x?after=%ff", None),
            ("https://a.example/after=1", None),
            ("https://a.example/x?before=1", None),
        ] {
            assert_eq!(parameter(url, "after").as_deref(), expected, "{url}");
        }
    }

    /// R107.
    #[test]
    fn an_address_is_the_gateways_own_with_its_scheme_host_and_port_alone() {
        for (base, url, same) in [
            ("https://a.example/x", "https://A.example:443?y", true),
            ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/y", true),
            ("https://a.example", "http://a.example", false),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8081", false),
            ("http://127.0.0.1:8080", "http://localhost:8080", false),
            ("https://a.example", "https://a.example@evil.example", false),
            ("https://a.example", "https://evil.example\\@a.example", false),
            ("", "", false),
        ] {
            assert_eq!(is_same_origin(base, url), same, "{base} {url}");
        }
        assert_eq!(secure_host("https://A.example:8443/x").as_deref(), Some("a.example"));
        assert_eq!(secure_host("http://a.example"), None);
    }

    proptest! {
        #[test]
        fn what_is_encoded_has_nothing_that_means_something(text in any::<String>()) {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-._~%".contains(c);
            prop_assert!(encode(&text).chars().all(plain));
        }

        #[test]
        fn no_text_breaks_the_comparison(one in any::<String>(), other in "https?://\\PC{0,30}") {
            let _ = is_same_origin(&one, &other);
            let _ = parameter(&one, &other);
        }
    }
}
