//! The addresses that must not be called (D54): all that are not ordinary public hosts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is private, local, reserved or otherwise special, so that a URL given by a
/// customer must not lead there. IPv6 forms that contain an IPv4 address are judged by that address
/// too.
pub fn is_special(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_special_v4(v4),
        IpAddr::V6(v6) => is_special_v6(v6),
    }
}

fn is_special_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, _, _) // this network, private, loopback, multicast, reserved
            | (100, 64..=127, _)         // shared by carriers
            | (169, 254, _)              // link-local
            | (172, 16..=31, _)          // private
            | (192, 168, _)              // private
            | (192, 0, 0)                // protocol assignments
            | (192, 0, 2)                // documentation
            | (192, 31, 196)             // AS112
            | (192, 52, 193)             // AMT
            | (192, 88, 99)              // 6to4 relays
            | (192, 175, 48)             // AS112
            | (198, 18..=19, _)          // benchmarking
            | (198, 51, 100)             // documentation
            | (203, 0, 113) // documentation
    )
}

fn v4_of(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

/// The IPv4 addresses that a call to this IPv6 address reaches; none for most.
pub(crate) fn v4_within(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    let (first, second) = match address.segments() {
        // Mapped, compatible and translated forms, NAT64. Compatible addresses are deprecated; ::,
        // ::1 and small numbers are among them.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            (Some(v4_of(high, low)), None)
        }
        // 6to4 leads to the address in it.
        [0x2002, high, low, ..] => (Some(v4_of(high, low)), None),
        // Teredo: the server in clear, the client inverted; both are contacted.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            (Some(v4_of(server_high, server_low)), Some(v4_of(!high, !low)))
        }
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

fn is_special_v6(address: Ipv6Addr) -> bool {
    let mut within = v4_within(address).peekable();
    if within.peek().is_some() {
        return within.any(is_special_v4);
    }
    match address.segments() {
        // Local-use NAT64 translates to whatever its operator chose.
        [0x64, 0xff9b, 1, ..] => true,
        // The rest of the protocol assignments 2001::/23: ORCHID, benchmarking, anycast.
        [0x2001, second, ..] if second < 0x200 => true,
        // Documentation.
        [0x2001, 0xdb8, ..] => true,
        [0x3fff, second, ..] if second < 0x1000 => true,
        // AS112.
        [0x2620, 0x4f, 0x8000, ..] => true,
        // What is left of 2000::/3 is global unicast; everything else is not.
        [first, ..] => first & 0xe000 != 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn special(text: &str) -> bool {
        is_special(text.parse().expect("an address"))
    }

    /// D54.
    #[test]
    fn special_addresses_are_refused() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.0.171",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "192.168.255.255",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::2",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "ff0e::1",
            "100::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "::10.1.2.3",
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "64:ff9b:1:ffff::8.8.8.8",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2002:c0a8:101::1",
            "2001:0:7f00:1::",
            "2001:0:4136:e378:8000:63bf:80ff:fffe",
            "2001:0:4136:e378:8000:63bf:f5ff:fffe",
            "2001:db8::1",
            "3fff::1",
            "3fff:fff::1",
            "2001:10::1",
            "2001:1f::1",
            "2001:20::1",
            "2001:2f::1",
            "2001:2::1",
            "2001:1::1",
            "2001:3::1",
            "2001:1ff::1",
            "2620:4f:8000::1",
            "4000::1",
            "8000::1",
            "5f00::1",
            "1::1",
            "1fff::1",
            "e000::1",
        ] {
            assert!(special(address), "{address} must be refused");
        }
    }

    #[test]
    fn ordinary_public_addresses_are_allowed() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.255.255",
            "169.255.0.1",
            "172.15.255.255",
            "172.32.0.1",
            "192.0.1.1",
            "192.0.3.1",
            "192.167.255.255",
            "192.169.0.1",
            "198.17.255.255",
            "198.20.0.1",
            "198.51.99.1",
            "203.0.112.1",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2001:200::1",
            "2a00:1450::1",
            "2c0f::1",
            "3ffe::1",
            "3fff:1000::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "2001:0:4136:e378:8000:63bf:f7f7:f7f7",
            "2001:db7::1",
            "2001:db9::1",
        ] {
            assert!(!special(address), "{address} must be allowed");
        }
    }
}
