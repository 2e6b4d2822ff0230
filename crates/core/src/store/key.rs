//! The kinds of record, and what names one row.

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
        }

        /// Names one row.
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
        }
    };
}

for_each_row!(keys);
