//! The position of a reader in the journal.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::Mac;

use crate::contacts::CursorKey;
use crate::ids::CompanyId;

/// A position in the journal: just after the event with this number; 0 is the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JournalPosition(pub u64);

pub(super) const CONTEXT: &[u8] = b"recado journal position";
pub(super) const BODY: usize = 8;
pub(super) const TAG: usize = 16;

impl JournalPosition {
    pub(super) fn seal(self, key: &CursorKey, company: CompanyId) -> String {
        let mut bytes = self.0.to_be_bytes().to_vec();
        let tag = key.mac_of(CONTEXT, company, &bytes).finalize().into_bytes();
        bytes.extend_from_slice(&tag[..TAG]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    pub(super) fn open(key: &CursorKey, company: CompanyId, text: &str) -> Option<Self> {
        if text.len() > 2 * (BODY + TAG) {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (number, tag) = bytes.split_first_chunk::<BODY>()?;
        (tag.len() == TAG).then_some(())?;
        key.mac_of(CONTEXT, company, number).verify_truncated_left(tag).ok()?;
        Some(Self(u64::from_be_bytes(*number)))
    }
}
