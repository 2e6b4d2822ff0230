//! The search for messages (X17): what it finds, and the texts of messages that an earlier release
//! stored.
//!
//! The texts of a company are read in the order of the listing, those of the asked span of time,
//! and nothing of other companies. That costs about as much as copying them, whatever is searched
//! for (R301). The messages of a contact, or those that quote one, are found first, and their texts
//! looked up.

use recado_core::ids::{CompanyId, MessageId};
use recado_core::messages::{MessageFilter, MessageSearch, MessageText};
use recado_core::store::StoreError;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::error::failed;
use crate::messages_listing::Conditions;
use crate::param::{Param, params};
use crate::session::{Session, Statement, TransactionMode, rows};

/// How a search is run: for at most five seconds, as on SQLite (R200), and by indexes alone, so
/// that nothing of other companies is read, however much of the table is the company's.
pub(crate) const SETTINGS: &str = "SELECT set_config('statement_timeout', '5000', true), \
                                   set_config('enable_seqscan', 'off', true)";

/// `hits`: all messages that are found and pass the other filters.
///
/// `OFFSET 0` keeps the planner from joining in another order.
pub(crate) fn hits(
    filter: &MessageFilter,
    search: &MessageSearch,
    conditions: &Conditions,
    params: &mut Vec<Param>,
) -> String {
    params.push(Param::of(search.needle().to_owned()));
    let found = format!("strpos(t.search_text, ${}) > 0", params.len());
    let of_messages = conditions.of_messages();
    let hits = if filter.contact.is_some() || filter.quoting.is_some() {
        format!(
            "SELECT m.id, m.created_at FROM (SELECT m.id, m.created_at FROM messages m \
             WHERE {of_messages} OFFSET 0) AS m CROSS JOIN LATERAL (SELECT FROM message_texts t \
             WHERE t.company_id = $1 AND t.created_at = m.created_at AND t.message_id = m.id \
             AND {found} OFFSET 0) AS t"
        )
    } else {
        let others = match conditions.are_of_time() {
            true => String::new(),
            false => format!(
                " AND EXISTS (SELECT FROM messages m WHERE m.id = t.message_id AND {of_messages} \
                 OFFSET 0)"
            ),
        };
        format!(
            "SELECT t.message_id AS id, t.created_at FROM message_texts t \
             WHERE t.company_id = $1{} AND {found}{others}",
            conditions.times("t")
        )
    };
    format!("hits AS MATERIALIZED ({hits})")
}

/// How many messages get their texts in one transaction.
const BATCH: usize = 500;
/// How many such transactions there are in one round of upkeep. The next round goes on.
const BATCHES: u32 = 20;

const DUE: &str = "SELECT company_id, message_id FROM message_texts_due";
const DUE_OF: &str = "SELECT FROM message_texts_due WHERE company_id <= $1";
const DONE: &str = "DELETE FROM message_texts_due";
const REACHED: &str = "UPDATE message_texts_due SET company_id = $1, message_id = $2 \
                       WHERE (company_id, message_id) < ($1, $2)";
pub(crate) const STORED_BEFORE: &str = "\
SELECT company_id, id, version, content, media_caption, media_filename FROM messages \
WHERE (company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3";

/// Adds the texts `$4` of messages. Of a message that was changed since it was read at the version
/// `$3`, the change has written the text. Of one that is being deleted there must be none, so that
/// this waits for the deletion.
pub(crate) const ADD: &str = "\
INSERT INTO message_texts (company_id, created_at, message_id, search_text) \
SELECT n.company_id, m.created_at, n.id, n.search_text \
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[]) \
AS n (company_id, id, version, search_text) CROSS JOIN LATERAL \
(SELECT created_at FROM messages WHERE company_id = n.company_id AND id = n.id \
AND version = n.version OFFSET 0 FOR KEY SHARE) AS m \
ON CONFLICT DO NOTHING";

impl PostgresStore {
    /// Fails while messages of a company have no texts that an earlier release stored (R302).
    pub(crate) async fn check_searchable(&self, company: CompanyId) -> Result<(), StoreError> {
        let due = rows(&self.pool, DUE_OF, params![company.uuid()]).await?;
        if due.is_empty() { Ok(()) } else { Err(StoreError::NotSearchable) }
    }

    /// Makes the texts of messages that an earlier release stored (R302).
    pub(crate) async fn make_message_texts(&self) -> Result<(), StoreError> {
        for _ in 0..BATCHES {
            let due = rows(&self.pool, DUE, Vec::new()).await?;
            let Some(row) = due.first() else { break };
            let after: (Uuid, Uuid) = (row.get(0), row.get(1));
            if !self.make_some(after).await? {
                tracing::info!("all messages can be searched");
            }
        }
        Ok(())
    }

    /// Makes the texts of the messages that follow a place. Answers whether some may be left.
    async fn make_some(&self, after: (Uuid, Uuid)) -> Result<bool, StoreError> {
        let limit = i64::try_from(BATCH).unwrap_or(i64::MAX);
        let found = rows(&self.pool, STORED_BEFORE, params![after.0, after.1, limit]).await?;
        let (mut companies, mut ids) = (Vec::new(), Vec::new());
        let (mut versions, mut texts) = (Vec::new(), Vec::new());
        for row in &found {
            let mut columns = Columns::new(row);
            let (company, id): (CompanyId, MessageId) = (columns.get()?, columns.get()?);
            companies.push(company.uuid());
            ids.push(id.uuid());
            versions.push(columns.get::<i64>()?);
            let content: Option<String> = columns.get()?;
            let caption: Option<String> = columns.get()?;
            let filename: Option<String> = columns.get()?;
            let text = MessageText::of(content.as_deref(), caption.as_deref(), filename.as_deref());
            texts.push(text.as_str().to_owned());
        }
        let is_left = found.len() == BATCH;
        let last = companies.last().copied().zip(ids.last().copied());
        let reached = match last.filter(|_| is_left) {
            Some((company, id)) => Statement::new(REACHED, params![company, id]),
            None => Statement::new(DONE, Vec::new()),
        };
        let add = Statement::new(ADD, params![companies, ids, versions, texts]);
        let session = Session::take(&self.pool).await?;
        let outcome = session.run(TransactionMode::Transaction, vec![add, reached]).await?;
        outcome.into_rows().map_err(|(_, error)| failed(error))?;
        Ok(is_left)
    }
}
