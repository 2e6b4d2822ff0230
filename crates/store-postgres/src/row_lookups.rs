//! Rows by their keys, for several callers at once.

use std::collections::{BTreeMap, BTreeSet};

use recado_core::match_kind;
use recado_core::store::{Row, RowKey, StoreError, Stored};
use tokio_postgres::Row as Found;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::error::failed;
use crate::pool::Pool;
use crate::session::{Session, Statement, TransactionMode, get};
use crate::shared_calls::SharedCall;
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

    /// The statement that finds the rows of these places, which are of one table, each with its
    /// number among them behind its columns.
    fn statement(&self, places: &BTreeSet<&TableKey>) -> Option<Statement> {
        let columns = match_kind!(self.key.kind(), T => columns_of::<T>("t"));
        let wanted: Vec<_> = places.iter().map(|place| (*place, None)).collect();
        found_of(&wanted, &columns).map(|(sql, params)| Statement::new(sql, params))
    }
}

impl SharedCall for RowLookup {
    /// A row that cannot be read fails its own caller.
    type Answer = Result<Option<Stored<Row>>, StoreError>;

    async fn answer_all(pool: &Pool, calls: Vec<Self>) -> Result<Vec<Self::Answer>, StoreError> {
        if let [call] = &calls[..] {
            return Ok(vec![Box::pin(call.alone(pool)).await]);
        }
        let mut tables: BTreeMap<&str, (&Self, BTreeSet<&TableKey>)> = BTreeMap::new();
        for call in &calls {
            let (_, places) =
                tables.entry(call.place.table).or_insert_with(|| (call, BTreeSet::new()));
            places.insert(&call.place);
        }
        let statements = tables.values().filter_map(|(call, places)| call.statement(places));
        let session = Session::take(pool).await?;
        let outcome = session.run(TransactionMode::Nothing, statements.collect()).await?;
        let results = outcome.into_rows().map_err(|(_, error)| failed(error))?;
        let mut known: BTreeMap<&TableKey, Found> = BTreeMap::new();
        for ((_, places), found) in tables.values().zip(results) {
            let places: Vec<&TableKey> = places.iter().copied().collect();
            for row in found {
                let number: i64 = row.get(row.len() - 1);
                let place = usize::try_from(number - 1).ok().and_then(|at| places.get(at));
                known.extend(place.map(|place| (*place, row)));
            }
        }
        let read = |call: &Self| {
            let found = known.get(&call.place);
            found.map(|found| match_kind!(call.key.kind(), T => read::<T>(pool, found))).transpose()
        };
        Ok(calls.iter().map(read).collect())
    }
}

impl PostgresStore {
    /// The row of a key. Rows that are asked for at once are found by one statement for each table
    /// (R440).
    pub(crate) async fn row_of(&self, key: &RowKey) -> Result<Option<Stored<Row>>, StoreError> {
        let lookup = RowLookup { key: key.clone(), place: TableKey::find(key) };
        // Postgres takes no text with a zero byte: such a key must fail nobody else.
        if !lookup.place.is_of_ids() {
            return Box::pin(lookup.alone(&self.pool)).await;
        }
        self.row_lookups.make(&self.pool, lookup).await?
    }
}
