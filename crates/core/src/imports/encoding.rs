//! Which text is UTF-16 (R287).

/// An encoding whose first bytes tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
}

impl TextEncoding {
    /// The encoding of a file that begins so: by its byte-order mark, else UTF-16 if every second
    /// byte is mostly zero. `None` for any other, which is UTF-8 if all of it is that, else
    /// Windows-1252.
    ///
    /// R287.
    pub fn of_sample(sample: &[u8]) -> Option<Self> {
        if sample.starts_with(b"\xff\xfe") {
            return Some(Self::Utf16Le);
        }
        if sample.starts_with(b"\xfe\xff") {
            return Some(Self::Utf16Be);
        }
        let zeros = |from: usize| sample.iter().skip(from).step_by(2).filter(|b| **b == 0).count();
        let pairs = sample.len() / 2;
        let mostly = |count: usize| pairs > 0 && count > pairs / 2;
        match (mostly(zeros(0)), mostly(zeros(1))) {
            (false, true) => Some(Self::Utf16Le),
            (true, false) => Some(Self::Utf16Be),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R287.
    #[test]
    fn utf_16_is_known_by_its_mark_and_by_its_zeros() {
        assert_eq!(TextEncoding::of_sample(b"\xff\xfea"), Some(TextEncoding::Utf16Le));
        assert_eq!(TextEncoding::of_sample(b"\xfe\xff"), Some(TextEncoding::Utf16Be));
        assert_eq!(TextEncoding::of_sample(b"n\0o\0m\0e\0"), Some(TextEncoding::Utf16Le));
        assert_eq!(TextEncoding::of_sample(b"\0n\0o\0m\0e"), Some(TextEncoding::Utf16Be));
        assert_eq!(TextEncoding::of_sample("João".as_bytes()), None);
    }
}
