//! Secrets at rest: which key they are sealed with, and sealing them again.
//!
//! The statements are made from the sealed columns that the records declare.

use recado_core::Timestamp;
use recado_core::store::StoreError;
use recado_store_sql::{
    Place, SEALED_PREFIX, SealedColumn, SealedCounts, SealedForm, TableDef, sealed_columns,
};
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row as SqlRow, params_from_iter};

use crate::SqliteStore;
use crate::cell::Cell;
use crate::database::Connection;
use crate::error::{ReadResult, SqliteError, commit_error};
use crate::table::placeholders;
use crate::writer::expect_no_conflict;

/// How many values one transaction seals. They are few so that other writes wait only briefly.
const BATCH: usize = 100;
/// How many such transactions there are for one column in one round of upkeep. The next round goes
/// on.
const BATCHES: usize = 20;

/// The beginning of a column's values, which names the key. An index may have it.
fn beginning(column: SealedColumn) -> String {
    format!("substr({}, 1, {SEALED_PREFIX})", column.name)
}

/// The first beginning of a sealed value after `?1` and before `?2`, as a text.
fn next_key_query(table: TableDef, column: SealedColumn) -> String {
    let beginning = beginning(column);
    format!(
        "SELECT CAST({beginning} AS TEXT) FROM {} WHERE {beginning} > ?1 AND {beginning} < ?2 \
         ORDER BY {beginning} LIMIT 1",
        table.name
    )
}

/// Counts the values whose beginning is `?1`, and all values.
fn count_query(table: TableDef, column: SealedColumn) -> String {
    let beginning = beginning(column);
    let name = table.name;
    format!(
        "SELECT (SELECT count(*) FROM {name} WHERE {beginning} = ?1), \
         (SELECT count(*) FROM {name} WHERE {beginning} IS NOT NULL)"
    )
}

/// The keys and values of some rows whose value begins with less, or with more, than `?1`.
fn left_query(table: TableDef, column: SealedColumn, order: &str) -> String {
    format!(
        "SELECT {}, {} FROM {} WHERE {} {order} ?1 LIMIT ?2",
        table.columns[..table.key].join(", "),
        column.name,
        table.name,
        beginning(column),
    )
}

/// Replaces a value, unless it was changed meanwhile.
fn replace_statement(table: TableDef, column: SealedColumn) -> String {
    let key = table.columns[..table.key].join(", ");
    let (name, column) = (table.name, column.name);
    format!(
        "UPDATE {name} SET {column} = ?{} WHERE ({key}) = ({}) AND {column} = ?{}",
        table.key + 1,
        placeholders(table.key),
        table.key + 2,
    )
}

/// How the values begin that are sealed with any key, and the first text after all of these.
const SEALED: (&str, &str) = ("rs1.", "rs1/");

/// The beginnings of a column's sealed values: one for each key. Each is found by one step into an
/// index, where there is one.
fn beginnings(conn: &Connection, table: TableDef, column: SealedColumn) -> ReadResult<Vec<String>> {
    let mut statement = conn.prepare_cached(&next_key_query(table, column))?;
    let mut found: Vec<String> = Vec::new();
    loop {
        let after = found.last().map_or(SEALED.0, String::as_str).as_bytes().to_vec();
        let range = [cell(column.form, after), cell(column.form, SEALED.1.into())];
        let next = statement.query_row(params_from_iter(range), |row| row.get(0)).optional()?;
        let Some(next) = next else { return Ok(found) };
        found.push(next);
    }
}

/// How many secrets are sealed with which key.
pub(crate) fn counts(conn: &Connection) -> ReadResult<SealedCounts> {
    let mut counts = SealedCounts::default();
    for (table, column) in sealed_columns() {
        let mut statement = conn.prepare_cached(&count_query(table, column))?;
        let mut count = |beginning: &str| {
            let value = cell(column.form, beginning.into());
            statement.query_row([value], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
        };
        let (_, mut clear) = count("")?;
        for beginning in beginnings(conn, table, column)? {
            let (number, _) = count(&beginning)?;
            counts.add_beginning(&beginning, number.cast_unsigned());
            clear -= number;
        }
        counts.add_beginning("", clear.cast_unsigned());
    }
    Ok(counts)
}

/// Fails without the key of a stored secret.
///
/// R216.
pub(crate) fn check(conn: &Connection) -> Result<(), SqliteError> {
    let mut counts = SealedCounts::default();
    for (table, column) in sealed_columns() {
        for beginning in beginnings(conn, table, column)? {
            counts.add_beginning(&beginning, 1);
        }
    }
    Ok(counts.check(conn.sealer())?)
}

/// What a batch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sealed {
    /// How many values it found that are not sealed with the current key.
    found: usize,
    /// How many of them it sealed.
    sealed: usize,
}

