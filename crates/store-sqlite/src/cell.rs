//! Conversion of values to and from columns.

use std::borrow::Cow;

use recado_core::Timestamp;
use recado_core::store::{Stored, Version};
use recado_store_sql::{CellReader, CellWriter, Field, Layout, OpenError, Sealer, signed};
use rusqlite::types::{FromSqlError, ToSqlOutput, Type, ValueRef};
use rusqlite::{Row as SqlRow, ToSql};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::error::ReadResult;

/// One value of a row as it is bound to a statement. Texts are borrowed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Owned(String),
    Id([u8; 16]),
    Bytes(&'a [u8]),
    OwnedBytes(Vec<u8>),
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Owned(text) => ValueRef::Text(text.as_bytes()),
            Self::Id(bytes) => ValueRef::Blob(bytes),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::OwnedBytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl From<Uuid> for Cell<'_> {
    fn from(id: Uuid) -> Self {
        Self::Id(id.into_bytes())
    }
}

impl From<Timestamp> for Cell<'_> {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.millis())
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Self::Int(i64::from(flag))
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Int(i64::from(number))
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Int(signed(number))
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

macro_rules! cells_of_ids {
    ($($(#[$doc:meta])* $id:ident;)+) => {
        $(impl From<recado_core::ids::$id> for Cell<'_> {
            fn from(id: recado_core::ids::$id) -> Self {
                Self::from(id.uuid())
            }
        })+
    };
}
recado_core::for_each_id!(cells_of_ids);

/// Collects the values of a row.
pub(crate) struct Cells<'a>(pub(crate) Vec<Cell<'a>>);

impl<'a> CellWriter<'a> for Cells<'a> {
    fn null(&mut self) {
        self.0.push(Cell::Null);
    }

    fn bool(&mut self, flag: bool) {
        self.0.push(flag.into());
    }

    fn int(&mut self, number: i64) {
        self.0.push(Cell::Int(number));
    }

    fn id(&mut self, id: Uuid) {
        self.0.push(id.into());
    }

    fn text(&mut self, text: &'a str) {
        self.0.push(Cell::Text(text));
    }

    fn owned_text(&mut self, text: String) {
        self.0.push(Cell::Owned(text));
    }

    fn word(&mut self, word: &'static str) {
        self.0.push(Cell::Text(word));
    }

    fn words(&mut self, words: Vec<&'static str>) {
        self.0.push(Cell::Owned(words.join(" ")));
    }

    fn bytes(&mut self, bytes: &'a [u8]) {
        self.0.push(Cell::Bytes(bytes));
    }

    fn owned_bytes(&mut self, bytes: Vec<u8>) {
        self.0.push(Cell::OwnedBytes(bytes));
    }

    fn json(&mut self, text: Cow<'static, str>) {
        self.0.push(match text {
            Cow::Borrowed(text) => Cell::Text(text),
            Cow::Owned(text) => Cell::Owned(text),
        });
    }
}

/// Reads the columns of a row one after the other.
pub(crate) struct Columns<'r, 's> {
    row: &'r SqlRow<'s>,
    at: usize,
}

impl<'r, 's> Columns<'r, 's> {
    pub(crate) fn new(row: &'r SqlRow<'s>) -> Self {
        Self::from(row, 0)
    }

    /// Starts at column `at`.
    pub(crate) fn from(row: &'r SqlRow<'s>, at: usize) -> Self {
        Self { row, at }
    }

    /// Skips a column.
    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// The next value, of one column or of several.
    pub(crate) fn get<T: Field>(&mut self) -> ReadResult<T> {
        T::read(self)
    }

    /// A record with the version behind its columns, of a kind that holds no secrets.
    pub(crate) fn stored<T: Layout>(&mut self) -> ReadResult<Stored<T>> {
        const { assert!(T::TABLE.sealed.is_empty(), "secrets are read by their keys") };
        let record = T::read(self)?;
        Ok(Stored::new(record, Version::new(self.get()?)))
    }

    /// The same, of any kind.
    pub(crate) fn stored_sealed<T: Layout>(&mut self, sealer: &Sealer) -> ReadResult<Stored<T>> {
        let record = T::read_sealed(self, sealer)?;
        Ok(Stored::new(record, Version::new(self.get()?)))
    }

    /// What `read` makes of the next column, unless that is null. An error names the column.
    fn next<T>(
        &mut self,
        read: impl FnOnce(ValueRef<'r>) -> Result<T, FromSqlError>,
    ) -> ReadResult<Option<T>> {
        let at = self.at;
        self.at += 1;
        let value = self.row.get_ref(at)?;
        if value == ValueRef::Null {
            return Ok(None);
        }
        let kind = value.data_type();
        read(value).map(Some).map_err(|error| unreadable(at, kind, error))
    }
}

impl CellReader for Columns<'_, '_> {
    type Error = rusqlite::Error;

    fn bool(&mut self) -> ReadResult<Option<bool>> {
        self.next(|value| Ok(value.as_i64()? != 0))
    }

    fn int(&mut self) -> ReadResult<Option<i64>> {
        self.next(|value| value.as_i64())
    }

    fn id(&mut self) -> ReadResult<Option<Uuid>> {
        self.next(|value| Uuid::from_slice(value.as_blob()?).map_err(FromSqlError::other))
    }

    fn text<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> ReadResult<Option<T>> {
        self.next(|value| read(value.as_str()?).ok_or(FromSqlError::InvalidType))
    }

    fn words<T>(&mut self, parse: fn(&str) -> Option<T>) -> ReadResult<Option<Vec<T>>> {
        self.text(|words| words.split_ascii_whitespace().map(parse).collect())
    }

    fn bytes<T>(&mut self, read: impl FnOnce(&[u8]) -> Option<T>) -> ReadResult<Option<T>> {
        self.next(|value| read(value.as_blob()?).ok_or(FromSqlError::InvalidType))
    }

    fn json<T: DeserializeOwned>(&mut self) -> ReadResult<Option<T>> {
        self.next(|value| serde_json::from_str(value.as_str()?).map_err(FromSqlError::other))
    }

    fn unreadable<T>(&self) -> rusqlite::Error {
        let what = format!("no {}", std::any::type_name::<T>());
        unreadable(self.at.saturating_sub(1), Type::Null, FromSqlError::Other(what.into()))
    }

    fn unopened(&self, error: OpenError) -> rusqlite::Error {
        unreadable(self.at.saturating_sub(1), Type::Text, FromSqlError::other(error))
    }
}

fn unreadable(at: usize, kind: Type, error: FromSqlError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(at, kind, Box::new(error))
}
