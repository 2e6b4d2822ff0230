//! The client of a call, as the rate limits of inbound webhooks count clients (8, D13).

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// A client as limits count it: an IPv4 address, or the /64 of an IPv6 one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientNet(IpAddr);

impl ClientNet {
    /// The client that an address belongs to; an IPv4-mapped one counts as IPv4.
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let prefix = address.to_bits() & !u128::from(u64::MAX);
                IpAddr::V6(Ipv6Addr::from_bits(prefix))
            }
        })
    }

    /// The address; of IPv6 the first of the network.
    pub const fn address(self) -> IpAddr {
        self.0
    }
}

impl fmt::Display for ClientNet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The address of the client: that of the peer, unless the peer is a trusted proxy. Then the
/// entries of the `X-Forwarded-For` lines, joined in order, are read from right to left, and the
/// first that is not a trusted proxy is the client. An entry that cannot be parsed ends the search:
/// the entry right of it counts. If all are trusted proxies, the leftmost counts (D13).
pub fn client_address<'a>(
    peer: IpAddr,
    forwarded: impl IntoIterator<Item = &'a str>,
    is_trusted: impl Fn(IpAddr) -> bool,
) -> IpAddr {
    let mut client = peer.to_canonical();
    if !is_trusted(client) {
        return client;
    }
    let entries: Vec<&str> = forwarded.into_iter().flat_map(|line| line.split(',')).collect();
    for entry in entries.into_iter().rev() {
        let Some(address) = read_entry(entry.trim()) else { break };
        client = address;
        if !is_trusted(address) {
            break;
        }
    }
    client
}

/// An address, optionally in brackets and with a port.
fn read_entry(entry: &str) -> Option<IpAddr> {
    let is_port = |port: &str| {
        (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    let address = if let Some(rest) = entry.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let is_end = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        let address: Ipv6Addr = address.parse().ok().filter(|_| is_end)?;
        IpAddr::V6(address)
    } else {
        match entry.split_once(':') {
            Some((address, port)) if is_port(port) && !address.contains(':') => {
                match address.parse() {
                    Ok(address) => IpAddr::V4(address),
                    Err(_) => entry.parse().ok()?,
                }
            }
            _ => entry.parse().ok()?,
        }
    };
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn client(peer: &str, forwarded: &[&str]) -> String {
        let is_trusted = |address: IpAddr| match address {
            IpAddr::V4(address) => address.octets()[0] == 10,
            IpAddr::V6(address) => address.segments()[0] == 0xfd00,
        };
        client_address(ip(peer), forwarded.iter().copied(), is_trusted).to_string()
    }

    #[test]
    fn a_peer_that_is_no_trusted_proxy_is_the_client_whatever_it_forwards() {
        assert_eq!(client("203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        assert_eq!(client("203.0.113.9", &[]), "203.0.113.9");
    }

    #[test]
    fn behind_trusted_proxies_the_rightmost_untrusted_entry_counts() {
        assert_eq!(client("10.0.0.1", &["1.1.1.1, 198.51.100.1, 10.0.0.2"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["1.1.1.1", "198.51.100.1", "10.0.0.2"]), "198.51.100.1");
        assert_eq!(client("::ffff:10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
    }

    #[test]
    fn an_entry_that_cannot_be_read_ends_the_walk_at_the_last_good_one() {
        assert_eq!(client("10.0.0.1", &["198.51.100.1, unknown, 10.0.0.2"]), "10.0.0.2");
        assert_eq!(client("10.0.0.1", &["198.51.100.1, "]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["junk"]), "10.0.0.1");
    }

    #[test]
    fn where_all_are_trusted_the_leftmost_counts() {
        assert_eq!(client("10.0.0.1", &["10.0.0.9, 10.0.0.2"]), "10.0.0.9");
    }

    #[test]
    fn a_network_is_printed_by_its_address() {
        assert_eq!(ClientNet::of(ip("203.0.113.7")).to_string(), "203.0.113.7");
    }

    #[test]
    fn ports_and_brackets_are_stripped() {
        for (entry, address) in [
            ("198.51.100.1:4711", "198.51.100.1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("::ffff:198.51.100.1", "198.51.100.1"),
        ] {
            assert_eq!(client("10.0.0.1", &[entry]), address, "{entry}");
        }
        for junk in ["198.51.100.1:", "198.51.100.1:x", "[198.51.100.1", "[::1]x", "_hidden", ""] {
            assert_eq!(client("10.0.0.1", &[junk]), "10.0.0.1", "{junk}");
        }
    }

    #[test]
    fn an_ipv6_client_is_its_64_and_a_mapped_one_its_ipv4() {
        let net = |text: &str| ClientNet::of(ip(text));
        assert_eq!(net("2001:db8:1:2:3:4:5:6"), net("2001:db8:1:2:ffff::"));
        assert_ne!(net("2001:db8:1:2::"), net("2001:db8:1:3::"));
        assert_eq!(net("::ffff:198.51.100.1"), net("198.51.100.1"));
        assert_ne!(net("198.51.100.1"), net("198.51.100.2"));
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(lines in prop::collection::vec(".{0,40}", 0..4)) {
            let lines = lines.iter().map(String::as_str);
            client_address(ip("10.0.0.1"), lines, |_| true);
        }
    }
}
