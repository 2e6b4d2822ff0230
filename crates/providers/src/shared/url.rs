//! Building URLs: percent-encoding, joining, comparing origins.

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
    // A segment of dots would be taken for "here" or "above".
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

/// Whether two addresses have the same scheme, host and port.
#[cfg(feature = "cloud-api")]
pub(crate) fn same_origin(one: &str, other: &str) -> bool {
    match (origin(one), origin(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// Scheme, host and port of an address; `None` if there is anything odd about it, such as
/// credentials, which only serve to disguise the host.
#[cfg(feature = "cloud-api")]
fn origin(url: &str) -> Option<(String, String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default = match scheme.as_str() {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    if authority.contains('@') {
        return None;
    }
    let after_host = authority.rfind(']').map_or(0, |end| end + 1);
    let (host, port) = match authority.get(after_host..)?.rsplit_once(':') {
        Some((_, port)) => (authority.get(..authority.len() - port.len() - 1)?, port.parse().ok()?),
        None => (authority, default),
    };
    (!host.is_empty()).then(|| (scheme, host.to_ascii_lowercase(), port))
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
    fn origins_are_compared_with_scheme_host_and_port() {
        for (one, other, same) in [
            ("https://a.example/x", "https://A.example:443?y", true),
            ("https://a.example", "http://a.example", false),
            ("https://a.example", "https://a.example:444", false),
            ("https://a.example", "https://a.example@evil.example", false),
            ("https://a.example", "https://a.example.evil.example", false),
            ("http://[::1]:80/", "http://[::1]", true),
            ("http://[::1]", "http://[::2]", false),
            ("https://a.example", "https://evil.example\\@a.example", false),
            ("ftp://a.example", "ftp://a.example", false),
            ("a.example", "a.example", false),
        ] {
            assert_eq!(same_origin(one, other), same, "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_has_nothing_that_means_something(text in any::<String>()) {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-._~%".contains(c);
            prop_assert!(encode(&text).chars().all(plain));
        }

        #[test]
        fn no_text_breaks_the_comparison(one in any::<String>(), other in "https?://\\PC{0,30}") {
            let _ = same_origin(&one, &other);
            let _ = same_origin(&other, &one);
        }
    }
}
