//! Pipelines, stages and deals.

use async_trait::async_trait;
use recado_core::deals::{Deal, DealReads, DealStatus, Pipeline, Stage};
use recado_core::ids::{CompanyId, ContactId, DealId, PipelineId, StageId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for Pipeline {
    statements!("pipelines", ["company_id", "id"], ["name", "created_at"]);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![self.company.into(), self.id.into(), (&self.name).into(), self.created_at.into()]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(PipelineId::new)?,
            name: columns.text()?,
            created_at: columns.time()?,
        })
    }
}

impl Table for Stage {
    statements!("stages", ["company_id", "id"], ["pipeline_id", "name", "color", "display_order"]);

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            self.pipeline.into(),
            (&self.name).into(),
            (&self.color).into(),
            self.display_order.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(StageId::new)?,
            pipeline: columns.id(PipelineId::new)?,
            name: columns.text()?,
            color: columns.text()?,
            display_order: columns.number()?,
        })
    }
}

impl Table for Deal {
    statements!(
        "deals",
        ["company_id", "id"],
        [
            "contact_id",
            "title",
            "stage_id",
            "stage_entered_at",
            "status",
            "created_at",
            "updated_at"
        ]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            self.contact_id.into(),
            (&self.title).into(),
            self.stage_id.into(),
            self.stage_entered_at.into(),
            self.status.as_str().into(),
            self.created_at.into(),
            self.updated_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(DealId::new)?,
            contact_id: columns.id(ContactId::new)?,
            title: columns.text()?,
            stage_id: columns.opt_id(StageId::new)?,
            stage_entered_at: columns.opt_time()?,
            status: columns.word(DealStatus::parse)?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

#[async_trait]
impl DealReads for SqliteStore {
    async fn pipeline(
        &self,
        company: CompanyId,
        id: PipelineId,
    ) -> Result<Option<Stored<Pipeline>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn pipelines(&self, company: CompanyId) -> Result<Vec<Pipeline>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }

    async fn stages(&self, company: CompanyId) -> Result<Vec<Stored<Stage>>, StoreError> {
        let condition = "company_id = ?1 ORDER BY pipeline_id, display_order, id";
        self.read(move |conn| table::list(conn, condition, &[company.into()])).await
    }

    async fn stage(
        &self,
        company: CompanyId,
        id: StageId,
    ) -> Result<Option<Stored<Stage>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn deal(
        &self,
        company: CompanyId,
        id: DealId,
    ) -> Result<Option<Stored<Deal>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn deals(
        &self,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<Vec<Deal>, StoreError> {
        self.read(move |conn| {
            let Some(contact) = contact else { return table::all(conn, company) };
            let condition = "company_id = ?1 AND contact_id = ?2 ORDER BY created_at, id";
            let deals = table::list(conn, condition, &[company.into(), contact.into()])?;
            Ok(deals.into_iter().map(Stored::into_value).collect())
        })
        .await
    }
}
