//! Sealing of secrets at rest: the keys, and the stored form of a sealed value (R215).
//!
//! A sealed value is the text `rs1.<key id>.<base64url>`: the nonce and what XChaCha20-Poly1305
//! makes of the value. Its associated data is the value's [`Place`], so that a value that is copied
//! to another row or column cannot be opened there.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, Generate, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest, Sha256};

/// How a sealed value begins.
const SEALED: &str = "rs1.";
/// How a clear value is stored that begins like a stored form: this, and then the value.
const ESCAPED: &str = "rs0.";
/// The length of a key id, in characters.
const ID_CHARS: usize = 16;
/// The length of the part of a sealed value that names its key.
pub const SEALED_PREFIX: usize = SEALED.len() + ID_CHARS + 1;
/// The bytes of a nonce.
const NONCE: usize = 24;

/// The id of a key, derived from it. It says nothing about the key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SealingKeyId([u8; ID_CHARS / 2]);

impl SealingKeyId {
    fn of(key: &[u8; 32]) -> Self {
        let digest = Sha256::new().chain_update(b"recado sealing key id\0").chain_update(key);
        let mut id = [0; ID_CHARS / 2];
        id.copy_from_slice(&digest.finalize()[..ID_CHARS / 2]);
        Self(id)
    }

    /// Reads an id as it is printed: 16 small hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_small = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let id = (is_small && text.len() == ID_CHARS).then(|| u64::from_str_radix(text, 16))?;
        Some(Self(id.ok()?.to_be_bytes()))
    }
}

impl fmt::Display for SealingKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for SealingKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A key that seals. Prints as its id.
#[derive(Clone)]
pub struct SealingKey {
    id: SealingKeyId,
    cipher: XChaCha20Poly1305,
}

impl SealingKey {
    /// The key of 32 random bytes.
    pub fn new(key: &[u8; 32]) -> Self {
        Self { id: SealingKeyId::of(key), cipher: XChaCha20Poly1305::new(key.into()) }
    }

    /// Its id.
    pub const fn id(&self) -> SealingKeyId {
        self.id
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealingKey({})", self.id)
    }
}

/// Where a value is stored: its table, the key of its row, and its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(Vec<u8>);

impl Place {
    /// A place. A part of a key is given as 16 bytes for an id, as 8 for a number, the first one
    /// the most significant, and as it is for texts and bytes.
    pub fn new(table: &str, column: &str, key: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let mut place = Self(Vec::with_capacity(96));
        place.push(table.as_bytes());
        place.push(column.as_bytes());
        for part in key {
            place.push(part.as_ref());
        }
        place
    }

    /// Each part follows its length, so that no two places have the same bytes.
    fn push(&mut self, part: &[u8]) {
        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&length.to_be_bytes());
        self.0.extend_from_slice(part);
    }
}

/// Why a sealed value cannot be opened. Neither the value nor a key is in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It was sealed with another key.
    #[error("a stored secret is sealed with the key {0}, which was not given")]
    UnknownKey(SealingKeyId),
    /// It was changed, cut, or moved from another row.
    #[error("a stored secret is sealed, and was changed since or belongs to another row")]
    Changed,
}

/// The keys that seal secrets at rest: one that seals what is written, and older ones that open
/// what they sealed before. Without a key, what is written stays clear. Clones are cheap.
#[derive(Clone, Default)]
pub struct Sealer {
    /// The first one seals.
    keys: Arc<[SealingKey]>,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sealer").field(&self.keys).finish()
    }
}

impl Sealer {
    /// Seals with `current`, and opens what `older` keys have sealed, too.
    pub fn new(current: SealingKey, older: impl IntoIterator<Item = SealingKey>) -> Self {
        Self { keys: std::iter::once(current).chain(older).collect() }
    }

    pub(crate) const fn from_keys(keys: Arc<[SealingKey]>) -> Self {
        Self { keys }
    }

    /// The key that seals; `None` without keys.
    pub fn current(&self) -> Option<SealingKeyId> {
        self.keys.first().map(SealingKey::id)
    }

    /// The ids of all keys, the one that seals first.
    pub fn key_ids(&self) -> impl Iterator<Item = SealingKeyId> {
        self.keys.iter().map(SealingKey::id)
    }

    /// How a value begins that was sealed with the current key: [`SEALED_PREFIX`] characters.
    /// `None` without keys.
    pub fn current_prefix(&self) -> Option<String> {
        self.current().map(|id| format!("{SEALED}{id}."))
    }

