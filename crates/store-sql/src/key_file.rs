//! The text of a file of sealing keys (R217).

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Generate, Key};

use crate::sealing::{Sealer, SealingKey, SealingKeyId};

/// Why a text holds no keys. Nothing of the text is in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileError {
    /// There is no key in it.
    #[error("holds no key")]
    Empty,
    /// A line is no key.
    #[error("line {0} is no key: a key is 32 bytes in base64 or hexadecimal")]
    NoKey(usize),
    /// A key is there twice.
    #[error("line {0} holds the key {1} a second time")]
    Twice(usize, SealingKeyId),
}

impl SealingKey {
    /// Reads a key: 32 bytes, in base64 or hexadecimal.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = match text.len() {
            64 => hexadecimal(text)?,
            _ => base64(text)?.try_into().ok()?,
        };
        Some(Self::new(&bytes))
    }
}

impl Sealer {
    /// Reads keys, one in a line. The first one seals; those below it open what they sealed before.
    /// Blank lines, and what follows `#`, do not count.
    ///
    /// R217.
    ///
    /// # Errors
    ///
    /// When there is no key in the text, or something else.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let mut keys: Vec<SealingKey> = Vec::new();
        for (at, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let key = SealingKey::parse(line).ok_or(KeyFileError::NoKey(at))?;
            if keys.iter().any(|other| other.id() == key.id()) {
                return Err(KeyFileError::Twice(at, key.id()));
            }
            keys.push(key);
        }
        if keys.is_empty() { Err(KeyFileError::Empty) } else { Ok(Self::from_keys(keys.into())) }
    }

    /// The text of a file with a new key, made from the operating system's random source.
    pub fn new_key_file() -> String {
        let key: [u8; 32] = Key::<XChaCha20Poly1305>::generate().into();
        let id = SealingKey::new(&key).id();
        format!(
            "# The key {id}, which seals secrets in Recado's database.\n{}\n",
            STANDARD.encode(key)
        )
    }
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, config);
    engine.decode(text.replace('-', "+").replace('_', "/")).ok()
}

fn hexadecimal(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        *byte = u8::try_from(digit(0)? << 4 | digit(1)?).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    use super::*;

    /// R217.
    #[test]
    fn a_key_is_base64_or_hexadecimal() {
        let bytes: [u8; 32] = std::array::from_fn(|at| 0xff - at as u8);
        let id = SealingKey::new(&bytes).id();
        let hexadecimal: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        for text in [
            STANDARD.encode(bytes),
            STANDARD.encode(bytes).trim_end_matches('=').to_owned(),
            URL_SAFE_NO_PAD.encode(bytes),
            hexadecimal.to_ascii_uppercase(),
            hexadecimal,
        ] {
            assert_eq!(SealingKey::parse(&text).map(|key| key.id()), Some(id), "{text}");
        }
        for text in ["", "hunter2", &"0".repeat(63), &"g".repeat(64), &STANDARD.encode([1; 31])] {
            assert!(SealingKey::parse(text).is_none(), "{text}");
        }
    }

    /// R217.
    #[test]
    fn the_first_key_of_a_file_seals_and_the_others_open() {
        let (new, old) = (STANDARD.encode([2; 32]), STANDARD.encode([1; 32]));
        let sealer = Sealer::parse(&format!("# keys\n\n {new} # new\r\n{old}\n")).unwrap();
        let ids = [[2; 32], [1; 32]].map(|key| SealingKey::new(&key).id());
        assert_eq!(sealer.key_ids().collect::<Vec<_>>(), ids);
        assert_eq!(sealer.current(), Some(ids[0]));
        assert_eq!(Sealer::parse("# nothing\n").unwrap_err(), KeyFileError::Empty);
        let twice = Sealer::parse(&format!("{old}\n{old}\n")).unwrap_err();
        assert_eq!(twice, KeyFileError::Twice(2, ids[1]));
    }

    /// R217.
    #[test]
    fn a_line_that_is_no_key_is_named_and_not_shown() {
        let error = Sealer::parse("# keys\nhunter2\n").unwrap_err();
        assert_eq!(error, KeyFileError::NoKey(2));
        assert!(!error.to_string().contains("hunter2"));
    }

    #[test]
    fn a_new_key_file_holds_one_key_that_no_other_has() {
        let [one, other] = [(); 2].map(|()| Sealer::parse(&Sealer::new_key_file()).unwrap());
        assert_eq!(one.key_ids().count(), 1);
        assert_ne!(one.current(), other.current());
    }
}
