//! Reads that fail on demand, all or by name.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::store::{
    Listing, ManyRows, Records, Removable, Row, RowKey, RowKind, StoreError, Stored,
};

use super::FaultyStore;

/// Implements every read of every trait: a read fails if it has to, and else calls the wrapped
/// store. Also lists the names of the reads. Reads of rows of any kind have the kind in their
/// names; they are implemented below.
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

        /// The names of all other reads.
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

    async fn count_about(
        &self,
        company: CompanyId,
        kind: RowKind,
        contact: ContactId,
    ) -> Result<u64, StoreError> {
        self.read("count_about", self.inner.count_about(company, kind, contact)).await
    }

    async fn has_many(
        &self,
        company: CompanyId,
        contact: ContactId,
        than: u32,
    ) -> Result<ManyRows, StoreError> {
        self.read("has_many", self.inner.has_many(company, contact, than)).await
    }
}

/// The name of [`Records::row`] for a kind.
fn row_of(kind: RowKind) -> String {
    format!("row of {kind:?}")
}

/// The name of [`Records::rows`] for a kind.
fn rows_of(kind: RowKind) -> String {
    format!("rows of {kind:?}")
}

/// Whether a read has this name.
pub(super) fn exists(name: &str) -> bool {
    READS.contains(&name)
        || name == "is_in_use"
        || name == "count_about"
        || RowKind::ALL.iter().any(|kind| name == row_of(*kind) || name == rows_of(*kind))
}
