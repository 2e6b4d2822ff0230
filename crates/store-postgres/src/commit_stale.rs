//! Which of the rows that a statement expected was not as it has to be.

use recado_core::store::{RowKey, StoreError, Version};

use crate::PostgresStore;
use crate::session::rows;
use crate::table_key::{TableKey, missing_of};

/// A row that has to exist, with the version that it must have.
pub(crate) type ExpectedRow = (RowKey, Option<Version>);

impl PostgresStore {
    /// The first of these rows, which are of one table, that is not as expected; `None` if all of
    /// them are by now.
    ///
    /// R439.
    pub(crate) async fn first_stale(
        &self,
        expected: &[ExpectedRow],
    ) -> Result<Option<RowKey>, StoreError> {
        // A step on one row has said which one it is.
        if expected.len() < 2 {
            return Ok(None);
        }
        let places: Vec<TableKey> = expected.iter().map(|(key, _)| TableKey::find(key)).collect();
        let wanted: Vec<_> =
            places.iter().zip(expected).map(|(place, (_, read_at))| (place, *read_at)).collect();
        let Some((sql, params)) = missing_of(&wanted) else { return Ok(None) };
        let found = rows(&self.pool, sql, params).await?;
        let first = found.first().map(|row| row.get::<_, i64>(0).unsigned_abs() - 1);
        let first = first.and_then(|at| usize::try_from(at).ok()).and_then(|at| expected.get(at));
        Ok(first.map(|(key, _)| key.clone()))
    }
}
