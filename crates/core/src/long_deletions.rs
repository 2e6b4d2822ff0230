//! Lists, tags and campaigns with very many rows are deleted in portions (R442).

use crate::Recado;
use crate::error::Error;
use crate::ids::CompanyId;
use crate::manage::Managed;
use crate::store::{Change, ChangeSet, Collection, Decided, StoreError, Stored};

/// The most rows that one commit of a deletion removes, so that no other call waits long for it.
///
/// R442.
pub(crate) const PORTION: u32 = 500;

impl Recado {
    /// Removes rows of a record in portions until few are left of `rows`, so many as it had; the
    /// commit that deletes the record comes after this. `load` reads the record, `None` if it may
    /// not be deleted any more: then no further portion is removed.
    ///
    /// R442.
    pub(crate) async fn remove_rows<T: Managed, L, E>(
        &self,
        company: CompanyId,
        of: Collection,
        rows: u64,
        load: impl Fn() -> L + Send + Sync,
    ) -> Result<(), Error<E>>
    where
        L: Future<Output = Result<Option<Stored<T>>, StoreError>> + Send,
    {
        let load = &load;
        for _ in 1..rows.div_ceil(u64::from(PORTION)) {
            let removed = self.decide(|_| async move {
                let Some(record) = load().await? else { return Ok(Decided::unchanged(false)) };
                let some = Change::remove_rows(company, of, PORTION);
                Ok(Decided::new(ChangeSet::new().require(record.unchanged()).with(some), true))
            });
            if !removed.await? {
                return Ok(());
            }
        }
        Ok(())
    }
}
