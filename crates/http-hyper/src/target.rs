//! The scheme, host and port of a URL. It is parsed once and strictly, so that the address that is
//! checked and the one that is dialed cannot come from two different readings (D54).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::uri::{Authority, PathAndQuery};
use http::{HeaderValue, Uri};
use recado_core::transport::TransportError;

/// The longest name that can be resolved, with the dot that may end it.
const MAX_NAME: usize = 254;

/// The origin of a connection: connections of one origin may be used for each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    https: bool,
    authority: Authority,
}

/// The host of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// An address, in whatever form it was written.
    Address(IpAddr),
    /// A name to resolve.
    Name(String),
}

/// A URL that can be called.
#[derive(Clone, Debug)]
pub(crate) struct OutboundTarget {
    pub(crate) https: bool,
    pub(crate) host: Host,
    pub(crate) port: u16,
    authority: Authority,
    path: PathAndQuery,
}

fn invalid(what: &str) -> TransportError {
    TransportError::InvalidUrl(what.to_owned())
}

impl OutboundTarget {
    /// Reads a URL.
    pub(crate) fn parse(url: &str) -> Result<Self, TransportError> {
        let parts = url.parse::<Uri>().map_err(|_| invalid("it is no URL"))?.into_parts();
        let https = match parts.scheme.as_ref().map(http::uri::Scheme::as_str) {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(invalid("it is neither http nor https")),
        };
        let authority = parts.authority.ok_or_else(|| invalid("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(invalid("it names a user"));
        }
        let host = read_host(authority.host())?;
        // Not `port()`, which treats an invalid port as a missing one.
        let port = match &authority.as_str()[authority.host().len()..] {
            "" if https => 443,
            "" => 80,
            given => read_port(given).ok_or_else(|| invalid("its port is no port"))?,
        };
        let path = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(Self { https, host, port, authority, path })
    }

    /// The origin whose connections can be used.
    pub(crate) fn origin(&self) -> Origin {
        Origin { https: self.https, authority: self.authority.clone() }
    }

    /// The target in the request line.
    pub(crate) fn request_uri(&self) -> Uri {
        Uri::from(self.path.clone())
    }

    /// The `Host` of a request: the port only where it is not the scheme's own.
    pub(crate) fn host_header(&self) -> Option<HeaderValue> {
        let own = if self.https { 443 } else { 80 };
        let text = if self.port == own { self.authority.host() } else { self.authority.as_str() };
        HeaderValue::from_str(text).ok()
    }
}

fn read_port(text: &str) -> Option<u16> {
    let digits = text.strip_prefix(':')?;
    let port = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
    (port > 0).then_some(port)
}

fn read_host(text: &str) -> Result<Host, TransportError> {
    if let Some(rest) = text.strip_prefix('[') {
        let inside = rest.strip_suffix(']').and_then(|inside| inside.parse::<Ipv6Addr>().ok());
        let address = inside.ok_or_else(|| invalid("its host is no IPv6 address"))?;
        return Ok(Host::Address(address.into()));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if text.is_empty() || text.len() > MAX_NAME || !text.bytes().all(is_plain) {
        return Err(invalid("its host is no name"));
    }
    let relative = text.strip_suffix('.').unwrap_or(text);
    if !ends_in_a_number(relative) {
        return Ok(Host::Name(text.to_owned()));
    }
    // Resolvers read such a host as an address in different ways; this is how browsers read it.
    let address = read_v4(relative).ok_or_else(|| invalid("its host is no IPv4 address"))?;
    Ok(Host::Address(address.into()))
}

fn ends_in_a_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    is_decimal || read_number(last).is_some()
}

/// An IPv4 address of one to four numbers, of which the last fills what is left; each may be
/// decimal, octal or hexadecimal.
fn read_v4(text: &str) -> Option<Ipv4Addr> {
    let numbers = text.split('.').map(read_number).collect::<Option<Vec<_>>>()?;
    let (last, leading) = numbers.split_last()?;
    if leading.len() > 3 || leading.iter().any(|&number| number > 255) {
        return None;
    }
    let leading_bits = 8 * u32::try_from(leading.len()).ok()?;
    if *last >= 1 << (32 - leading_bits) {
        return None;
    }
    let high = leading.iter().fold(0, |high, number| high << 8 | number);
    let address = high << (32 - leading_bits) | last;
    u32::try_from(address).ok().map(Ipv4Addr::from_bits)
}

fn read_number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.as_bytes() {
        [] => return None,
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if digits.is_empty() {
        return Some(0);
    }
    // Parsing alone would accept a sign.
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    is_number.then(|| u64::from_str_radix(digits, radix).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(url: &str) -> Host {
        OutboundTarget::parse(url).expect(url).host
    }

    #[test]
    fn every_form_of_an_ipv4_address_is_that_address() {
        for form in [
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "127.0.1",
            "2130706433",
            "017700000001",
            "0x7f000001",
            "0X7F000001",
            "0x7f.1",
            "0177.0.0.1",
            "0177.0x0.0.01",
            "127.0x0.0.0x1",
            "000177.0.0.1",
        ] {
            let expected = Host::Address(Ipv4Addr::LOCALHOST.into());
            assert_eq!(host(&format!("http://{form}/")), expected, "{form}");
        }
    }

    #[test]
    fn a_host_that_ends_in_a_number_is_an_address_or_nothing() {
        for form in
            ["1.2.3.4.5", "256.1.1.1", "1.1.1.256", "08.1.1.1", "4294967296", "a.1", "1.0xg.1"]
        {
            assert!(OutboundTarget::parse(&format!("http://{form}/")).is_err(), "{form}");
        }
        for form in ["1.2.3.4a", "0xg", "1.example", "x1"] {
            assert_eq!(host(&format!("http://{form}/")), Host::Name(form.to_owned()));
        }
    }

    #[test]
    fn the_port_is_the_schemes_unless_a_real_one_is_given() {
        let port = |url: &str| OutboundTarget::parse(url).map(|target| target.port);
        assert_eq!(port("http://example.com"), Ok(80));
        assert_eq!(port("https://example.com/"), Ok(443));
        assert_eq!(port("https://example.com:8443/"), Ok(8443));
        assert_eq!(port("http://[2606:4700::1111]:81/"), Ok(81));
        for port in [":", ":0", ":65536", ":99999", ":+80", ":8x"] {
            assert!(
                OutboundTarget::parse(&format!("http://example.com{port}/")).is_err(),
                "{port}"
            );
        }
    }

    #[test]
    fn the_host_header_leaves_out_the_schemes_own_port() {
        let header =
            |url: &str| OutboundTarget::parse(url).expect(url).host_header().expect("a value");
        assert_eq!(header("http://example.com:80/x"), "example.com");
        assert_eq!(header("http://example.com:443/x"), "example.com:443");
        assert_eq!(header("https://[2606:4700::1111]:443/"), "[2606:4700::1111]");
    }
}
