//! Reads that are the same for all kinds of record.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use recado_core::access::Company;
use recado_core::audit::AuditEntry;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::links::Click;
use recado_core::messages::Message;
use recado_core::organizations::Organization;
use recado_core::prosas::LedgerLine;
use recado_core::store::{
    Listing, ManyRows, Records, Removable, Row, RowKey, RowKind, StoreError, Stored,
};
use recado_core::uploads::Upload;
use recado_core::{for_each_listing, match_kind};
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::{Param, params};
use crate::pool::Pool;
use crate::session::{rows, select};
use crate::table::{Table, columns_of};
use crate::table_key::TableKey;

/// The rows that a condition selects.
async fn list<T: Table + Into<Row>>(
    pool: &Pool,
    condition: &str,
    params: Vec<Param>,
) -> Result<Vec<Stored<Row>>, StoreError> {
    let rows = select::<T>(pool, condition, params).await?;
    Ok(rows.into_iter().map(|stored| stored.map(T::into)).collect())
}

/// The conditions and orders of [`Listing::Oldest`].
const OLDEST: &str =
    "WHERE company_id = $1 AND created_at <= $2 ORDER BY created_at, id LIMIT $3::bigint";
const OLDEST_CLICKS: &str = "WHERE company_id = $1 AND at <= $2 ORDER BY at, id LIMIT $3::bigint";

const DUE_UPLOADS: &str = "WHERE company_id = $1 AND expires_at <= $2 \
                           ORDER BY expires_at, id LIMIT $3::bigint";

/// The conditions of [`Listing::Unused`].
const UNUSED_UPLOADS: &str = "WHERE company_id = $1 AND expires_at IS NULL AND NOT EXISTS (\
                              SELECT FROM messages m WHERE m.company_id = $1 \
                              AND m.media_upload_id = uploads.id) LIMIT $2::bigint";
const UNUSED: &str = "WHERE company_id = $1 AND NOT EXISTS (SELECT FROM contacts c \
                      WHERE c.company_id = $1 AND c.organization_id = organizations.id) \
                      LIMIT $2::bigint";

/// The condition of [`Listing::Carried`].
const CARRIED: &str = "WHERE company_id = $1 AND id IN (SELECT m.media_upload_id FROM messages m \
                       WHERE m.company_id = $1 AND m.contact_id = $2 \
                       AND m.media_upload_id IS NOT NULL) LIMIT $3::bigint";

/// The condition and order of [`Listing::CompaniesWith`]: from the first row of one company to the
/// first one of the next.
pub(crate) fn companies_with(table: &str) -> String {
    format!(
        "WHERE id = ANY(ARRAY(WITH RECURSIVE seen AS (\
         (SELECT company_id FROM {table} ORDER BY company_id LIMIT 1) UNION ALL \
         SELECT (SELECT t.company_id FROM {table} t WHERE t.company_id > s.company_id \
         ORDER BY t.company_id LIMIT 1) FROM seen s WHERE s.company_id IS NOT NULL) \
         SELECT company_id FROM seen WHERE company_id IS NOT NULL)) ORDER BY id"
    )
}

/// The conditions and orders of the audit log.
pub(crate) const AUDITED: &str =
    "WHERE (at, id) < ($1, $2) ORDER BY at DESC, id DESC LIMIT $3::bigint";
pub(crate) const AUDITED_OF: &str = "WHERE company_id = $4 AND (at, id) < ($1, $2) \
                          ORDER BY at DESC, id DESC LIMIT $3::bigint";
pub(crate) const AUDITED_BEFORE: &str = "WHERE at <= $1 ORDER BY at, id LIMIT $2::bigint";

/// The condition of [`Listing::About`] of kinds with an id. The inner part has no order, so that
/// the planner cannot walk through the rows of a whole company by id.
fn about_by_id(table: &str) -> String {
    format!(
        "WHERE company_id = $1 AND id = ANY(ARRAY(SELECT o.id FROM (SELECT id FROM {table} \
         WHERE company_id = $1 AND contact_id = $2 AND id > $3 OFFSET 0) o \
         ORDER BY o.id LIMIT $4::bigint)) ORDER BY id"
    )
}

/// The same of the other kinds.
const ABOUT: &str = "WHERE company_id = $1 AND contact_id = $2 LIMIT $3::bigint";

/// The condition of [`Listing::MessagesOf`].
const MESSAGES_OF: &str = "WHERE company_id = $1 AND contact_id = $2 AND direction = $3 \
                           AND is_history = $4 AND (created_at, id) > ($5, $6) \
                           ORDER BY created_at, id LIMIT $7::bigint";

