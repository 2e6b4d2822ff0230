//! One clock for several processes of a machine.

/// Microseconds since the epoch. Times of different processes can be compared.
#[expect(clippy::disallowed_methods, reason = "a program at the edge has to ask somebody")]
pub(crate) fn micros() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(since.map(|since| since.as_micros()).unwrap_or_default()).unwrap_or(u64::MAX)
}
