//! The statements that read and write a row, for every kind of row.

use std::sync::LazyLock;

use recado_core::access::Company;
use recado_core::ids::CompanyId;
use recado_core::links::Click;
use recado_core::store::{CommitError, Conflict, RowKey, Stored, UniqueKey, Version};
use recado_store_sql::{Layout, Sealer, TableDef, write_key};
use rusqlite::{OptionalExtension, Row as SqlRow, params_from_iter};

use crate::cell::{Cell, Cells, Columns};
use crate::database::Connection;
use crate::error::{ReadResult, commit_error, store_error};

/// A kind of row that has statements.
pub(crate) trait Table: Layout {
    /// The statements, built once.
    fn statements() -> &'static Statements;
}

macro_rules! tables {
    ($($(#[$doc:meta])* $Name:ident($Record:ty) $key:tt $version:ident;)+) => {
        $(impl Table for $Record {
            fn statements() -> &'static Statements {
                static STATEMENTS: LazyLock<Statements> =
                    LazyLock::new(|| Statements::of(<$Record>::TABLE));
                &STATEMENTS
            }
        })+
    };
}
recado_core::for_each_row!(tables);

/// The values of the columns of a row that holds no secrets, in the order of
/// [`Statements::written`].
pub(crate) fn values<T: Table>(row: &T) -> Vec<Cell<'_>> {
    const { assert!(T::TABLE.sealed.is_empty(), "secrets are written by their keys") };
    sealed_values(row, &Sealer::default())
}

/// The same, of any row.
pub(crate) fn sealed_values<'a, T: Table>(row: &'a T, sealer: &Sealer) -> Vec<Cell<'a>> {
    let mut cells = Cells(Vec::with_capacity(T::statements().written.len() + 1));
    row.write_sealed(&mut cells, sealer);
    row.write_derived(&mut cells);
    cells.0
}

/// The statements of a table.
#[derive(Debug)]
pub(crate) struct Statements {
    table: TableDef,
    /// The columns of the key, then the other columns, then the derived ones.
    pub(crate) written: Vec<&'static str>,
    /// Selects columns and version, without a condition.
    pub(crate) select: String,
    get: String,
    version: String,
    insert: String,
    /// Inserts a row with the version that is behind its columns, where the table has one.
    pub(crate) restore: String,
    update: Option<String>,
    delete: String,
}

impl Statements {
    pub(crate) fn of(mut table: TableDef) -> Self {
        let TableDef { name, key, columns, derived, .. } = table;
        // The table has a version column, although clicks never change.
        table.versioned |= name == Click::TABLE.name;
        let written = [columns, derived].concat();
        let by_key = conditions(&columns[..key]);
        let (column, first, version) = match table.versioned {
            true => (", version", ", 1", "version"),
            false => ("", "", "1"),
        };
        let select = format!("SELECT {}, {version} FROM {name}", columns.join(", "));
        let set: Vec<String> = (written.iter().enumerate().skip(key))
            .map(|(at, column)| format!("{column} = ?{}", at + 1))
            .collect();
        let update = format!(
            "UPDATE {name} SET {}, version = version + 1 WHERE {by_key} AND version = ?{}",
            set.join(", "),
            written.len() + 1
        );
        Self {
            get: format!("{select} WHERE {by_key}"),
            version: format!("SELECT {version} FROM {name} WHERE {by_key}"),
            insert: format!(
                "INSERT INTO {name} ({}{column}) VALUES ({}{first})",
                written.join(", "),
                placeholders(written.len())
            ),
            restore: restore(&table, &written, &[]),
            update: table.versioned.then_some(update),
            delete: format!("DELETE FROM {name} WHERE {by_key} AND {version} = ?{}", key + 1),
            select,
            written,
            table,
        }
    }

    /// Whether the table has a column for the version.
    pub(crate) const fn has_version(&self) -> bool {
        self.table.versioned
    }

