//! Time-based one-time passwords (RFC 6238): SHA-1, 6 digits, 30 seconds (R400).

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use subtle::ConstantTimeEq;

use crate::Timestamp;
use crate::secret::{SecretBytes, SecretText};

/// The bytes of a secret, as RFC 4226 recommends.
pub(super) const SECRET_BYTES: usize = 20;
/// The milliseconds of a time step.
const STEP_MILLIS: i64 = 30_000;
/// The digits of a code.
const DIGITS: usize = 6;
/// How many steps a clock may be ahead or behind.
const DRIFT: u64 = 1;

/// The alphabet of RFC 4648.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Writes bytes in base 32 without padding.
pub(super) fn base32(bytes: &[u8]) -> String {
    let bits = bytes.len() * 8;
    let bit = |at: usize| -> usize {
        bytes.get(at / 8).map_or(0, |byte| usize::from(byte >> (7 - at % 8) & 1))
    };
    let sign = |at: usize| (at..at + 5).fold(0, |sign, at| sign << 1 | bit(at));
    (0..bits).step_by(5).map(|at| char::from(BASE32[sign(at)])).collect()
}

/// The secret that a second factor shares with this installation. Prints as `***`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TotpSecret(SecretBytes);

impl TotpSecret {
    /// A secret of these bytes.
    pub const fn new(bytes: SecretBytes) -> Self {
        Self(bytes)
    }

    /// The secret as people type it: base 32.
    pub fn text(&self) -> SecretText {
        SecretText::new(base32(self.0.expose()))
    }

    /// The address that authenticator programs read, mostly as a QR code.
    pub fn url(&self, issuer: &str, account: &str) -> SecretText {
        let (issuer, account) = (encoded(issuer), encoded(account));
        SecretText::new(format!(
            "otpauth://totp/{issuer}:{account}?secret={}&issuer={issuer}\
             &algorithm=SHA1&digits=6&period=30",
            base32(self.0.expose())
        ))
    }

    /// The code of a time step.
    pub fn code(&self, step: u64) -> String {
        format!("{:0DIGITS$}", self.number(step) % 10_u32.pow(6))
    }

    /// The truncated hash of RFC 4226, of which a code is the last digits.
    fn number(&self, step: u64) -> u32 {
        let mut mac =
            Hmac::<Sha1>::new_from_slice(self.0.expose()).expect("HMAC takes keys of any length");
        mac.update(&step.to_be_bytes());
        let hash: [u8; 20] = mac.finalize().into_bytes().into();
        let at = usize::from(hash[19] & 0xf);
        u32::from_be_bytes([hash[at], hash[at + 1], hash[at + 2], hash[at + 3]]) & 0x7fff_ffff
    }

    /// The time step whose code somebody shows: this one, the one before or the one behind, if it
    /// is after the last one that was accepted (R400).
    pub fn accepted(&self, code: &str, now: Timestamp, last: Option<u64>) -> Option<u64> {
        let this = step_at(now);
        let shown: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let same =
            |step: &u64| -> bool { self.code(*step).as_bytes().ct_eq(shown.as_bytes()).into() };
        (this.saturating_sub(DRIFT)..=this + DRIFT)
            .filter(|step| last.is_none_or(|last| *step > last))
            .find(same)
    }
}

/// The time step of a moment.
pub(super) fn step_at(now: Timestamp) -> u64 {
    u64::try_from(now.millis().div_euclid(STEP_MILLIS)).unwrap_or(0)
}

/// Whether a text has the form of a code: that of a recovery code differs.
pub(super) fn is_code(text: &str) -> bool {
    text.chars().filter(|c| !c.is_whitespace()).count() == DIGITS
}

/// A part of a URL, with everything but letters and digits in percent encoding.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secret() -> TotpSecret {
        TotpSecret::new(SecretBytes::new(*b"12345678901234567890"))
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    /// R400: the vectors of RFC 6238, appendix B, for SHA-1.
    #[test]
    fn the_codes_are_those_of_rfc_6238() {
        for (seconds, expected) in [
            (59, 94_287_082),
            (1_111_111_109, 7_081_804),
            (1_111_111_111, 14_050_471),
            (1_234_567_890, 89_005_924),
            (2_000_000_000, 69_279_037),
            (20_000_000_000, 65_353_130),
        ] {
            let step = step_at(at(seconds));
            assert_eq!(secret().number(step) % 100_000_000, expected, "{seconds}");
            assert_eq!(secret().code(step), format!("{:06}", expected % 1_000_000));
        }
    }

    /// R400.
    #[test]
    fn a_code_is_accepted_a_step_early_or_late_and_once() {
        let (secret, now) = (secret(), at(3_000));
        for (step, accepted) in [(98, None), (99, Some(99)), (100, Some(100)), (101, Some(101))] {
            assert_eq!(secret.accepted(&secret.code(step), now, None), accepted);
        }
        assert_eq!(secret.accepted(&secret.code(102), now, None), None);
        assert_eq!(secret.accepted(&secret.code(100), now, Some(100)), None);
        assert_eq!(secret.accepted(&secret.code(99), now, Some(100)), None);
        assert_eq!(secret.accepted(&secret.code(101), now, Some(100)), Some(101));
    }

    /// R400: the vectors of RFC 4648, without padding.
    #[test]
    fn a_secret_is_written_in_base_32() {
        let vectors = [("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foobar", "MZXW6YTBOI")];
        for (bytes, text) in vectors {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
        let url = secret().url("Recado", "ana+1@example.org");
        assert_eq!(
            url.expose(),
            "otpauth://totp/Recado:ana%2B1%40example.org\
             ?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Recado\
             &algorithm=SHA1&digits=6&period=30"
        );
        assert_eq!(format!("{:?} {url:?}", secret()), "TotpSecret(***) ***");
    }

    proptest! {
        /// R400.
        #[test]
        fn no_step_is_accepted_twice_and_none_out_of_the_window(
            seconds in 0_i64..4_000_000_000, shown in 0_u64..6, last in 0_u64..6,
        ) {
            let this = step_at(at(seconds)) + 3;
            let now = at((this as i64) * 30);
            let (shown, last) = (this - 3 + shown, this - 3 + last);
            let accepted = secret().accepted(&secret().code(shown), now, Some(last));
            // Two steps may have the same code, by chance.
            if let Some(step) = accepted {
                prop_assert!(step > last && step.abs_diff(this) <= 1);
            }
            if shown > last && shown.abs_diff(this) <= 1 {
                prop_assert!(accepted.is_some());
            }
        }
    }
}
