//! Companies, API keys, members and the installation's secrets.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::{AccessReads, ApiKey, Company, KeyHash, Member, Secret, SecretName};
use recado_core::ids::{CompanyId, KeyId, MemberId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::Cell;
use crate::table::{self};

static KEY_BY_HASH: LazyLock<String> =
    LazyLock::new(|| table::with_company::<ApiKey>("row.hash = ?1"));

#[async_trait]
impl AccessReads for SqliteStore {
    async fn company(&self, id: CompanyId) -> Result<Option<Stored<Company>>, StoreError> {
        self.read(move |conn| table::get(conn, &[id.into()])).await
    }

    async fn companies(&self) -> Result<Vec<Company>, StoreError> {
        self.read(move |conn| {
            let companies = table::list(conn, "true ORDER BY created_at, id", &[])?;
            Ok(companies.into_iter().map(Stored::into_value).collect())
        })
        .await
    }

    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError> {
        let hash = *hash;
        self.read(move |conn| {
            table::find_with_company(conn, &KEY_BY_HASH, Cell::Bytes(hash.as_bytes()))
        })
        .await
    }

    async fn key(
        &self,
        company: CompanyId,
        id: KeyId,
    ) -> Result<Option<Stored<ApiKey>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn keys(&self, company: CompanyId) -> Result<Vec<ApiKey>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }

    async fn member(
        &self,
        company: CompanyId,
        id: MemberId,
    ) -> Result<Option<Stored<Member>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn members(&self, company: CompanyId) -> Result<Vec<Member>, StoreError> {
        self.read(move |conn| table::all(conn, company)).await
    }

    async fn secret(&self, name: SecretName) -> Result<Option<Secret>, StoreError> {
        self.read(move |conn| {
            let secret = table::get(conn, &[name.as_str().into()])?;
            Ok(secret.map(Stored::into_value))
        })
        .await
    }
}
