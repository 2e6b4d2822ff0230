//! The table of a kind of row, and the values of a row's key.

use std::borrow::Cow;
use std::cmp::Ordering;

use recado_core::match_kind;
use recado_core::store::{RowKey, RowKind, Version};
use recado_store_sql::{CellWriter, Layout, TableDef, signed, write_key};
use uuid::Uuid;

use crate::param::Param;
use crate::table::{Sql, Table};

/// A value in a key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyValue {
    /// An id.
    Id(Uuid),
    /// A number.
    Number(i64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A text.
    Text(String),
}

impl KeyValue {
    const fn id(&self) -> Option<Uuid> {
        if let Self::Id(id) = self { Some(*id) } else { None }
    }

    const fn number(&self) -> Option<i64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        if let Self::Bytes(bytes) = self { Some(bytes.clone()) } else { None }
    }

    fn text(&self) -> Option<String> {
        if let Self::Text(text) = self { Some(text.clone()) } else { None }
    }

    fn param(&self) -> Param {
        match self {
            Self::Id(id) => Param::Id(*id),
            Self::Number(number) => Param::Int(*number),
            Self::Bytes(bytes) => Param::Bytes(bytes.clone()),
            Self::Text(text) => Param::Text(Cow::Owned(text.clone())),
        }
    }
}

/// How rows are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    /// Against changes by others, in order to change some of them.
    Writes,
    /// Against changes.
    Reads,
}

/// Rows of one table that are looked for, with the versions that they must have.
type Wanted<'a> = [(&'a TableKey, Option<Version>)];

/// Wanted rows as a table `u`, the condition under which a row `t` of the table is one of them as
/// it has to be, and the parameters of both.
struct Lookup {
    arrays: String,
    names: String,
    same: String,
    params: Vec<Param>,
}

impl Lookup {
    /// The planner looks up one row after the other, as in `update_many`.
    fn of(wanted: &Wanted<'_>, first: &TableKey) -> Self {
        let mut arrays: Vec<String> = Vec::with_capacity(first.columns.len() + 1);
        for (at, value) in first.key.iter().enumerate() {
            let kind = match value {
                KeyValue::Id(_) => "uuid",
                KeyValue::Number(_) => "bigint",
                KeyValue::Bytes(_) => "bytea",
                KeyValue::Text(_) => "text",
            };
            arrays.push(format!("${}::{kind}[]", at + 1));
        }
        let mut params: Vec<Param> = (0..first.key.len()).map(|at| column(wanted, at)).collect();
        let mut names = first.columns.to_vec();
        let mut same: Vec<String> =
            names.iter().map(|name| format!("t.{name} = ANY(ARRAY[u.{name}])")).collect();
        if first.versioned {
            let versions = wanted.iter().map(|(_, at)| at.map(|at| signed(at.number())));
            params.push(Param::of(versions.collect::<Vec<_>>()));
            arrays.push(format!("${}::bigint[]", params.len()));
            names.push("version");
            same.push("(u.version IS NULL OR t.version = u.version)".to_owned());
        }
        let (arrays, names) = (arrays.join(", "), names.join(", "));
        Self { arrays, names, same: same.join(" AND "), params }
    }
}

/// A statement that locks rows of one table, in order, with its parameters. It fails unless all of
/// them are as wanted. `None` for no rows.
pub(crate) fn lock_many(wanted: &Wanted<'_>, strength: Strength) -> Option<(String, Vec<Param>)> {
    let (first, _) = wanted.first()?;
    let Lookup { arrays, names, same, params } = Lookup::of(wanted, first);
    let lock = match strength {
        Strength::Writes => "NO KEY UPDATE",
        Strength::Reads => "SHARE",
    };
    let sql = format!(
        "SELECT 1 / CASE WHEN count(*) = cardinality($1) THEN 1 ELSE 0 END FROM (\
         SELECT FROM unnest({arrays}) AS u ({names}) JOIN {} t ON {same} \
         FOR {lock} OF t) AS locked",
        first.table,
    );
    Some((sql, params))
}

/// A statement that answers the place, from 1, of the first row that is not as wanted. `None` for
/// no rows.
pub(crate) fn missing_of(wanted: &Wanted<'_>) -> Option<(String, Vec<Param>)> {
    let (first, _) = wanted.first()?;
    let Lookup { arrays, names, same, params } = Lookup::of(wanted, first);
    let sql = format!(
        "SELECT u.place FROM unnest({arrays}) WITH ORDINALITY AS u ({names}, place) \
         WHERE NOT EXISTS (SELECT FROM {} t WHERE {same}) ORDER BY u.place LIMIT 1",
        first.table,
    );
    Some((sql, params))
}

