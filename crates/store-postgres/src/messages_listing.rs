//! Listings of messages.
//!
//! A page is taken from an index that holds the messages in order together with what they are
//! filtered by; only the messages of the page itself are read. Totals of what has no bounds come
//! from counters, so that they do not grow with the messages; all others are counted in an index.

use std::fmt::Write;

use recado_core::ids::{CompanyId, ContactId};
use recado_core::messages::{ContactBrief, Message, MessageFilter, MessageRecord, MessageStatus};
use recado_core::page::{Page, PageRequest};
use recado_core::store::StoreError;
use recado_store_sql::signed;
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::{Param, params};
use crate::session::rows;
use crate::table::columns_of;

/// What a filter asks, as conditions and their parameters.
struct Conditions {
    /// Of messages `m`, and as far as they count them of counters `m`, of the company `$1`.
    counted: String,
    /// Of messages `m` alone.
    beyond: String,
}

/// Adds the parameters of `filter` to those of before.
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
    if let Some(from) = filter.from {
        and(&mut beyond, "created_at >=", Param::of(from.millis()));
    }
    if let Some(to) = filter.to {
        and(&mut beyond, "created_at <=", Param::of(to.millis()));
    }
    Conditions { counted, beyond }
}

/// The statement of one page. `$2` is its size, `$3` how many messages come before it.
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
    // A literal bound tells the planner what to expect.
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

fn read_page(found: &[Row]) -> Result<Page<MessageRecord>, StoreError> {
    let mut page = Page::empty();
    for row in found {
        let mut columns = Columns::new(row);
        page.total = columns.get()?;
        if !columns.is_present()? {
            continue;
        }
        let message: Message = columns.record()?;
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
        read_page(&rows(&self.pool, sql, params).await?)
    }
}
