//! The table of a kind of row, and the values of a row's key.

use std::borrow::Cow;

use recado_core::match_kind;
use recado_core::store::{RowKey, Version};
use recado_store_sql::{CellWriter, Layout, signed, write_key};
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
    fn param(&self) -> Param {
        match self {
            Self::Id(id) => Param::Id(*id),
            Self::Number(number) => Param::Int(*number),
            Self::Bytes(bytes) => Param::Bytes(bytes.clone()),
            Self::Text(text) => Param::Text(Cow::Owned(text.clone())),
        }
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
    pub(crate) key: Vec<KeyValue>,
}

impl TableKey {
    /// The table and values of a key.
    pub(crate) fn find(key: &RowKey) -> Self {
        let mut parts = KeyValues(Vec::with_capacity(3));
        write_key(key, &mut parts);
        let (table, sql) = match_kind!(key.kind(), T => (T::TABLE, T::sql()));
        Self { table: table.name, sql, versioned: table.versioned, key: parts.0 }
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
