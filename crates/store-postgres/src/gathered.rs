//! Records that are aggregated in one column, as a JSON array of arrays.

use recado_core::store::StoreError;
use recado_store_sql::{CellReader, Field, Layout, OpenError, TableDef};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::columns::{taken, unopened, unreadable};
use crate::table::{Table, named};

/// The SQL expression that aggregates records as a JSON array of arrays, by creation.
pub(crate) fn gathered<T: Table>(alias: &str) -> String {
    let TableDef { name, columns, .. } = T::TABLE;
    let columns: Vec<String> =
        columns.iter().map(|column| format!("{alias}.{}", named(name, column))).collect();
    format!(
        "json_agg(json_build_array({}) ORDER BY {alias}.created_at, {alias}.id)",
        columns.join(", ")
    )
}

/// Reads the fields of one aggregated record one after the other. Values that JSON has no type for
/// are never aggregated.
pub(crate) struct GatheredFields<'j>(std::slice::Iter<'j, Value>);

impl<'j> GatheredFields<'j> {
    /// The next value, of one element or of several.
    pub(crate) fn get<T: Field>(&mut self) -> Result<T, StoreError> {
        T::read(self)
    }

    /// The fields of a record of a kind that holds no secrets.
    pub(crate) fn record<T: Layout>(&mut self) -> Result<T, StoreError> {
        const { assert!(T::TABLE.sealed.is_empty(), "secrets are read by their keys") };
        T::read(self)
    }

    fn next(&mut self) -> Result<Option<&'j Value>, StoreError> {
        let value = self.0.next();
        let value = value.ok_or_else(|| StoreError::corrupt("a gathered record is too short"))?;
        Ok(Some(value).filter(|value| !value.is_null()))
    }
}

impl CellReader for GatheredFields<'_> {
    type Error = StoreError;

    fn bool(&mut self) -> Result<Option<bool>, StoreError> {
        taken(self.next()?, Value::as_bool)
    }

    fn int(&mut self) -> Result<Option<i64>, StoreError> {
        taken(self.next()?, Value::as_i64)
    }

    fn id(&mut self) -> Result<Option<Uuid>, StoreError> {
        self.text(|text| Uuid::try_parse(text).ok())
    }

    fn text<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, StoreError> {
        taken(self.next()?, |value| value.as_str().and_then(read))
    }

    fn words<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<Option<Vec<T>>, StoreError> {
        let words =
            |value: &Value| value.as_array()?.iter().map(|word| parse(word.as_str()?)).collect();
        taken(self.next()?, words)
    }

    fn bytes<T>(&mut self, _: impl FnOnce(&[u8]) -> Option<T>) -> Result<Option<T>, StoreError> {
        Err(unreadable::<T>())
    }

    fn json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        taken(self.next()?, |value| T::deserialize(value).ok())
    }

    fn unreadable<T>(&self) -> StoreError {
        unreadable::<T>()
    }

    fn unopened(&self, error: OpenError) -> StoreError {
        unopened(error)
    }
}

/// Reads the aggregated records; null is an empty list.
pub(crate) fn scattered<T>(
    gathered: Option<Value>,
    read: impl Fn(&mut GatheredFields<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let Some(Value::Array(records)) = gathered else { return Ok(Vec::new()) };
    let fields =
        |record: &Value| record.as_array().map(|fields| read(&mut GatheredFields(fields.iter())));
    records.iter().map(|record| fields(record).unwrap_or_else(|| Err(unreadable::<T>()))).collect()
}
