//! Logins by their address, and the sessions of a member.

use async_trait::async_trait;
use recado_core::accounts::{AccountReads, Login, Session};
use recado_core::contacts::Email;
use recado_core::ids::{CompanyId, MemberId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::select;

#[async_trait]
impl AccountReads for PostgresStore {
    async fn login_by_email(&self, email: &Email) -> Result<Option<Stored<Login>>, StoreError> {
        let params = params![email.as_str().to_owned()];
        let found = select(&self.pool, "WHERE email = $1", params).await?;
        Ok(found.into_iter().next())
    }

    async fn sessions_of(
        &self,
        company: CompanyId,
        member: MemberId,
    ) -> Result<Vec<Stored<Session>>, StoreError> {
        let condition = "WHERE company_id = $1 AND member_id = $2 ORDER BY created_at, id";
        select(&self.pool, condition, params![company.uuid(), member.uuid()]).await
    }
}
