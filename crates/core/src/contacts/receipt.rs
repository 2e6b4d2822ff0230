//! The receipt of a deletion (R412).

use std::collections::BTreeMap;

use serde::Serialize;
use uuid::Uuid;

use crate::Timestamp;
use crate::ids::{CompanyId, ContactId};
use crate::store::{ChangeSet, OnDelete, Precondition, REFERENCES, Reads, RowKind, StoreError};

/// What the deletion of a contact removed. It holds no personal data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Receipt {
    /// Its own id, to be referred to.
    pub id: Uuid,
    /// The contact that was deleted.
    pub contact_id: ContactId,
    /// When it was deleted.
    pub deleted_at: Timestamp,
    /// How many records of each kind were removed with it.
    pub removed: BTreeMap<&'static str, u64>,
}

impl Receipt {
    /// The receipt with messages that were removed before the last commit (R441).
    pub(super) fn with_messages(mut self, earlier: u64) -> Self {
        if let Some(count) = counted(RowKind::Message).and_then(|name| self.removed.get_mut(name)) {
            *count += earlier;
        }
        self
    }
}

/// What a receipt calls the rows of a kind that are removed with their contact.
///
/// R412.
pub(super) fn counted(kind: RowKind) -> Option<&'static str> {
    let goes = REFERENCES.iter().any(|reference| {
        (reference.from, reference.to) == (kind, RowKind::Contact)
            && reference.on_delete != OnDelete::SetNull
    });
    let name = match kind {
        RowKind::ContactTag => "tags",
        RowKind::ListMember => "lists",
        RowKind::Deal => "deals",
        RowKind::Document => "documents",
        RowKind::Link => "links",
        RowKind::Click => "clicks",
        RowKind::Alias => "names",
        RowKind::Conversation => "conversations",
        RowKind::Message => "messages",
        RowKind::LeadMemory => "lead_memories",
        RowKind::RememberedCall => "calls",
        RowKind::DispatchWindow => "dispatches",
        // Those that name the contact only in their text go, too.
        RowKind::UnknownEvent => return None,
        _ => return None,
    };
    goes.then_some(name)
}

/// Counts what is removed with a contact.
pub(super) async fn count(
    store: &dyn Reads,
    company: CompanyId,
    contact: ContactId,
) -> Result<BTreeMap<&'static str, u64>, StoreError> {
    let mut removed = BTreeMap::new();
    for kind in RowKind::ALL.iter().copied() {
        if let Some(name) = counted(kind) {
            removed.insert(name, store.count_about(company, kind, contact).await?);
        }
    }
    Ok(removed)
}

/// Makes a commit fail, so that it is decided anew, if what was counted has changed since.
///
/// R412.
pub(super) fn require_counts(
    mut changes: ChangeSet,
    company: CompanyId,
    receipt: Option<&Receipt>,
) -> ChangeSet {
    let Some(Receipt { contact_id: contact, removed, .. }) = receipt else { return changes };
    for kind in RowKind::ALL.iter().copied() {
        if let Some(count) = counted(kind).and_then(|name| removed.get(name).copied()) {
            let contact = *contact;
            changes = changes.require(Precondition::Counted { company, kind, contact, count });
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R412.
    #[test]
    fn every_kind_that_goes_with_a_contact_is_counted() {
        for reference in REFERENCES.iter().filter(|reference| reference.to == RowKind::Contact) {
            let goes = reference.on_delete != OnDelete::SetNull;
            let is_counted =
                counted(reference.from).is_some() || reference.from == RowKind::UnknownEvent;
            assert_eq!(is_counted, goes, "{reference}");
        }
    }
}
