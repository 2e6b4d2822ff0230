//! Rows by their keys, for several callers at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use recado_core::match_kind;
use recado_core::store::{Row, RowKey, RowKind, StoreError, Stored};
use tokio_postgres::Row as Found;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::Param;
use crate::pool::Pool;
use crate::session::{get, rows};
use crate::shared_calls::{SharedCall, SharedCalls};
use crate::table::{Table, columns_of};
use crate::table_key::{TableKey, found_of};

/// The look-up of a row whose key is made of ids.
pub(crate) struct RowLookup {
    key: RowKey,
    place: TableKey,
}

/// The row of a key, alone.
async fn alone<T: Table + Into<Row>>(
    pool: &Pool,
    place: &TableKey,
) -> Result<Option<Stored<Row>>, StoreError> {
    let found = get::<T>(pool, place.params()).await?;
    Ok(found.map(|stored| stored.map(T::into)))
}

fn read<T: Table + Into<Row>>(pool: &Pool, found: &Found) -> Result<Stored<Row>, StoreError> {
    Ok(Columns::new(found).stored_sealed::<T>(pool.sealer())?.map(T::into))
}

impl RowLookup {
    async fn alone(&self, pool: &Pool) -> Result<Option<Stored<Row>>, StoreError> {
        match_kind!(self.key.kind(), T => alone::<T>(pool, &self.place).await)
    }

    /// The statement that finds rows of its table, each with its number among them behind its
    /// columns.
    fn statement(&self, places: &[&TableKey]) -> Option<(String, Vec<Param>)> {
        let columns = match_kind!(self.key.kind(), T => columns_of::<T>("t"));
        let wanted: Vec<_> = places.iter().map(|place| (*place, None)).collect();
        found_of(&wanted, &columns)
    }
}

impl SharedCall for RowLookup {
    /// A row that cannot be read fails its own caller.
    type Answer = Result<Option<Stored<Row>>, StoreError>;

    async fn answer_all(pool: &Pool, calls: Vec<Self>) -> Result<Vec<Self::Answer>, StoreError> {
        let Some((first, [_, ..])) = calls.split_first() else {
            return match calls.first() {
                Some(call) => Ok(vec![Box::pin(call.alone(pool)).await]),
                None => Ok(Vec::new()),
            };
        };
        let places: BTreeSet<&TableKey> = calls.iter().map(|call| &call.place).collect();
        let places: Vec<&TableKey> = places.into_iter().collect();
        let found = match first.statement(&places) {
            Some((sql, params)) => rows(pool, sql, params).await?,
            None => Vec::new(),
        };
        let mut known: BTreeMap<&TableKey, Found> = BTreeMap::new();
        for row in found {
            let number: i64 = row.get(row.len() - 1);
            let place = usize::try_from(number - 1).ok().and_then(|at| places.get(at));
            known.extend(place.map(|place| (*place, row)));
        }
        let read = |call: &Self| {
            let found = known.get(&call.place);
            found.map(|found| match_kind!(call.key.kind(), T => read::<T>(pool, found))).transpose()
        };
        Ok(calls.iter().map(read).collect())
    }
}

/// The look-ups of rows that wait in this process, by table: while one table is locked, rows of the
/// others are found.
#[derive(Clone)]
pub(crate) struct RowLookups(Arc<BTreeMap<&'static str, SharedCalls<RowLookup>>>);

impl Default for RowLookups {
    fn default() -> Self {
        let tables =
            RowKind::ALL.iter().map(|kind| (TableKey::table(*kind), SharedCalls::default()));
        Self(Arc::new(tables.collect()))
    }
}

impl PostgresStore {
    /// The row of a key. Rows that are asked for at once are found by one statement for each table
    /// (R440).
    pub(crate) async fn row_of(&self, key: &RowKey) -> Result<Option<Stored<Row>>, StoreError> {
        let lookup = RowLookup { key: key.clone(), place: TableKey::find(key) };
        // Postgres takes no text with a zero byte: such a key must fail nobody else.
        let calls = self.row_lookups.0.get(lookup.place.table);
        match calls.filter(|_| lookup.place.is_of_ids()) {
            Some(calls) => calls.make(&self.pool, lookup).await?,
            None => Box::pin(lookup.alone(&self.pool)).await,
        }
    }
}