fn owned(value: ValueRef<'_>) -> ReadResult<Cell<'static>> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Int(number),
        ValueRef::Text(_) => Cell::Owned(value.as_str()?.to_owned()),
        ValueRef::Blob(bytes) => Cell::OwnedBytes(bytes.to_vec()),
        ValueRef::Real(_) => return Err(rusqlite::Error::InvalidQuery),
    })
}

fn read_row(row: &SqlRow<'_>, columns: usize) -> ReadResult<Vec<Cell<'static>>> {
    (0..columns).map(|at| owned(row.get_ref(at)?)).collect()
}

/// The bytes of a text or of bytes, and those that stand for an id or number in a [`Place`].
fn bytes(cell: &Cell<'_>) -> Vec<u8> {
    match cell {
        Cell::Owned(text) => text.as_bytes().to_vec(),
        Cell::OwnedBytes(bytes) => bytes.clone(),
        Cell::Int(number) => number.to_be_bytes().to_vec(),
        _ => Vec::new(),
    }
}

fn cell(form: SealedForm, bytes: Vec<u8>) -> Cell<'static> {
    match form {
        SealedForm::Text => Cell::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        SealedForm::Bytes => Cell::OwnedBytes(bytes),
    }
}

/// Some rows of a column whose value is not sealed with the current key: the key of the row, and
/// the value. None without a key.
fn left(
    conn: &Connection,
    table: TableDef,
    column: SealedColumn,
    limit: usize,
) -> ReadResult<Vec<Vec<Cell<'static>>>> {
    let mut left = Vec::new();
    let Some(prefix) = conn.sealer().current_prefix() else { return Ok(left) };
    for order in ["<", ">"] {
        let mut statement = conn.prepare_cached(&left_query(table, column, order))?;
        let rest = Cell::from(i64::try_from(limit - left.len()).unwrap_or(0));
        let values = [cell(column.form, prefix.clone().into_bytes()), rest];
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            left.push(read_row(row, table.key + 1)?);
        }
    }
    Ok(left)
}

/// Seals some values of a column with the current key. The version of a row stays as it is: what a
/// decision read of it is what is still there.
///
/// R218.
fn seal_batch(
    conn: &Connection,
    table: TableDef,
    column: SealedColumn,
    limit: usize,
) -> ReadResult<Sealed> {
    let left = left(conn, table, column, limit)?;
    let mut done = Sealed { found: left.len(), sealed: 0 };
    for mut values in left {
        let Some(stored) = values.pop() else { continue };
        let place = Place::new(table.name, column.name, values.iter().map(bytes));
        match conn.sealer().resealed(&place, &bytes(&stored)) {
            Ok(None) => {}
            Ok(Some(again)) => {
                values.extend([cell(column.form, again), stored]);
                let mut statement = conn.prepare_cached(&replace_statement(table, column))?;
                done.sealed += statement.execute(params_from_iter(values))?;
            }
            // One that cannot be opened must not keep the others from being sealed.
            Err(error) => {
                let (table, column) = (table.name, column.name);
                tracing::error!(table, column, %error, "a secret cannot be sealed again");
            }
        }
    }
    Ok(done)
}

impl SqliteStore {
    /// Seals what is clear, and what is sealed with an older key, in small transactions. Usually
    /// there is nothing; then there is no write transaction.
    ///
    /// R218.
    pub(crate) async fn seal_all(&self, now: Timestamp) -> Result<(), StoreError> {
        let Some(key) = self.sealer.current() else { return Ok(()) };
        if !self.sealing.is_due(now) {
            return Ok(());
        }
        let (mut all_found, mut all_sealed) = (0, 0);
        for (table, column) in sealed_columns() {
            for _ in 0..BATCHES {
                if self.read(move |conn| left(conn, table, column, 1)).await?.is_empty() {
                    break;
                }
                let sealed = self.write(move |tx| {
                    // What was clear is not left in the log either (R197).
                    tx.has_erased = true;
                    seal_batch(tx.conn, table, column, BATCH).map_err(commit_error)
                });
                let Sealed { found, sealed } = sealed.await.map_err(expect_no_conflict)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn what_many_rows_have_is_found_by_its_key_by_an_index() {
        let conn = plans::database();
        for name in ["unknown_events", "messages"] {
            let find = |(table, _): &(TableDef, SealedColumn)| table.name == name;
            let (table, column) = sealed_columns().find(find).expect("they are sealed");
            let index = format!("INDEX {name}_by_seal (<expr>");
            let step = plans::step(&conn, &next_key_query(table, column));
            assert!(step.contains(&format!("{index}>? AND <expr><?)")), "{step}");
            for order in ["<", ">"] {
                let step = plans::step(&conn, &left_query(table, column, order));
                assert!(step.contains(&index), "{step}");
            }
            let steps = plans::steps(&conn, &count_query(table, column));
            let counts = steps.iter().filter(|step| step.contains(&format!("{name}_by_seal")));
            assert_eq!(counts.count(), 2, "{steps:?}");
            let step = plans::step(&conn, &replace_statement(table, column));
            assert!(step.contains("(company_id=? AND id=?)"), "{step}");
        }
    }
}
