//! Listings of messages.
//!
//! A page is read from an index that has the messages in order, with the columns they are filtered
//! by. Only the messages of the page itself are read from the table. Totals without contact and
//! times come from counters, so that their cost does not grow with the messages. All other totals
//! are counted in an index.

use std::fmt::Write;

use recado_core::ids::{CompanyId, ContactId};
use recado_core::messages::{ContactBrief, Message, MessageFilter, MessageRecord, MessageStatus};
use recado_core::page::{Page, PageRequest};
use recado_core::store::StoreError;
use recado_store_sql::{Sealer, signed};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::{Param, params};
use crate::session::rows;
use crate::table::columns_of;

/// The conditions of a filter. Their parameters are in the list of parameters.
struct Conditions {
    /// Conditions on messages `m` of the company `$1`. The rows of counters, as `m`, have these
    /// columns too.
    counted: String,
    /// Conditions on columns that only messages have.
    beyond: String,
}

/// Appends the parameters of `filter` to `params`.
fn conditions(filter: &MessageFilter, params: &mut Vec<Param>) -> Conditions {
    let (mut counted, mut beyond) = ("m.company_id = $1".to_owned(), String::new());
    let mut and = |all: &mut String, test: &str, value: Param| {
        params.push(value);
        let _ = write!(all, " AND m.{test} ${}", params.len());
    };
    if let Some(connection) = filter.connection {
        and(&mut counted, "connection_id =", Param::of(connection.uuid()));
    }
    if let Some(direction) = filter.direction {
        and(&mut counted, "direction =", Param::of(direction.as_str()));
    }
    if let Some(message_type) = filter.message_type {
        and(&mut counted, "message_type =", Param::of(message_type.as_str()));
    }
    if let Some(status) = filter.status {
        and(&mut counted, "status =", Param::of(status.as_str()));
    }
    if let Some(contact) = filter.contact {
        and(&mut beyond, "contact_id =", Param::of(contact.uuid()));
    }
    if let Some(quoted) = filter.quoting {
        and(&mut beyond, "quoted_message_id =", Param::of(quoted.uuid()));
    }
    if let Some(from) = filter.from {
        and(&mut beyond, "created_at >=", Param::of(from.millis()));
    }
    if let Some(to) = filter.to {
        and(&mut beyond, "created_at <=", Param::of(to.millis()));
    }
    Conditions { counted, beyond }
}

/// The statement of one page. `$2` is its size, `$3` the number of messages to skip.
pub(crate) fn page_statement(
    company: CompanyId,
    filter: &MessageFilter,
    page: PageRequest,
) -> (String, Vec<Param>) {
    let mut params = params![company.uuid(), i64::from(page.limit), signed(page.offset())];
    let Conditions { counted, beyond } = conditions(filter, &mut params);
    // Failed messages have an index of their own.
    let failed = match filter.status {
        Some(MessageStatus::Failed) => " AND m.is_failed",
        _ => "",
    };
    let condition = format!("{counted}{beyond}{failed}");
    let total = match beyond.is_empty() {
        true => format!(
            "SELECT (coalesce((SELECT sum(m.n) FROM message_counts m WHERE {counted}), 0) \
             + coalesce((SELECT sum(m.n) FROM message_count_deltas m WHERE {counted}), 0))::bigint \
             AS total"
        ),
        false => format!("SELECT count(*) AS total FROM messages m WHERE {condition}"),
    };
    // From a literal limit the planner estimates the number of rows.
    let rows = page.limit.next_power_of_two().max(128);
    let sql = format!(
        "WITH total AS MATERIALIZED ({total}), \
         page AS MATERIALIZED (SELECT m.id FROM messages m WHERE {condition} \
         AND (SELECT total FROM total) > $3::bigint ORDER BY m.created_at DESC, m.id DESC \
         LIMIT $2::bigint OFFSET $3::bigint) \
         SELECT total.total, {message}, coalesce(c.phone, c.identifier), c.name, c.display_name, \
         c.source_platform FROM total \
         LEFT JOIN (SELECT * FROM page LIMIT {rows}) AS shown ON true \
         LEFT JOIN messages m ON m.company_id = $1 AND m.id = shown.id \
         LEFT JOIN contacts c ON c.company_id = $1 AND c.id = m.contact_id \
         ORDER BY m.created_at DESC, m.id DESC",
        message = columns_of::<Message>("m"),
    );
    (sql, params)
}

fn read_page(found: &[Row], sealer: &Sealer) -> Result<Page<MessageRecord>, StoreError> {
    let mut page = Page::empty();
    for row in found {
        let mut columns = Columns::new(row);
        page.total = columns.get()?;
        if !columns.is_present()? {
            continue;
        }
        let message: Message = columns.record_sealed(sealer)?;
        let id: ContactId = message.contact;
        let contact = ContactBrief {
            id,
            phone: columns.get()?,
            name: columns.get()?,
            display_name: columns.get()?,
            source_platform: columns.get()?,
        };
        page.items.push(MessageRecord { message, contact });
    }
    Ok(page)
}

impl PostgresStore {
    pub(crate) async fn listing(
        &self,
        company: CompanyId,
        filter: &MessageFilter,
        page: PageRequest,
    ) -> Result<Page<MessageRecord>, StoreError> {
        let (sql, params) = page_statement(company, filter, page);
        read_page(&rows(&self.pool, sql, params).await?, self.pool.sealer())
    }
}
