//! The host, port and origin of a URL. They are read once and strictly, so that the address that is
//! checked and the one that is dialed cannot come from two different readings (D54).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest name that can be resolved, with the dot that may end it.
const MAX_NAME: usize = 254;

/// The host of a URL. Names are equal whatever their case, and with or without a dot at the end.
#[derive(Clone, Debug)]
pub enum Host {
    /// An address, in whatever form it was written.
    Address(IpAddr),
    /// A name to resolve, as it was written.
    Name(String),
}

impl Host {
    /// Reads a host; an IPv6 address is in brackets.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as in "its host is no name".
    pub fn read(text: &str) -> Result<Self, &'static str> {
        if let Some(rest) = text.strip_prefix('[') {
            let inside = rest.strip_suffix(']').and_then(|inside| inside.parse::<Ipv6Addr>().ok());
            return inside.map(|v6| Self::Address(v6.into())).ok_or("its host is no IPv6 address");
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if text.is_empty() || text.len() > MAX_NAME || !text.bytes().all(is_plain) {
            return Err("its host is no name");
        }
        let relative = text.strip_suffix('.').unwrap_or(text);
        if !ends_in_a_number(relative) {
            return Ok(Self::Name(text.to_owned()));
        }
        // Resolvers read such a host as an address in different ways; this is how browsers read it.
        let address = read_v4(relative).ok_or("its host is no IPv4 address")?;
        Ok(Self::Address(address.into()))
    }

    /// Whether it is this name.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        matches!(self, Self::Name(own) if absolute(own).eq_ignore_ascii_case(absolute(name)))
    }
}

impl PartialEq for Host {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Address(one), Self::Address(other)) => one == other,
            (_, Self::Name(name)) => self.is_name(name),
            (Self::Name(_), Self::Address(_)) => false,
        }
    }
}

impl Eq for Host {}

/// A name without the dot that may end it.
fn absolute(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

/// Where a URL leads: scheme, host and port. Credentials of one origin belong to no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whether it is called over TLS.
    pub https: bool,
    /// The host.
    pub host: Host,
    /// The port, which is the scheme's own where none is written.
    pub port: u16,
}

impl Origin {
    /// That of a URL.
    ///
    /// # Errors
    ///
    /// Why it cannot be called, as in "it names a user".
    pub fn of(url: &str) -> Result<Self, &'static str> {
        let (scheme, rest) = url.split_once("://").ok_or("it is no URL")?;
        let https = match scheme {
            _ if scheme.eq_ignore_ascii_case("https") => true,
            _ if scheme.eq_ignore_ascii_case("http") => false,
            _ => return Err("it is neither http nor https"),
        };
        // A backslash means a slash to some, and is in no host or port.
        Self::of_authority(https, rest.split(['/', '?', '#']).next().unwrap_or_default())
    }

    /// That of the part of a URL between its scheme and its path.
    ///
    /// # Errors
    ///
    /// As of [`Origin::of`].
    pub fn of_authority(https: bool, authority: &str) -> Result<Self, &'static str> {
        if authority.contains('@') {
            return Err("it names a user");
        }
        let after_address = authority.rfind(']').map_or(0, |end| end + 1);
        let end =
            authority[after_address..].find(':').map_or(authority.len(), |at| after_address + at);
        let host = Host::read(&authority[..end])?;
        let port = match &authority[end..] {
            "" if https => 443,
            "" => 80,
            given => read_port(&given[1..]).ok_or("its port is no port")?,
        };
        Ok(Self { https, host, port })
    }
}

/// A port, from 1.
pub(crate) fn read_port(digits: &str) -> Option<u16> {
    // Parsing alone would accept a sign.
    let port = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
    (port > 0).then_some(port)
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
    use proptest::prelude::*;

    use super::*;

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
            assert_eq!(Host::read(form), Ok(expected), "{form}");
        }
    }

    #[test]
    fn a_host_that_ends_in_a_number_is_an_address_or_nothing() {
        for form in
            ["1.2.3.4.5", "256.1.1.1", "1.1.1.256", "08.1.1.1", "4294967296", "a.1", "1.0xg.1"]
        {
            assert!(Host::read(form).is_err(), "{form}");
        }
        for form in ["1.2.3.4a", "0xg", "1.example", "x1"] {
            assert_eq!(Host::read(form), Ok(Host::Name(form.to_owned())));
        }
    }

    #[test]
    fn origins_are_compared_with_scheme_host_and_exact_port() {
        for (one, other, same) in [
            ("https://a.example/x", "HTTPS://A.example.:443?y", true),
            ("http://[::1]:80/", "http://[0:0::1]", true),
            ("http://127.0.0.1:81", "http://0x7f.1:81#x", true),
            ("https://a.example", "http://a.example", false),
            ("https://a.example", "https://a.example:444", false),
            ("http://a.example:81", "http://a.example", false),
            ("http://localhost:81", "http://127.0.0.1:81", false),
            ("http://127.0.0.1:80", "http://127.0.0.1:81", false),
            ("http://127.0.0.1", "http://127.0.0.1.example", false),
            ("http://[::1]", "http://[::2]", false),
            ("https://a.example", "https://a.example.evil.example", false),
        ] {
            let (one, other) = (Origin::of(one).expect(one), Origin::of(other).expect(other));
            assert_eq!(one == other, same, "{one:?} {other:?}");
        }
    }

    #[test]
    fn what_disguises_a_host_has_no_origin() {
        for url in [
            "",
            "a.example",
            "ftp://a.example",
            "https://",
            "https://a.example@evil.example",
            "https://evil.example\\@a.example",
            "https://evil.example\\.a.example",
            "https://a.example:",
            "https://a.example:0",
            "https://a.example:65536",
            "https://a.example:+80",
            "https://a.example:80:80",
            "https://[::1",
            "https://[::1]x",
            "https://::1",
            "https://1.2.3.4.5",
        ] {
            assert!(Origin::of(url).is_err(), "{url}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reading(any in any::<String>(), url in "https?://\\PC{0,30}") {
            let _ = Origin::of(&any);
            let _ = Origin::of(&url);
        }
    }
}
