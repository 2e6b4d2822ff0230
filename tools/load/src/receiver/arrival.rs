//! The data that a receiver records of a delivery.

use hyper::HeaderMap;
use uuid::Uuid;

/// The prefix of the text that connects a delivery with a call. A number follows.
const MARK: &str = "recado-load mark ";
const MARK_DIGITS: usize = 12;

/// One delivery that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The time, in microseconds since the epoch.
    pub(crate) at: u64,
    /// The number of the mark; 0 if there is none.
    pub(crate) mark: u64,
    /// The id of the delivery; nil if there is none.
    pub(crate) delivery: Uuid,
    /// The number of the receiver.
    pub(crate) receiver: u16,
}

impl Arrival {
    /// The length of an encoded arrival, in bytes.
    pub(crate) const BYTES: usize = 34;

    /// Encodes the arrival.
    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.at.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.mark.to_be_bytes());
        bytes[16..32].copy_from_slice(self.delivery.as_bytes());
        bytes[32..].copy_from_slice(&self.receiver.to_be_bytes());
        bytes
    }

    /// Decodes an arrival that [`Arrival::to_bytes`] encoded.
    pub(crate) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let (at, rest) = split(&bytes);
        let (mark, rest) = split(rest);
        let (delivery, rest) = split(rest);
        let (receiver, _) = split(rest);
        Self {
            at: u64::from_be_bytes(at),
            mark: u64::from_be_bytes(mark),
            delivery: Uuid::from_bytes(delivery),
            receiver: u16::from_be_bytes(receiver),
        }
    }
}

fn split<const N: usize>(bytes: &[u8]) -> ([u8; N], &[u8]) {
    let (first, rest) = bytes.split_first_chunk().expect("the fields fill the bytes");
    (*first, rest)
}

/// The text of a mark.
pub(crate) fn text_of_mark(number: u64) -> String {
    format!("{MARK}{number:0MARK_DIGITS$}")
}

/// The number of the mark in a body; 0 if there is none.
pub(super) fn mark_of(body: &[u8]) -> u64 {
    let name = MARK.as_bytes();
    let at = body.windows(name.len()).position(|part| part == name);
    let digits = at.and_then(|at| body.get(at + name.len()..)?.get(..MARK_DIGITS));
    digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok()).unwrap_or_default()
}

/// The id of the delivery in the headers; nil if there is none.
pub(super) fn delivery_of(headers: &HeaderMap) -> Uuid {
    let id =
        headers.get("x-service-delivery").and_then(|id| Uuid::try_parse_ascii(id.as_bytes()).ok());
    id.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_again() {
        let body = format!(r#"{{"data":{{"content":"{}"}}}}"#, text_of_mark(42));
        assert_eq!(mark_of(body.as_bytes()), 42);
        assert_eq!(mark_of(b"{}"), 0);
        assert_eq!(mark_of(MARK.as_bytes()), 0);
    }

    #[test]
    fn arrivals_are_read_as_they_were_written() {
        let delivery = Uuid::from_u128(7 << 100 | 3);
        let arrival = Arrival { at: u64::MAX - 1, mark: 1 << 40, delivery, receiver: 0x1234 };
        assert_eq!(Arrival::from_bytes(arrival.to_bytes()), arrival);
    }
}
