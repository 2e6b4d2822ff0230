//! Logins by their address, and the sessions of a member.

use async_trait::async_trait;
use recado_core::accounts::{AccountReads, Login, LoginSubjectHash, Session};
use recado_core::contacts::Email;
use recado_core::ids::{CompanyId, MemberId};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::param::params;
use crate::session::select;

/// The conditions of the reads.
pub(crate) const BY_EMAIL: &str = "WHERE email = $1";
pub(crate) const BY_SUBJECT: &str = "WHERE subject = $1";
pub(crate) const OF_MEMBER: &str =
    "WHERE company_id = $1 AND member_id = $2 ORDER BY created_at, id";

#[async_trait]
impl AccountReads for PostgresStore {
    async fn login_by_email(&self, email: &Email) -> Result<Option<Stored<Login>>, StoreError> {
        let params = params![email.as_str().to_owned()];
        let found = select(&self.pool, BY_EMAIL, params).await?;
        Ok(found.into_iter().next())
    }

    async fn login_by_subject(
        &self,
        subject: &LoginSubjectHash,
    ) -> Result<Option<Stored<Login>>, StoreError> {
        let params = params![subject.as_bytes().to_vec()];
        let found = select(&self.pool, BY_SUBJECT, params).await?;
        Ok(found.into_iter().next())
    }

    async fn sessions_of(
        &self,
        company: CompanyId,
        member: MemberId,
    ) -> Result<Vec<Stored<Session>>, StoreError> {
        select(&self.pool, OF_MEMBER, params![company.uuid(), member.uuid()]).await
    }
}
