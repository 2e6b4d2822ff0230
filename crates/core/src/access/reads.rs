//! What the store tells about access.

use async_trait::async_trait;

use super::{ApiKey, Company, KeyHash, Member, Secret, SecretName};
use crate::ids::{CompanyId, KeyId, MemberId};
use crate::store::{StoreError, Stored};

/// Reads of companies, keys, members and installation secrets. Listings are by `created_at`, then
/// `id` (D58).
#[async_trait]
pub trait AccessReads: Send + Sync {
    /// A company.
    async fn company(&self, id: CompanyId) -> Result<Option<Stored<Company>>, StoreError>;

    /// All companies.
    async fn companies(&self) -> Result<Vec<Company>, StoreError>;

    /// The key of this hash with its company, in one read: made for every call (D11).
    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError>;

    /// A key of the company.
    async fn key(
        &self,
        company: CompanyId,
        id: KeyId,
    ) -> Result<Option<Stored<ApiKey>>, StoreError>;

    /// All keys of the company.
    async fn keys(&self, company: CompanyId) -> Result<Vec<ApiKey>, StoreError>;

    /// A member of the company.
    async fn member(
        &self,
        company: CompanyId,
        id: MemberId,
    ) -> Result<Option<Stored<Member>>, StoreError>;

    /// All members of the company.
    async fn members(&self, company: CompanyId) -> Result<Vec<Member>, StoreError>;

    /// A secret of the installation.
    async fn secret(&self, name: SecretName) -> Result<Option<Secret>, StoreError>;
}
