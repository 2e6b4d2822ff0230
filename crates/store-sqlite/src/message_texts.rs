//! The texts that searches for messages look in (X17): written with their messages, and made in
//! small portions for messages that an earlier release stored.
//!
//! The texts of a company lie one after the other, in the order of the listing. A search reads
//! those of the asked span of time, and nothing of other companies. That costs about as much as
//! copying them, whatever is searched for (R301).

use recado_core::ids::{CompanyId, MessageId};
use recado_core::messages::{Message, MessageSearch, MessageText};
use recado_core::store::{CommitError, StoreError};
use rusqlite::params_from_iter;

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::database::Connection;
use crate::error::{ReadResult, commit_error};
use crate::newest_first::{SortKey, Span};
use crate::table::exists;
use crate::writer::expect_no_conflict;

/// How many messages get their texts in one transaction. They are few so that other writes wait
/// only briefly.
const BATCH: i64 = 500;
/// How many such transactions there are in one round of upkeep. The next round goes on.
const BATCHES: u32 = 20;

const INSERT: &str = "INSERT OR IGNORE INTO message_texts (company_id, created_at, id, seq, text) \
                      VALUES (?1, ?2, ?3, ?4, ?5)";
const DELETE: &str =
    "DELETE FROM message_texts WHERE company_id = ?1 AND created_at = ?2 AND id = ?3";

/// Adds the text of a message at `seq`, if it has any.
fn add(conn: &Connection, key: [Cell<'_>; 3], seq: i64, text: &MessageText) -> ReadResult<()> {
    if text.as_str().is_empty() {
        return Ok(());
    }
    let values = key.into_iter().chain([Cell::Int(seq), Cell::from(text.as_str())]);
    conn.prepare_cached(INSERT)?.execute(params_from_iter(values))?;
    Ok(())
}

fn key_of(message: &Message) -> [Cell<'static>; 3] {
    [message.company.into(), message.created_at.into(), message.id.into()]
}

/// Adds the text of a new message, in its transaction (R303).
pub(crate) fn insert(conn: &Connection, message: &Message, seq: i64) -> Result<(), CommitError> {
    add(conn, key_of(message), seq, &message.search_text()).map_err(commit_error)
}

/// Replaces the text of a message if it has another one now.
pub(crate) fn update(
    conn: &Connection,
    old: &Message,
    new: &Message,
    seq: i64,
) -> Result<(), CommitError> {
    let text = new.search_text();
    if old.created_at == new.created_at && old.search_text() == text {
        return Ok(());
    }
    conn.prepare_cached(DELETE)
        .and_then(|mut delete| delete.execute(params_from_iter(key_of(old))))
        .and_then(|_| add(conn, key_of(new), seq, &text))
        .map_err(commit_error)
}

/// Whether every message that says something has its text.
pub(crate) fn are_complete(conn: &Connection) -> ReadResult<bool> {
    Ok(!exists(conn, "SELECT 1 FROM message_texts_due", &[])?)
}

/// What a message says, by its `seq`.
pub(crate) fn text_of(conn: &Connection, seq: i64) -> ReadResult<MessageText> {
    let query = "SELECT content, media_caption, media_filename FROM messages WHERE seq = ?1";
    conn.prepare_cached(query)?.query_row([seq], |row| text(&mut Columns::new(row)))
}

fn text(columns: &mut Columns<'_, '_>) -> ReadResult<MessageText> {
    let content: Option<String> = columns.get()?;
    let (caption, filename): (Option<String>, Option<String>) = (columns.get()?, columns.get()?);
    Ok(MessageText::of(content.as_deref(), caption.as_deref(), filename.as_deref()))
}

/// Parameters: company, both ends of the span, the text that is searched for.
pub(crate) const FOUND: &str = "SELECT created_at, id, seq FROM message_texts \
     WHERE company_id = ?1 AND created_at BETWEEN ?2 AND ?3 AND instr(text, ?4) > 0 \
     ORDER BY created_at DESC, id DESC";

/// Calls `visit` with every message of a company and a span of time that a search finds, newest
/// first.
pub(crate) fn each_found(
    conn: &Connection,
    company: CompanyId,
    span: Span,
    search: &MessageSearch,
    mut visit: impl FnMut(SortKey) -> ReadResult<()>,
) -> ReadResult<()> {
    let [from, to] = span.ends();
    let values = [company.into(), from, to, Cell::from(search.needle())];
    let mut statement = conn.prepare_cached(FOUND)?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        visit(SortKey::read(&mut Columns::new(row))?)?;
    }
    Ok(())
}

const DUE: &str = "SELECT after_seq, last_seq FROM message_texts_due";
const STORED_BEFORE: &str = "SELECT company_id, created_at, id, seq, content, media_caption, media_filename \
     FROM messages WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3";

/// Makes the texts of some messages that were stored before there were any. Answers whether some
/// are left.
fn make_some(conn: &Connection, limit: i64) -> ReadResult<bool> {
    let mut due = conn.prepare_cached(DUE)?;
    let due = due.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.next().transpose()?;
    let Some((after, last)): Option<(i64, i64)> = due else { return Ok(false) };
    let mut made = 0;
    let mut reached = after;
    let mut statement = conn.prepare_cached(STORED_BEFORE)?;
    let mut rows = statement.query([after, last, limit])?;
    while let Some(row) = rows.next()? {
        let mut columns = Columns::new(row);
        let company: CompanyId = columns.get()?;
        let created_at: i64 = columns.get()?;
        let id: MessageId = columns.get()?;
        reached = columns.get()?;
        let key = [company.into(), Cell::Int(created_at), id.into()];
        // A message that was changed meanwhile has its text already.
        add(conn, key, reached, &text(&mut columns)?)?;
        made += 1;
    }
    let is_left = made == limit;
    match is_left {
        true => conn.execute("UPDATE message_texts_due SET after_seq = ?1", [reached])?,
        false => conn.execute("DELETE FROM message_texts_due", [])?,
    };
    Ok(is_left)
}

impl SqliteStore {
    /// Makes the texts of messages that an earlier release stored (R302).
    pub(crate) async fn make_message_texts(&self) -> Result<(), StoreError> {
        if self.read(are_complete).await? {
            return Ok(());
        }
        for _ in 0..BATCHES {
            let made = self.write(|tx| make_some(tx.conn, BATCH).map_err(commit_error));
            if !made.await.map_err(expect_no_conflict)? {
                tracing::info!("all messages can be searched");
                break;
            }
        }
        Ok(())
    }
}
