//! The form of a webhook's URL (D54). The transport checks the addresses that it resolves to.

use std::fmt;

use crate::form::text_form;

/// The longest URL.
const MAX_CHARS: usize = 2_048;

/// An absolute URL that deliveries may be posted to: `http` or `https`, without user and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookUrl(String);

/// Why a URL cannot be a webhook's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidUrl(&'static str);

impl WebhookUrl {
    /// Reads a URL. Only its form is checked, and strictly: everything that parsers are known to
    /// read differently (spaces, backslashes, users, control and non-ASCII characters) is refused
    /// (R61).
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidUrl> {
        if text.len() > MAX_CHARS {
            return Err(InvalidUrl("must have at most 2,048 characters"));
        }
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte);
        if !text.bytes().all(is_plain) {
            return Err(InvalidUrl("must be written in plain ASCII; encode other characters"));
        }
        let (scheme, rest) =
            text.split_once("://").ok_or(InvalidUrl("must begin with http:// or https://"))?;
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return Err(InvalidUrl("must begin with http:// or https://"));
        }
        if text.contains('#') {
            return Err(InvalidUrl("must not have a fragment"));
        }
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(InvalidUrl("must not name a user"));
        }
        if !is_host_and_port(authority) {
            return Err(InvalidUrl("must name a host"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The URL as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether this is a host, bracketed if it is an IPv6 address, and perhaps a port.
fn is_host_and_port(authority: &str) -> bool {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, "")) => (host, None),
            Some((host, rest)) => match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None => return false,
            },
            None => return false,
        },
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let is_bracketed = authority.starts_with('[');
    let is_host = |byte: u8| match byte {
        b':' => is_bracketed,
        byte => byte.is_ascii_alphanumeric() || b"-._".contains(&byte),
    };
    !host.is_empty()
        && host.bytes().all(is_host)
        && (!is_bracketed || host.parse::<std::net::Ipv6Addr>().is_ok())
        && port.is_none_or(is_port)
}

fn is_port(text: &str) -> bool {
    // `parse` alone would accept a sign.
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

text_form!(WebhookUrl, WebhookUrl::parse, WebhookUrl::as_str, |text| text
    .max_length(Some(MAX_CHARS)));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_http_urls_are_kept_as_given() {
        for url in [
            "https://example.com",
            "HTTPS://Example.com:8443/a/b?c=d&e=%20",
            "http://example.com?x=1",
            "http://93.184.216.34/hook",
            "http://[2606:4700::1111]:80/hook",
            "https://a_b.example.com/",
        ] {
            assert_eq!(WebhookUrl::parse(url).expect(url).as_str(), url);
        }
    }

    #[test]
    fn what_parsers_read_differently_is_refused() {
        for url in [
            "",
            "example.com",
            "//example.com",
            "ftp://example.com",
            "file:///etc/passwd",
            "javascript://example.com",
            "http:/example.com",
            "http:example.com",
            "http://",
            "http:///path",
            "http://?x",
            "http://user@example.com",
            "http://user:secret@example.com",
            "http://example.com@127.0.0.1",
            "http://example.com#fragment",
            "http://example.com/#",
            "http://example.com\\@127.0.0.1/",
            "http://example.com /",
            " http://example.com",
            "http://example.com\t",
            "http://example.com\r\nX: y",
            "http://exa\u{0}mple.com",
            "http://exämple.com",
            "http://１２７.0.0.1",
            "http://example.com:0",
            "http://example.com:99999",
            "http://example.com:+80",
            "http://example.com:80:80",
            "http://example.com:",
            "http://exam%70le.com",
            "http://[::1",
            "http://[::1]x",
            "http://[fe80::1%25eth0]/",
            "http://::1/",
            "http://[example.com]/",
        ] {
            assert!(WebhookUrl::parse(url).is_err(), "{url:?} must be refused");
        }
    }

    #[test]
    fn the_length_is_bounded() {
        let url = format!("http://example.com/{}", "a".repeat(MAX_CHARS - 19));
        assert!(WebhookUrl::parse(&url).is_ok());
        assert!(WebhookUrl::parse(&format!("{url}a")).is_err());
    }
}
