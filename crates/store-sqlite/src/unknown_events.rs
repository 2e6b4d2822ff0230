//! Events that were not understood and are kept.

use recado_core::gateway::{KeptEvents, KeptOrder, KeptQuery, UnknownEvent};
use recado_core::ids::CompanyId;
use rusqlite::params_from_iter;

use crate::cell::{Cell, Columns};
use crate::database::Connection;
use crate::error::ReadResult;
use crate::table::{self};

/// The condition of a query, without order, and its values.
fn selected(company: CompanyId, query: &KeptQuery) -> (String, Vec<Cell<'_>>) {
    let mut condition = "company_id = ?1".to_owned();
    let mut values: Vec<Cell<'_>> = vec![company.into()];
    if let Some(connection) = query.connection {
        values.push(connection.into());
        condition += &format!(" AND connection_id = ?{}", values.len());
    }
    if let Some(kind) = &query.kind {
        values.push(kind.into());
        condition += &format!(" AND kind = ?{}", values.len());
    }
    (condition, values)
}

/// Adds position, order and limit to a condition, for [`table::list`].
fn in_order(condition: &mut String, values: &mut Vec<Cell<'_>>, query: &KeptQuery) {
    if let KeptOrder::OldestFirst { after: Some((at, id)) } = query.order {
        values.extend([at.into(), id.into()]);
        let last = values.len();
        *condition += &format!(" AND (received_at, id) > (?{}, ?{last})", last - 1);
    }
    let order = match query.order {
        KeptOrder::NewestFirst => "received_at DESC, id DESC",
        KeptOrder::OldestFirst { .. } => "received_at, id",
    };
    values.push(query.limit.into());
    *condition += &format!(" ORDER BY {order} LIMIT ?{}", values.len());
}

/// What a query selects.
pub(crate) fn kept(
    conn: &Connection,
    company: CompanyId,
    query: &KeptQuery,
) -> ReadResult<KeptEvents> {
    let (mut condition, mut values) = selected(company, query);
    let total = conn
        .prepare_cached(&format!("SELECT count(*) FROM unknown_events WHERE {condition}"))?
        .query_row(params_from_iter(&values), |row| Columns::new(row).get())?;
    let events = match query.limit {
        0 => Vec::new(),
        _ => {
            in_order(&mut condition, &mut values, query);
            table::list::<UnknownEvent>(conn, &condition, &values)?
        }
    };
    Ok(KeptEvents { total, events })
}

#[cfg(test)]
mod tests {
    use recado_core::Timestamp;
    use recado_core::ids::{ConnectionId, UnknownEventId};
    use uuid::Uuid;

    use super::*;
    use crate::plans;
    use crate::table::Table;

    /// Pages are read by an index in their order, and counts do not read the rows.
    #[test]
    fn kept_events_are_found_and_counted_by_an_index() {
        let conn = plans::database();
        let company = CompanyId::new(Uuid::nil());
        let after = Some((Timestamp::MIN, UnknownEventId::new(Uuid::nil())));
        for (connection, kind, index) in [
            (None, None, "unknown_events_by_company (company_id=?"),
            (
                Some(ConnectionId::new(Uuid::nil())),
                None,
                "unknown_events_by_connection (company_id",
            ),
            (
                Some(ConnectionId::new(Uuid::nil())),
                Some("call".to_owned()),
                "unknown_events_by_kind (company_id=? AND connection_id=? AND kind=?",
            ),
        ] {
            for order in [KeptOrder::NewestFirst, KeptOrder::OldestFirst { after }] {
                let query = KeptQuery { connection, kind: kind.clone(), order, limit: 1 };
                let (mut condition, mut values) = selected(company, &query);
                let count = format!("SELECT count(*) FROM unknown_events WHERE {condition}");
                let step = plans::step(&conn, &count);
                // Those of a company are counted by any index of it.
                let is_one = connection.is_none() || step.contains(index);
                assert!(step.contains("COVERING INDEX") && is_one, "{step}");
                in_order(&mut condition, &mut values, &query);
                let list = format!("{} WHERE {condition}", UnknownEvent::statements().select);
                let steps = plans::steps(&conn, &list);
                assert!(steps.len() == 1 && steps[0].contains(index), "{steps:?}");
            }
        }
    }
}