/// A statement that answers the rows that are as wanted, each with its place, from 1, behind its
/// columns. `None` for no rows.
pub(crate) fn found_of(wanted: &Wanted<'_>, columns: &str) -> Option<(String, Vec<Param>)> {
    let (first, _) = wanted.first()?;
    let Lookup { arrays, names, same, params } = Lookup::of(wanted, first);
    let sql = format!(
        "SELECT {columns}, u.place FROM unnest({arrays}) WITH ORDINALITY AS u ({names}, place) \
         JOIN {} t ON {same}",
        first.table,
    );
    Some((sql, params))
}

/// One value of each key, as an array.
fn column(wanted: &Wanted<'_>, at: usize) -> Param {
    let values = || wanted.iter().filter_map(|(place, _)| place.key.get(at));
    match values().next() {
        Some(KeyValue::Id(_)) => Param::of(values().filter_map(KeyValue::id).collect::<Vec<_>>()),
        Some(KeyValue::Number(_)) => {
            Param::of(values().filter_map(KeyValue::number).collect::<Vec<_>>())
        }
        Some(KeyValue::Bytes(_)) => {
            Param::of(values().filter_map(KeyValue::bytes).collect::<Vec<_>>())
        }
        Some(KeyValue::Text(_)) | None => {
            Param::of(values().filter_map(KeyValue::text).collect::<Vec<_>>())
        }
    }
}

impl PartialEq for TableKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for TableKey {}

impl PartialOrd for TableKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By table, then by the values of the key.
impl Ord for TableKey {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.table, &self.key).cmp(&(other.table, &other.key))
    }
}

/// Collects the values of a key. Rows are locked in the order of these values, so there are few
/// kinds of them, and none is null.
struct KeyValues(Vec<KeyValue>);

impl<'a> CellWriter<'a> for KeyValues {
    fn null(&mut self) {
        self.0.push(KeyValue::Text(String::new()));
    }

    fn bool(&mut self, flag: bool) {
        self.int(flag.into());
    }

    fn int(&mut self, number: i64) {
        self.0.push(KeyValue::Number(number));
    }

    fn id(&mut self, id: Uuid) {
        self.0.push(KeyValue::Id(id));
    }

    fn text(&mut self, text: &'a str) {
        self.owned_text(text.to_owned());
    }

    fn owned_text(&mut self, text: String) {
        self.0.push(KeyValue::Text(text));
    }

    fn word(&mut self, word: &'static str) {
        self.owned_text(word.to_owned());
    }

    fn words(&mut self, words: Vec<&'static str>) {
        self.owned_text(words.join(" "));
    }

    fn bytes(&mut self, bytes: &'a [u8]) {
        self.0.push(KeyValue::Bytes(bytes.to_vec()));
    }

    fn owned_bytes(&mut self, bytes: Vec<u8>) {
        self.0.push(KeyValue::Bytes(bytes));
    }

    fn json(&mut self, text: Cow<'static, str>) {
        self.owned_text(text.into_owned());
    }
}

/// The statements of a table and the values of a key.
pub(crate) struct TableKey {
    pub(crate) table: &'static str,
    pub(crate) sql: &'static Sql,
    versioned: bool,
    /// The names of the columns of the key.
    columns: &'static [&'static str],
    pub(crate) key: Vec<KeyValue>,
}

impl TableKey {
    /// The table of a kind of row.
    pub(crate) fn table(kind: RowKind) -> &'static str {
        match_kind!(kind, T => T::TABLE.name)
    }

    /// The table and values of a key.
    pub(crate) fn find(key: &RowKey) -> Self {
        let mut parts = KeyValues(Vec::with_capacity(3));
        write_key(key, &mut parts);
        let (table, sql) = match_kind!(key.kind(), T => (T::TABLE, T::sql()));
        let TableDef { name, key, columns, versioned, .. } = table;
        let columns = columns.get(..key).unwrap_or_default();
        Self { table: name, sql, versioned, columns, key: parts.0 }
    }

    /// Whether the key is made of ids.
    pub(crate) fn is_of_ids(&self) -> bool {
        self.key.iter().all(|value| value.id().is_some())
    }

    /// The values of the key, as parameters.
    pub(crate) fn params(&self) -> Vec<Param> {
        self.key.iter().map(KeyValue::param).collect()
    }

    /// The values of the key and the version, as parameters.
    pub(crate) fn params_at(&self, version: Version) -> Vec<Param> {
        let mut params = self.params();
        if self.versioned {
            params.push(Param::Int(signed(version.number())));
        }
        params
    }
}
