//! Tags and close reasons.

use async_trait::async_trait;
use recado_core::ids::{CloseReasonId, CompanyId, TagId};
use recado_core::store::{StoreError, Stored};
use recado_core::tags::{CloseReason, Tag, TagReads};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for Tag {
    statements!("tags", ["company_id", "id"], ["name", "color", "created_at"]);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            (&self.name).into(),
            (&self.color).into(),
            self.created_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(TagId::new)?,
            name: columns.text()?,
            color: columns.text()?,
            created_at: columns.time()?,
        })
    }
}

impl Table for CloseReason {
    statements!("close_reasons", ["company_id", "id"], ["name", "created_at"]);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![self.company.into(), self.id.into(), (&self.name).into(), self.created_at.into()]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(CloseReasonId::new)?,
            name: columns.text()?,
            created_at: columns.time()?,
        })
    }
}

#[async_trait]
impl TagReads for SqliteStore {
    async fn tag(&self, company: CompanyId, id: TagId) -> Result<Option<Stored<Tag>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn tags(&self, company: CompanyId) -> Result<Vec<Tag>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }

    async fn close_reason(
        &self,
        company: CompanyId,
        id: CloseReasonId,
    ) -> Result<Option<Stored<CloseReason>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn close_reasons(&self, company: CompanyId) -> Result<Vec<CloseReason>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }
}
