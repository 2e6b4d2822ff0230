//! Reads that are the same for all kinds of record.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::access::Company;
use recado_core::audit::AuditEntry;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::links::Click;
use recado_core::messages::{Direction, Message};
use recado_core::organizations::Organization;
use recado_core::prosas::LedgerLine;
use recado_core::store::{
    Listing, ManyRows, Records, Removable, Row, RowKey, RowKind, StoreError, Stored,
};
use recado_core::uploads::Upload;
use recado_core::{for_each_listing, match_kind};
use recado_store_sql::table_of;
use rusqlite::params_from_iter;
use uuid::Uuid;

use crate::SqliteStore;
use crate::cell::Cell;
use crate::database::Connection;
use crate::error::ReadResult;
use crate::portions;
use crate::table::{self, Table};

/// The row of a key.
fn get<T: Table + Into<Row>>(conn: &Connection, key: &RowKey) -> ReadResult<Option<Stored<Row>>> {
    let found = table::get::<T>(conn, &table::key_values(key))?;
    Ok(found.map(|stored| stored.map(T::into)))
}

/// The rows that a condition selects.
fn list<T: Table + Into<Row>>(
    conn: &Connection,
    condition: &str,
    values: &[Cell<'_>],
) -> ReadResult<Vec<Stored<Row>>> {
    let rows = table::list::<T>(conn, condition, values)?;
    Ok(rows.into_iter().map(|stored| stored.map(T::into)).collect())
}

/// The conditions and orders of [`Listing::Oldest`].
const OLDEST: &str = "company_id = ?1 AND created_at <= ?2 ORDER BY created_at, id LIMIT ?3";
const OLDEST_CLICKS: &str = "company_id = ?1 AND at <= ?2 ORDER BY at, id LIMIT ?3";

const DUE_UPLOADS: &str = "company_id = ?1 AND expires_at <= ?2 ORDER BY expires_at, id LIMIT ?3";

/// The condition and order of [`Listing::CompaniesWith`]: from the first row of one company to the
/// first one of the next.
fn companies_with(table: &str) -> String {
    format!(
        "id IN (WITH RECURSIVE seen(company_id) AS (SELECT min(company_id) FROM {table} UNION ALL \
         SELECT (SELECT min(t.company_id) FROM {table} AS t WHERE t.company_id > s.company_id) \
         FROM seen AS s WHERE s.company_id IS NOT NULL) \
         SELECT company_id FROM seen WHERE company_id IS NOT NULL) ORDER BY id"
    )
}

/// The conditions of [`Listing::Unused`].
const UNUSED_UPLOADS: &str = "company_id = ?1 AND expires_at IS NULL AND NOT EXISTS (\
                              SELECT 1 FROM messages AS m WHERE m.company_id = ?1 \
                              AND m.media_upload_id = uploads.id) LIMIT ?2";
const UNUSED: &str = "company_id = ?1 AND NOT EXISTS (SELECT 1 FROM contacts AS c \
                      WHERE c.company_id = ?1 AND c.organization_id = organizations.id) LIMIT ?2";

/// The condition of [`Listing::Carried`].
const CARRIED: &str = "company_id = ?1 AND id IN (SELECT m.media_upload_id FROM messages AS m \
                       WHERE m.company_id = ?1 AND m.contact_id = ?2 \
                       AND m.media_upload_id IS NOT NULL) LIMIT ?3";

/// The conditions and orders of the audit log.
const AUDITED: &str = "(at, id) < (?1, ?2) ORDER BY at DESC, id DESC LIMIT ?3";
const AUDITED_OF: &str = "company_id = ?4 AND (at, id) < (?1, ?2) \
                          ORDER BY at DESC, id DESC LIMIT ?3";
const AUDITED_BEFORE: &str = "at <= ?1 ORDER BY at, id LIMIT ?2";

/// The conditions of [`Listing::About`]: of kinds with an id, and of the others. The signs before
/// `id` keep the planner from walking through the rows of a whole company by id.
const ABOUT_BY_ID: &str = "company_id = ?1 AND contact_id = ?2 AND +id > ?3 \
                           ORDER BY +id LIMIT ?4";
const ABOUT: &str = "company_id = ?1 AND contact_id = ?2 LIMIT ?3";

/// The condition of [`Listing::MessagesOf`].
const MESSAGES_OF: &str = "company_id = ?1 AND contact_id = ?2 AND direction = ?3 \
                           AND is_history = ?4 AND (created_at, id) > (?5, ?6) \
                           ORDER BY created_at, id LIMIT ?7";

/// The condition of [`Listing::LastMessages`] for one contact. The index has four ranges of it, and
/// its last message is at the end of one.
static LAST_MESSAGE: LazyLock<String> = LazyLock::new(|| {
    let last = |direction: &Direction, is_history: bool| {
        format!(
            "SELECT * FROM (SELECT created_at, id FROM messages INDEXED BY messages_by_contact \
             WHERE company_id = ?1 AND contact_id = ?2 AND direction = '{direction}' \
             AND is_history = {is_history} ORDER BY created_at DESC, id DESC LIMIT 1)"
        )
    };
    let ranges = Direction::ALL.iter().flat_map(|way| [last(way, false), last(way, true)]);
    format!(
        "company_id = ?1 AND id = (SELECT id FROM ({}) ORDER BY created_at DESC, id DESC LIMIT 1)",
        ranges.collect::<Vec<_>>().join(" UNION ALL ")
    )
});

/// The rows of [`Listing::LastMessages`].
fn last_messages(
    conn: &Connection,
    company: CompanyId,
    contacts: &[ContactId],
) -> ReadResult<Vec<Stored<Row>>> {
    let mut found = Vec::with_capacity(contacts.len());
    for contact in contacts {
        let values = [company.into(), (*contact).into()];
        found.extend(list::<Message>(conn, &LAST_MESSAGE, &values)?);
    }
    Ok(found)
}

/// The rows of [`Listing::About`].
fn about<T: Table + Into<Row>>(
    conn: &Connection,
    kind: RowKind,
    (company, contact): (CompanyId, ContactId),
    after: Uuid,
    limit: u32,
) -> ReadResult<Vec<Stored<Row>>> {
    if kind.key_parts().contains(&"id") {
        let values = [company.into(), contact.into(), after.into(), limit.into()];
        list::<T>(conn, ABOUT_BY_ID, &values)
    } else {
        list::<T>(conn, ABOUT, &[company.into(), contact.into(), limit.into()])
    }
}

/// Counts the rows of a table that refer to a contact.
fn count_of<T: Table>() -> String {
    format!("SELECT count(*) FROM {} WHERE company_id = ?1 AND contact_id = ?2", T::TABLE.name)
}

/// How many rows of a kind refer to a contact.
pub(crate) fn count_about(
    conn: &Connection,
    company: CompanyId,
    kind: RowKind,
    contact: ContactId,
) -> rusqlite::Result<u64> {
    if !kind.is_about_a_contact() {
        return Ok(0);
    }
    let sql = match_kind!(kind, T => count_of::<T>());
    let values: [Cell<'_>; 2] = [company.into(), contact.into()];
    let mut statement = conn.prepare_cached(&sql)?;
    let count: i64 = statement.query_row(params_from_iter(values), |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// Whether a message carries an upload.
const UPLOAD_USES: &str = "SELECT 1 FROM messages WHERE company_id = ?1 AND media_upload_id = ?2";

/// The condition and order of a listing.
const fn condition(listing: &Listing) -> &'static str {
    match listing {
        Listing::Stage(_) => "company_id = ?1 ORDER BY pipeline_id, display_order, id",
        Listing::Company | Listing::OperatorToken => "true ORDER BY created_at, id",
        Listing::Login(_) => "company_id = ?1 ORDER BY created_at, member_id",
        Listing::Worker => "true ORDER BY id",
        Listing::Shard => "true ORDER BY number",
        Listing::Halt => "true ORDER BY kind, subject",
        Listing::Some { .. } => "company_id = ?1 LIMIT ?2",
        _ => "company_id = ?1 ORDER BY created_at, id",
    }
}

macro_rules! listed {
    (
        [$conn:expr, $listing:expr]
        company { $($name:ident($record:ty) by $($order:ident),+;)+ }
        installation { $($global:ident($global_record:ty) by $($global_order:ident),+;)+ }
    ) => {
        match $listing {
            $(Listing::$name(company) => {
                list::<$record>($conn, condition(&$listing), &[company.into()])
            })+
            $(Listing::$global => list::<$global_record>($conn, condition(&$listing), &[]),)+
            Listing::CompaniesWith { kind } if !kind.is_of_company() => Ok(Vec::new()),
            Listing::CompaniesWith { kind } => {
                list::<Company>($conn, &companies_with(table_of(kind).name), &[])
            }
            Listing::Oldest { company, kind, until, limit } => {
                let values: [Cell<'_>; 3] = [company.into(), until.into(), limit.into()];
                match kind {
                    RowKind::Message => list::<Message>($conn, OLDEST, &values),
                    RowKind::LedgerLine => list::<LedgerLine>($conn, OLDEST, &values),
                    RowKind::Click => list::<Click>($conn, OLDEST_CLICKS, &values),
                    RowKind::Upload => list::<Upload>($conn, DUE_UPLOADS, &values),
                    _ => Ok(Vec::new()),
                }
            }
            Listing::Unused { company, kind, limit } => {
                let values: [Cell<'_>; 2] = [company.into(), limit.into()];
                match kind {
                    RowKind::Organization => list::<Organization>($conn, UNUSED, &values),
                    RowKind::Upload => list::<Upload>($conn, UNUSED_UPLOADS, &values),
                    _ => Ok(Vec::new()),
                }
            }
            Listing::Carried { company, contact, limit } => {
                list::<Upload>($conn, CARRIED, &[company.into(), contact.into(), limit.into()])
            }
            Listing::Audited { company, before: (at, id), limit } => {
                let mut values = vec![at.into(), id.into(), limit.into()];
                values.extend(company.map(Cell::from));
                let condition = if company.is_some() { AUDITED_OF } else { AUDITED };
                list::<AuditEntry>($conn, condition, &values)
            }
            Listing::AuditedBefore { until, limit } => {
                list::<AuditEntry>($conn, AUDITED_BEFORE, &[until.into(), limit.into()])
            }
            Listing::About { kind: RowKind::Message, .. } => Ok(Vec::new()),
            Listing::About { kind, .. } if !kind.is_about_a_contact() => Ok(Vec::new()),
            Listing::About { company, kind, contact, after, limit } => match_kind!(kind, T => {
                about::<T>($conn, kind, (company, contact), after, limit)
            }),
            Listing::MessagesOf { company, contact, direction, is_history, after, limit } => {
                let (at, id) = after;
                let values: [Cell<'_>; 7] = [
                    company.into(),
                    contact.into(),
                    direction.as_str().into(),
                    is_history.into(),
                    at.into(),
                    id.into(),
                    limit.into(),
                ];
                list::<Message>($conn, MESSAGES_OF, &values)
            }
            Listing::LastMessages { company, contacts } => {
                last_messages($conn, company, &contacts)
            }
            Listing::Some { kind, .. } if !kind.is_of_company() => Ok(Vec::new()),
            Listing::Some { company, kind, limit } => match_kind!(kind, T => {
                list::<T>($conn, condition(&$listing), &[company.into(), limit.into()])
            }),
        }
    };
}

#[async_trait]
impl Records for SqliteStore {
    async fn row(&self, key: &RowKey) -> Result<Option<Stored<Row>>, StoreError> {
        let key = key.clone();
        let company = key.company();
        let read = move |conn: &Connection| match_kind!(key.kind(), T => get::<T>(conn, &key));
        match company {
            Some(company) => self.read_of(company, read).await,
            None => self.read_first(read).await,
        }
    }

    async fn rows(&self, listing: Listing) -> Result<Vec<Stored<Row>>, StoreError> {
        let company = listing.company();
        let read = move |conn: &Connection| for_each_listing!(listed [conn, listing]);
        match company {
            Some(company) => self.read_of(company, read).await,
            None => self.read_first(read).await,
        }
    }

    async fn is_in_use(&self, company: CompanyId, record: Removable) -> Result<bool, StoreError> {
        match record {
            Removable::Member(id) => self.member_in_use(company, id).await,
            Removable::CloseReason(id) => self.close_reason_in_use(company, id).await,
            Removable::Connection(id) => self.connection_in_use(company, id).await,
            Removable::Upload(id) => {
                self.read_of(company, move |conn| {
                    table::exists(conn, UPLOAD_USES, &[company.into(), id.into()])
                })
                .await
            }
        }
    }

    async fn count_about(
        &self,
        company: CompanyId,
        kind: RowKind,
        contact: ContactId,
    ) -> Result<u64, StoreError> {
        self.read_of(company, move |conn| count_about(conn, company, kind, contact)).await
    }

    async fn has_many(
        &self,
        company: CompanyId,
        contact: ContactId,
        than: u32,
    ) -> Result<ManyRows, StoreError> {
        self.read_of(company, move |conn| portions::has_many(conn, company, contact, than)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    /// R348.
    #[test]
    fn who_has_an_upload_is_found_by_indexes() {
        let conn = plans::database();
        assert_eq!(
            plans::step(&conn, UPLOAD_USES),
            "SEARCH messages USING COVERING INDEX messages_by_upload \
             (company_id=? AND media_upload_id=?)"
        );
        let select = &Upload::statements().select;
        for (condition, index) in [
            (DUE_UPLOADS, "uploads USING INDEX uploads_by_expiry (company_id=? AND expires_at<?)"),
            (
                UNUSED_UPLOADS,
                "uploads USING INDEX uploads_by_expiry (company_id=? AND expires_at=?)",
            ),
            (CARRIED, "uploads USING PRIMARY KEY (company_id=? AND id=?)"),
        ] {
            let steps = plans::steps(&conn, &format!("{select} WHERE {condition}"));
            assert_eq!(steps[0], format!("SEARCH {index}"), "{steps:?}");
            assert!(!steps.iter().any(|step| step.starts_with("SCAN")), "{steps:?}");
        }
    }

    /// R456.
    #[test]
    fn companies_with_rows_are_found_from_the_first_row_of_one_to_that_of_the_next() {
        let conn = plans::database();
        let select = &Company::statements().select;
        for kind in RowKind::ALL.iter().copied().filter(|kind| kind.is_of_company()) {
            let table = table_of(kind).name;
            let steps = plans::steps(&conn, &format!("{select} WHERE {}", companies_with(table)));
            let found = |how: &str| {
                let step = format!("SEARCH {how} USING ");
                steps.iter().filter(|known| known.starts_with(&step)).count()
            };
            assert_eq!((found(table), found("t")), (1, 1), "{kind:?}: {steps:?}");
        }
    }

    /// R422.
    #[test]
    fn the_last_message_of_a_contact_is_at_the_end_of_four_ranges() {
        let conn = plans::database();
        let select = &Message::statements().select;
        let steps = plans::steps(&conn, &format!("{select} WHERE {}", *LAST_MESSAGE));
        let range = "SEARCH messages USING COVERING INDEX messages_by_contact \
                     (company_id=? AND contact_id=? AND direction=? AND is_history=?)";
        assert_eq!(steps.iter().filter(|step| *step == range).count(), 4, "{steps:?}");
        let scanned = |step: &&String| step.starts_with("SCAN messages");
        assert_eq!(steps.iter().find(scanned), None, "{steps:?}");
    }

    /// R388, R389. Of the other filters the core knows: the log is read in its order.
    #[test]
    fn the_audit_log_is_read_in_the_order_of_its_indexes() {
        let conn = plans::database();
        let select = &AuditEntry::statements().select;
        for (condition, found) in [
            (AUDITED, "PRIMARY KEY ((at,id)<(?,?))"),
            (AUDITED_OF, "INDEX audit_entries_by_company (company_id=? AND (at,id)<(?,?))"),
            (AUDITED_BEFORE, "PRIMARY KEY (at<?)"),
        ] {
            let step = plans::step(&conn, &format!("{select} WHERE {condition}"));
            assert_eq!(step, format!("SEARCH audit_entries USING {found}"));
        }
    }

    /// R411.
    #[test]
    fn what_is_about_a_contact_is_found_by_indexes() {
        let conn = plans::database();
        let mut statements = vec![format!("{} WHERE {MESSAGES_OF}", &Message::statements().select)];
        for kind in RowKind::ALL.iter().copied().filter(|kind| kind.is_about_a_contact()) {
            match_kind!(kind, T => {
                let condition = if kind.key_parts().contains(&"id") { ABOUT_BY_ID } else { ABOUT };
                if kind != RowKind::Message {
                    statements.push(format!("{} WHERE {condition}", T::statements().select));
                }
                statements.push(count_of::<T>());
            });
        }
        for statement in statements {
            let mut steps = plans::steps(&conn, &statement);
            // The rows of one contact may be sorted.
            steps.retain(|step| step != "USE TEMP B-TREE FOR ORDER BY");
            let [step] = steps.as_slice() else { panic!("{statement}: {steps:?}") };
            assert!(step.starts_with("SEARCH"), "{statement}: {step}");
            assert!(step.contains("contact_id=?"), "{statement}: {step}");
        }
    }
}
