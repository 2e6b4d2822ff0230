//! Inbound endpoints.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::ids::{CompanyId, InboundEndpointId};
use recado_core::inbound::{
    AuthMode, EndpointSecret, EndpointSlug, InboundEndpoint, InboundReads, VariableMapping,
};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::{get, of_company, rows};
use crate::table::{Columns, Param, Table, columns_of, params, table_sql, unreadable};

impl Table for InboundEndpoint {
    const NAME: &'static str = "inbound_endpoints";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "id",
        "slug",
        "variable_mapping",
        "auth_mode",
        "secret",
        "is_active",
        "created_at",
        "updated_at",
    ];
    table_sql!(InboundEndpoint);

    fn bind(self) -> Vec<Param> {
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.slug.as_str().to_owned(),
            serde_json::to_string(self.mapping.entries()).expect("a mapping is of texts"),
            self.auth_mode.as_str(),
            self.secret.expose().to_owned(),
            self.is_active,
            self.created_at.millis(),
            self.updated_at.millis(),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(InboundEndpointId::new)?,
            slug: columns.word(EndpointSlug::parse)?,
            mapping: read_mapping(columns.get()?)?,
            auth_mode: columns.word(AuthMode::parse)?,
            secret: columns.get().map(EndpointSecret::stored)?,
            is_active: columns.get()?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

fn read_mapping(text: &str) -> Result<VariableMapping, StoreError> {
    let entries: BTreeMap<String, String> =
        serde_json::from_str(text).map_err(|_| unreadable::<VariableMapping>())?;
    Ok(VariableMapping::from_stored(entries))
}

/// An endpoint by its slug, with its company.
pub(crate) static BY_SLUG: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {} FROM inbound_endpoints e JOIN companies c ON c.id = e.company_id \
         WHERE e.slug = $1",
        columns_of::<InboundEndpoint>("e"),
        columns_of::<Company>("c"),
    )
});

#[async_trait]
impl InboundReads for PostgresStore {
    async fn inbound_endpoint(
        &self,
        company: CompanyId,
        id: InboundEndpointId,
    ) -> Result<Option<Stored<InboundEndpoint>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn inbound_endpoints(
        &self,
        company: CompanyId,
    ) -> Result<Vec<InboundEndpoint>, StoreError> {
        of_company(&self.pool, company).await
    }

    async fn endpoint_by_slug(
        &self,
        slug: &EndpointSlug,
    ) -> Result<Option<(InboundEndpoint, Company)>, StoreError> {
        let params = params![slug.as_str().to_owned()];
        let found = rows(&self.pool, BY_SLUG.as_str(), params).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let mut columns = Columns::new(row);
        Ok(Some((columns.record()?, columns.record()?)))
    }
}
