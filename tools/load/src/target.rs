//! The server to measure, which must be on this machine.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

/// The address of a server on the loopback interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    address: SocketAddr,
}

/// Why a URL is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedTarget(String);

impl fmt::Display for RefusedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RefusedTarget {}

impl Target {
    /// Parses `http://HOST:PORT`. Every address of the host must be a loopback address, so that
    /// this program cannot be used to attack other machines.
    ///
    /// # Errors
    ///
    /// The reason why the URL is refused.
    pub(crate) fn parse(url: &str) -> Result<Self, RefusedTarget> {
        let refuse = |reason: &str| RefusedTarget(format!("{url:?} {reason}"));
        let rest = url.strip_prefix("http://").ok_or_else(|| refuse("must begin with http://"))?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '@', '?', '#']) {
            return Err(refuse("must be http://HOST:PORT and nothing more"));
        }
        let resolved: Vec<SocketAddr> =
            authority.to_socket_addrs().map_err(|_| refuse("does not resolve"))?.collect();
        if !resolved.iter().all(|address| address.ip().is_loopback()) {
            return Err(refuse("is not on the loopback interface; load is sent nowhere else"));
        }
        let address = resolved.first().ok_or_else(|| refuse("does not resolve"))?;
        Ok(Self { address: *address })
    }

    /// The address to connect to.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_targets() {
        for url in ["http://127.0.0.1:8080", "http://127.8.9.1:1/", "http://[::1]:80"] {
            assert!(Target::parse(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn every_other_address_is_refused() {
        for url in [
            "http://192.168.0.1:8080",
            "http://8.8.8.8:80",
            "http://0.0.0.0:80",
            "http://[2001:db8::1]:80",
            "https://127.0.0.1:8080",
            "http://127.0.0.1:8080/path",
            "http://127.0.0.1:80@8.8.8.8:80",
            "127.0.0.1:8080",
            "http://",
        ] {
            assert!(Target::parse(url).is_err(), "{url}");
        }
    }
}
