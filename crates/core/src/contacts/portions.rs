//! Long deletions and merges: what a contact has many rows of goes in portions (R441).

use std::collections::BTreeSet;

use super::purge::{Purge, keep_lease};
use super::{Contacts, DeleteContactError};
use crate::error::Error;
use crate::ids::{CompanyId, ContactId, UploadId};
use crate::messages::FORGOTTEN_KEPT;
use crate::store::{Change, ChangeSet, Decided, Precondition, RowKind, StoreError};
use crate::uploads::carried_by;

/// The most rows of a kind that one commit of a merge or a deletion moves or removes, so that no
/// other call waits long for it.
///
/// R441.
pub(super) const PORTION: u32 = 200;

/// What a deletion removed in portions.
#[derive(Debug)]
pub(super) struct Earlier {
    /// Whether messages are counted.
    pub(super) counts: bool,
    /// How many messages it removed, if they are counted.
    pub(super) messages: u64,
    /// The files that were sent with them.
    pub(super) sent: BTreeSet<UploadId>,
}

impl Earlier {
    pub(super) const fn nothing(counts: bool) -> Self {
        Self { counts, messages: 0, sent: BTreeSet::new() }
    }
}

impl Contacts<'_> {
    /// Whether a contact has more rows than one commit should remove.
    pub(super) async fn is_large(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<bool, StoreError> {
        let many = self.app.store().has_many(company, contact, PORTION).await?;
        Ok(many.messages || many.ledger_lines)
    }

    /// Removes messages of a contact, and takes it out of ledger lines, until few are left. What it
    /// removed is added to `earlier`; messages are counted if that is wanted.
    ///
    /// R441.
    pub(super) async fn remove_in_portions(
        &self,
        company: CompanyId,
        contact: ContactId,
        mut purge: Option<&mut Purge>,
        earlier: &mut Earlier,
    ) -> Result<(), Error<DeleteContactError>> {
        let (store, counts) = (self.app.store(), earlier.counts);
        let portion = |now: crate::Timestamp| async move {
            if !self.is_large(company, contact).await? {
                return Ok(Decided::unchanged(None));
            }
            let until = now.plus(FORGOTTEN_KEPT);
            let some = Change::remove_some(company, contact, until, PORTION);
            let mut changes = ChangeSet::new().with(some);
            let mut removed = 0;
            if counts {
                let kind = RowKind::Message;
                let count = store.count_about(company, kind, contact).await?;
                changes = changes.require(Precondition::Counted { company, kind, contact, count });
                removed = count.min(u64::from(PORTION));
            }
            Ok::<_, Error<DeleteContactError>>(Decided::new(changes, Some(removed)))
        };
        // Afterwards no message names them any more (R351).
        earlier.sent.extend(carried_by(self.app, company, contact).await?);
        loop {
            if let Some(purge) = &mut purge {
                keep_lease(self.app, &mut purge.job).await?;
            }
            match self.app.decide(portion).await? {
                Some(some) => earlier.messages += some,
                None => return Ok(()),
            }
        }
    }
}
