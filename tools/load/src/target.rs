//! Where load may be sent: to this machine only.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

/// The address of a server on the loopback interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    address: SocketAddr,
}

/// Why an URL is no target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedTarget(String);

impl fmt::Display for RefusedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RefusedTarget {}

impl Target {
    /// Reads `http://HOST:PORT`. A load program in the wrong hands is a weapon, so every address
    /// that the host resolves to has to be a loopback address.
    ///
    /// # Errors
    ///
    /// What is wrong with the URL.
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

    /// What to connect to.
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