    /// A value as it is stored: sealed, or clear without a key.
    ///
    /// R215.
    pub fn seal<'v>(&self, place: &Place, value: &'v [u8]) -> Cow<'v, [u8]> {
        let Some(key) = self.keys.first() else { return escaped(value) };
        let nonce = XNonce::generate();
        let payload = Payload { msg: value, aad: &place.0 };
        let sealed = key.cipher.encrypt(&nonce, payload).expect("values are shorter than 256 GB");
        let text = [nonce.as_slice(), &sealed].concat();
        Cow::Owned(format!("{SEALED}{}.{}", key.id, URL_SAFE_NO_PAD.encode(text)).into_bytes())
    }

    /// The value of its stored form. What was stored clear can always be read.
    ///
    /// R215.
    ///
    /// # Errors
    ///
    /// Without its key, and when it was changed or moved.
    pub fn open<'v>(&self, place: &Place, stored: &'v [u8]) -> Result<Cow<'v, [u8]>, OpenError> {
        if let Some(value) = stored.strip_prefix(ESCAPED.as_bytes()) {
            return Ok(Cow::Borrowed(value));
        }
        let Some(rest) = stored.strip_prefix(SEALED.as_bytes()) else {
            return Ok(Cow::Borrowed(stored));
        };
        let (id, sealed) = split(rest).ok_or(OpenError::Changed)?;
        let key = self.keys.iter().find(|key| key.id == id).ok_or(OpenError::UnknownKey(id))?;
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| OpenError::Changed)?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE).ok_or(OpenError::Changed)?;
        let nonce = XNonce::try_from(nonce).map_err(|_| OpenError::Changed)?;
        let payload = Payload { msg: sealed, aad: &place.0 };
        let value = key.cipher.decrypt(&nonce, payload).map_err(|_| OpenError::Changed)?;
        Ok(Cow::Owned(value))
    }

    /// The stored form that is to replace this one: sealed with the current key. `None` if it is so
    /// already, and without a key.
    ///
    /// R218.
    ///
    /// # Errors
    ///
    /// As [`Sealer::open`].
    pub fn resealed(&self, place: &Place, stored: &[u8]) -> Result<Option<Vec<u8>>, OpenError> {
        match self.current_prefix() {
            Some(prefix) if !stored.starts_with(prefix.as_bytes()) => {
                let value = self.open(place, stored)?;
                Ok(Some(self.seal(place, &value).into_owned()))
            }
            _ => Ok(None),
        }
    }
}

/// A clear value as it is stored.
fn escaped(value: &[u8]) -> Cow<'_, [u8]> {
    let looks_stored = [SEALED, ESCAPED].iter().any(|form| value.starts_with(form.as_bytes()));
    match looks_stored {
        true => Cow::Owned([ESCAPED.as_bytes(), value].concat()),
        false => Cow::Borrowed(value),
    }
}

/// The key id and the rest of what follows [`SEALED`].
fn split(rest: &[u8]) -> Option<(SealingKeyId, &[u8])> {
    let (id, rest) = rest.split_at_checked(ID_CHARS)?;
    let id = SealingKeyId::parse(std::str::from_utf8(id).ok()?)?;
    Some((id, rest.strip_prefix(b".")?))
}

/// How many stored secrets are sealed with which key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SealedCounts {
    /// Those that are clear.
    pub clear: u64,
    /// Those that are sealed, by key.
    pub sealed: BTreeMap<SealingKeyId, u64>,
}

impl SealedCounts {
    /// Adds `count` values that begin with a text of [`SEALED_PREFIX`] characters.
    pub fn add_beginning(&mut self, beginning: &str, count: u64) {
        let key = beginning.strip_prefix(SEALED).and_then(|rest| split(rest.as_bytes()));
        match key {
            Some((id, _)) => *self.sealed.entry(id).or_default() += count,
            None => self.clear += count,
        }
    }

    /// How many are not sealed with the current key.
    pub fn left(&self, sealer: &Sealer) -> u64 {
        let current = sealer.current();
        let older = self.sealed.iter().filter(|(id, _)| Some(**id) != current);
        self.clear + older.map(|(_, count)| count).sum::<u64>()
    }

    /// Refuses to go on without the key of a stored secret.
    ///
    /// R216.
    ///
    /// # Errors
    ///
    /// The ids of the missing keys.
    pub fn check(&self, sealer: &Sealer) -> Result<(), MissingKeys> {
        let given: Vec<SealingKeyId> = sealer.key_ids().collect();
        let missing = self.sealed.keys().filter(|id| !given.contains(id));
        let missing: Vec<String> = missing.map(SealingKeyId::to_string).collect();
        if missing.is_empty() { Ok(()) } else { Err(MissingKeys(missing.join(", "))) }
    }
}