/// The rows of [`Listing::LastMessages`]. The one of each contact is looked up separately, in the
/// order of the index of contacts: the planner might otherwise walk through all messages of a
/// company that it estimates to be small.
pub(crate) static LAST_MESSAGES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM unnest($2::uuid[]) AS of (contact) \
         CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.company_id = $1 \
         AND m.contact_id = of.contact \
         ORDER BY m.contact_id, m.created_at DESC, m.id DESC LIMIT 1) AS last",
        columns_of::<Message>("last"),
    )
});

/// Reads [`LAST_MESSAGES`].
async fn last_messages(
    pool: &Pool,
    company: CompanyId,
    contacts: &[ContactId],
) -> Result<Vec<Stored<Row>>, StoreError> {
    let contacts: BTreeSet<Uuid> = contacts.iter().map(|id| id.uuid()).collect();
    let contacts: Vec<Uuid> = contacts.into_iter().collect();
    let found = rows(pool, LAST_MESSAGES.as_str(), params![company.uuid(), contacts]).await?;
    let read = |row| Columns::new(row).stored_sealed::<Message>(pool.sealer());
    found.iter().map(|row| Ok(read(row)?.map(Row::from))).collect()
}

/// The rows of a listing, on the heap: the futures of all kinds of row side by side are more than
/// the stack of a thread holds.
fn boxed<'a, T: Table + Into<Row>>(
    pool: &'a Pool,
    condition: &'static str,
    params: Vec<Param>,
) -> BoxFuture<'a, Result<Vec<Stored<Row>>, StoreError>> {
    Box::pin(list::<T>(pool, condition, params))
}

/// The rows of [`Listing::About`], on the heap as well.
fn about<T: Table + Into<Row>>(
    pool: &Pool,
    kind: RowKind,
    (company, contact): (CompanyId, ContactId),
    after: Uuid,
    limit: u32,
) -> BoxFuture<'_, Result<Vec<Stored<Row>>, StoreError>> {
    Box::pin(async move {
        if kind.key_parts().contains(&"id") {
            let params = params![company.uuid(), contact.uuid(), after, i64::from(limit)];
            list::<T>(pool, &about_by_id(T::TABLE.name), params).await
        } else {
            list::<T>(pool, ABOUT, params![company.uuid(), contact.uuid(), i64::from(limit)]).await
        }
    })
}

/// Counts the rows of a table that refer to a contact.
fn count_of<T: Table>() -> String {
    format!("SELECT count(*) FROM {} WHERE company_id = $1 AND contact_id = $2", T::TABLE.name)
}

/// The same, as a statement that fails unless there are as many as the last parameter says.
pub(crate) fn counted_of(kind: RowKind) -> String {
    let table = match_kind!(kind, T => <T as recado_store_sql::Layout>::TABLE.name);
    format!(
        "SELECT 1 / (count(*) = $3::bigint)::int FROM {table} \
         WHERE company_id = $1 AND contact_id = $2"
    )
}

/// Whether a message carries an upload.
const UPLOAD_USES: &str =
    "SELECT FROM messages WHERE company_id = $1 AND media_upload_id = $2 LIMIT 1";

/// The condition of [`Listing::Some`].
pub(crate) const SOME: &str = "WHERE company_id = $1 LIMIT $2::bigint";

/// The condition and order of a listing.
const fn condition(listing: &Listing) -> &'static str {
    match listing {
        Listing::Stage(_) => "WHERE company_id = $1 ORDER BY pipeline_id, display_order, id",
        Listing::Company | Listing::OperatorToken => "ORDER BY created_at, id",
        Listing::Login(_) => "WHERE company_id = $1 ORDER BY created_at, member_id",
        Listing::Worker => "ORDER BY id",
        Listing::Shard => "ORDER BY number",
        Listing::Halt => "ORDER BY kind, subject",
        Listing::Some { .. } => SOME,
        _ => "WHERE company_id = $1 ORDER BY created_at, id",
    }
}

