//! Logins by their address, and the sessions of a member.

use async_trait::async_trait;
use recado_core::accounts::{AccountReads, Login, LoginSubjectHash, Session};
use recado_core::contacts::Email;
use recado_core::ids::{CompanyId, MemberId};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::Cell;
use crate::table::{self};

/// The condition for [`table::find`].
const BY_EMAIL: &str = "email = ?1";

/// The condition for [`table::find`].
const BY_SUBJECT: &str = "subject = ?1";

/// The condition for [`table::list`].
const OF_MEMBER: &str = "company_id = ?1 AND member_id = ?2 ORDER BY created_at, id";

#[async_trait]
impl AccountReads for SqliteStore {
    async fn login_by_email(&self, email: &Email) -> Result<Option<Stored<Login>>, StoreError> {
        let email = email.clone();
        self.read_first(move |conn| table::find(conn, BY_EMAIL, &[email.as_str().into()])).await
    }

    async fn login_by_subject(
        &self,
        subject: &LoginSubjectHash,
    ) -> Result<Option<Stored<Login>>, StoreError> {
        let subject = *subject;
        let found = move |conn: &crate::database::Connection| {
            table::find(conn, BY_SUBJECT, &[Cell::Bytes(subject.as_bytes())])
        };
        self.read_first(found).await
    }

    async fn sessions_of(
        &self,
        company: CompanyId,
        member: MemberId,
    ) -> Result<Vec<Stored<Session>>, StoreError> {
        let read = move |conn: &crate::database::Connection| {
            table::list(conn, OF_MEMBER, &[company.into(), member.into()])
        };
        self.read_of(company, read).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;
    use crate::table::Table;

    #[test]
    fn logins_and_sessions_are_found_by_indexes() {
        let conn = plans::database();
        for condition in [BY_EMAIL, BY_SUBJECT] {
            let login = format!("{} WHERE {condition}", Login::statements().select);
            assert!(plans::step(&conn, &login).starts_with("SEARCH logins USING INDEX"));
        }
        let sessions = format!("{} WHERE {OF_MEMBER}", Session::statements().select);
        assert_eq!(
            plans::step(&conn, &sessions),
            "SEARCH sessions USING INDEX sessions_by_member (company_id=? AND member_id=?)"
        );
    }
}