/// The database holds secrets that were sealed with keys that were not given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it holds secrets that are sealed with keys that were not given: {0}")]
pub struct MissingKeys(String);

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> SealingKey {
        SealingKey::new(&[number; 32])
    }

    fn place(row: u8) -> Place {
        Place::new("webhooks", "secret", [[row; 16], [7; 16]])
    }

    /// R215.
    #[test]
    fn what_is_sealed_is_opened_in_its_place_and_nowhere_else() {
        let sealer = Sealer::new(key(1), []);
        let stored = sealer.seal(&place(1), b"whsec_a").into_owned();
        let text = String::from_utf8(stored.clone()).unwrap();
        assert!(text.starts_with(&sealer.current_prefix().unwrap()), "{text}");
        assert_eq!(sealer.current_prefix().unwrap().len(), SEALED_PREFIX);
        assert!(!text.contains("whsec_a"));
        assert_eq!(sealer.open(&place(1), &stored).unwrap().as_ref(), b"whsec_a");
        assert_eq!(sealer.open(&place(2), &stored), Err(OpenError::Changed));
        let column = Place::new("webhooks", "previous_secret", [[1; 16], [7; 16]]);
        assert_eq!(sealer.open(&column, &stored), Err(OpenError::Changed));
    }

    /// R215.
    #[test]
    fn equal_values_are_not_sealed_alike() {
        let sealer = Sealer::new(key(1), []);
        assert_ne!(sealer.seal(&place(1), b"a"), sealer.seal(&place(1), b"a"));
    }

    /// R215.
    #[test]
    fn a_changed_value_is_refused() {
        let sealer = Sealer::new(key(1), []);
        let stored = sealer.seal(&place(1), b"whsec_a").into_owned();
        for at in SEALED_PREFIX..stored.len() {
            let mut changed = stored.clone();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(sealer.open(&place(1), &changed), Err(OpenError::Changed), "{at}");
        }
        for length in SEALED.len()..stored.len() {
            assert_eq!(sealer.open(&place(1), &stored[..length]), Err(OpenError::Changed));
        }
    }

    /// R216.
    #[test]
    fn without_its_key_a_value_names_the_key_and_not_itself() {
        let stored = Sealer::new(key(1), []).seal(&place(1), b"whsec_a").into_owned();
        for other in [Sealer::default(), Sealer::new(key(2), [])] {
            let error = other.open(&place(1), &stored).unwrap_err();
            assert_eq!(error, OpenError::UnknownKey(key(1).id()));
            assert!(error.to_string().contains(&key(1).id().to_string()), "{error}");
        }
    }

    /// R215.
    #[test]
    fn clear_values_are_read_with_and_without_a_key() {
        for value in
            [&b"whsec_a"[..], b"rs1.", b"rs1.0123456789abcdef.AAAA", b"rs0.a", b"", b"\xff"]
        {
            let stored = Sealer::default().seal(&place(1), value).into_owned();
            for sealer in [Sealer::default(), Sealer::new(key(1), [])] {
                assert_eq!(sealer.open(&place(1), &stored).unwrap().as_ref(), value);
            }
        }
        assert_eq!(Sealer::default().seal(&place(1), b"whsec_a").as_ref(), b"whsec_a");
    }

    /// R218.
    #[test]
    fn clear_values_and_those_of_older_keys_are_sealed_again() {
        let (old, new) = (Sealer::new(key(1), []), Sealer::new(key(2), [key(1)]));
        for stored in [b"whsec_a".to_vec(), old.seal(&place(1), b"whsec_a").into_owned()] {
            let again = new.resealed(&place(1), &stored).unwrap().unwrap();
            assert!(again.starts_with(new.current_prefix().unwrap().as_bytes()));
            assert_eq!(new.open(&place(1), &again).unwrap().as_ref(), b"whsec_a");
            assert_eq!(new.resealed(&place(1), &again), Ok(None));
            assert_eq!(Sealer::default().resealed(&place(1), b"a"), Ok(None));
        }
    }

    /// R216.
    #[test]
    fn counts_name_the_keys_that_are_missing() {
        let mut counts = SealedCounts::default();
        counts.add_beginning("", 1);
        counts.add_beginning("rs1.0123456789abcdeg.", 1);
        counts.add_beginning(&Sealer::new(key(1), []).current_prefix().unwrap(), 3);
        counts.add_beginning(&Sealer::new(key(2), []).current_prefix().unwrap(), 4);
        let both = Sealer::new(key(2), [key(1)]);
        assert_eq!((counts.clear, counts.left(&both), counts.check(&both)), (2, 5, Ok(())));
        let error = counts.check(&Sealer::new(key(2), [])).unwrap_err().to_string();
        assert!(error.contains(&key(1).id().to_string()), "{error}");
        assert!(!error.contains(&key(2).id().to_string()), "{error}");
    }

    #[test]
    fn keys_are_not_printed() {
        let sealer = Sealer::new(SealingKey::new(b"hunter2hunter2hunter2hunter2hunt"), []);
        assert!(!format!("{sealer:?}").contains("hunter2"));
    }
}
