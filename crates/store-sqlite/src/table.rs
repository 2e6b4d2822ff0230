//! What every kind of row has in common: the statements that read and write it.

use recado_core::access::Company;
use recado_core::ids::CompanyId;
use recado_core::store::{CommitError, Conflict, RowKey, Stored, Version};
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params_from_iter};

use crate::cell::{Cell, Columns};
use crate::error::{ReadResult, commit_error, identity, store_error};

/// A kind of row. `values` and `read` go through the columns in the order of
/// [`Statements::columns`].
pub(crate) trait Table: Sized {
    /// Its statements, built once.
    fn statements() -> &'static Statements;

    /// The values of its columns.
    fn values(&self) -> Vec<Cell<'_>>;

    /// Reads the columns back.
    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self>;
}

/// Implements [`Table::statements`]: the table, the columns of its key, the other columns. A row of
/// an `unversioned` table is inserted and deleted, but never updated.
macro_rules! statements {
    ($name:literal, [$($key:literal),+], [$($column:literal),* $(,)?]) => {
        fn statements() -> &'static $crate::table::Statements {
            static STATEMENTS: std::sync::LazyLock<$crate::table::Statements> =
                std::sync::LazyLock::new(|| {
                    $crate::table::Statements::of($name, &[$($key),+], &[$($column),*])
                });
            &STATEMENTS
        }
    };
    (unversioned $name:literal, [$($key:literal),+], [$($column:literal),* $(,)?]) => {
        fn statements() -> &'static $crate::table::Statements {
            static STATEMENTS: std::sync::LazyLock<$crate::table::Statements> =
                std::sync::LazyLock::new(|| {
                    $crate::table::Statements::unversioned($name, &[$($key),+], &[$($column),*])
                });
            &STATEMENTS
        }
    };
}
pub(crate) use statements;

/// The statements of a table.
#[derive(Debug)]
pub(crate) struct Statements {
    /// Its name.
    pub(crate) name: &'static str,
    /// The columns of its key, then the others; without the version.
    pub(crate) columns: Vec<&'static str>,
    /// Columns and version, without a condition.
    pub(crate) select: String,
    key: usize,
    get: String,
    version: String,
    insert: String,
    update: Option<String>,
    delete: String,
}

impl Statements {
    pub(crate) fn of(name: &'static str, key: &[&'static str], others: &[&'static str]) -> Self {
        let columns: Vec<&'static str> = key.iter().chain(others).copied().collect();
        let by_key = conditions(key);
        let listed = columns.join(", ");
        let select = format!("SELECT {listed}, version FROM {name}");
        let at = columns.len() + 1;
        let set: Vec<String> = others
            .iter()
            .enumerate()
            .map(|(index, column)| format!("{column} = ?{}", key.len() + index + 1))
            .collect();
        Self {
            get: format!("{select} WHERE {by_key}"),
            version: format!("SELECT version FROM {name} WHERE {by_key}"),
            insert: format!(
                "INSERT INTO {name} ({listed}, version) VALUES ({}, 1)",
                placeholders(columns.len())
            ),
            update: Some(format!(
                "UPDATE {name} SET {}, version = version + 1 WHERE {by_key} AND version = ?{at}",
                set.join(", ")
            )),
            delete: format!("DELETE FROM {name} WHERE {by_key} AND version = ?{}", key.len() + 1),
            key: key.len(),
            select,
            columns,
            name,
        }
    }

