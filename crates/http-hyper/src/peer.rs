//! The client of a call: the other end of the connection, or the client behind a trusted proxy
//! (D13).

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use http::request::Parts;
use ipnet::IpNet;
use recado_core::access::{ClientNet, client_address};

/// The other end of the connection that a request came by, as an extension of the request.
/// [`serve`](crate::serve) adds it. Your own server that mounts [`RecadoHttp`](crate::RecadoHttp)
/// has to add it too: the inbound webhooks limit how often a client may call, and all requests
/// without one count as a single client, `0.0.0.0`. With the feature `axum`, axum's own
/// `ConnectInfo<SocketAddr>` does as well: serve
/// `into_make_service_with_connect_info::<SocketAddr>()`.
///
/// ```
/// use std::net::SocketAddr;
/// use recado_http_hyper::PeerAddress;
///
/// let peer = SocketAddr::from(([203, 0, 113, 9], 41_712));
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(PeerAddress(peer));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

/// The client of a request, as rate limits count clients (R78).
pub(crate) fn client_of(head: &Parts, trusted: &[IpNet]) -> ClientNet {
    ClientNet::of(address_of(head, trusted))
}

/// The address of the client of a request.
pub(crate) fn address_of(head: &Parts, trusted: &[IpNet]) -> IpAddr {
    let peer = peer_of(head).map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip());
    let lines = head.headers.get_all("x-forwarded-for").iter();
    let lines: Vec<_> = lines.map(|line| String::from_utf8_lossy(line.as_bytes())).collect();
    let lines = lines.iter().map(|line| &**line);
    client_address(peer, lines, |address| is_trusted(address, trusted))
}

/// The address of the other end of the connection, if an extension has it.
pub(crate) fn peer_address(head: &Parts) -> Option<IpAddr> {
    peer_of(head).map(|peer| peer.ip().to_canonical())
}

/// The other end of the connection, if an extension has it.
fn peer_of(head: &Parts) -> Option<SocketAddr> {
    let given = head.extensions.get::<PeerAddress>().map(|peer| peer.0);
    #[cfg(feature = "axum")]
    let given = given.or_else(|| {
        let connection = head.extensions.get::<axum::extract::ConnectInfo<SocketAddr>>();
        connection.map(|info| info.0)
    });
    given
}

/// Whether an address is in one of the networks. IPv4 networks may be written as IPv4-mapped ones,
/// too; a wider IPv6 network contains no IPv4 address.
pub(crate) fn is_trusted(address: IpAddr, networks: &[IpNet]) -> bool {
    let holds = |network: &IpNet| match (network, address) {
        (IpNet::V6(mapped), IpAddr::V4(address)) => {
            mapped.prefix_len() >= 96 && mapped.contains(&address.to_ipv6_mapped())
        }
        _ => network.contains(&address),
    };
    networks.iter().any(holds)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn client(peer: Option<&str>, forwarded: &[&[u8]], trusted: &[&str]) -> String {
        let mut request = Request::new(());
        if let Some(peer) = peer {
            let peer = PeerAddress(peer.parse().expect("an address"));
            request.extensions_mut().insert(peer);
        }
        for line in forwarded {
            let line = http::HeaderValue::from_bytes(line).expect("a value");
            request.headers_mut().append("x-forwarded-for", line);
        }
        let trusted: Vec<IpNet> =
            trusted.iter().map(|network| network.parse().expect("a network")).collect();
        client_of(&request.into_parts().0, &trusted).to_string()
    }

    /// R78.
    #[test]
    fn without_a_peer_all_are_one_client() {
        assert_eq!(client(None, &[], &[]), "0.0.0.0");
        assert_eq!(client(None, &[b"198.51.100.1"], &["127.0.0.0/8"]), "0.0.0.0");
    }

    #[test]
    fn what_a_peer_forwards_counts_only_if_it_is_trusted() {
        let peer = Some("127.0.0.1:4711");
        assert_eq!(client(peer, &[b"198.51.100.1"], &[]), "127.0.0.1");
        assert_eq!(client(peer, &[b"198.51.100.1"], &["10.0.0.0/8"]), "127.0.0.1");
        assert_eq!(client(peer, &[b"198.51.100.1"], &["127.0.0.0/8"]), "198.51.100.1");
    }

    #[test]
    fn lines_are_read_in_order_and_one_that_is_no_text_ends_the_walk() {
        let (peer, trusted) = (Some("127.0.0.1:4711"), &["127.0.0.0/8", "10.0.0.0/8"]);
        let lines: [&[u8]; 3] = [b"192.0.2.1", b"198.51.100.1, 10.0.0.1", b"10.0.0.2"];
        assert_eq!(client(peer, &lines, trusted), "198.51.100.1");
        let broken: [&[u8]; 2] = [b"198.51.100.1, \xff, 10.0.0.1", b"10.0.0.2"];
        assert_eq!(client(peer, &broken, trusted), "10.0.0.1");
    }

    #[test]
    fn a_network_of_mapped_addresses_is_one_of_ipv4_and_a_wider_one_is_not() {
        let peer = Some("[::ffff:10.0.0.1]:4711");
        assert_eq!(client(peer, &[b"198.51.100.1"], &["10.0.0.0/8"]), "198.51.100.1");
        assert_eq!(client(peer, &[b"198.51.100.1"], &["::ffff:10.0.0.0/104"]), "198.51.100.1");
        assert_eq!(client(peer, &[b"198.51.100.1"], &["::/0"]), "10.0.0.1");
    }
}
