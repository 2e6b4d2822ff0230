//! Client organizations.

use async_trait::async_trait;
use recado_core::ids::{CompanyId, OrganizationId};
use recado_core::organizations::{Cnpj, Organization, OrganizationReads};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::table::{self, Table, statements};

impl Table for Organization {
    statements!(
        "organizations",
        ["company_id", "id"],
        ["name", "cnpj", "razao_social", "enriched_at", "created_at", "updated_at"]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            (&self.name).into(),
            self.cnpj.as_str().into(),
            self.razao_social.as_deref().into(),
            self.enriched_at.into(),
            self.created_at.into(),
            self.updated_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(OrganizationId::new)?,
            name: columns.text()?,
            cnpj: columns.stored(Cnpj::from_stored)?,
            razao_social: columns.opt_text()?,
            enriched_at: columns.opt_time()?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

#[async_trait]
impl OrganizationReads for SqliteStore {
    async fn organization(
        &self,
        company: CompanyId,
        id: OrganizationId,
    ) -> Result<Option<Stored<Organization>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn organizations(&self, company: CompanyId) -> Result<Vec<Organization>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }
}