    /// [`Statements::restore`] with `more` columns behind the version.
    pub(crate) fn restore_with(&self, more: &[&'static str]) -> String {
        restore(&self.table, &self.written, more)
    }

    /// The columns and the version as those of `alias`, for joins.
    pub(crate) fn qualified(&self, alias: &str) -> String {
        let columns = self.table.columns.iter().chain(&["version"]);
        columns.map(|column| format!("{alias}.{column}")).collect::<Vec<_>>().join(", ")
    }
}

fn restore(table: &TableDef, written: &[&str], more: &[&str]) -> String {
    let version = table.versioned.then_some("version");
    let columns: Vec<&str> =
        written.iter().copied().chain(version).chain(more.iter().copied()).collect();
    let places = placeholders(columns.len());
    format!("INSERT INTO {} ({}) VALUES ({places})", table.name, columns.join(", "))
}

fn conditions(key: &[&str]) -> String {
    let conditions: Vec<String> = key
        .iter()
        .enumerate()
        .map(|(index, column)| format!("{column} = ?{}", index + 1))
        .collect();
    conditions.join(" AND ")
}

/// `?1, ?2, …`
pub(crate) fn placeholders(count: usize) -> String {
    let places: Vec<String> = (1..=count).map(|place| format!("?{place}")).collect();
    places.join(", ")
}

/// Reads a row that holds no secrets, whose version is behind its columns.
pub(crate) fn read_stored<T: Table>(row: &SqlRow<'_>) -> ReadResult<Stored<T>> {
    Columns::new(row).stored()
}

/// The same, for any row.
pub(crate) fn read_sealed<T: Table>(
    conn: &Connection,
) -> impl Fn(&SqlRow<'_>) -> ReadResult<Stored<T>> {
    |row| Columns::new(row).stored_sealed(conn.sealer())
}

/// The row of a key.
pub(crate) fn get<T: Table>(conn: &Connection, key: &[Cell<'_>]) -> ReadResult<Option<Stored<T>>> {
    conn.prepare_cached(&T::statements().get)?
        .query_row(params_from_iter(key), read_sealed(conn))
        .optional()
}

/// The row that satisfies `condition`, at most one.
pub(crate) fn find<T: Table>(
    conn: &Connection,
    condition: &str,
    values: &[Cell<'_>],
) -> ReadResult<Option<Stored<T>>> {
    conn.prepare_cached(&format!("{} WHERE {condition}", T::statements().select))?
        .query_row(params_from_iter(values), read_sealed(conn))
        .optional()
}

/// A query of a row and its company. The condition refers to the row as `row`.
pub(crate) fn with_company<T: Table>(condition: &str) -> String {
    format!(
        "SELECT {}, {} FROM {} AS row JOIN companies AS c ON c.id = row.company_id \
         WHERE {condition}",
        T::statements().qualified("row"),
        Company::statements().qualified("c"),
        T::TABLE.name,
    )
}

/// The row, at most one, that a query of [`with_company`] finds by a value.
pub(crate) fn find_with_company<T: Table>(
    conn: &Connection,
    query: &str,
    value: Cell<'_>,
) -> ReadResult<Option<(T, Company)>> {
    conn.prepare_cached(query)?
        .query_row([value], |row| {
            let mut columns = Columns::new(row);
            let value = T::read_sealed(&mut columns, conn.sealer())?;
            columns.skip();
            Ok((value, Company::read_sealed(&mut columns, conn.sealer())?))
        })
        .optional()
}

/// All rows that satisfy `condition`, which may end with an order.
pub(crate) fn list<T: Table>(
    conn: &Connection,
    condition: &str,
    values: &[Cell<'_>],
) -> ReadResult<Vec<Stored<T>>> {
    conn.prepare_cached(&format!("{} WHERE {condition}", T::statements().select))?
        .query_map(params_from_iter(values), read_sealed(conn))?
        .collect()
}

/// All rows of a company by `created_at`, then `id` (D58), with their versions.
pub(crate) fn all_stored<T: Table>(
    conn: &Connection,
    company: CompanyId,
) -> ReadResult<Vec<Stored<T>>> {
    list(conn, "company_id = ?1 ORDER BY created_at, id", &[company.into()])
}

/// All rows of a company by `created_at`, then `id` (D58).
pub(crate) fn all<T: Table>(conn: &Connection, company: CompanyId) -> ReadResult<Vec<T>> {
    Ok(all_stored(conn, company)?.into_iter().map(Stored::into_value).collect())
}

/// Whether anything satisfies `condition`.
pub(crate) fn exists(
    conn: &rusqlite::Connection,
    query: &str,
    values: &[Cell<'_>],
) -> ReadResult<bool> {
    conn.prepare_cached(query)?.exists(params_from_iter(values))
}

/// The values of a key.
pub(crate) fn key_values(key: &RowKey) -> Vec<Cell<'_>> {
    let mut cells = Cells(Vec::with_capacity(4));
    write_key(key, &mut cells);
    cells.0
}

/// The version of the row of a key of this kind; `None` if the row is missing.
pub(crate) fn version<T: Table>(
    conn: &rusqlite::Connection,
    key: &RowKey,
) -> Result<Option<Version>, CommitError> {
    conn.prepare_cached(&T::statements().version)
        .and_then(|mut statement| {
            let read = |row: &SqlRow<'_>| Columns::new(row).get();
            statement.query_row(params_from_iter(key_values(key)), read).optional()
        })
        .map(|found| found.map(Version::new))
        .map_err(|error| store_error(error).into())
}

/// Inserts a row at version 1.
pub(crate) fn insert<T: Table>(conn: &Connection, row: &T) -> Result<(), CommitError> {
    conn.prepare_cached(&T::statements().insert)
        .and_then(|mut statement| {
            statement.execute(params_from_iter(sealed_values(row, conn.sealer())))
        })
        .map_err(|error| insert_error(conn, row, error))?;
    Ok(())
}

/// Why a row could not be inserted. If its key is taken, the error names its identity, even if
/// SQLite reported another unique key.
pub(crate) fn insert_error<T: Table>(
    conn: &rusqlite::Connection,
    row: &T,
    error: rusqlite::Error,
) -> CommitError {
    let error = commit_error(error);
    match error {
        CommitError::Conflict(Conflict::Taken(_)) if T::statements().update.is_some() => {
            match version::<T>(conn, &row.row_key()) {
                Ok(Some(_)) => Conflict::Taken(UniqueKey::identity(T::KIND)).into(),
                Ok(None) => error,
                Err(error) => error,
            }
        }
        error => error,
    }
}

/// Replaces a row if it still has the version it was read at.
pub(crate) fn update<T: Table>(
    conn: &Connection,
    row: &T,
    read_at: Version,
) -> Result<(), CommitError> {
    let Some(update) = &T::statements().update else {
        let name = T::TABLE.name;
        return Err(recado_core::store::StoreError::corrupt(format!("{name} is updated")).into());
    };
    let mut values = sealed_values(row, conn.sealer());
    values.push(read_at.number().into());
    let changed = conn
        .prepare_cached(update)
        .and_then(|mut statement| statement.execute(params_from_iter(values)))
        .map_err(commit_error)?;
    if changed == 0 { Err(Conflict::Stale(row.row_key()).into()) } else { Ok(()) }
}

/// Writes the columns of a row that differ, and the `derived` ones, and increments the version. The
/// row is at `seq` and is known to have the version it was read at. This saves work where a table
/// has many indexes: SQLite rewrites the indexes of every column that a statement names.
pub(crate) fn update_changed<T: Table>(
    conn: &Connection,
    seq: i64,
    (old, new): (&T, &T),
    derived: Vec<(&'static str, Cell<'_>)>,
) -> Result<(), CommitError> {
    let name = T::TABLE.name;
    // What is sealed differs each time: clear values are compared.
    let clear = Sealer::default();
    let (old_values, new_values) = (sealed_values(old, &clear), sealed_values(new, &clear));
    let mut stored = match T::TABLE.sealed {
        [] => Vec::new(),
        _ => sealed_values(new, conn.sealer()),
    };
    let differing = T::statements()
        .written
        .iter()
        .zip(old_values)
        .zip(new_values)
        .enumerate()
        .skip(T::TABLE.key)
        .filter(|(_, ((_, old), new))| old != new)
        .map(|(at, ((column, _), new))| {
            (
                *column,
                stored.get_mut(at).map_or(new, |stored| std::mem::replace(stored, Cell::Null)),
            )
        });
    let mut values = vec![Cell::Int(seq)];
    let mut set = String::from("version = version + 1");
    for (column, value) in differing.chain(derived) {
        values.push(value);
        set.push_str(&format!(", {column} = ?{}", values.len()));
    }
    conn.prepare_cached(&format!("UPDATE {name} SET {set} WHERE seq = ?1"))
        .and_then(|mut statement| statement.execute(params_from_iter(values)))
        .map_err(commit_error)?;
    Ok(())
}

/// Deletes the row of a key of this kind if it still has the version it was read at.
pub(crate) fn delete<T: Table>(
    conn: &rusqlite::Connection,
    key: &RowKey,
    read_at: Version,
) -> Result<(), CommitError> {
    let mut values = key_values(key);
    values.push(read_at.number().into());
    let deleted = conn
        .prepare_cached(&T::statements().delete)
        .and_then(|mut statement| statement.execute(params_from_iter(values)))
        .map_err(commit_error)?;
    if deleted == 0 { Err(Conflict::Stale(key.clone()).into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use recado_core::match_kind;
    use recado_core::store::RowKind;

    use super::*;
    use crate::plans;

    /// Sessions, links, tokens and remembered opt-outs are looked up by their key in many calls.
    #[test]
    fn a_row_of_each_kind_is_found_by_its_whole_key() {
        let conn = plans::database();
        for kind in RowKind::ALL.iter().copied() {
            let (sql, key) = match_kind!(kind, T => {
                (&T::statements().get, <T as Layout>::TABLE.key)
            });
            let step = plans::step(&conn, sql);
            let compared = step.matches("=?").count();
            assert!(step.starts_with("SEARCH") && compared == key, "{kind:?}: {step}");
        }
    }
}
