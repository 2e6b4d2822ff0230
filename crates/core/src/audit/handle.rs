//! The handle of the audit log, and the removal of old entries (R389).

use crate::Recado;
use crate::store::{ChangeSet, Listing, StoreError};

/// How many old entries are removed in one step.
const AT_ONCE: u32 = 500;

/// The use cases on the audit log. Made by [`Recado::audit`].
#[derive(Clone, Copy, Debug)]
pub struct Audit<'a> {
    pub(super) app: &'a Recado,
}

impl Recado {
    /// The audit log.
    pub fn audit(&self) -> Audit<'_> {
        Audit { app: self }
    }
}

impl Audit<'_> {
    /// Removes some of the entries that are older than
    /// [`Settings::audit_retention`](crate::Settings::audit_retention) (R389). Answers whether
    /// there may be more.
    ///
    /// # Errors
    ///
    /// When the store fails; what was removed stays removed.
    pub async fn sweep(&self) -> Result<bool, StoreError> {
        let Some(kept) = self.app.settings().audit_retention else { return Ok(false) };
        let until = self.app.now().minus(kept);
        let listing = Listing::AuditedBefore { until, limit: AT_ONCE };
        let old = self.app.store().rows(listing).await?;
        if old.is_empty() {
            return Ok(false);
        }
        let changes = old.iter().fold(ChangeSet::new(), |set, row| set.with(row.delete()));
        match self.app.commit_once(changes).await {
            Ok(is_done) => Ok(is_done && old.len() >= AT_ONCE as usize),
            Err(StoreError::Closed) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
