//! The operator's listing of deliveries, newest first (D56a).
//!
//! One index has a range for each webhook, status and type of event. A listing merges the ranges
//! that pass its filter. Its total is the sum of their lengths.

use std::sync::LazyLock;

use recado_core::deliveries::{Delivery, DeliveryFilter};
use recado_core::ids::CompanyId;
use recado_core::page::{Page, PageRequest};
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::cell::{Cell, Columns};
use crate::error::ReadResult;
use crate::newest_first::{Index, IndexRange, Span, part_of};
use crate::table::{Table, read_stored};

/// The index with the ranges of a company's webhooks.
pub(crate) static LISTED: Index = Index {
    table: "deliveries",
    name: "deliveries_listed",
    scope: &["company_id", "webhook_id", "status", "event_type"],
};

/// The first scope after a given one. Each is found by one step into the index.
const NEXT_SCOPE: &str = "SELECT webhook_id, status, event_type \
     FROM deliveries INDEXED BY deliveries_listed \
     WHERE company_id = ?1 AND (webhook_id, status, event_type) > (?2, ?3, ?4) \
     ORDER BY webhook_id, status, event_type LIMIT 1";

/// A webhook, a status and a type of event.
type DeliveryGroup = ([u8; 16], String, String);

/// The scopes of a company that have deliveries and pass the filter.
fn scopes(
    conn: &Connection,
    company: CompanyId,
    filter: &DeliveryFilter,
) -> ReadResult<Vec<DeliveryGroup>> {
    let mut next = conn.prepare_cached(NEXT_SCOPE)?;
    // Empty texts are less than every status and every type.
    let start = filter.webhook.map_or([0; 16], |webhook| webhook.uuid().into_bytes());
    let mut after: DeliveryGroup = (start, String::new(), String::new());
    let mut passing = Vec::new();
    loop {
        let (webhook, status, event_type) = &after;
        let values: [Cell<'_>; 4] =
            [company.into(), Cell::Id(*webhook), status.into(), event_type.into()];
        let found = next.query_row(params_from_iter(&values), |row| {
            let mut columns = Columns::new(row);
            Ok((columns.get()?, columns.get()?, columns.get()?))
        });
        let Some(found) = found.optional()? else { break };
        if filter.webhook.is_some() && found.0 != start {
            break;
        }
        if filter.status.is_none_or(|status| status.as_str() == found.1)
            && filter.event.is_none_or(|event| event.as_str() == found.2)
        {
            passing.push(found.clone());
        }
        after = found;
    }
    Ok(passing)
}

/// One page of a listing with the total of all pages.
pub(crate) fn page(
    conn: &Connection,
    company: CompanyId,
    filter: &DeliveryFilter,
    page: PageRequest,
) -> ReadResult<Page<Delivery>> {
    static SELECT: LazyLock<String> =
        LazyLock::new(|| format!("{} WHERE seq = ?1", Delivery::statements().select));
    let range = |(webhook, status, event_type): DeliveryGroup| {
        let scope =
            vec![company.into(), Cell::Id(webhook), Cell::Owned(status), Cell::Owned(event_type)];
        IndexRange::new(&LISTED, scope, Span::new(None, None))
    };
    let ranges: Vec<IndexRange> = scopes(conn, company, filter)?.into_iter().map(range).collect();
    let mut total = 0;
    for range in &ranges {
        total += range.count(conn)?;
    }
    if page.offset() >= total {
        return Ok(Page { items: Vec::new(), total });
    }
    let mut statement = conn.prepare_cached(&SELECT)?;
    let items = part_of(conn, ranges, page.limit.into(), page.offset())?
        .into_iter()
        .map(|key| Ok(statement.query_row([key.seq], read_stored::<Delivery>)?.into_value()))
        .collect::<ReadResult<_>>()?;
    Ok(Page { items, total })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn the_next_range_is_found_without_reading_the_one_before() {
        let step = plans::step(&plans::database(), NEXT_SCOPE);
        let found = "USING COVERING INDEX deliveries_listed \
                     (company_id=? AND (webhook_id,status,event_type)>(?,?,?))";
        assert!(step.ends_with(found), "{step}");
    }
}
