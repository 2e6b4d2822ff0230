//! Companies, keys, members and installation secrets.

use async_trait::async_trait;
use recado_core::access::{AccessReads, ApiKey, Company, KeyHash, Member, Secret, SecretName};
use recado_core::ids::{CompanyId, KeyId, MemberId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::params;
use crate::session::{get, of_company, rows, select};
use crate::table::columns_of;

#[async_trait]
impl AccessReads for PostgresStore {
    async fn company(&self, id: CompanyId) -> Result<Option<Stored<Company>>, StoreError> {
        get(&self.pool, params![id.uuid()]).await
    }

    async fn companies(&self) -> Result<Vec<Company>, StoreError> {
        let stored = select(&self.pool, "ORDER BY created_at, id", Vec::new()).await?;
        Ok(stored.into_iter().map(Stored::into_value).collect())
    }

    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError> {
        static SQL: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
            format!(
                "SELECT {}, {} FROM api_keys k JOIN companies c ON c.id = k.company_id \
                 WHERE k.hash = $1",
                columns_of::<ApiKey>("k"),
                columns_of::<Company>("c"),
            )
        });
        let found = rows(&self.pool, SQL.as_str(), params![hash.as_bytes().to_vec()]).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let mut columns = Columns::new(row);
        Ok(Some((columns.record()?, columns.record()?)))
    }

    async fn key(
        &self,
        company: CompanyId,
        id: KeyId,
    ) -> Result<Option<Stored<ApiKey>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn keys(&self, company: CompanyId) -> Result<Vec<ApiKey>, StoreError> {
        of_company(&self.pool, company).await
    }

    async fn member(
        &self,
        company: CompanyId,
        id: MemberId,
    ) -> Result<Option<Stored<Member>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
    }

    async fn members(&self, company: CompanyId) -> Result<Vec<Member>, StoreError> {
        of_company(&self.pool, company).await
    }

    async fn secret(&self, name: SecretName) -> Result<Option<Secret>, StoreError> {
        Ok(get(&self.pool, params![name.as_str()]).await?.map(Stored::into_value))
    }
}
