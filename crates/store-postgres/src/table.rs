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

/// The numbers of rows that one statement has room for. They are few, so that few statements have
/// to be prepared. What a statement costs by itself is as much as some ten rows more.
pub(crate) const TOGETHER: [usize; 5] = [2, 4, 8, 16, 32];

/// A statement on several rows. Its parameters are those of the rows, one row after the other.
#[derive(Debug)]
pub(crate) struct Several {
    /// How many rows it has room for. Those that are not needed are null.
    pub(crate) room: usize,
    /// The number of parameters of a row.
    pub(crate) width: usize,
    pub(crate) sql: String,
}

impl Several {
    /// The statements for each number of rows, the least first.
    pub(crate) fn each(width: usize, sql: impl Fn(usize) -> String) -> Vec<Self> {
        TOGETHER.map(|room| Self { room, width, sql: sql(room) }).into()
    }

    /// The one with the least room for this many rows, or else the one with the most.
    pub(crate) fn for_rows(all: &[Self], rows: usize) -> Option<&Self> {
        all.iter().find(|several| several.room >= rows).or(all.last())
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
    /// Inserts rows at version 1.
    pub(crate) insert_many: Vec<Several>,
    /// Replaces a row if it has the version of the last parameter.
    pub(crate) update: String,
    /// Replaces rows if each has its version, which is the last parameter of each. The number of
    /// rows comes after all of them.
    pub(crate) update_many: Vec<Several>,
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
        let TableDef { name, key: keys, columns, derived, versioned, fields: _, sealed: _ } = table;
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
        let values: Vec<String> = (1..=columns.len()).map(|at| format!("${at}")).collect();
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
            insert_many: insert_many(&table, &columns, None),
            update,
            update_many: match versioned {
                true => update_many(&table, &columns, None),
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

/// A text that a statement on several rows writes to another table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside {
    /// The name of the text, which is a parameter of each row after its columns.
    pub(crate) text: &'static str,
    /// The parts of a `WITH` that write it, each with a comma at its end. They find the rows in `u`.
    pub(crate) inserts: &'static str,
    pub(crate) updates: &'static str,
}

/// Rows as a table `u`, in the order of their parameters: the columns, the text that is written
/// beside them, and what else `last` names with its type. Those that are null are left out. The
/// types of the parameters are those of the table, because the first part of the union is.
fn given(
    table: &TableDef,
    columns: &[&str],
    text: Option<&str>,
    last: &[(&str, &str)],
    rows: usize,
) -> String {
    let all = columns.join(", ");
    let key = columns.first().copied().unwrap_or_default();
    let others: Vec<(&str, &str)> =
        text.map(|text| (text, "NULL::text")).into_iter().chain(last.iter().copied()).collect();
    let named: String = others.iter().map(|(name, _)| format!(", {name}")).collect();
    let typed: String = others.iter().map(|(_, of_type)| format!(", {of_type}")).collect();
    let width = columns.len() + others.len();
    let row = |row: usize| {
        let values: Vec<String> = (1..=width).map(|i| format!("${}", row * width + i)).collect();
        format!(" UNION ALL SELECT {}", values.join(", "))
    };
    let rows: String = (0..rows).map(row).collect();
    format!(
        "WITH u ({all}{named}) AS (SELECT * FROM (SELECT {all}{typed} FROM {} WHERE false{rows}) \
         AS given WHERE {key} IS NOT NULL)",
        table.name
    )
}

/// The statements that insert several rows, in the order of their parameters.
pub(crate) fn insert_many(
    table: &TableDef,
    columns: &[&str],
    beside: Option<Beside>,
) -> Vec<Several> {
    let all = columns.join(", ");
    let name = table.name;
    let (version, first) = if table.versioned { (", version", ", 1") } else { ("", "") };
    let inserts = beside.map_or("", |beside| beside.inserts);
    Several::each(columns.len() + beside.iter().len(), |rows| {
        format!(
            "{}{inserts} INSERT INTO {name} ({all}{version}) SELECT {all}{first} FROM u",
            given(table, columns, beside.map(|beside| beside.text), &[], rows)
        )
    })
}

/// The statements that replace several rows, in the order of their parameters: all of them or none.
///
/// The conditions on the key make the planner look up one row after the other, whatever it
/// estimates of the table.
pub(crate) fn update_many(
    table: &TableDef,
    columns: &[&str],
    beside: Option<Beside>,
) -> Vec<Several> {
    let TableDef { name, key: keys, .. } = *table;
    let set: Vec<String> =
        columns.iter().skip(keys).map(|column| format!("{column} = u.{column}")).collect();
    let key: Vec<String> = columns
        .iter()
        .take(keys)
        .map(|column| format!("t.{column} = ANY(ARRAY[u.{column}])"))
        .collect();
    let (set, key) = (set.join(", "), key.join(" AND "));
    let updates = beside.map_or("", |beside| beside.updates);
    let last = [("expected_version", "version")];
    let width = columns.len() + beside.iter().len() + last.len();
    Several::each(width, |rows| {
        format!(
            "{}{updates}, changed AS (UPDATE {name} t SET {set}, version = u.expected_version + 1 \
             FROM u WHERE {key} AND t.version = u.expected_version RETURNING 1) \
             SELECT 1 / CASE WHEN count(*) = ${} THEN 1 ELSE 0 END FROM changed",
            given(table, columns, beside.map(|beside| beside.text), &last, rows),
            rows * width + 1,
        )
    })
}

/// All columns of a table that are read, and its version, under an alias.
pub(crate) fn columns_of<T: Table>(alias: &str) -> String {
    qualified(&T::TABLE, alias)
}

fn qualified(table: &TableDef, alias: &str) -> String {
    let columns = table.read_columns().map(|column| named(table.name, column));
    columns.map(|column| format!("{alias}.{column}")).collect::<Vec<_>>().join(", ")
}
