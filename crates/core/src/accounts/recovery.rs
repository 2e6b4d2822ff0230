//! Recovery codes: what replaces a lost second factor, each once (R400).

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::totp::base32;
use crate::secret::SecretText;

/// How many codes there are.
pub(super) const CODES: usize = 10;
/// The bytes of a code.
pub(super) const CODE_BYTES: usize = 10;
/// The bytes of a hash.
const HASH: usize = 32;

/// A code as it is shown, this once: four groups of four letters and digits.
#[derive(Clone, Debug)]
pub struct RecoveryCode(SecretText);

impl RecoveryCode {
    /// A code of 80 random bits.
    pub(super) fn new(random: &[u8]) -> Self {
        let text = base32(random);
        let groups: Vec<&str> = (0..text.len()).step_by(4).map(|at| &text[at..at + 4]).collect();
        Self(SecretText::new(groups.join("-")))
    }

    /// The text to show, this once.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

/// The hashes of the codes that are left, one behind the other. Prints how many there are.
#[derive(Clone, PartialEq, Eq)]
pub struct RecoveryHashes(Vec<u8>);

impl std::fmt::Debug for RecoveryHashes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RecoveryHashes({} left)", self.left())
    }
}

impl RecoveryHashes {
    /// The hashes of codes.
    pub(super) fn of(codes: &[RecoveryCode]) -> Self {
        Self(codes.iter().flat_map(|code| hash(code.expose())).collect())
    }

    /// Takes stored hashes back; `None` for bytes that are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.len().is_multiple_of(HASH).then(|| Self(bytes.to_vec()))
    }

    /// The bytes, for stores.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// How many codes are left.
    pub fn left(&self) -> usize {
        self.0.len() / HASH
    }

    /// The codes that are left after this one was used; `None` if it is none of them (R400).
    pub(super) fn after(&self, presented: &str) -> Option<Self> {
        let wanted = hash(presented);
        let same = |found: &[u8]| -> bool { found.ct_eq(&wanted).into() };
        let left: Vec<&[u8]> = self.0.chunks_exact(HASH).filter(|found| !same(found)).collect();
        (left.len() < self.left()).then(|| Self(left.concat()))
    }
}

/// The hash of a code, however it is typed. The codes are random, so that it needs no salt.
fn hash(code: &str) -> [u8; HASH] {
    let plain: String =
        code.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect();
    Sha256::digest(plain).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R400.
    #[test]
    fn a_recovery_code_is_good_once_however_it_is_typed() {
        let codes: Vec<_> = (0..3).map(|n| RecoveryCode::new(&[n; CODE_BYTES])).collect();
        assert_eq!(codes[1].expose(), "AEAQ-CAIB-AEAQ-CAIB");
        let hashes = RecoveryHashes::of(&codes);
        assert_eq!(RecoveryHashes::from_bytes(hashes.as_bytes()), Some(hashes.clone()));
        let left = hashes.after(" aeaqcaib aeaq-caib").unwrap();
        assert_eq!((hashes.left(), left.left()), (3, 2));
        assert_eq!(left.after(codes[1].expose()), None);
        assert!(left.after(codes[0].expose()).is_some() && left.after("").is_none());
        assert_eq!(format!("{left:?} {:?}", codes[0]), "RecoveryHashes(2 left) RecoveryCode(***)");
    }
}
