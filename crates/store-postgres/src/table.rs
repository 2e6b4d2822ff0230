//! How records are laid out in tables: each kind says its columns once, in order, and the
//! statements that write and read it follow from that.

use recado_core::Timestamp;
use recado_core::store::{StoreError, Stored, Version};
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};
use uuid::Uuid;

/// An owned parameter of a statement.
pub(crate) type Param = Box<dyn ToSql + Sync + Send>;

/// Owned parameters, in order.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as $crate::table::Param),*]
    };
}
pub(crate) use params;

/// A kind of record that lives in a table of its own.
pub(crate) trait Table: Sized + Send + 'static {
    /// The table.
    const NAME: &'static str;
    /// How many of the first columns are the primary key.
    const KEY: usize;
    /// The columns, but for `version`.
    const COLUMNS: &'static [&'static str];
    /// Whether rows have a `version`.
    const VERSIONED: bool = true;

    /// The value of each column; a table may append parameters for statements of its own.
    fn bind(self) -> Vec<Param>;

    /// Takes a record from its columns.
    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError>;

    /// The statements of this table, made once.
    fn sql() -> &'static Sql;
}

/// Keeps the [`Sql`] of a table.
macro_rules! table_sql {
    ($table:ty) => {
        fn sql() -> &'static $crate::table::Sql {
            static SQL: std::sync::LazyLock<$crate::table::Sql> =
                std::sync::LazyLock::new($crate::table::Sql::of::<$table>);
            &SQL
        }
    };
}
pub(crate) use table_sql;

/// How many rows are inserted by one statement, at most and below: few numbers, so that few
/// statements have to be prepared.
const TOGETHER: [usize; 4] = [32, 8, 4, 2];

/// The statements that are alike for all tables.
///
/// Those that must touch exactly one row divide by how many they touched: touching none fails the
/// transaction on the spot, so that it can be sent whole, with its `COMMIT`, in one round trip.
#[derive(Debug)]
pub(crate) struct Sql {
    /// Inserts a row at version 1.
    pub(crate) insert: String,
    /// Inserts so many rows at version 1, most first; empty where a row needs a statement of its own.
    pub(crate) insert_many: Vec<(usize, String)>,
    /// Replaces a row that has the version of the last parameter.
    pub(crate) update: String,
    /// Deletes a row that has the version of the last parameter.
    pub(crate) delete: String,
    /// Fails unless the row has the version of the last parameter; keeps it so.
    pub(crate) unchanged: String,
    /// The same, where something else keeps it so.
    pub(crate) still: String,
    /// Waits for the row and keeps others from changing it.
    pub(crate) lock: String,
    /// As `lock`, also against references to it.
    pub(crate) lock_key: String,
    /// `SELECT` all columns and the version `FROM` the table.
    pub(crate) select: String,
    /// `select` by primary key.
    pub(crate) get: String,
}

