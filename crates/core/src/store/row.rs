//! Rows as the store keeps them: a record of any kind.

use super::{RowKey, RowKind};

/// A type whose values the store keeps as rows.
pub trait Record:
    Into<Row> + TryFrom<Row, Error = WrongKind> + Clone + PartialEq + Send + Sync + 'static
{
    /// Its kind.
    const KIND: RowKind;
    /// Whether its rows have a version; those that have none are never updated.
    const VERSIONED: bool;
    /// The parts of its key: a tuple, where there are several.
    type Key: Send;

    /// The key made of these parts.
    fn key_of(parts: Self::Key) -> RowKey;

    /// The key of this record's row.
    fn row_key(&self) -> RowKey;

    /// The record of a row of this kind; `None` of any other.
    fn of(row: &Row) -> Option<&Self>;
}

/// A row of another kind than the record that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a row of the kind {found:?} is no {wanted:?}")]
pub struct WrongKind {
    /// The kind of the record.
    pub wanted: RowKind,
    /// The kind of the row.
    pub found: RowKind,
}

/// Whether a kind has a version.
macro_rules! versioned {
    (versioned) => {
        true
    };
    (unversioned) => {
        false
    };
}

/// A part of a record's key.
macro_rules! part {
    ($record:ident $field:ident) => {
        Clone::clone(&$record.$field)
    };
    ($record:ident $field:ident = $($from:ident).+) => {
        Clone::clone(&$record.$($from).+)
    };
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident($record:ty) {
        $($field:ident: $type:ty $(= $($from:ident).+)?),+ $(,)?
    } $version:ident;)+) => {
        /// One row of one table.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::large_enum_variant, reason = "rows are moved once, from decide to the store")]
        pub enum Row {
            $($(#[$doc])* $name($record),)+
        }

        impl Row {
            /// Of which kind it is.
            pub const fn kind(&self) -> RowKind {
                match self {
                    $(Self::$name(_) => RowKind::$name,)+
                }
            }

            /// The key of this row.
            pub fn key(&self) -> RowKey {
                match self {
                    $(Self::$name(record) => record.row_key(),)+
                }
            }
        }

        $(impl From<$record> for Row {
            fn from(record: $record) -> Self {
                Self::$name(record)
            }
        }

        #[allow(unused_parens, clippy::allow_attributes, reason = "some keys have one part only")]
        impl Record for $record {
            const KIND: RowKind = RowKind::$name;
            const VERSIONED: bool = versioned!($version);
            type Key = ($($type),+);

            fn key_of(($($field),+): Self::Key) -> RowKey {
                RowKey::$name { $($field),+ }
            }

            fn row_key(&self) -> RowKey {
                RowKey::$name { $($field: part!(self $field $(= $($from).+)?)),+ }
            }

            fn of(row: &Row) -> Option<&Self> {
                match row {
                    Row::$name(record) => Some(record),
                    _ => None,
                }
            }
        }

        impl TryFrom<Row> for $record {
            type Error = WrongKind;

            fn try_from(row: Row) -> Result<Self, WrongKind> {
                match row {
                    Row::$name(record) => Ok(record),
                    row => Err(WrongKind { wanted: RowKind::$name, found: row.kind() }),
                }
            }
        })+
    };
}

for_each_row!(rows);
