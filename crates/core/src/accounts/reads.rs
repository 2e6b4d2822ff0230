//! Reads of logins and sessions.

use async_trait::async_trait;

use super::{Login, LoginSubjectHash, Session};
use crate::contacts::Email;
use crate::ids::{CompanyId, MemberId};
use crate::store::{StoreError, Stored};

/// Reads of logins and sessions.
#[async_trait]
pub trait AccountReads: Send + Sync {
    /// The login of an address (R394), in whatever company.
    async fn login_by_email(&self, email: &Email) -> Result<Option<Stored<Login>>, StoreError>;

    /// The login of somebody at the provider that members sign in with (R433), in whatever company.
    async fn login_by_subject(
        &self,
        subject: &LoginSubjectHash,
    ) -> Result<Option<Stored<Login>>, StoreError>;

    /// The sessions of a member, by `created_at`, then `id`; ended ones too.
    async fn sessions_of(
        &self,
        company: CompanyId,
        member: MemberId,
    ) -> Result<Vec<Stored<Session>>, StoreError>;
}
