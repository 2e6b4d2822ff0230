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

use crate::SqliteStore;
use crate::cell::Cell;
use crate::database::Connection;
use crate::error::ReadResult;
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

/// Whether a message carries an upload.
const UPLOAD_USES: &str = "SELECT 1 FROM messages WHERE company_id = ?1 AND media_upload_id = ?2";

/// The condition and order of a listing.
const fn condition(listing: Listing) -> &'static str {
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
                list::<$record>($conn, condition($listing), &[company.into()])
            })+
            $(Listing::$global => list::<$global_record>($conn, condition($listing), &[]),)+
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
            Listing::Some { kind, .. } if !kind.is_of_company() => Ok(Vec::new()),
            Listing::Some { company, kind, limit } => match_kind!(kind, T => {
                list::<T>($conn, condition($listing), &[company.into(), limit.into()])
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
        let read = move |conn: &Connection| for_each_listing!(listed [conn, listing]);
        match listing.company() {
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
}
