//! The statements that write and read records, made from the layout of their tables.

use std::sync::LazyLock;

use recado_store_sql::{Layout, TableDef};

/// A kind of record that has statements.
pub(crate) trait Table: Layout {
    /// The statements, made once.
    fn sql() -> &'static Sql;
}

macro_rules! tables {
    ($($(#[$doc:meta])* $Name:ident($Record:ty) $key:tt $version:ident;)+) => {
        $(impl Table for $Record {
            fn sql() -> &'static Sql {
                static SQL: LazyLock<Sql> = LazyLock::new(|| Sql::of(<$Record>::TABLE));
                &SQL
            }
        })+
    };
}
recado_core::for_each_row!(tables);

/// The name of a column in this dialect. A few names differ.
pub(crate) fn named(table: &str, column: &'static str) -> &'static str {
    match (table, column) {
        ("messages", "timestamp") => "stamped_at",
        ("message_refs", "status") => "report_status",
        (_, column) => column,
    }
}

/// The numbers of rows that a statement which writes several has room for. It costs as much by
/// itself as two rows, so there is one with more room than is needed rather than several. They are
/// few, so that few statements have to be prepared.
const ROOMS: [usize; 5] = [2, 4, 8, 16, 32];

/// A statement that writes several rows. All parameters of rows that are not needed are null.
#[derive(Debug)]
pub(crate) struct WriteMany {
    /// How many rows it has room for.
    pub(crate) room: usize,
    /// The number of parameters of a row.
    pub(crate) width: usize,
    pub(crate) sql: String,
}

impl WriteMany {
    /// The one with the least room for this many rows, or else the one with the most.
    pub(crate) fn for_rows(all: &[Self], rows: usize) -> Option<&Self> {
        all.iter().find(|write| write.room >= rows).or(all.last())
    }
}

/// The statements that every table has.
///
/// A statement that must touch exactly one row divides by the number of touched rows. If it touches
/// none, the division fails and so does the transaction. Therefore the whole transaction can be
/// sent, with its `COMMIT`, in one round trip.
#[derive(Debug)]
pub(crate) struct Sql {
    /// Inserts a row at version 1.
    pub(crate) insert: String,
    /// Inserts several rows at version 1, in the order of their parameters.
    pub(crate) insert_many: Vec<WriteMany>,
    /// Replaces a row if it has the version of the last parameter.
    pub(crate) update: String,
    /// Replaces several rows if each has its version, which is the last parameter of each. The
    /// number of rows comes after all of them.
    pub(crate) update_many: Vec<WriteMany>,
    /// Deletes a row if it has the version of the last parameter.
    pub(crate) delete: String,
    /// Fails unless the row has the version of the last parameter. Locks the row against changes.
    pub(crate) unchanged: String,
    /// The same without a lock, for rows that are protected by an advisory lock.
    pub(crate) still: String,
    /// Waits for the row and locks it against changes.
    pub(crate) lock: String,
    /// As `lock`, and also against new references to it.
    pub(crate) lock_key: String,
    /// `SELECT` all columns and the version `FROM` the table.
    pub(crate) select: String,
    /// `select` by primary key.
    pub(crate) get: String,
}

impl Sql {
    /// The statements of a table.
    pub(crate) fn of(table: TableDef) -> Self {
        let TableDef { name, key: keys, columns, derived, versioned, .. } = table;
        let read: Vec<&str> = columns.iter().map(|column| named(name, column)).collect();
        let columns = [&*read, derived].concat();
        let numbered = |from: usize, to: usize| {
            (from..to).map(|i| format!("{} = ${}", columns[i], i + 1)).collect::<Vec<_>>()
        };
        let key = numbered(0, keys).join(" AND ");
        let version = |at: usize| match versioned {
            true => format!(" AND version = ${at}"),
            false => String::new(),
        };
        let all = columns.join(", ");
        let (version_column, first_version) = match versioned {
            true => (", version", ", 1"),
            false => ("", ""),
        };
        let values: Vec<String> = (1..=columns.len()).map(|i| format!("${i}")).collect();
        let insert = format!(
            "INSERT INTO {name} ({all}{version_column}) VALUES ({}{first_version})",
            values.join(", ")
        );
        let set = numbered(keys, columns.len()).join(", ");
        let update = format!(
            "WITH changed AS (UPDATE {name} SET {set}, version = version + 1 WHERE {key}{} \
             RETURNING 1) SELECT 1 / count(*) FROM changed",
            version(columns.len() + 1)
        );
        let of_key = version(keys + 1);
        let select = format!("SELECT {} FROM {name}", qualified(&table, name));
        Self {
            insert,
            insert_many: insert_many(&table, &columns, "", ""),
            update,
            update_many: match versioned {
                true => update_many(name, keys, &columns, "", ""),
                false => Vec::new(),
            },
            delete: format!(
                "WITH changed AS (DELETE FROM {name} WHERE {key}{of_key} RETURNING 1) \
                 SELECT 1 / count(*) FROM changed"
            ),
            unchanged: format!(
                "SELECT 1 / count(*) FROM \
                 (SELECT FROM {name} WHERE {key}{of_key} FOR SHARE) AS unchanged"
            ),
            still: format!(
                "SELECT 1 / count(*) FROM (SELECT FROM {name} WHERE {key}{of_key}) AS still"
            ),
            lock: format!("SELECT FROM {name} WHERE {key} FOR NO KEY UPDATE"),
            lock_key: format!("SELECT FROM {name} WHERE {key} FOR UPDATE"),
            get: format!("{select} WHERE {key}"),
            select,
        }
    }
}

/// Rows that are given as parameters, `u` in the statement: the columns of a table, then `more`
/// with the types that they have.
///
/// The types of the other parameters are those of the table, because the first part of the union
/// is. A row is one that is not needed if its first column is null, which no table allows (R439).
struct Given<'t> {
    table: &'t str,
    columns: &'t [&'t str],
    more: Vec<(&'t str, &'t str)>,
}

