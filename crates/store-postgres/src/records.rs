//! Reads that are the same for all kinds of record.

use async_trait::async_trait;
use recado_core::ids::CompanyId;
use recado_core::links::Click;
use recado_core::messages::Message;
use recado_core::organizations::Organization;
use recado_core::prosas::LedgerLine;
use recado_core::store::{Listing, Records, Removable, Row, RowKey, RowKind, StoreError, Stored};
use recado_core::uploads::Upload;
use recado_core::{for_each_listing, match_kind};

use crate::PostgresStore;
use crate::param::{Param, params};
use crate::pool::Pool;
use crate::session::{get, rows, select};
use crate::table::Table;
use crate::table_key::TableKey;

/// The row of a key.
async fn row<T: Table + Into<Row>>(
    pool: &Pool,
    key: &RowKey,
) -> Result<Option<Stored<Row>>, StoreError> {
    let found = get::<T>(pool, TableKey::find(key).params()).await?;
    Ok(found.map(|stored| stored.map(T::into)))
}

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

/// Whether a message carries an upload.
const UPLOAD_USES: &str =
    "SELECT FROM messages WHERE company_id = $1 AND media_upload_id = $2 LIMIT 1";

/// The condition and order of a listing.
const fn condition(listing: Listing) -> &'static str {
    match listing {
        Listing::Stage(_) => "WHERE company_id = $1 ORDER BY pipeline_id, display_order, id",
        Listing::Company | Listing::OperatorToken => "ORDER BY created_at, id",
        Listing::Login(_) => "WHERE company_id = $1 ORDER BY created_at, member_id",
        Listing::Worker => "ORDER BY id",
        Listing::Shard => "ORDER BY number",
        Listing::Halt => "ORDER BY kind, subject",
        Listing::Some { .. } => "WHERE company_id = $1 LIMIT $2::bigint",
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
                list::<$record>($pool, condition($listing), params![company.uuid()]).await
            })+
            $(Listing::$global => {
                list::<$global_record>($pool, condition($listing), Vec::new()).await
            })+
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
            Listing::Some { kind, .. } if !kind.is_of_company() => Ok(Vec::new()),
            Listing::Some { company, kind, limit } => {
                let params = params![company.uuid(), i64::from(limit)];
                match_kind!(kind, T => list::<T>($pool, condition($listing), params).await)
            }
        }
    };
}

#[async_trait]
impl Records for PostgresStore {
    async fn row(&self, key: &RowKey) -> Result<Option<Stored<Row>>, StoreError> {
        match_kind!(key.kind(), T => row::<T>(&self.pool, key).await)
    }

    async fn rows(&self, listing: Listing) -> Result<Vec<Stored<Row>>, StoreError> {
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
}
