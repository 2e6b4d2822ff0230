//! Secrets at rest: which key they are sealed with, and sealing them again.
//!
//! The statements are made from the sealed columns that the records declare.

use std::error::Error;

use recado_core::Timestamp;
use recado_core::store::StoreError;
use recado_store_sql::{
    Place, SEALED_PREFIX, SealedColumn, SealedCounts, SealedForm, TableDef, sealed_columns,
};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};

use crate::PostgresStore;
use crate::columns::Columns;
use crate::error::failed;
use crate::param::Param;
use crate::session::{Session, Statement, TransactionMode, rows};

/// How many values are sealed at once. Each is a transaction of its own, which holds one lock and
/// can wait for no other.
const BATCH: usize = 100;
/// How many times that is done for one column in one round of upkeep. The next round goes on.
const BATCHES: usize = 20;

/// The beginning of a column's values, which names the key. An index may have it.
fn beginning(column: SealedColumn) -> String {
    let collation = match column.form {
        SealedForm::Text => " COLLATE \"C\"",
        SealedForm::Bytes => "",
    };
    format!("(substr({}, 1, {SEALED_PREFIX})){collation}", column.name)
}

/// A value to compare the beginning with.
fn param(form: SealedForm, text: &str) -> Param {
    match form {
        SealedForm::Text => Param::Text(text.to_owned().into()),
        SealedForm::Bytes => Param::Bytes(text.as_bytes().to_vec()),
    }
}

/// The first beginning of a sealed value after `$1` and before `$2`, as a text.
pub(crate) fn next_key_query(table: TableDef, column: SealedColumn) -> String {
    let beginning = beginning(column);
    let shown = match column.form {
        SealedForm::Text => beginning.clone(),
        SealedForm::Bytes => format!("encode({beginning}, 'escape')"),
    };
    format!(
        "SELECT {shown} FROM {} WHERE {beginning} > $1 AND {beginning} < $2 \
         ORDER BY {beginning} LIMIT 1",
        table.name
    )
}

/// Counts the values whose beginning is `$1`, and all values.
fn count_query(table: TableDef, column: SealedColumn) -> String {
    let beginning = beginning(column);
    let name = table.name;
    format!(
        "SELECT (SELECT count(*) FROM {name} WHERE {beginning} = $1), \
         (SELECT count(*) FROM {name} WHERE {} IS NOT NULL)",
        column.name
    )
}

/// The keys and values of some rows whose value begins with less, or with more, than `$1`.
pub(crate) fn left_query(table: TableDef, column: SealedColumn, order: &str) -> String {
    format!(
        "SELECT {}, {} FROM {} WHERE {} {order} $1 LIMIT $2",
        table.columns[..table.key].join(", "),
        column.name,
        table.name,
        beginning(column),
    )
}

/// Replaces a value, unless it was changed meanwhile.
fn replace_statement(table: TableDef, column: SealedColumn) -> String {
    let (name, column) = (table.name, column.name);
    let keys = table.columns[..table.key].iter().enumerate();
    let keys: Vec<String> = keys.map(|(at, key)| format!("{key} = ${}", at + 1)).collect();
    format!(
        "UPDATE {name} SET {column} = ${} WHERE {} AND {column} = ${} RETURNING 1",
        table.key + 1,
        keys.join(" AND "),
        table.key + 2,
    )
}

/// A value in the server's binary format, which for ids, numbers, texts and bytes is what a
/// [`Place`] takes.
#[derive(Clone, Debug)]
struct Wire(Vec<u8>);

impl FromSql<'_> for Wire {
    fn from_sql(_: &Type, raw: &[u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw.to_vec()))
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::UUID | Type::INT8 | Type::TEXT | Type::BYTEA)
    }
}

impl ToSql for Wire {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        <Self as FromSql<'_>>::accepts(kind)
    }

    tokio_postgres::types::to_sql_checked!();
}

/// How the values begin that are sealed with any key, and the first text after all of these.
const SEALED: (&str, &str) = ("rs1.", "rs1/");

