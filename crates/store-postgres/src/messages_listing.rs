//! Listings of messages.
//!
//! A page is read from an index that has the messages in order, with the columns they are filtered
//! by. Only the messages of the page itself are read from the table. Totals without contact and
//! times come from counters, so that their cost does not grow with the messages. All other totals
//! are counted in an index.

use std::fmt::Write;

use recado_core::ids::{CompanyId, ContactId};
use recado_core::messages::{
    ContactBrief, Message, MessageFilter, MessageRecord, MessageSearch, MessageStatus,
};
use recado_core::page::{Page, PageRequest};
use recado_core::store::StoreError;
use recado_store_sql::{Sealer, signed};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::error::failed;
use crate::messages_search::{SETTINGS, hits};
use crate::param::{Param, params};
use crate::session::{Session, Statement, TransactionMode, rows};
use crate::table::columns_of;

/// The conditions of a filter, without its search. Their parameters are in the list of parameters.
pub(crate) struct Conditions {
    /// Conditions on messages `m` of the company `$1`. The rows of counters, as `m`, have these
    /// columns too.
    counted: String,
    /// Conditions on columns that only messages have.
    beyond: String,
    /// Those of them on the time.
    times: String,
}

impl Conditions {
    /// All conditions on messages `m`.
    pub(crate) fn of_messages(&self) -> String {
        format!("{}{}{}", self.counted, self.beyond, self.times)
    }

    /// Whether there are none but those on company and time.
    pub(crate) fn are_of_time(&self) -> bool {
        self.counted == OF_COMPANY && self.beyond.is_empty()
    }

    /// The conditions on the time of rows with another name.
    pub(crate) fn times(&self, name: &str) -> String {
        self.times.replace("m.", &format!("{name}."))
    }
}

const OF_COMPANY: &str = "m.company_id = $1";

/// Appends the parameters of `filter` to `params`.
fn conditions(filter: &MessageFilter, params: &mut Vec<Param>) -> Conditions {
    let (mut counted, mut beyond) = (OF_COMPANY.to_owned(), String::new());
    let mut times = String::new();
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
        and(&mut times, "created_at >=", Param::of(from.millis()));
    }
    if let Some(to) = filter.to {
        and(&mut times, "created_at <=", Param::of(to.millis()));
    }
    Conditions { counted, beyond, times }
}

/// The statement of one page. `$2` is its size, `$3` the number of messages to skip.
pub(crate) fn page_statement(
    company: CompanyId,
    filter: &MessageFilter,
    page: PageRequest,
) -> (String, Vec<Param>) {
    let mut params = params![company.uuid(), i64::from(page.limit), signed(page.offset())];
    let conditions = conditions(filter, &mut params);
    let source = match &filter.search {
        Some(search) => searched(filter, search, &conditions, &mut params),
        None => listed(filter, &conditions),
    };
    // From a literal limit the planner estimates the number of rows.
    let rows = page.limit.next_power_of_two().max(128);
    let sql = format!(
        "WITH {source} SELECT total.total, {message}, coalesce(c.phone, c.identifier), c.name, \
         c.display_name, c.source_platform FROM total \
         LEFT JOIN (SELECT * FROM page LIMIT {rows}) AS shown ON true \
         LEFT JOIN messages m ON m.company_id = $1 AND m.id = shown.id \
         LEFT JOIN contacts c ON c.company_id = $1 AND c.id = m.contact_id \
         ORDER BY m.created_at DESC, m.id DESC",
        message = columns_of::<Message>("m"),
    );
    (sql, params)
}

/// `total` and `page` of what a search finds.
fn searched(
    filter: &MessageFilter,
    search: &MessageSearch,
    conditions: &Conditions,
    params: &mut Vec<Param>,
) -> String {
    format!(
        "{hits}, total AS MATERIALIZED (SELECT count(*) AS total FROM hits), \
         page AS MATERIALIZED (SELECT id FROM hits WHERE (SELECT total FROM total) > $3::bigint \
         ORDER BY created_at DESC, id DESC LIMIT $2::bigint OFFSET $3::bigint)",
        hits = hits(filter, search, conditions, params),
    )
}

/// `total` and `page` of all messages that pass a filter.
fn listed(filter: &MessageFilter, conditions: &Conditions) -> String {
    // Failed messages have an index of their own.
    let failed = match filter.status {
        Some(MessageStatus::Failed) => " AND m.is_failed",
        _ => "",
    };
    let condition = format!("{}{failed}", conditions.of_messages());
    let Conditions { counted, beyond, times } = conditions;
    let total = match beyond.is_empty() && times.is_empty() {
        true => format!(
            "SELECT (coalesce((SELECT sum(m.n) FROM message_counts m WHERE {counted}), 0) \
             + coalesce((SELECT sum(m.n) FROM message_count_deltas m WHERE {counted}), 0))::bigint \
             AS total"
        ),
        false => format!("SELECT count(*) AS total FROM messages m WHERE {condition}"),
    };
    format!(
        "total AS MATERIALIZED ({total}), \
         page AS MATERIALIZED (SELECT m.id FROM messages m WHERE {condition} \
         AND (SELECT total FROM total) > $3::bigint ORDER BY m.created_at DESC, m.id DESC \
         LIMIT $2::bigint OFFSET $3::bigint)"
    )
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
        let found = if filter.search.is_some() {
            self.check_searchable(company).await?;
            let statements =
                vec![Statement::new(SETTINGS, Vec::new()), Statement::new(sql, params)];
            let session = Session::take(&self.pool).await?;
            let outcome = session.run(TransactionMode::Transaction, statements).await?;
            let mut found = outcome.into_rows().map_err(|(_, error)| failed(error))?;
            found.pop().unwrap_or_default()
        } else {
            rows(&self.pool, sql, params).await?
        };
        read_page(&found, self.pool.sealer())
    }
}
