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

/// Whether a call to `url` goes where calls to `base` go: to the same scheme, host and port.
/// Without TLS, ports and different names of this machine are not compared: such a `base` occurs
/// only in tests and with proxies on this machine.
#[cfg(feature = "cloud-api")]
pub(crate) fn goes_where(url: &str, base: &str) -> bool {
    let (Some(to), Some(base)) = (origin(url), origin(base)) else { return false };
    let in_clear = to.0 == "http" && base.0 == "http";
    to == base
        || (in_clear && (to.1 == base.1 || is_this_machine(&to.1) && is_this_machine(&base.1)))
}

/// The host of an address that is called by TLS, in lower case.
#[cfg(feature = "cloud-api")]
pub(crate) fn secure_host(url: &str) -> Option<String> {
    origin(url).filter(|(scheme, ..)| scheme == "https").map(|(_, host, _)| host)
}

/// Whether a host is this machine.
#[cfg(feature = "cloud-api")]
fn is_this_machine(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let is_loopback = |address: std::net::IpAddr| address.is_loopback();
    host == "localhost" || address.parse().is_ok_and(is_loopback)
}

/// Scheme, host and port of an address; `None` if it has unusual parts, such as credentials, which
/// serve only to disguise the host.
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
            assert_eq!(goes_where(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn in_the_clear_the_port_does_not_matter_nor_a_name_of_this_machine() {
        for (url, base, same) in [
            ("http://a.example:81/x", "http://a.example", true),
            ("http://localhost:81/x", "http://127.0.0.1:80", true),
            ("http://[::1]/x", "http://localhost:8080", true),
            ("http://localhost/x", "http://a.example", false),
            ("http://a.example/x", "http://localhost", false),
            ("http://127.0.0.1.example/x", "http://127.0.0.1", false),
            ("http://10.0.0.2/x", "http://10.0.0.1", false),
            ("http://127.0.0.1@evil.example/x", "http://127.0.0.1", false),
            ("https://localhost:81/x", "http://127.0.0.1", false),
            ("http://127.0.0.1/x", "https://localhost", false),
        ] {
            assert_eq!(goes_where(url, base), same, "{url} {base}");
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
            let _ = goes_where(&one, &other);
            let _ = goes_where(&other, &one);
            let _ = parameter(&one, &other);
        }
    }
}