impl PostgresStore {
    /// The beginnings of a column's sealed values: one for each key. Each is found by one step into
    /// an index, where there is one.
    async fn beginnings(
        &self,
        table: TableDef,
        column: SealedColumn,
    ) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        loop {
            let after = found.last().map_or(SEALED.0, String::as_str);
            let params = vec![param(column.form, after), param(column.form, SEALED.1)];
            let rows = rows(&self.pool, next_key_query(table, column), params).await?;
            let Some(row) = rows.first() else { return Ok(found) };
            found.push(Columns::new(row).get()?);
        }
    }

    /// Fails without the key of a stored secret.
    ///
    /// R216.
    pub(crate) async fn check_keys(&self) -> Result<(), StoreError> {
        let mut counts = SealedCounts::default();
        for (table, column) in sealed_columns() {
            for beginning in self.beginnings(table, column).await? {
                counts.add_beginning(&beginning, 1);
            }
        }
        counts.check(self.pool.sealer()).map_err(StoreError::unavailable)
    }

    /// How many stored secrets are sealed with which key.
    ///
    /// # Errors
    ///
    /// As any read.
    pub async fn sealed_counts(&self) -> Result<SealedCounts, StoreError> {
        let mut counts = SealedCounts::default();
        for (table, column) in sealed_columns() {
            let count = |beginning: &str| {
                let params = vec![param(column.form, beginning)];
                rows(&self.pool, count_query(table, column), params)
            };
            let mut sealed = 0;
            for beginning in self.beginnings(table, column).await? {
                let found = count(&beginning).await?;
                let number = found.first().map_or(0, |row| row.get::<_, i64>(0)).cast_unsigned();
                counts.add_beginning(&beginning, number);
                sealed += number;
            }
            let all = count("").await?.first().map_or(0, |row| row.get::<_, i64>(1));
            counts.add_beginning("", all.cast_unsigned().saturating_sub(sealed));
        }
        Ok(counts)
    }

    /// Some rows of a column whose value is not sealed with the current key: the key of the row,
    /// and the value.
    async fn left(
        &self,
        table: TableDef,
        column: SealedColumn,
        prefix: &str,
    ) -> Result<Vec<Vec<Wire>>, StoreError> {
        let mut left = Vec::new();
        for order in ["<", ">"] {
            let limit = i64::try_from(BATCH - left.len()).unwrap_or(0);
            let params = vec![param(column.form, prefix), Param::Int(limit)];
            let found = rows(&self.pool, left_query(table, column, order), params).await?;
            for row in &found {
                let mut columns = Columns::new(row);
                let values: Result<_, _> = (0..=table.key).map(|_| columns.raw()).collect();
                left.push(values?);
            }
        }
        Ok(left)
    }

    /// Seals some values of a column with the current key: how many it found, and how many it
    /// sealed. The version of a row stays as it is: what a decision read of it is still there.
    ///
    /// R218.
    async fn seal_batch(
        &self,
        table: TableDef,
        column: SealedColumn,
        prefix: &str,
    ) -> Result<(usize, usize), StoreError> {
        let left = self.left(table, column, prefix).await?;
        let found = left.len();
        let mut statements = Vec::new();
        for mut values in left {
            let Some(stored) = values.pop() else { continue };
            let key = values.iter().map(|Wire(bytes)| bytes);
            let place = Place::new(table.name, column.name, key);
            match self.pool.sealer().resealed(&place, &stored.0) {
                Ok(None) => {}
                Ok(Some(again)) => {
                    values.extend([Wire(again), stored]);
                    let params = values.into_iter().map(Param::of).collect();
                    statements.push(Statement::new(replace_statement(table, column), params));
                }
                // One that cannot be opened must not keep the others from being sealed.
                Err(error) => {
                    let (table, column) = (table.name, column.name);
                    tracing::error!(table, column, %error, "a secret cannot be sealed again");
                }
            }
        }
        let session = Session::take(&self.pool).await?;
        let outcome = session.run(TransactionMode::Nothing, statements).await?;
        let sealed = outcome.into_rows().map_err(|(_, error)| failed(error))?;
        Ok((found, sealed.iter().filter(|rows| !rows.is_empty()).count()))
    }

    /// Seals what is clear, and what is sealed with an older key. Usually there is nothing.
    ///
    /// R218.
    pub(crate) async fn seal_all(&self, now: Timestamp) -> Result<(), StoreError> {
        let sealer = self.pool.sealer();
        let (Some(key), Some(prefix)) = (sealer.current(), sealer.current_prefix()) else {
            return Ok(());
        };
        if !self.sealing.is_due(now) {
            return Ok(());
        }
        let (mut all_found, mut all_sealed) = (0, 0);
        for (table, column) in sealed_columns() {
            for _ in 0..BATCHES {
                let (found, sealed) = self.seal_batch(table, column, &prefix).await?;
                all_found += found;
                all_sealed += sealed;
                if found < BATCH || sealed == 0 {
                    break;
                }
            }
        }
        if let Some(sealed) = self.sealing.ended(now, all_found, all_sealed) {
            tracing::info!(%key, sealed, "all secrets are sealed with the current key");
        }
        Ok(())
    }
}
