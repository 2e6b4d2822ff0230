//! The kinds of record, and the keys of rows.

use crate::ids::CompanyId;

/// The first part of a key, where it is the company.
macro_rules! company {
    ($first:ident $(, $rest:ident)*) => {{
        $(let _ = $rest;)*
        ($first as &dyn std::any::Any).downcast_ref::<CompanyId>().copied()
    }};
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident($record:ty) {
        $($field:ident: $type:ty $(= $($from:ident).+)?),+ $(,)?
    } $version:ident;)+) => {
        /// The kinds of record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RowKind {
            $($(#[$doc])* $name,)+
        }

        impl RowKind {
            /// All kinds, in order.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The names of the parts of its keys, in the order of the table's key.
            pub const fn key_parts(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$(stringify!($field)),+],)+
                }
            }
        }

        /// The key of one row.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum RowKey {
            $($(#[$doc])* $name {
                $(#[allow(missing_docs, clippy::allow_attributes, reason = "the key's parts say what they are")] $field: $type,)+
            },)+
        }

        impl RowKey {
            /// Of which kind the row is.
            pub const fn kind(&self) -> RowKind {
                match self {
                    $(Self::$name { .. } => RowKind::$name,)+
                }
            }

            /// The part of the key that is its id, for the kinds of which many rows can be about a
            /// contact.
            pub(crate) const fn id(&self) -> Option<uuid::Uuid> {
                match self {
                    Self::Deal { id, .. } => Some(id.uuid()),
                    Self::Document { id, .. } => Some(id.uuid()),
                    Self::Link { id, .. } => Some(id.uuid()),
                    Self::Click { id, .. } => Some(id.uuid()),
                    Self::LedgerLine { id, .. } => Some(id.uuid()),
                    Self::UnknownEvent { id, .. } => Some(id.uuid()),
                    _ => None,
                }
            }

            /// The company whose row it is; `None` for rows of the installation.
            pub fn company(&self) -> Option<CompanyId> {
                match self {
                    $(Self::$name { $($field),+ } => company!($($field),+),)+
                }
            }
        }
    };
}

for_each_row!(keys);
