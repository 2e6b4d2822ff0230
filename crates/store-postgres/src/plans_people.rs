//! The cost of the audit log, of logins and sessions, and of remembered opt-outs: how many rows and
//! pages their statements touch, with plans that were made while the tables were empty, or while
//! every company had few rows.

use recado_core::access::{Company, OperatorToken};
use recado_core::accounts::{Login, LoginLink, Session};
use recado_core::audit::AuditEntry;
use recado_core::remembered_opt_outs::RememberedOptOut;

use crate::accounts::{BY_EMAIL, BY_SUBJECT, OF_MEMBER};
use crate::plans_campaigns::{Case, Filling};
use crate::records::{AUDITED, AUDITED_BEFORE, AUDITED_OF, SOME, companies_with};
use crate::table::Table;

/// Three rows of each table for each of 300 companies.
const SMALL: &str = "\
CREATE TABLE had AS SELECT c.id AS company_id, md5(c.id::text || i)::uuid AS id, i \
FROM companies c, generate_series(1, 3) i; ";

/// As many more of one company.
const LARGE: &str = "\
DELETE FROM had; \
INSERT INTO had SELECT md5('c2')::uuid, md5('l' || i)::uuid, i FROM generate_series(4, 9000) i; ";

/// Inserts rows as `had` says. A member has three sessions.
const FILL: &str = "\
INSERT INTO audit_entries (id, company_id, at, actor, operation, records) \
SELECT id, company_id, i, 'key', 'createContact', '[]' FROM had; \
INSERT INTO operator_tokens (id, name, hash, role, created_at, version) \
SELECT id, 'n', uuid_send(id), 'viewer', i, 1 FROM had; \
INSERT INTO logins (company_id, member_id, email, role, created_at, version, subject) \
SELECT company_id, id, id || '@example.org', 'viewer', i, 1, uuid_send(id) FROM had; \
INSERT INTO login_links SELECT company_id, id, uuid_send(id), 'reset', i, i, 1 FROM had; \
INSERT INTO sessions (company_id, id, member_id, hash, last_seen_at, created_at, version) \
SELECT company_id, md5(id || 's')::uuid, md5('p' || i / 3)::uuid, uuid_send(id), i, i, 1 FROM had; \
INSERT INTO remembered_opt_outs SELECT company_id, uuid_send(id), i, 1 FROM had;";

const ANALYZE: &str =
    "ANALYZE audit_entries, operator_tokens, logins, login_links, sessions, remembered_opt_outs";

fn cases() -> Vec<Case> {
    let case = |name, sql: String, arguments: &str, few| Case {
        name,
        sql,
        arguments: arguments.to_owned(),
        few,
    };
    let (entry, one) = (&AuditEntry::sql().select, (1.0, 10.0));
    let before = "8000, md5('')::uuid, 100";
    let of_company = format!("{before}, md5('c2')::uuid");
    let (login, session) = (Login::sql(), Session::sql());
    let by_email = "md5('l7000')::uuid || '@example.org'";
    let (member, id) = ("md5('c2')::uuid, md5('p7')::uuid", "md5('c2')::uuid, md5('l7000')::uuid");
    let signed_in = "md5('c2')::uuid, md5(md5('l7000')::uuid || 's')::uuid";
    let hashed = "md5('c2')::uuid, uuid_send(md5('l7000')::uuid)";
    let some = "md5('c2')::uuid, 100";
    let with_member = "DELETE FROM ONLY sessions \
                       WHERE $1::uuid = company_id AND $2::uuid = member_id";
    vec![
        case("the log", format!("{entry} {AUDITED}"), before, (100.0, 120.0)),
        case("a company's log", format!("{entry} {AUDITED_OF}"), &of_company, (100.0, 120.0)),
        case(
            "the oldest entries",
            format!("{entry} {AUDITED_BEFORE}"),
            "9000, 100",
            (100.0, 120.0),
        ),
        case(
            "companies with logins",
            format!("{} {}", Company::sql().select, companies_with("logins")),
            "",
            (1_000.0, 4_000.0),
        ),
        case("an address", format!("{} {BY_EMAIL}", login.select), by_email, one),
        case(
            "somebody at the provider",
            format!("{} {BY_SUBJECT}", login.select),
            "uuid_send(md5('l7000')::uuid)",
            one,
        ),
        case("a login", login.get.clone(), id, one),
        case("a link", LoginLink::sql().get.clone(), id, one),
        case("a session", session.get.clone(), signed_in, one),
        case("a member's sessions", format!("{} {OF_MEMBER}", session.select), member, (3.0, 10.0)),
        case("a member who goes", with_member.to_owned(), member, (3.0, 30.0)),
        case("an operator token", OperatorToken::sql().get.clone(), "md5('l7000')::uuid", one),
        case("an opt-out", RememberedOptOut::sql().get.clone(), hashed, one),
        case("some logins", format!("{} {SOME}", login.select), some, (100.0, 200.0)),
        case("some sessions", format!("{} {SOME}", session.select), some, (100.0, 200.0)),
        case(
            "some opt-outs",
            format!("{} {SOME}", RememberedOptOut::sql().select),
            some,
            (100.0, 200.0),
        ),
    ]
}

/// Each of the two is followed by the rows that it says.
const FILLING: Filling = Filling { small: &[SMALL, FILL], large: &[LARGE, FILL], analyze: ANALYZE };

/// R388, R389, R394, R397, R414, R456.
#[tokio::test(flavor = "multi_thread")]
async fn people_touch_few_rows_by_plans_for_empty_tables() {
    FILLING.assert_few_by_plans_for_empty_tables(cases()).await;
}

/// R388, R389, R394, R397, R414, R456.
#[tokio::test(flavor = "multi_thread")]
async fn people_touch_few_rows_when_one_company_has_more_than_all_others() {
    FILLING.assert_few_when_one_has_grown(cases()).await;
}
