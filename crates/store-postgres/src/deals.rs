//! Pipelines, stages and deals.

use async_trait::async_trait;
use recado_core::deals::{Deal, DealReads, DealStatus, Pipeline, Stage};
use recado_core::ids::{CompanyId, ContactId, DealId, PipelineId, StageId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::{get, of_company, select};
use crate::table::{Columns, Param, Table, params, table_sql};

impl Table for Pipeline {
    const NAME: &'static str = "pipelines";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &["company_id", "id", "name", "created_at"];
    table_sql!(Pipeline);

    fn bind(self) -> Vec<Param> {
        params![self.company.uuid(), self.id.uuid(), self.name, self.created_at.millis()]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(PipelineId::new)?,
            name: columns.get()?,
            created_at: columns.time()?,
        })
    }
}

impl Table for Stage {
    const NAME: &'static str = "stages";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] =
        &["company_id", "id", "pipeline_id", "name", "color", "display_order"];
    table_sql!(Stage);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.pipeline.uuid(),
            self.name,
            self.color,
            i64::from(self.display_order),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(StageId::new)?,
            pipeline: columns.id(PipelineId::new)?,
            name: columns.get()?,
            color: columns.get()?,
            display_order: columns.number()?,
        })
    }
}

impl Table for Deal {
    const NAME: &'static str = "deals";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "id",
        "contact_id",
        "title",
        "stage_id",
        "stage_entered_at",
        "status",
        "created_at",
        "updated_at",
    ];
    table_sql!(Deal);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.contact_id.uuid(),
            self.title,
            self.stage_id.map(StageId::uuid),
            self.stage_entered_at.map(|at| at.millis()),
            self.status.as_str(),
            self.created_at.millis(),
            self.updated_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(DealId::new)?,
            contact_id: columns.id(ContactId::new)?,
            title: columns.get()?,
            stage_id: columns.id_or_null(StageId::new)?,
            stage_entered_at: columns.time_or_null()?,
            status: columns.word(DealStatus::parse)?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

#[async_trait]
impl DealReads for PostgresStore {
    async fn pipeline(
        &self,
        company: CompanyId,
        id: PipelineId,
    ) -> Result<Option<Stored<Pipeline>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn pipelines(&self, company: CompanyId) -> Result<Vec<Pipeline>, StoreError> {
        of_company(&self.pool, company).await
    }

    async fn stages(&self, company: CompanyId) -> Result<Vec<Stored<Stage>>, StoreError> {
        let condition = "WHERE company_id = $1 ORDER BY pipeline_id, display_order, id";
        select(&self.pool, condition, params![company.uuid()]).await
    }

    async fn stage(
        &self,
        company: CompanyId,
        id: StageId,
    ) -> Result<Option<Stored<Stage>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn deal(
        &self,
        company: CompanyId,
        id: DealId,
    ) -> Result<Option<Stored<Deal>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn deals(
        &self,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<Vec<Deal>, StoreError> {
        let Some(contact) = contact else { return of_company(&self.pool, company).await };
        let condition = "WHERE company_id = $1 AND contact_id = $2 ORDER BY created_at, id";
        let found = select(&self.pool, condition, params![company.uuid(), contact.uuid()]).await?;
        Ok(found.into_iter().map(Stored::into_value).collect())
    }
}
