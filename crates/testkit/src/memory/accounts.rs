//! Logins by their address, and the sessions of a member.

use async_trait::async_trait;
use recado_core::accounts::{AccountReads, Login, LoginSubjectHash, Session};
use recado_core::contacts::Email;
use recado_core::ids::{CompanyId, MemberId};
use recado_core::store::{StoreError, Stored};

use super::MemoryStore;

#[async_trait]
impl AccountReads for MemoryStore {
    async fn login_by_email(&self, email: &Email) -> Result<Option<Stored<Login>>, StoreError> {
        let state = self.state();
        Ok(state.rows.all_stored::<Login>().find(|login| login.email == *email))
    }

    async fn login_by_subject(
        &self,
        subject: &LoginSubjectHash,
    ) -> Result<Option<Stored<Login>>, StoreError> {
        let state = self.state();
        Ok(state.rows.all_stored::<Login>().find(|login| login.subject == Some(*subject)))
    }

    async fn sessions_of(
        &self,
        company: CompanyId,
        member: MemberId,
    ) -> Result<Vec<Stored<Session>>, StoreError> {
        let of_member = |session: &Session| session.company == company && session.member == member;
        let state = self.state();
        Ok(state.sorted_stored(of_member, |session| (session.created_at, session.id)))
    }
}