impl Sql {
    /// The statements of a table.
    pub(crate) fn of<T: Table>() -> Self {
        let (name, columns) = (T::NAME, T::COLUMNS);
        let numbered = |from: usize, to: usize| {
            (from..to).map(|i| format!("{} = ${}", columns[i], i + 1)).collect::<Vec<_>>()
        };
        let key = numbered(0, T::KEY).join(" AND ");
        let version = |at: usize| match T::VERSIONED {
            true => format!(" AND version = ${at}"),
            false => String::new(),
        };
        let all = columns.join(", ");
        let (version_column, first_version) = match T::VERSIONED {
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
        let set = numbered(T::KEY, columns.len()).join(", ");
        let update = format!(
            "WITH changed AS (UPDATE {name} SET {set}, version = version + 1 WHERE {key}{} \
             RETURNING 1) SELECT 1 / count(*) FROM changed",
            version(columns.len() + 1)
        );
        let of_key = version(T::KEY + 1);
        let select = format!("SELECT {} FROM {name}", columns_of::<T>(name));
        Self {
            insert: insert(1),
            insert_many: TOGETHER.map(|rows| (rows, insert(rows))).to_vec(),
            update,
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

/// All columns of a table and its version, under an alias.
pub(crate) fn columns_of<T: Table>(alias: &str) -> String {
    let version = T::VERSIONED.then_some(&"version");
    let columns = T::COLUMNS.iter().chain(version);
    columns.map(|column| format!("{alias}.{column}")).collect::<Vec<_>>().join(", ")
}

/// Takes the columns of a row one after the other.
pub(crate) struct Columns<'r> {
    row: &'r Row,
    at: usize,
}

/// Anything that is not null.
struct Present;

impl FromSql<'_> for Present {
    fn from_sql(_: &Type, _: &[u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl<'r> Columns<'r> {
    /// Begins at the first column.
    pub(crate) fn new(row: &'r Row) -> Self {
        Self { row, at: 0 }
    }

    /// The next column.
    pub(crate) fn get<T: FromSql<'r>>(&mut self) -> Result<T, StoreError> {
        let value = self.row.try_get(self.at).map_err(|error| {
            let column = self.row.columns().get(self.at).map_or("", |column| column.name());
            StoreError::corrupt(format!("column {column}: {error}"))
        });
        self.at += 1;
        value
    }

    /// Leaves columns out.
    pub(crate) fn skip(&mut self, columns: usize) {
        self.at += columns;
    }

    /// The next column, a moment.
    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        self.get().map(Timestamp::from_millis)
    }

    /// The next column, a moment or null.
    pub(crate) fn time_or_null(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.get::<Option<i64>>()?.map(Timestamp::from_millis))
    }

    /// The next column, an id.
    pub(crate) fn id<T>(&mut self, wrap: fn(Uuid) -> T) -> Result<T, StoreError> {
        self.get().map(wrap)
    }

    /// The next column, an id or null.
    pub(crate) fn id_or_null<T>(&mut self, wrap: fn(Uuid) -> T) -> Result<Option<T>, StoreError> {
        Ok(self.get::<Option<Uuid>>()?.map(wrap))
    }

    /// The next column, a number that is not negative.
    pub(crate) fn number<T: TryFrom<i64>>(&mut self) -> Result<T, StoreError> {
        let number: i64 = self.get()?;
        T::try_from(number).map_err(|_| StoreError::corrupt(format!("number {number}")))
    }

    /// The next column, one of a set of words.
    pub(crate) fn word<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<T, StoreError> {
        let word: &str = self.get()?;
        parse(word).ok_or_else(|| unreadable::<T>())
    }

    /// The next column, one of a set of words or null.
    pub(crate) fn word_or_null<T>(
        &mut self,
        parse: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let word: Option<&str> = self.get()?;
        word.map(|word| parse(word).ok_or_else(unreadable::<T>)).transpose()
    }

    /// The next column, a value with a form of its own, or null.
    pub(crate) fn value_or_null<T, E>(
        &mut self,
        read: fn(String) -> Result<T, E>,
    ) -> Result<Option<T>, StoreError> {
        let text: Option<String> = self.get()?;
        text.map(|text| read(text).map_err(|_| unreadable::<T>())).transpose()
    }

    /// The version, as the next column.
    pub(crate) fn version(&mut self) -> Result<Version, StoreError> {
        self.number().map(Version::new)
    }

    /// A record and its version.
    pub(crate) fn stored<T: Table>(&mut self) -> Result<Stored<T>, StoreError> {
        let value = T::read(self)?;
        Ok(Stored::new(value, self.version()?))
    }

    /// A record whose version is of no interest.
    pub(crate) fn record<T: Table>(&mut self) -> Result<T, StoreError> {
        let value = T::read(self)?;
        self.skip(usize::from(T::VERSIONED));
        Ok(value)
    }

    /// Whether the next column holds a value; it stays the next.
    pub(crate) fn is_present(&mut self) -> Result<bool, StoreError> {
        let present: Option<Present> = self.get()?;
        self.at -= 1;
        Ok(present.is_some())
    }

    /// The record of an outer join, if there is one.
    pub(crate) fn joined<T: Table>(&mut self) -> Result<Option<T>, StoreError> {
        if self.is_present()? {
            return self.record().map(Some);
        }
        self.skip(T::COLUMNS.len() + usize::from(T::VERSIONED));
        Ok(None)
    }
}

/// A number as Postgres keeps it; one that is too large stays at the end.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A stored value that cannot be read; it is not repeated, as it may be personal.
pub(crate) fn unreadable<T>() -> StoreError {
    StoreError::corrupt(format!("a stored {} cannot be read", std::any::type_name::<T>()))
}

/// The SQL expression that gathers records as an array of arrays in JSON, by creation.
pub(crate) fn gathered<T: Table>(alias: &str) -> String {
    let columns: Vec<String> =
        T::COLUMNS.iter().map(|column| format!("{alias}.{column}")).collect();
    format!(
        "json_agg(json_build_array({}) ORDER BY {alias}.created_at, {alias}.id)",
        columns.join(", ")
    )
}

/// Takes the fields of one gathered record one after the other.
pub(crate) struct Fields<'j>(std::slice::Iter<'j, Value>);

impl Fields<'_> {
    fn next(&mut self) -> Result<&Value, StoreError> {
        self.0.next().ok_or_else(|| StoreError::corrupt("a gathered record is too short"))
    }

    /// The next field, an id.
    pub(crate) fn id<T>(&mut self, wrap: fn(Uuid) -> T) -> Result<T, StoreError> {
        let id = self.next()?.as_str().and_then(|text| Uuid::try_parse(text).ok());
        id.map(wrap).ok_or_else(unreadable::<T>)
    }

    /// The next field, a text.
    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.next()?.as_str().map(str::to_owned).ok_or_else(unreadable::<String>)
    }

    /// The next field, one of a set of words.
    pub(crate) fn word<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<T, StoreError> {
        self.next()?.as_str().and_then(parse).ok_or_else(unreadable::<T>)
    }

    /// The next field, a moment.
    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        let millis = self.next()?.as_i64();
        millis.map(Timestamp::from_millis).ok_or_else(unreadable::<Timestamp>)
    }
}

/// Takes gathered records apart; null is none.
pub(crate) fn scattered<T>(
    gathered: Option<Value>,
    read: fn(&mut Fields<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let Some(Value::Array(records)) = gathered else { return Ok(Vec::new()) };
    let fields = |record: &Value| record.as_array().map(|fields| read(&mut Fields(fields.iter())));
    records.iter().map(|record| fields(record).unwrap_or_else(|| Err(unreadable::<T>()))).collect()
}
