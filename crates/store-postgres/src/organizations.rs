//! Client organizations.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, OrganizationId};
use recado_core::organizations::{Cnpj, Organization, OrganizationReads};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::{get, of_company};
use crate::table::{Columns, Param, Table, params, table_sql, unreadable};

impl Table for Organization {
    const NAME: &'static str = "organizations";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "id",
        "name",
        "cnpj",
        "razao_social",
        "enriched_at",
        "created_at",
        "updated_at",
    ];
    table_sql!(Organization);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.name,
            self.cnpj.as_str().to_owned(),
            self.razao_social,
            self.enriched_at.map(|at| at.millis()),
            self.created_at.millis(),
            self.updated_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(OrganizationId::new)?,
            name: columns.get()?,
            cnpj: columns.value_or_null(Cnpj::from_stored)?.ok_or_else(unreadable::<Cnpj>)?,
            razao_social: columns.get()?,
            enriched_at: columns.time_or_null()?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

#[async_trait]
impl OrganizationReads for PostgresStore {
    async fn organization(
        &self,
        company: CompanyId,
        id: OrganizationId,
    ) -> Result<Option<Stored<Organization>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn organizations(&self, company: CompanyId) -> Result<Vec<Organization>, StoreError> {
        of_company(&self.pool, company).await
    }
}
