//! Reading values from rows.

use std::error::Error;

use recado_core::store::{StoreError, Stored, Version};
use recado_store_sql::{CellReader, Field, OpenError, Sealer};
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};
use uuid::Uuid;

use crate::param::JSONB_VERSION;
use crate::table::Table;

/// Reads the columns of a row one after the other.
pub(crate) struct Columns<'r> {
    row: &'r Row,
    at: usize,
}

/// Accepts any value but null.
struct Present;

impl FromSql<'_> for Present {
    fn from_sql(_: &Type, _: &[u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl<'r> Columns<'r> {
    /// Starts at the first column.
    pub(crate) fn new(row: &'r Row) -> Self {
        Self { row, at: 0 }
    }

    /// The next value, of one column or of several.
    pub(crate) fn get<T: Field>(&mut self) -> Result<T, StoreError> {
        T::read(self)
    }

    /// The next column, as a type of the driver.
    pub(crate) fn raw<T: FromSql<'r>>(&mut self) -> Result<T, StoreError> {
        let value = self.row.try_get(self.at).map_err(|error| {
            let column = self.row.columns().get(self.at).map_or("", |column| column.name());
            StoreError::corrupt(format!("column {column}: {error}"))
        });
        self.at += 1;
        value
    }

    /// Skips columns.
    pub(crate) fn skip(&mut self, columns: usize) {
        self.at += columns;
    }

    /// A record and its version, of any kind.
    pub(crate) fn stored_sealed<T: Table>(
        &mut self,
        sealer: &Sealer,
    ) -> Result<Stored<T>, StoreError> {
        let value = T::read_sealed(self, sealer)?;
        Ok(Stored::new(value, self.version::<T>()?))
    }

    /// The version of a record, which is the first one of a record that has none.
    fn version<T: Table>(&mut self) -> Result<Version, StoreError> {
        match T::TABLE.versioned {
            true => Ok(Version::new(self.get()?)),
            false => Ok(Version::FIRST),
        }
    }

    /// A record and its version, of a kind that holds no secrets.
    pub(crate) fn stored<T: Table>(&mut self) -> Result<Stored<T>, StoreError> {
        const { assert!(T::TABLE.sealed.is_empty(), "secrets are read by their keys") };
        let value = T::read(self)?;
        Ok(Stored::new(value, self.version::<T>()?))
    }

    /// A record of a kind that holds no secrets, without the version behind it.
    pub(crate) fn record<T: Table>(&mut self) -> Result<T, StoreError> {
        const { assert!(T::TABLE.sealed.is_empty(), "secrets are read by their keys") };
        self.record_sealed(&Sealer::default())
    }

    /// The same, of any kind.
    pub(crate) fn record_sealed<T: Table>(&mut self, sealer: &Sealer) -> Result<T, StoreError> {
        let value = T::read_sealed(self, sealer)?;
        self.skip(usize::from(T::TABLE.versioned));
        Ok(value)
    }

    /// Whether the next column has a value. It is still the next column afterwards.
    pub(crate) fn is_present(&mut self) -> Result<bool, StoreError> {
        let present: Option<Present> = self.raw()?;
        self.at -= 1;
        Ok(present.is_some())
    }

    /// The record of an outer join, `None` if the join found none; of a kind that holds no secrets.
    pub(crate) fn joined<T: Table>(&mut self) -> Result<Option<T>, StoreError> {
        const { assert!(T::TABLE.sealed.is_empty(), "secrets are read by their keys") };
        self.joined_sealed(&Sealer::default())
    }

    /// The same, of any kind.
    pub(crate) fn joined_sealed<T: Table>(
        &mut self,
        sealer: &Sealer,
    ) -> Result<Option<T>, StoreError> {
        if self.is_present()? {
            return self.record_sealed(sealer).map(Some);
        }
        self.skip(T::TABLE.columns.len() + usize::from(T::TABLE.versioned));
        Ok(None)
    }
}

/// What `read` makes of a value; null stays null.
pub(crate) fn taken<V, T>(
    value: Option<V>,
    read: impl FnOnce(V) -> Option<T>,
) -> Result<Option<T>, StoreError> {
    value.map(|value| read(value).ok_or_else(unreadable::<T>)).transpose()
}

impl CellReader for Columns<'_> {
    type Error = StoreError;

    fn bool(&mut self) -> Result<Option<bool>, StoreError> {
        self.raw()
    }

    fn int(&mut self) -> Result<Option<i64>, StoreError> {
        self.raw()
    }

    fn id(&mut self) -> Result<Option<Uuid>, StoreError> {
        self.raw()
    }

    fn text<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, StoreError> {
        taken(self.raw::<Option<&str>>()?, read)
    }

    fn words<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<Option<Vec<T>>, StoreError> {
        let words: Option<Vec<&str>> = self.raw()?;
        taken(words, |words| words.into_iter().map(parse).collect())
    }

    fn bytes<T>(&mut self, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<Option<T>, StoreError> {
        taken(self.raw::<Option<&[u8]>>()?, read)
    }

    fn json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        taken(self.raw::<Option<Json<'_>>>()?, |json| serde_json::from_slice(json.0).ok())
    }

    fn unreadable<T>(&self) -> StoreError {
        unreadable::<T>()
    }

    fn unopened(&self, error: OpenError) -> StoreError {
        unopened(error)
    }
}

/// The error for a stored value that cannot be read. The value is not in the message, because it
/// may be personal.
pub(crate) fn unreadable<T>() -> StoreError {
    StoreError::corrupt(format!("a stored {} cannot be read", std::any::type_name::<T>()))
}

/// The error for a secret that cannot be opened. Another process may have a newer key already.
pub(crate) fn unopened(error: OpenError) -> StoreError {
    match error {
        OpenError::UnknownKey(_) => StoreError::unavailable(error),
        OpenError::Changed => StoreError::corrupt(error),
    }
}

/// The text of a column of JSON, or of a text column that holds JSON.
struct Json<'r>(&'r [u8]);

impl<'r> FromSql<'r> for Json<'r> {
    fn from_sql(kind: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        match raw {
            [JSONB_VERSION, text @ ..] if *kind == Type::JSONB => Ok(Self(text)),
            _ if *kind == Type::JSONB => Err("an unknown form of JSON".into()),
            text => Ok(Self(text)),
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::JSON | Type::JSONB | Type::TEXT)
    }
}
