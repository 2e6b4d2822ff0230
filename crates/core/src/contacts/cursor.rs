//! Export cursors: opaque, authenticated, bound to a company and its filters (4.1.2, D25).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use uuid::Uuid;

use super::{Contact, ContactFilter};
use crate::Timestamp;
use crate::ids::{CompanyId, ContactId};
use crate::secret::SecretBytes;

/// A position in the order of creation: just after this contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExportPosition {
    /// Its `created_at`.
    pub created_at: Timestamp,
    /// Its id.
    pub id: ContactId,
}

impl ExportPosition {
    /// The position just after `contact`.
    pub const fn of(contact: &Contact) -> Self {
        Self { created_at: contact.created_at, id: contact.id }
    }
}

/// The form of the cursor; raised when it changes.
const FORMAT: u8 = 1;
const BODY: usize = 1 + 8 + 16;
const TAG: usize = 32;

/// Authenticates cursors. It is kept in the store, so that every process of an installation accepts
/// the cursors of the others, across restarts.
#[derive(Clone, Debug)]
pub struct CursorKey(SecretBytes);

impl CursorKey {
    /// Wraps the installation's key.
    pub const fn new(key: SecretBytes) -> Self {
        Self(key)
    }

    /// The cursor for a position in this company's listing under these filters.
    pub fn seal(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        position: ExportPosition,
    ) -> String {
        let mut bytes = Vec::with_capacity(BODY + TAG);
        bytes.push(FORMAT);
        bytes.extend_from_slice(&position.created_at.millis().to_be_bytes());
        bytes.extend_from_slice(position.id.uuid().as_bytes());
        let tag = self.mac(company, filter, &bytes).finalize().into_bytes();
        bytes.extend_from_slice(&tag);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position of a cursor; `None` if it is not valid for this company and these filters,
    /// unchanged.
    pub fn open(
        &self,
        company: CompanyId,
        filter: &ContactFilter,
        cursor: &str,
    ) -> Option<ExportPosition> {
        if cursor.len() > 2 * (BODY + TAG) {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        if bytes.len() != BODY + TAG {
            return None;
        }
        let (body, tag) = bytes.split_at(BODY);
        self.mac(company, filter, body).verify_slice(tag).ok()?;
        let (format, rest) = body.split_first()?;
        let (millis, id) = rest.split_first_chunk::<8>()?;
        (*format == FORMAT).then_some(())?;
        Some(ExportPosition {
            created_at: Timestamp::from_millis(i64::from_be_bytes(*millis)),
            id: ContactId::new(Uuid::from_slice(id).ok()?),
        })
    }

    /// Authenticates other data of a company under this key; `context` distinguishes it from
    /// cursors.
    pub(crate) fn mac_of(&self, context: &[u8], company: CompanyId, body: &[u8]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.expose()).expect("HMAC takes keys of any length");
        mac.update(context);
        mac.update(company.uuid().as_bytes());
        mac.update(body);
        mac
    }

    fn mac(&self, company: CompanyId, filter: &ContactFilter, body: &[u8]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.expose()).expect("HMAC takes keys of any length");
        mac.update(b"recado export cursor");
        mac.update(company.uuid().as_bytes());
        mac.update(&filter.digest());
        mac.update(body);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CursorKey {
        CursorKey::new(SecretBytes::new([7; 32]))
    }

    fn company(n: u128) -> CompanyId {
        CompanyId::new(Uuid::from_u128(n))
    }

    fn position() -> ExportPosition {
        ExportPosition {
            created_at: Timestamp::from_millis(1_763_000_000_123),
            id: ContactId::new(Uuid::from_u128(42)),
        }
    }

    #[test]
    fn a_cursor_opens_to_the_position_it_was_made_for() {
        let filter = ContactFilter::default();
        let cursor = key().seal(company(1), &filter, position());
        assert_eq!(key().open(company(1), &filter, &cursor), Some(position()));
    }

    #[test]
    fn a_cursor_of_another_company_or_other_filters_does_not_open() {
        let filter = ContactFilter::default();
        let groups = ContactFilter { is_group: Some(true), ..filter.clone() };
        let cursor = key().seal(company(1), &filter, position());
        assert_eq!(key().open(company(2), &filter, &cursor), None);
        assert_eq!(key().open(company(1), &groups, &cursor), None);
    }

    #[test]
    fn a_cursor_with_any_byte_changed_does_not_open() {
        let filter = ContactFilter::default();
        let cursor = key().seal(company(1), &filter, position());
        let bytes = URL_SAFE_NO_PAD.decode(&cursor).expect("ours");
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let changed = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(key().open(company(1), &filter, &changed), None, "byte {at}");
        }
        for text in ["", "x", "====", &cursor[1..]] {
            assert_eq!(key().open(company(1), &filter, text), None);
        }
    }
}