    pub(crate) fn unversioned(
        name: &'static str,
        key: &[&'static str],
        others: &[&'static str],
    ) -> Self {
        let columns: Vec<&'static str> = key.iter().chain(others).copied().collect();
        let by_key = conditions(key);
        let listed = columns.join(", ");
        let select = format!("SELECT {listed}, 1 FROM {name}");
        Self {
            get: format!("{select} WHERE {by_key}"),
            version: format!("SELECT 1 FROM {name} WHERE {by_key}"),
            insert: format!(
                "INSERT INTO {name} ({listed}) VALUES ({})",
                placeholders(columns.len())
            ),
            update: None,
            delete: format!("DELETE FROM {name} WHERE {by_key} AND 1 = ?{}", key.len() + 1),
            key: key.len(),
            select,
            columns,
            name,
        }
    }

    /// The columns and the version as those of `alias`, for joins.
    pub(crate) fn qualified(&self, alias: &str) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .chain(&["version"])
            .map(|column| format!("{alias}.{column}"))
            .collect();
        columns.join(", ")
    }
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

/// Reads a row with its version behind its columns.
pub(crate) fn read_stored<T: Table>(row: &SqlRow<'_>) -> ReadResult<Stored<T>> {
    let mut columns = Columns::new(row);
    let value = T::read(&mut columns)?;
    Ok(Stored::new(value, Version::new(columns.number()?)))
}

/// The row of a key.
pub(crate) fn get<T: Table>(conn: &Connection, key: &[Cell<'_>]) -> ReadResult<Option<Stored<T>>> {
    conn.prepare_cached(&T::statements().get)?
        .query_row(params_from_iter(key), read_stored)
        .optional()
}

/// The row that satisfies `condition`, at most one.
pub(crate) fn find<T: Table>(
    conn: &Connection,
    condition: &str,
    values: &[Cell<'_>],
) -> ReadResult<Option<Stored<T>>> {
    conn.prepare_cached(&format!("{} WHERE {condition}", T::statements().select))?
        .query_row(params_from_iter(values), read_stored)
        .optional()
}

/// A query of a row and its company; the condition is about `row`.
pub(crate) fn with_company<T: Table>(condition: &str) -> String {
    format!(
        "SELECT {}, {} FROM {} AS row JOIN companies AS c ON c.id = row.company_id \
         WHERE {condition}",
        T::statements().qualified("row"),
        Company::statements().qualified("c"),
        T::statements().name,
    )
}

/// What a query that [`with_company`] made finds by a value, at most one row.
pub(crate) fn find_with_company<T: Table>(
    conn: &Connection,
    query: &str,
    value: Cell<'_>,
) -> ReadResult<Option<(T, Company)>> {
    conn.prepare_cached(query)?
        .query_row([value], |row| {
            let mut columns = Columns::new(row);
            let value = T::read(&mut columns)?;
            columns.skip();
            Ok((value, Company::read(&mut columns)?))
        })
        .optional()
}

/// All rows that satisfy `condition`, which may go on with an order.
pub(crate) fn list<T: Table>(
    conn: &Connection,
    condition: &str,
    values: &[Cell<'_>],
) -> ReadResult<Vec<Stored<T>>> {
    conn.prepare_cached(&format!("{} WHERE {condition}", T::statements().select))?
        .query_map(params_from_iter(values), read_stored)?
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
pub(crate) fn exists(conn: &Connection, query: &str, values: &[Cell<'_>]) -> ReadResult<bool> {
    conn.prepare_cached(query)?.exists(params_from_iter(values))
}

/// The version of the row of a key.
pub(crate) fn version<T: Table>(
    conn: &Connection,
    key: &[Cell<'_>],
) -> Result<Option<Version>, CommitError> {
    conn.prepare_cached(&T::statements().version)
        .and_then(|mut statement| {
            statement.query_row(params_from_iter(key), |row| Columns::new(row).number()).optional()
        })
        .map(|found| found.map(Version::new))
        .map_err(|error| store_error(error).into())
}

/// Inserts a row at version 1.
pub(crate) fn insert<T: Table>(conn: &Connection, row: &T) -> Result<(), CommitError> {
    conn.prepare_cached(&T::statements().insert)
        .and_then(|mut statement| statement.execute(params_from_iter(row.values())))
        .map_err(|error| insert_error(conn, row, error))?;
    Ok(())
}

/// Why a row could not be inserted. One that is there already is told by its identity, whichever
/// of its unique values SQLite came across first.
pub(crate) fn insert_error<T: Table>(
    conn: &Connection,
    row: &T,
    error: rusqlite::Error,
) -> CommitError {
    let error = commit_error(error);
    let key = &row.values()[..T::statements().key];
    match error {
        CommitError::Conflict(Conflict::Taken(_)) if T::statements().update.is_some() => {
            match version::<T>(conn, key) {
                Ok(Some(_)) => Conflict::Taken(identity(T::statements().name)).into(),
                Ok(None) => error,
                Err(error) => error,
            }
        }
        error => error,
    }
}

/// Replaces a row that still has the version it was read at.
pub(crate) fn update<T: Table>(
    conn: &Connection,
    row: &T,
    read_at: Version,
    key: impl FnOnce() -> RowKey,
) -> Result<(), CommitError> {
    let Some(update) = &T::statements().update else {
        let name = T::statements().name;
        return Err(recado_core::store::StoreError::corrupt(format!("{name} is updated")).into());
    };
    let mut values = row.values();
    values.push(read_at.number().into());
    let changed = conn
        .prepare_cached(update)
        .and_then(|mut statement| statement.execute(params_from_iter(values)))
        .map_err(commit_error)?;
    if changed == 0 { Err(Conflict::Stale(key()).into()) } else { Ok(()) }
}

/// Writes those columns of a row that differ, and `derived` ones, under the next version. The row
/// lies at `seq` and is known to have the version it was read at. Where a table has many indexes it
/// pays to find the differences: SQLite rewrites those of every column that a statement names.
pub(crate) fn update_changed<T: Table>(
    conn: &Connection,
    seq: i64,
    (old, new): (&T, &T),
    derived: Vec<(&'static str, Cell<'_>)>,
) -> Result<(), CommitError> {
    let Statements { name, columns, key, .. } = T::statements();
    let (old_values, new_values) = (old.values(), new.values());
    let differing = columns
        .iter()
        .zip(old_values)
        .zip(new_values)
        .skip(*key)
        .filter(|((_, old), new)| old != new)
        .map(|((column, _), new)| (*column, new));
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

/// Deletes a row that still has the version it was read at.
pub(crate) fn delete<T: Table>(
    conn: &Connection,
    by: &[Cell<'_>],
    read_at: Version,
    key: impl FnOnce() -> RowKey,
) -> Result<(), CommitError> {
    let at: Cell<'_> = read_at.number().into();
    let deleted = conn
        .prepare_cached(&T::statements().delete)
        .and_then(|mut statement| statement.execute(params_from_iter(by.iter().chain([&at]))))
        .map_err(commit_error)?;
    if deleted == 0 { Err(Conflict::Stale(key()).into()) } else { Ok(()) }
}