macro_rules! listed {
    (
        [$pool:expr, $listing:expr]
        company { $($name:ident($record:ty) by $($order:ident),+;)+ }
        installation { $($global:ident($global_record:ty) by $($global_order:ident),+;)+ }
    ) => {
        match $listing {
            $(Listing::$name(company) => {
                list::<$record>($pool, condition(&$listing), params![company.uuid()]).await
            })+
            $(Listing::$global => {
                list::<$global_record>($pool, condition(&$listing), Vec::new()).await
            })+
            Listing::CompaniesWith { kind } if !kind.is_of_company() => Ok(Vec::new()),
            Listing::CompaniesWith { kind } => {
                let condition = companies_with(TableKey::table(kind));
                list::<Company>($pool, &condition, Vec::new()).await
            }
            Listing::Oldest { company, kind, until, limit } => {
                let params = params![company.uuid(), until.millis(), i64::from(limit)];
                match kind {
                    RowKind::Message => list::<Message>($pool, OLDEST, params).await,
                    RowKind::LedgerLine => list::<LedgerLine>($pool, OLDEST, params).await,
                    RowKind::Click => list::<Click>($pool, OLDEST_CLICKS, params).await,
                    RowKind::Upload => list::<Upload>($pool, DUE_UPLOADS, params).await,
                    _ => Ok(Vec::new()),
                }
            }
            Listing::Unused { company, kind, limit } => {
                let params = params![company.uuid(), i64::from(limit)];
                match kind {
                    RowKind::Organization => list::<Organization>($pool, UNUSED, params).await,
                    RowKind::Upload => list::<Upload>($pool, UNUSED_UPLOADS, params).await,
                    _ => Ok(Vec::new()),
                }
            }
            Listing::Carried { company, contact, limit } => {
                let params = params![company.uuid(), contact.uuid(), i64::from(limit)];
                list::<Upload>($pool, CARRIED, params).await
            }
            Listing::Audited { company, before: (at, id), limit } => {
                let mut params = params![at.millis(), id.uuid(), i64::from(limit)];
                params.extend(company.map(|company| Param::of(company.uuid())));
                let condition = if company.is_some() { AUDITED_OF } else { AUDITED };
                list::<AuditEntry>($pool, condition, params).await
            }
            Listing::AuditedBefore { until, limit } => {
                let params = params![until.millis(), i64::from(limit)];
                list::<AuditEntry>($pool, AUDITED_BEFORE, params).await
            }
            Listing::About { kind: RowKind::Message, .. } => Ok(Vec::new()),
            Listing::About { kind, .. } if !kind.is_about_a_contact() => Ok(Vec::new()),
            Listing::About { company, kind, contact, after, limit } => match_kind!(kind, T => {
                about::<T>($pool, kind, (company, contact), after, limit).await
            }),
            Listing::MessagesOf { company, contact, direction, is_history, after, limit } => {
                let (at, id) = after;
                let params = params![
                    company.uuid(),
                    contact.uuid(),
                    direction.as_str(),
                    is_history,
                    at.millis(),
                    id.uuid(),
                    i64::from(limit)
                ];
                list::<Message>($pool, MESSAGES_OF, params).await
            }
            Listing::LastMessages { company, contacts } => {
                last_messages($pool, company, &contacts).await
            }
            Listing::Some { kind, .. } if !kind.is_of_company() => Ok(Vec::new()),
            Listing::Some { company, kind, limit } => {
                let params = params![company.uuid(), i64::from(limit)];
                match_kind!(kind, T => boxed::<T>($pool, condition(&$listing), params).await)
            }
        }
    };
}

#[async_trait]
impl Records for PostgresStore {
    async fn row(&self, key: &RowKey) -> Result<Option<Stored<Row>>, StoreError> {
        self.row_of(key).await
    }

    async fn rows(&self, listing: Listing) -> Result<Vec<Stored<Row>>, StoreError> {
        if let Listing::Connection(company) = listing {
            return self.connections_of(company).await;
        }
        for_each_listing!(listed [&self.pool, listing])
    }

    async fn is_in_use(&self, company: CompanyId, record: Removable) -> Result<bool, StoreError> {
        match record {
            Removable::Member(id) => self.member_in_use(company, id).await,
            Removable::CloseReason(id) => self.close_reason_in_use(company, id).await,
            Removable::Connection(id) => self.connection_in_use(company, id).await,
            Removable::Upload(id) => {
                let found = rows(&self.pool, UPLOAD_USES, params![company.uuid(), id.uuid()]);
                Ok(!found.await?.is_empty())
            }
        }
    }

    async fn count_about(
        &self,
        company: CompanyId,
        kind: RowKind,
        contact: ContactId,
    ) -> Result<u64, StoreError> {
        if !kind.is_about_a_contact() {
            return Ok(0);
        }
        let sql = match_kind!(kind, T => count_of::<T>());
        let found = rows(&self.pool, sql, params![company.uuid(), contact.uuid()]).await?;
        Ok(found.first().map_or(0, |row| row.get::<_, i64>(0).unsigned_abs()))
    }

    async fn has_many(
        &self,
        company: CompanyId,
        contact: ContactId,
        than: u32,
    ) -> Result<ManyRows, StoreError> {
        self.many_rows(company, contact, than).await
    }
}
