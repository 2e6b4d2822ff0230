//! Special addresses in every form a URL can write them: refused when a webhook is registered, and
//! again at an attempt, where nothing is dialed (D54).

use std::net::Ipv4Addr;

use recado_core::transport::{Transport, TransportError};
use recado_core::webhooks::WebhookUrl;

use crate::peer::{OK, Watched, delivery};

/// IPv4 addresses that are private, local, shared, reserved or otherwise special, the edges of
/// their ranges among them.
const SPECIAL_V4: &[&str] = &[
    "0.0.0.0",
    "0.0.0.1",
    "0.255.255.255",
    "10.0.0.0",
    "10.1.2.3",
    "10.255.255.255",
    "100.64.0.0",
    "100.100.100.200", // a cloud's metadata
    "100.127.255.255",
    "127.0.0.1",
    "127.0.0.53",
    "127.255.255.255",
    "169.254.0.0",
    "169.254.169.254", // most clouds' metadata
    "169.254.170.2",   // container credentials
    "169.254.255.255",
    "172.16.0.0",
    "172.17.0.1",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.192", // a cloud's metadata
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.255",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
];

/// IPv6 addresses that are special by themselves.
const SPECIAL_V6: &[&str] = &[
    "::",
    "::1",
    "0:0:0:0:0:0:0:1",
    "0000:0000:0000:0000:0000:0000:0000:0001",
    "::2",
    "::ffff",
    "100::1",
    "100:0:0:1::1",
    "64:ff9b:1::1",
    "64:ff9b:1:ffff::8.8.8.8", // local translation, wherever it leads
    "2001:1::1",
    "2001:2::1",
    "2001:3::1",
    "2001:4:112::1",
    "2001:10::1",
    "2001:20::1",
    "2001:30::1",
    "2001:db8::1",
    "2001:DB8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2620:4f:8000::1",
    "3fff::1",
    "3fff:fff:ffff::1",
    "1fff:ffff::1",
    "4000::1",
    "5f00::1",
    "8000::1",
    "c000::1",
    "f000::1",
    "fc00::1",
    "fd00:ec2::254", // a cloud's metadata
    "fd20:ce::254",  // another's
    "fdff:ffff::1",
    "fe00::1",
    "fe80::1",
    "fe80::a9fe:a9fe",
    "febf::1",
    "fec0::1",
    "feff::1",
    "ff00::1",
    "ff02::1",
    "ff05::2",
    "ff0e::1",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
];

/// The forms that resolvers and URL parsers read as an IPv4 address.
fn v4_forms(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let (bits, low) = (address.to_bits(), u32::from(c) << 8 | u32::from(d));
    vec![
        format!("{address}"),
        format!("{address}."),
        format!("{bits}"),
        format!("{bits:#x}"),
        format!("{bits:#X}"),
        format!("0{bits:o}"),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("0000{a:o}.{b}.0x{c:02x}.{d}"),
        format!("{a}.{b}.{low}"),
        format!("{a}.{}", u32::from(b) << 16 | low),
        format!("{a:#x}.0{b:o}.{low:#x}"),
    ]
}

/// The IPv6 addresses that lead to an IPv4 address.
fn v6_carriers(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    vec![
        format!("[::ffff:{address}]"),
        format!("[::FFFF:{high:x}:{low:x}]"),
        format!("[0:0:0:0:0:ffff:{high:04X}:{low:04X}]"),
        format!("[::{high:x}:{low:x}]"),
        format!("[64:ff9b::{address}]"),
        format!("[64:ff9b::{high:x}:{low:x}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[2001:0:{high:x}:{low:x}::f7f7:f7f7]"), // the server of a tunnel
        format!("[2001:0:4136:e378:8000:63bf:{:x}:{:x}]", !high, !low), // its client
    ]
}

/// Asserts that a URL with this host is refused, and nothing is dialed.
async fn is_refused(network: &std::sync::Arc<Watched>, host: &str) {
    let client = network.guarded();
    for (scheme, port) in [("http", ""), ("https", ""), ("http", ":8080"), ("https", ":80")] {
        let url = format!("{scheme}://{host}{port}/hook");
        let registered = WebhookUrl::parse(&url).expect(&url);
        assert_eq!(
            client.check(registered.as_str()).await,
            Err(TransportError::Forbidden),
            "{url}"
        );
        let outcome = client.send(delivery(registered.as_str())).await;
        assert_eq!(outcome, Err(TransportError::Forbidden), "{url}");
    }
    assert_eq!(network.dialed(), Vec::<String>::new(), "{host}");
    assert_eq!(network.asked(), Vec::<String>::new(), "{host} is no name");
}

