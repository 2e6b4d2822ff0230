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

/// The numbers of rows that one statement may insert. They are few, so that few statements have to
/// be prepared.
pub(crate) const TOGETHER: [usize; 4] = [32, 8, 4, 2];

/// The numbers of rows that a statement which replaces rows has room for. It costs as much by
/// itself as two rows, so there is one with more room than is needed rather than several.
const ROOMS: [usize; 5] = [2, 4, 8, 16, 32];

/// A statement that replaces several rows if each has its version, which is the last parameter of
/// each. The number of rows comes after all of them.
#[derive(Debug)]
pub(crate) struct UpdateMany {
    /// How many rows it has room for. All parameters of those that are not needed are null.
    pub(crate) room: usize,
    /// The number of parameters of a row.
    pub(crate) width: usize,
    pub(crate) sql: String,
}

impl UpdateMany {
    /// The one with the least room for this many rows, or else the one with the most.
    pub(crate) fn for_rows(all: &[Self], rows: usize) -> Option<&Self> {
        all.iter().find(|update| update.room >= rows).or(all.last())
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
    /// Inserts this many rows at version 1. The greatest number comes first.
    pub(crate) insert_many: Vec<(usize, String)>,
    /// Replaces a row if it has the version of the last parameter.
    pub(crate) update: String,
    /// Replaces several rows. The one with the least room comes first.
    pub(crate) update_many: Vec<UpdateMany>,
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
        let row = |at: usize| {
            let values = (1..=columns.len()).map(|i| format!("${}", at * columns.len() + i));
            format!("({}{first_version})", values.collect::<Vec<_>>().join(", "))
        };
        let insert = |rows: usize| {
            let rows: Vec<String> = (0..rows).map(row).collect();
            format!("INSERT INTO {name} ({all}{version_column}) VALUES {}", rows.join(", "))
        };
        let set = numbered(keys, columns.len()).join(", ");
        let update = format!(
            "WITH changed AS (UPDATE {name} SET {set}, version = version + 1 WHERE {key}{} \
             RETURNING 1) SELECT 1 / count(*) FROM changed",
            version(columns.len() + 1)
        );
        let of_key = version(keys + 1);
        let select = format!("SELECT {} FROM {name}", qualified(&table, name));
        Self {
            insert: insert(1),
            insert_many: TOGETHER.map(|rows| (rows, insert(rows))).to_vec(),
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

/// The statements that replace several rows, in the order of their parameters: all of them or none.
/// The parameters of a row are its columns, its search text if `text` names a column for it, and
/// the version that it must have. `beside` writes something else of the rows, which it finds in
/// `u`.
///
/// The types of the parameters are those of the table, because the first part of the union is. The
/// conditions on the key make the planner look up one row after the other, whatever it estimates
/// of the table.
pub(crate) fn update_many(
    name: &str,
    keys: usize,
    columns: &[&str],
    text: &str,
    beside: &str,
) -> Vec<UpdateMany> {
    let all = columns.join(", ");
    let (text, empty) = match text {
        "" => (String::new(), ""),
        text => (format!(", {text}"), ", NULL::text"),
    };
    let width = columns.len() + usize::from(!text.is_empty()) + 1;
    let row = |row: usize| {
        let values: Vec<String> = (1..=width).map(|i| format!("${}", row * width + i)).collect();
        format!(" UNION ALL SELECT {}", values.join(", "))
    };
    let set: Vec<String> =
        columns.iter().skip(keys).map(|column| format!("{column} = u.{column}")).collect();
    let key: Vec<String> = columns
        .iter()
        .take(keys)
        .map(|column| format!("t.{column} = ANY(ARRAY[u.{column}])"))
        .collect();
    let (set, key, first) = (set.join(", "), key.join(" AND "), columns[0]);
    let update = |room: usize| {
        let rows: String = (0..room).map(row).collect();
        format!(
            "WITH u ({all}{text}, expected_version) AS (SELECT * FROM (\
             SELECT {all}{empty}, version FROM {name} WHERE false{rows}) AS given \
             WHERE {first} IS NOT NULL), {beside}\
             changed AS (UPDATE {name} t SET {set}, version = u.expected_version + 1 \
             FROM u WHERE {key} AND t.version = u.expected_version RETURNING 1) \
             SELECT 1 / CASE WHEN count(*) = ${} THEN 1 ELSE 0 END FROM changed",
            room * width + 1
        )
    };
    ROOMS.map(|room| UpdateMany { room, width, sql: update(room) }).into()
}

/// All columns of a table that are read, and its version, under an alias.
pub(crate) fn columns_of<T: Table>(alias: &str) -> String {
    qualified(&T::TABLE, alias)
}

fn qualified(table: &TableDef, alias: &str) -> String {
    let columns = table.read_columns().map(|column| named(table.name, column));
    columns.map(|column| format!("{alias}.{column}")).collect::<Vec<_>>().join(", ")
}
