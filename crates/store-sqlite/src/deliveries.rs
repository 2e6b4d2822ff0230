//! Deliveries of events to webhooks.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::deliveries::{Delivery, DeliveryFilter, DeliveryReads, PendingDeliveries, Shards};
use recado_core::ids::{CompanyId, DeliveryId};
use recado_core::page::{Page, PageRequest};
use recado_core::store::{CommitError, StoreError, Stored, Version};
use rusqlite::params_from_iter;
use uuid::Uuid;

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::database::Connection;
use crate::deliveries_listing;
use crate::error::commit_error;
use crate::table::{self, Table};

/// Updates what an attempt changes. In [`Delivery`] those columns come after the key and the
/// columns that never change.
static OUTCOME: LazyLock<String> = LazyLock::new(|| {
    let Some((fixed, outcome)) = Delivery::statements().written.split_at_checked(6) else {
        return String::new();
    };
    let place = |at: usize, column: &&str| format!("{column} = ?{}", at + 1);
    let (mut by, mut set) = (Vec::new(), Vec::new());
    by.extend(fixed.iter().enumerate().map(|(at, column)| place(at, column)));
    set.extend(outcome.iter().enumerate().map(|(at, column)| place(fixed.len() + at, column)));
    let version = Delivery::statements().written.len() + 1;
    format!(
        "UPDATE deliveries SET {}, version = version + 1 WHERE {} AND version = ?{version}",
        set.join(", "),
        by.join(" AND ")
    )
});

/// Replaces a delivery. Usually only the outcome changes; then the indexes on the other columns are
/// not written.
pub(crate) fn update(
    conn: &Connection,
    row: &Delivery,
    read_at: Version,
) -> Result<(), CommitError> {
    let mut values = table::values(row);
    values.push(read_at.number().into());
    let changed = conn
        .prepare_cached(&OUTCOME)
        .and_then(|mut statement| statement.execute(params_from_iter(values)))
        .map_err(commit_error)?;
    if changed == 1 {
        return Ok(());
    }
    table::update(conn, row, read_at)
}

/// The condition for [`table::list`]: the pending deliveries of a webhook.
const PENDING: &str = "company_id = ?1 AND webhook_id = ?2 AND queued_at IS NOT NULL LIMIT ?3";

/// The pending deliveries of the events about a contact. The rows of a contact are few, so sorting
/// them is cheap.
static ABOUT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM events AS e INDEXED BY events_about_contact \
         CROSS JOIN deliveries AS d INDEXED BY deliveries_by_event \
         ON d.company_id = e.company_id AND d.event_id = e.id \
         WHERE e.company_id = ?1 AND e.contact_id = ?2 AND e.data IS NOT NULL \
         AND d.queued_at IS NOT NULL AND d.id > ?3 ORDER BY d.id LIMIT ?4",
        Delivery::statements().qualified("d")
    )
});

#[async_trait]
impl DeliveryReads for SqliteStore {
    async fn shards(&self) -> Result<Shards, StoreError> {
        Ok(Shards::USUAL)
    }

    async fn deliveries(
        &self,
        company: CompanyId,
        filter: &DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<Delivery>, StoreError> {
        let filter = *filter;
        self.read_of(company, move |conn| deliveries_listing::page(conn, company, &filter, page))
            .await
    }

    async fn pending_deliveries(
        &self,
        company: CompanyId,
        which: PendingDeliveries,
        limit: u32,
    ) -> Result<Vec<Stored<Delivery>>, StoreError> {
        self.read_of(company, move |conn| match which {
            PendingDeliveries::Of(webhook) => {
                table::list(conn, PENDING, &[company.into(), webhook.into(), limit.into()])
            }
            PendingDeliveries::About { contact, after } => {
                // No delivery has the nil id.
                let after = after.unwrap_or(DeliveryId::new(Uuid::nil()));
                let values: [Cell<'_>; 4] =
                    [company.into(), contact.into(), after.into(), limit.into()];
                conn.prepare_cached(&ABOUT)?
                    .query_map(params_from_iter(&values), |row| Columns::new(row).stored())?
                    .collect()
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn an_outcome_finds_its_row_by_the_key_and_names_no_column_that_never_changes() {
        let conn = plans::database();
        let step = plans::step(&conn, &OUTCOME);
        assert!(step.ends_with("sqlite_autoindex_deliveries_1 (company_id=? AND id=?)"), "{step}");
        let (set, by) = OUTCOME.split_once(" WHERE ").unwrap();
        for column in ["webhook_id", "event_id", "event_type", "created_at"] {
            assert!(!set.contains(column) && by.contains(column), "{}", *OUTCOME);
        }
    }

    #[test]
    fn what_is_pending_about_a_contact_is_found_by_its_events() {
        let steps = plans::steps(&plans::database(), &ABOUT);
        for index in [
            "events_about_contact (company_id=? AND contact_id=?)",
            "deliveries_by_event (company_id=? AND event_id=?)",
        ] {
            assert!(steps.iter().any(|step| step.ends_with(index)), "{steps:?}");
        }
        assert!(!steps.iter().any(|step| step.starts_with("SCAN")), "{steps:?}");
    }

    #[test]
    fn what_is_pending_is_found_in_the_queue() {
        let conn = plans::database();
        let query = format!("{} WHERE {PENDING}", Delivery::statements().select);
        let step = plans::step(&conn, &query);
        let queue = "SEARCH deliveries USING INDEX deliveries_pending";
        assert!(step.starts_with(queue) && step.contains("webhook_id=?"), "{step}");
    }
}
