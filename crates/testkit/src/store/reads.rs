//! Reads that fail on demand, all or by name.

use async_trait::async_trait;
use recado_core::ids::CompanyId;
use recado_core::store::{Listing, Records, Removable, Row, RowKey, RowKind, StoreError, Stored};

use super::FaultyStore;

/// Hands every read of every trait on, unless it is to fail, and lists their names. Reads of rows of
/// any kind have the name of the kind in theirs, and stand below.
macro_rules! reads {
    (
        Records($records:path) $by_kind:tt
        $($trait:ident($path:path) {
            $(fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $answer:ty;)+
        })+
    ) => {
        $(
            #[async_trait]
            impl $path for FaultyStore {
                $(async fn $name(&self, $($arg: $type),*) -> Result<$answer, StoreError> {
                    self.read(stringify!($name), self.inner.$name($($arg),*)).await
                })+
            }
        )+

        /// The names of all others.
        const READS: &[&str] = &[$($(stringify!($name),)+)+];
    };
}
recado_core::for_each_read!(reads);

#[async_trait]
impl Records for FaultyStore {
    async fn row(&self, key: &RowKey) -> Result<Option<Stored<Row>>, StoreError> {
        self.read(&row_of(key.kind()), self.inner.row(key)).await
    }

    async fn rows(&self, listing: Listing) -> Result<Vec<Stored<Row>>, StoreError> {
        self.read(&rows_of(listing.kind()), self.inner.rows(listing)).await
    }

    async fn is_in_use(&self, company: CompanyId, record: Removable) -> Result<bool, StoreError> {
        self.read("is_in_use", self.inner.is_in_use(company, record)).await
    }
}

/// What [`Records::row`] of a kind is called.
fn row_of(kind: RowKind) -> String {
    format!("row of {kind:?}")
}

/// What [`Records::rows`] of a kind is called.
fn rows_of(kind: RowKind) -> String {
    format!("rows of {kind:?}")
}

/// Whether a read has this name.
pub(super) fn exists(name: &str) -> bool {
    READS.contains(&name)
        || name == "is_in_use"
        || RowKind::ALL.iter().any(|kind| name == row_of(*kind) || name == rows_of(*kind))
}
