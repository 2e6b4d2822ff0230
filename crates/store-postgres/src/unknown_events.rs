//! Events that were not understood and are kept.

use recado_core::gateway::{KeptEvents, KeptOrder, KeptQuery, UnknownEvent};
use recado_core::ids::CompanyId;
use recado_core::store::StoreError;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::{Param, params};
use crate::session::{Statement, all_sealed, snapshot};
use crate::table::Table;

/// Deletes events that came long ago.
pub(crate) const FORGET: &str = "\
DELETE FROM unknown_events WHERE ctid = ANY(ARRAY(SELECT ctid FROM unknown_events \
WHERE received_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";

/// The two statements of a query: how many it selects, and the page.
pub(crate) fn statements(query: &KeptQuery) -> (String, String) {
    let mut condition = "WHERE company_id = $1".to_owned();
    let mut place = 1;
    let mut next = || {
        place += 1;
        place
    };
    if query.connection.is_some() {
        condition += &format!(" AND connection_id = ${}", next());
    }
    if query.kind.is_some() {
        condition += &format!(" AND kind = ${}", next());
    }
    let count = format!("SELECT count(*) FROM unknown_events {condition}");
    let order = match query.order {
        KeptOrder::NewestFirst => "received_at DESC, id DESC",
        KeptOrder::OldestFirst { after } => {
            if after.is_some() {
                condition += &format!(" AND (received_at, id) > (${}, ${})", next(), next());
            }
            "received_at, id"
        }
    };
    let select = &UnknownEvent::sql().select;
    let page = format!("{select} {condition} ORDER BY {order} LIMIT ${}", next());
    (count, page)
}

/// The values of the two statements.
fn values(company: CompanyId, query: &KeptQuery) -> (Vec<Param>, Vec<Param>) {
    let selected = || {
        let mut values = params![company.uuid()];
        values.extend(query.connection.map(|connection| Param::of(connection.uuid())));
        values.extend(query.kind.clone().map(Param::of));
        values
    };
    let mut page = selected();
    if let KeptOrder::OldestFirst { after: Some((at, id)) } = query.order {
        page.extend(params![at.millis(), id.uuid()]);
    }
    page.push(Param::of(i64::from(query.limit)));
    (selected(), page)
}

impl PostgresStore {
    /// What a query selects.
    pub(crate) async fn kept_events(
        &self,
        company: CompanyId,
        query: &KeptQuery,
    ) -> Result<KeptEvents, StoreError> {
        let (count, page) = statements(query);
        let (of_count, of_page) = values(company, query);
        let statements = vec![Statement::new(count, of_count), Statement::new(page, of_page)];
        let found = snapshot(&self.pool, statements).await?;
        let total = found.first().and_then(|rows| rows.first());
        let total = total.map_or(Ok(0), |row| Columns::new(row).get())?;
        let events = found.get(1).map(|rows| all_sealed(rows, self.pool.sealer())).transpose()?;
        Ok(KeptEvents { total, events: events.unwrap_or_default() })
    }
}
