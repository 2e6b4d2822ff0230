//! Request ids: the caller's if it is valid, else a new one.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue};

/// The header that carries it, in both directions.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is accepted.
const MAX_LENGTH: usize = 128;

/// The caller's id if it is 1 to 128 visible ASCII characters, else a new one.
pub(crate) fn of(headers: &HeaderMap) -> HeaderValue {
    let acceptable = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        (1..=MAX_LENGTH).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
    };
    headers.get(HEADER).filter(acceptable).cloned().unwrap_or_else(make)
}

/// A new id: a number drawn once for the process, and a counter.
fn make() -> HeaderValue {
    static PROCESS: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // A request id names a line in a log: it must be unlikely to repeat, but may be easy to guess.
    let process = PROCESS.get_or_init(|| RandomState::new().hash_one(std::process::id()));
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    HeaderValue::try_from(format!("{process:016x}-{number:x}"))
        .expect("hexadecimal digits are a header value")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_header(value: &[u8]) -> HeaderValue {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_bytes(value).expect("a header value"));
        of(&headers)
    }

    #[test]
    fn a_harmless_id_is_kept() {
        assert_eq!(of_header(b"order-17/retry_2"), "order-17/retry_2");
        assert_eq!(of_header(&[b'a'; 128]).len(), 128);
    }

    #[test]
    fn a_long_blank_or_unprintable_id_is_replaced() {
        for bad in [&b"two words"[..], b"", b"caf\xc3\xa9", &[b'a'; 129]] {
            assert_ne!(of_header(bad).as_bytes(), bad);
        }
    }

    #[test]
    fn two_made_ids_differ() {
        assert_ne!(of(&HeaderMap::new()), of(&HeaderMap::new()));
    }
}
