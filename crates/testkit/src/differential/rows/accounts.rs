//! Members of a company, their logins, one-time links and sessions: made, found, replaced.

use recado_core::access::{KeyHash, Member, OperatorRole, Role};
use recado_core::accounts::{
    LinkPurpose, Login, LoginLink, LoginSubjectHash, PasswordHash, Session,
};
use recado_core::contacts::Email;
use recado_core::ids::{MemberId, SessionId};
use recado_core::store::{RecordsExt, Row, Stored};

use super::CompanyRows;
use super::find::any;
use super::make::Maker;

/// Addresses, so few that two logins want the same.
const EMAILS: &[&str] = &["ana@example.org", "bia@example.org", "caio@example.org"];

/// `made` with the identity of `of`, which is a row of the same kind.
pub(super) fn replacing(of: &Row, made: Row) -> Option<Row> {
    Some(match (of, made) {
        (Row::Member(of), Row::Member(made)) => Member { id: of.id, ..made }.into(),
        (Row::Login(of), Row::Login(made)) => Login { member: of.member, ..made }.into(),
        (Row::LoginLink(of), Row::LoginLink(made)) => {
            LoginLink { member: of.member, ..made }.into()
        }
        (Row::Session(of), Row::Session(made)) => Session { id: of.id, ..made }.into(),
        _ => return None,
    })
}

impl Maker<'_> {
    fn member_id(&self, n: usize) -> MemberId {
        MemberId::new(self.known(n, "row company member"))
    }

    fn key_hash(&self, n: usize) -> KeyHash {
        KeyHash::of(&self.command.number(n).to_string())
    }

    /// A row of these kinds.
    pub(super) fn account_row(&self, kind: &str) -> Option<Row> {
        let company = self.company;
        Some(match kind {
            "row company member" => Member {
                id: MemberId::new(self.fresh),
                company,
                display_name: self.text(1),
                role: self.one(2, Role::ALL),
                created_at: self.time(3),
            }
            .into(),
            "row login" => Login {
                company,
                member: self.member_id(1),
                email: Email::parse(self.command.pick(2, EMAILS)).expect("an address"),
                role: self.one(3, OperatorRole::ALL),
                password: self
                    .command
                    .once_in(4, 2)
                    .then(|| PasswordHash::from_stored(format!("$test${}", self.text(5)))),
                disabled_at: self.command.once_in(6, 3).then(|| self.time(7)),
                totp_secret: None,
                totp_confirmed_at: None,
                totp_step: self.command.once_in(8, 3).then(|| self.command.number(9) as u64),
                recovery: None,
                password_set_at: self.command.once_in(4, 2).then(|| self.time(10)),
                subject: self
                    .command
                    .once_in(12, 3)
                    .then(|| LoginSubjectHash::from_bytes([self.command.number(13) as u8 % 3; 32])),
                created_at: self.time(11),
            }
            .into(),
            "row login link" => LoginLink {
                company,
                member: self.member_id(1),
                hash: self.key_hash(2),
                purpose: self.one(3, LinkPurpose::ALL),
                expires_at: self.time(4),
                created_at: self.time(5),
            }
            .into(),
            "row session" => Session {
                company,
                id: SessionId::new(self.fresh),
                member: self.member_id(1),
                hash: self.key_hash(2),
                last_seen_at: self.time(3),
                created_at: self.time(4),
            }
            .into(),
            _ => return None,
        })
    }
}

impl CompanyRows {
    /// A row of these kinds, if the command finds one.
    pub(super) async fn find_account(
        &self,
        at: usize,
        kind: &str,
        maker: &Maker<'_>,
    ) -> Option<Stored<Row>> {
        let (store, company, member) = (&self.store, self.company, maker.member_id(at));
        match kind {
            "row company member" => {
                let found = store.get::<Member>((company, member)).await.expect("works");
                found.as_ref().map(any)
            }
            "row login" => {
                let found = store.get::<Login>((company, member)).await.expect("works");
                found.as_ref().map(any)
            }
            "row login link" => {
                let found = store.get::<LoginLink>((company, member)).await.expect("works");
                found.as_ref().map(any)
            }
            "row session" => {
                let id = SessionId::new(maker.known(at, "row session"));
                store.get::<Session>((company, id)).await.expect("works").as_ref().map(any)
            }
            _ => None,
        }
    }
}
