//! Where gateways may be: what the settings of connections may name, and what calls to gateways may
//! reach.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;

use crate::transport::{Host, Origin, is_special, read_port, v4_within};

/// The entry for everything but addresses of the link and of metadata services.
const ALL: &str = "all";
/// The entry for what webhooks may call too (D54).
const PUBLIC: &str = "public";
/// The names under which clouds tell a machine its credentials.
const METADATA_NAMES: [&str; 6] = [
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.tencentyun.com",
];

/// The hosts and networks in which gateways may be (R230). By default everywhere except at
/// link-local addresses and metadata services of clouds.
///
/// It is written as entries with commas between them, each a place and perhaps `:` and the only
/// port that it allows:
///
/// - `all`: every host, except link-local addresses and metadata services;
/// - `public`: of these, every host whose addresses webhooks may call too (D54);
/// - an address or a network, such as `10.0.0.0/8` or `[fd00::/8]:3000`: every host whose addresses
///   are in it, those of the link and of metadata services only if it holds nothing else;
/// - a name, such as `waha` or `gw.example.com:443`: this host, except at link-local addresses and
///   metadata services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayDestinations(Vec<Destination>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Destination {
    place: Place,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    All,
    Public,
    Network(IpNet),
    Name(String),
}

/// An entry that is no place, or no entry at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDestination {
    /// There is no entry.
    #[error("must name a place, such as `all`")]
    Empty,
    /// This entry is none.
    #[error(
        "holds {0:?}, which is no host or network, such as gw.example.com:443, 10.0.0.0/8 or \
         [fd00::/8]:3000"
    )]
    Entry(String),
}

impl Default for GatewayDestinations {
    fn default() -> Self {
        Self(vec![Destination { place: Place::All, port: None }])
    }
}

impl FromStr for GatewayDestinations {
    type Err = InvalidDestination;

    fn from_str(text: &str) -> Result<Self, InvalidDestination> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let read = |entry: &str| {
            Destination::read(entry).ok_or_else(|| InvalidDestination::Entry(entry.to_owned()))
        };
        let read = entries.map(read).collect::<Result<Vec<_>, _>>()?;
        if read.is_empty() { Err(InvalidDestination::Empty) } else { Ok(Self(read)) }
    }
}

impl fmt::Display for GatewayDestinations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&entries.join(","))
    }
}

impl GatewayDestinations {
    /// Whether settings may name an address with this origin, as far as that can be known before
    /// its name is resolved. R230.
    pub fn may_name(&self, origin: &Origin) -> bool {
        let address = match &origin.host {
            Host::Address(address) => Some(*address),
            Host::Name(_) => None,
        };
        self.0.iter().any(|known| known.permits(&origin.host, address, origin.port))
    }

    /// Whether a call to `host` may be made to this address of it. R230.
    pub fn permits(&self, host: &Host, address: SocketAddr) -> bool {
        let (ip, port) = (Some(address.ip()), address.port());
        self.0.iter().any(|known| known.permits(host, ip, port))
    }
}

impl Destination {
    fn read(entry: &str) -> Option<Self> {
        if let Some(network) = read_network(entry) {
            return Some(Self { place: Place::Network(network), port: None });
        }
        let after_address = entry.rfind(']').map_or(0, |end| end + 1);
        let end = entry.get(after_address..)?.find(':').map(|at| after_address + at);
        let (place, port) = match end {
            Some(end) => (entry.get(..end)?, Some(read_port(entry.get(end + 1..)?)?)),
            None => (entry, None),
        };
        let bracketed = place.strip_prefix('[').and_then(|place| place.strip_suffix(']'));
        let place = match bracketed {
            Some(inside) => {
                Place::Network(read_network(inside).filter(|network| network.addr().is_ipv6())?)
            }
            None => match place {
                ALL => Place::All,
                PUBLIC => Place::Public,
                _ => match read_network(place) {
                    Some(network) => Place::Network(network),
                    None => read_name(place)?,
                },
            },
        };
        Some(Self { place, port })
    }