#[tokio::test]
async fn no_form_of_a_special_ipv4_address_is_dialed() {
    let network = Watched::answering(OK).await;
    for address in SPECIAL_V4 {
        for form in v4_forms(address.parse().expect("an address")) {
            is_refused(&network, &form).await;
        }
    }
}

#[tokio::test]
async fn no_ipv6_address_that_carries_a_special_one_is_dialed() {
    let network = Watched::answering(OK).await;
    for address in SPECIAL_V4 {
        for carrier in v6_carriers(address.parse().expect("an address")) {
            is_refused(&network, &carrier).await;
        }
    }
}

#[tokio::test]
async fn no_special_ipv6_address_is_dialed() {
    let network = Watched::answering(OK).await;
    for address in SPECIAL_V6 {
        is_refused(&network, &format!("[{address}]")).await;
    }
}

#[tokio::test]
async fn a_name_that_resolves_to_a_special_address_is_not_dialed() {
    let network = Watched::answering(OK).await;
    let client = network.guarded();
    let carried = SPECIAL_V4.iter().flat_map(|address| {
        let carriers = v6_carriers(address.parse().expect("an address"));
        carriers.into_iter().map(|carrier| carrier.trim_matches(['[', ']']).to_owned())
    });
    let plain = SPECIAL_V4.iter().chain(SPECIAL_V6).map(ToString::to_string);
    for address in plain.chain(carried) {
        // Alone, and hidden among addresses that are allowed.
        for answer in [
            vec![address.as_str()],
            vec!["8.8.8.8", &address],
            vec![&address, "8.8.8.8"],
            vec!["2606:4700::1111", &address, "8.8.8.8"],
        ] {
            network.name("hook.example", &[&answer]);
            let url = WebhookUrl::parse("http://hook.example/").expect("a URL");
            let checked = client.check(url.as_str()).await;
            assert_eq!(checked, Err(TransportError::Forbidden), "{answer:?}");
            let outcome = client.send(delivery(url.as_str())).await;
            assert_eq!(outcome, Err(TransportError::Forbidden), "{answer:?}");
        }
    }
    assert_eq!(network.dialed(), Vec::<String>::new());
}

#[tokio::test]
async fn an_allowed_address_is_dialed_as_it_was_written() {
    let network = Watched::answering(OK).await;
    for (host, dialed) in [
        ("8.8.8.8", "8.8.8.8:80"),
        ("8.8.8.8.", "8.8.8.8:80"),
        ("134744072", "8.8.8.8:80"),
        ("0x08080808", "8.8.8.8:80"),
        ("010.8.8.8", "8.8.8.8:80"),
        ("8.8.2056", "8.8.8.8:80"),
        ("8.8.8.8:8080", "8.8.8.8:8080"),
        ("8.8.8.8:1", "8.8.8.8:1"),
        ("8.8.8.8:65535", "8.8.8.8:65535"),
        ("100.63.255.255", "100.63.255.255:80"),
        ("172.32.0.1", "172.32.0.1:80"),
        ("[2606:4700::1111]", "[2606:4700::1111]:80"),
        ("[2606:4700:0:0::1111]:443", "[2606:4700::1111]:443"),
        ("[::ffff:8.8.8.8]", "[::ffff:8.8.8.8]:80"),
        ("[64:ff9b::808:808]", "[64:ff9b::808:808]:80"),
        ("[2002:808:808::1]", "[2002:808:808::1]:80"),
    ] {
        let url = WebhookUrl::parse(&format!("http://{host}/hook")).expect(host);
        // A new client has no connection yet.
        let client = network.guarded();
        assert_eq!(client.check(url.as_str()).await, Ok(()), "{host}");
        assert_eq!(network.dialed(), Vec::<String>::new(), "{host}: checking dials nothing");
        assert_eq!(client.send(delivery(url.as_str())).await.expect(host).status, 200);
        assert_eq!(network.dialed(), [dialed], "{host}");
    }
}
