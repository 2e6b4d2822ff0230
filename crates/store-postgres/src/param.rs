//! Conversion of values to parameters of statements.

use std::borrow::Cow;
use std::error::Error;

use recado_store_sql::{CellWriter, Sealer, TableDef};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type};
use uuid::Uuid;

use crate::table::Table;

/// An owned parameter of a statement.
#[derive(Debug)]
pub(crate) enum Param {
    Null,
    Bool(bool),
    Int(i64),
    Id(Uuid),
    Text(Cow<'static, str>),
    Bytes(Vec<u8>),
    /// Text that is JSON, for columns of JSON and of text.
    Json(Cow<'static, str>),
    /// Anything else.
    Other(Box<dyn ToSql + Sync + Send>),
}

impl Param {
    /// A value of any type that the driver supports.
    pub(crate) fn of(value: impl ToSql + Sync + Send + 'static) -> Self {
        Self::Other(Box::new(value))
    }
}

/// Owned parameters, in order.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::param::Param::of($value)),*]
    };
}
pub(crate) use params;

/// The value of each column of a record that holds no secrets, including the derived columns.
pub(crate) fn bind<T: Table>(record: &T) -> Vec<Param> {
    const { assert!(T::TABLE.sealed.is_empty(), "secrets are written by their keys") };
    bind_sealed(record, &Sealer::default())
}

/// The same, of any record.
pub(crate) fn bind_sealed<T: Table>(record: &T, sealer: &Sealer) -> Vec<Param> {
    let TableDef { columns, derived, .. } = T::TABLE;
    let mut params = ParamList(Vec::with_capacity(columns.len() + derived.len() + 1));
    record.write_sealed(&mut params, sealer);
    record.write_derived(&mut params);
    params.0
}

/// The values of a record's activity (R466).
pub(crate) fn bind_activity<T: Table>(record: &T) -> Vec<Param> {
    let mut params = ParamList(Vec::new());
    record.write_activity(&mut params);
    params.0
}

/// Collects the values of a record.
struct ParamList(Vec<Param>);

impl<'a> CellWriter<'a> for ParamList {
    fn null(&mut self) {
        self.0.push(Param::Null);
    }

    fn bool(&mut self, flag: bool) {
        self.0.push(Param::Bool(flag));
    }

    fn int(&mut self, number: i64) {
        self.0.push(Param::Int(number));
    }

    fn id(&mut self, id: Uuid) {
        self.0.push(Param::Id(id));
    }

    fn text(&mut self, text: &'a str) {
        self.0.push(Param::Text(Cow::Owned(text.to_owned())));
    }

    fn owned_text(&mut self, text: String) {
        self.0.push(Param::Text(Cow::Owned(text)));
    }

    fn word(&mut self, word: &'static str) {
        self.0.push(Param::Text(Cow::Borrowed(word)));
    }

    fn words(&mut self, words: Vec<&'static str>) {
        self.0.push(Param::of(words));
    }

    fn bytes(&mut self, bytes: &'a [u8]) {
        self.0.push(Param::Bytes(bytes.to_vec()));
    }

    fn owned_bytes(&mut self, bytes: Vec<u8>) {
        self.0.push(Param::Bytes(bytes));
    }

    fn json(&mut self, text: Cow<'static, str>) {
        self.0.push(Param::Json(text));
    }
}

type Written = Result<IsNull, Box<dyn Error + Sync + Send>>;

/// The byte before the text in the binary format of `jsonb`.
pub(crate) const JSONB_VERSION: u8 = 1;

impl ToSql for Param {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Written {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Bool(flag) => flag.to_sql_checked(kind, out),
            Self::Int(number) => number.to_sql_checked(kind, out),
            Self::Id(id) => id.to_sql_checked(kind, out),
            Self::Text(text) => text.to_sql_checked(kind, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(kind, out),
            Self::Json(text) if matches!(*kind, Type::JSON | Type::JSONB) => {
                if *kind == Type::JSONB {
                    out.extend_from_slice(&[JSONB_VERSION]);
                }
                out.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
            Self::Json(text) => text.to_sql_checked(kind, out),
            Self::Other(value) => value.to_sql_checked(kind, out),
        }
    }

    /// Each value checks the type when it is written.
    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(&self, kind: &Type, out: &mut BytesMut) -> Written {
        self.to_sql(kind, out)
    }
}