impl<'t> Given<'t> {
    /// The columns of a table, and its search text if `text` names a column for it.
    fn new(table: &'t str, columns: &'t [&'t str], text: &'t str) -> Self {
        let more = Some((text, "text")).filter(|_| !text.is_empty());
        Self { table, columns, more: more.into_iter().collect() }
    }

    fn width(&self) -> usize {
        self.columns.len() + self.more.len()
    }

    /// With room for so many rows.
    fn sql(&self, room: usize) -> String {
        let (table, all, width) = (self.table, self.columns.join(", "), self.width());
        let names: String = self.more.iter().map(|(name, _)| format!(", {name}")).collect();
        let empty: String = self.more.iter().map(|(_, kind)| format!(", NULL::{kind}")).collect();
        let row = |row: usize| {
            let values: Vec<String> =
                (1..=width).map(|i| format!("${}", row * width + i)).collect();
            format!(" UNION ALL SELECT {}", values.join(", "))
        };
        let (rows, first) = ((0..room).map(row).collect::<String>(), self.columns[0]);
        format!(
            "u ({all}{names}) AS (SELECT * FROM (SELECT {all}{empty} FROM {table} WHERE false\
             {rows}) AS given WHERE {first} IS NOT NULL)"
        )
    }
}

/// The statements that insert several rows, in the order of their parameters. The parameters of a
/// row are its columns, then its search text if `text` names a column for it. `beside` writes
/// something else of the rows, which it finds in `u`.
pub(crate) fn insert_many(
    table: &TableDef,
    columns: &[&str],
    text: &str,
    beside: &str,
) -> Vec<WriteMany> {
    let (name, all) = (table.name, columns.join(", "));
    let given = Given::new(name, columns, text);
    let (version_column, first_version) = match table.versioned {
        true => (", version", ", 1"),
        false => ("", ""),
    };
    let insert = |room: usize| {
        format!(
            "WITH {}{beside} INSERT INTO {name} ({all}{version_column}) \
             SELECT {all}{first_version} FROM u",
            given.sql(room)
        )
    };
    ROOMS.map(|room| WriteMany { room, width: given.width(), sql: insert(room) }).into()
}

/// The statements that replace several rows, in the order of their parameters: all of them or none.
/// The parameters of a row are its columns, its search text if `text` names a column for it, and
/// the version that it must have. `beside` writes something else of the rows, which it finds in
/// `u`.
///
/// The conditions on the key make the planner look up one row after the other, whatever it
/// estimates of the table.
pub(crate) fn update_many(
    name: &str,
    keys: usize,
    columns: &[&str],
    text: &str,
    beside: &str,
) -> Vec<WriteMany> {
    let mut given = Given::new(name, columns, text);
    given.more.push(("expected_version", "bigint"));
    let width = given.width();
    let set: Vec<String> =
        columns.iter().skip(keys).map(|column| format!("{column} = u.{column}")).collect();
    let key: Vec<String> = columns
        .iter()
        .take(keys)
        .map(|column| format!("t.{column} = ANY(ARRAY[u.{column}])"))
        .collect();
    let (set, key) = (set.join(", "), key.join(" AND "));
    let update = |room: usize| {
        format!(
            "WITH {}{beside}, \
             changed AS (UPDATE {name} t SET {set}, version = u.expected_version + 1 \
             FROM u WHERE {key} AND t.version = u.expected_version RETURNING 1) \
             SELECT 1 / CASE WHEN count(*) = ${} THEN 1 ELSE 0 END FROM changed",
            given.sql(room),
            room * width + 1
        )
    };
    ROOMS.map(|room| WriteMany { room, width, sql: update(room) }).into()
}

/// All columns of a table that are read, and its version, under an alias.
pub(crate) fn columns_of<T: Table>(alias: &str) -> String {
    qualified(&T::TABLE, alias)
}

fn qualified(table: &TableDef, alias: &str) -> String {
    let columns = table.read_columns().map(|column| named(table.name, column));
    columns.map(|column| format!("{alias}.{column}")).collect::<Vec<_>>().join(", ")
}