    /// Whether it has this host and port, at this address if one is known.
    fn permits(&self, host: &Host, address: Option<IpAddr>, port: u16) -> bool {
        let open = || {
            !METADATA_NAMES.iter().any(|name| host.is_name(name)) && !address.is_some_and(is_inner)
        };
        let here = match &self.place {
            Place::All => open(),
            Place::Public => {
                open() && !names_this_machine(host) && !address.is_some_and(is_special)
            }
            Place::Network(network) => address.is_none_or(|address| {
                let is_meant =
                    || [network.network(), network.broadcast()].into_iter().all(is_inner);
                network.contains(&address.to_canonical()) && (!is_inner(address) || is_meant())
            }),
            Place::Name(name) => host.is_name(name) && !address.is_some_and(is_inner),
        };
        here && self.port.is_none_or(|only| only == port)
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.place, self.port) {
            (Place::All, _) => f.write_str(ALL)?,
            (Place::Public, _) => f.write_str(PUBLIC)?,
            (Place::Network(IpNet::V6(network)), Some(_)) => write!(f, "[{network}]")?,
            (Place::Network(network), _) => write!(f, "{network}")?,
            (Place::Name(name), _) => f.write_str(name)?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

fn read_network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

fn read_name(text: &str) -> Option<Place> {
    // An address is written as one, or the entry would not say what it allows.
    matches!(Host::read(text), Ok(Host::Name(_))).then(|| Place::Name(text.to_owned()))
}

/// Whether a name is one of this machine (RFC 6761).
fn names_this_machine(host: &Host) -> bool {
    let Host::Name(name) = host else { return false };
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether an address is of the link or of a metadata service: nothing there is a gateway, and what
/// is there trusts whoever can reach it.
fn is_inner(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_inner_v4(v4),
        IpAddr::V6(v6) => is_inner_v6(v6) || v4_within(v6).any(is_inner_v4),
    }
}

fn is_inner_v4(address: Ipv4Addr) -> bool {
    address.is_link_local()
        || matches!(
            address.octets(),
            [100, 100, 100, 200]    // Alibaba
                | [168, 63, 129, 16] // Azure's host
                | [192, 0, 0, 192] // Oracle, before it took the link's
        )
}

fn is_inner_v6(address: Ipv6Addr) -> bool {
    matches!(
        address.segments(),
        [0xfe80..=0xfebf, ..]                      // link-local
            | [0xfd00, 0xec2, ..]                  // Amazon
            | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] // Google
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destinations(text: &str) -> GatewayDestinations {
        text.parse().expect(text)
    }

    /// What settings may name, and what a call that resolves to the address may reach.
    fn judged(entries: &str, url: &str, address: &str) -> (bool, bool) {
        let (all, origin) = (destinations(entries), Origin::of(url).expect(url));
        let address = SocketAddr::new(address.parse().expect(address), origin.port);
        (all.may_name(&origin), all.permits(&origin.host, address))
    }

    /// R230.
    #[test]
    fn by_default_a_gateway_is_anywhere_but_at_the_link_and_at_metadata_services() {
        for address in
            ["127.0.0.1", "10.0.0.1", "192.168.1.1", "8.8.8.8", "::1", "fd12::1", "2606:4700::1111"]
        {
            assert_eq!(judged("all", "http://gw.example", address), (true, true), "{address}");
            let ip: IpAddr = address.parse().expect(address);
            let url = format!("http://{}", SocketAddr::new(ip, 3000));
            assert_eq!(judged("all", &url, address), (true, true), "{address}");
        }
        for address in [
            "169.254.169.254",
            "169.254.1.1",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fe80::1",
            "febf::1",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
        ] {
            assert_eq!(judged("all", "http://gw.example", address), (true, false), "{address}");
            let ip: IpAddr = address.parse().expect(address);
            let url = format!("http://{}", SocketAddr::new(ip, 80));
            assert_eq!(judged("all", &url, address), (false, false), "{address}");
        }
        for name in METADATA_NAMES {
            for url in [format!("http://{name}/x"), format!("http://{}.", name.to_uppercase())] {
                assert_eq!(judged("all", &url, "10.0.0.1"), (false, false), "{url}");
            }
        }
        assert_eq!(judged("all", "http://0xa9fea9fe/", "169.254.169.254"), (false, false));
        assert_eq!(GatewayDestinations::default(), destinations("all"));
    }

    /// R230.
    #[test]
    fn a_list_allows_what_it_names_and_nothing_else() {
        for (entries, url, address, expected) in [
            ("waha", "http://WAHA.:3000", "10.0.0.1", (true, true)),
            ("waha", "http://waha.evil.example", "10.0.0.1", (false, false)),
            ("waha", "http://10.0.0.1", "10.0.0.1", (false, false)),
            ("waha", "http://waha", "169.254.169.254", (true, false)),
            ("waha:3000", "http://waha:3000", "10.0.0.1", (true, true)),
            ("waha:3000", "http://waha:3001", "10.0.0.1", (false, false)),
            ("waha:80", "http://waha", "10.0.0.1", (true, true)),
            ("waha:80", "https://waha", "10.0.0.1", (false, false)),
            ("10.0.0.0/8", "http://10.1.2.3", "10.1.2.3", (true, true)),
            ("10.0.0.0/8", "http://[::ffff:10.1.2.3]", "::ffff:10.1.2.3", (true, true)),
            ("10.0.0.0/8", "http://gw.example", "10.1.2.3", (true, true)),
            ("10.0.0.0/8", "http://gw.example", "11.1.2.3", (true, false)),
            ("10.0.0.0/8", "http://11.1.2.3", "11.1.2.3", (false, false)),
            ("10.0.0.0/8:443", "https://10.1.2.3", "10.1.2.3", (true, true)),
            ("10.0.0.0/8:443", "http://10.1.2.3", "10.1.2.3", (false, false)),
            ("127.0.0.1:3000", "http://127.0.0.1:3000", "127.0.0.1", (true, true)),
            ("127.0.0.1:3000", "http://localhost:3000", "127.0.0.1", (true, true)),
            ("127.0.0.1:3000", "http://127.0.0.1:3001", "127.0.0.1", (false, false)),
            ("127.0.0.1:3000", "http://127.1:3000", "127.0.0.1", (true, true)),
            ("[fd00::/8]:3000", "http://[fd12::1]:3000", "fd12::1", (true, true)),
            ("[fd00::/8]:3000", "http://[fd12::1]:3001", "fd12::1", (false, false)),
            ("fd00::/8", "http://[fd00:ec2::254]", "fd00:ec2::254", (false, false)),
            ("fd00:ec2::254", "http://[fd00:ec2::254]", "fd00:ec2::254", (true, true)),
            ("0.0.0.0/0", "http://169.254.1.1", "169.254.1.1", (false, false)),
            ("169.254.0.0/16", "http://169.254.1.1", "169.254.1.1", (true, true)),
            ("public", "http://gw.example", "8.8.8.8", (true, true)),
            ("public", "http://gw.example", "10.0.0.1", (true, false)),
            ("public", "http://gw.example", "127.0.0.1", (true, false)),
            ("public", "http://127.0.0.1:9", "127.0.0.1", (false, false)),
            ("public", "http://localhost:9", "8.8.8.8", (false, false)),
            ("public", "http://a.LOCALHOST", "8.8.8.8", (false, false)),
            ("public", "http://gw.example", "168.63.129.16", (true, false)),
            ("public", "http://metadata.goog", "8.8.8.8", (false, false)),
            ("public:443", "http://gw.example", "8.8.8.8", (false, false)),
            ("public:443, waha:3000", "http://waha:3000", "10.0.0.1", (true, true)),
            ("public:443, waha:3000", "https://waha", "10.0.0.1", (true, false)),
        ] {
            assert_eq!(judged(entries, url, address), expected, "{entries} {url} {address}");
        }
    }

    #[test]
    fn an_entry_is_a_place_and_perhaps_a_port() {
        for text in [
            "all",
            "public:443",
            "waha,gw.example.com:443",
            "10.0.0.0/8,127.0.0.1/32:3000,fd00::/8,[fd00::/8]:3000",
        ] {
            assert_eq!(destinations(text).to_string(), text);
        }
        assert_eq!(destinations(" ::1 ,, 10.0.0.1:80,"), destinations("[::1/128],10.0.0.1/32:80"));
        for entry in [
            "waha:",
            "waha:0",
            "waha:http",
            "waha:80:81",
            "*.example.com",
            "http://waha",
            "waha/x",
            "10.0.0.0/33",
            "10.0.0/8",
            "0x7f.1",
            "127.1",
            "[10.0.0.0/8]:80",
            "[waha]:80",
            "[::1",
            "[::1]80",
            "a@waha",
        ] {
            let wrong = format!("all,{entry}").parse::<GatewayDestinations>().expect_err(entry);
            assert_eq!(wrong, InvalidDestination::Entry(entry.to_owned()));
        }
        assert_eq!(" , ".parse::<GatewayDestinations>(), Err(InvalidDestination::Empty));
    }
}
