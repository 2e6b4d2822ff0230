//! The end of a certificate's validity, read from its DER form. Nothing else of it is read or
//! checked: the certificate is one that the operator configured.

use recado_core::Timestamp;

const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// `[0]`, the version, which old certificates lack.
const VERSION: u8 = 0xa0;

/// Reads values one after the other.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The tag and content of the next value.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&[tag, length], rest) = self.0.split_first_chunk::<2>()?;
        let (length, rest) = match length {
            short @ 0..=0x7f => (usize::from(short), rest),
            // A length of one to four bytes; no certificate is longer.
            long @ 0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
                (bytes.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// The values in the next value, which has this tag.
    fn enter(&mut self, wanted: u8) -> Option<Reader<'a>> {
        self.next().filter(|(tag, _)| *tag == wanted).map(|(_, content)| Reader(content))
    }
}

/// The time of a `UTCTime` (two digits of the year, from 1950) or a `GeneralizedTime`.
fn time(tag: u8, content: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(content).ok()?;
    let text = match tag {
        UTC_TIME if content.len() == 13 => {
            let century = if text.get(..2)? < "50" { "20" } else { "19" };
            format!("{century}{text}")
        }
        GENERALIZED_TIME if content.len() == 15 => text.to_owned(),
        _ => return None,
    };
    let part = |range| text.get(range);
    let (year, month, day) = (part(0..4)?, part(4..6)?, part(6..8)?);
    let (hour, minute, second) = (part(8..10)?, part(10..12)?, part(12..14)?);
    Timestamp::parse(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))
}

/// Until when a certificate is valid.
pub(super) fn valid_until(certificate: &[u8]) -> Option<Timestamp> {
    let mut signed = Reader(certificate).enter(SEQUENCE)?.enter(SEQUENCE)?;
    // The serial number, or the version before it.
    if signed.next()?.0 == VERSION {
        signed.next()?;
    }
    // The algorithm and the issuer.
    signed.next()?;
    signed.next()?;
    let mut validity = signed.enter(SEQUENCE)?;
    validity.next()?;
    let (tag, content) = validity.next()?;
    time(tag, content)
}

#[cfg(test)]
pub(in crate::watch) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).expect("short");
        let mut all = if length < 0x80 { vec![tag, length] } else { vec![tag, 0x81, length] };
        all.extend(content);
        all
    }

    /// As much of a certificate as is read.
    pub(in crate::watch) fn certificate(version: bool, tag: u8, until: &str) -> Vec<u8> {
        let times = [value(UTC_TIME, b"200101000000Z"), value(tag, until.as_bytes())].concat();
        let version = if version { value(VERSION, &value(2, &[2])) } else { Vec::new() };
        let signed = [
            version,
            value(2, &[7]),
            value(SEQUENCE, &[]),
            value(SEQUENCE, &[0; 100]),
            value(SEQUENCE, &times),
        ];
        value(SEQUENCE, &value(SEQUENCE, &signed.concat()))
    }

    fn at(text: &str) -> Option<Timestamp> {
        Some(Timestamp::parse(text).expect("a time"))
    }

    /// R281.
    #[test]
    fn both_forms_of_time_are_read_in_certificates_of_all_versions() {
        for version in [false, true] {
            let until = |tag, text| valid_until(&certificate(version, tag, text));
            assert_eq!(until(UTC_TIME, "301231235959Z"), at("2030-12-31T23:59:59Z"));
            assert_eq!(until(UTC_TIME, "500101000000Z"), at("1950-01-01T00:00:00Z"));
            assert_eq!(until(GENERALIZED_TIME, "20510203040506Z"), at("2051-02-03T04:05:06Z"));
            assert_eq!(until(GENERALIZED_TIME, "20510203040506"), None);
            assert_eq!(until(4, "301231235959Z"), None);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = valid_until(&bytes);
        }

        #[test]
        fn a_certificate_that_is_cut_off_has_no_end(cut in 0_usize..150) {
            let whole = certificate(true, UTC_TIME, "301231235959Z");
            prop_assume!(cut < whole.len());
            prop_assert_eq!(valid_until(&whole[..cut]), None);
        }
    }
}
