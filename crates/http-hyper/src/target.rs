//! The scheme, host and port of a URL. It is parsed once and strictly, so that the address that is
//! checked and the one that is dialed cannot come from two different readings (D54).

use http::uri::{Authority, PathAndQuery};
use http::{HeaderValue, Uri};
use recado_core::transport::{self, Host, TransportError};

/// The origin of a connection: connections of one origin may be used for each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    https: bool,
    authority: Authority,
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
        let transport::Origin { host, port, .. } =
            transport::Origin::of_authority(https, authority.as_str()).map_err(invalid)?;
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

#[cfg(test)]
mod tests {
    use super::*;

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
