//! Migrations: versioned, forward only, checksummed, embedded.
//!
//! The usual crates for migrations do not check and migrate under one write lock. This is needed
//! here, because two processes may start on one file at the same time.

use recado_store_sql::{MigrationPlan, expands};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use sha2::{Digest, Sha256};

use crate::contacts_facets;
use crate::contacts_search;
use crate::error::SqliteError;
use crate::hashes;

/// The migrations, the first one is number 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_conversations.sql"),
    include_str!("../migrations/0003_webhooks.sql"),
    include_str!("../migrations/0004_campaigns.sql"),
    include_str!("../migrations/0005_gateways.sql"),
    include_str!("../migrations/0006_template_needs.sql"),
    include_str!("../migrations/0007_participants.sql"),
    include_str!("../migrations/0008_reports.sql"),
    include_str!("../migrations/0009_participants_of_groups.sql"),
    include_str!("../migrations/0010_blocks.sql"),
    include_str!("../migrations/0011_unknown_events.sql"),
    include_str!("../migrations/0012_changes_of_messages.sql"),
    include_str!("../migrations/0013_sealed_secrets.sql"),
    include_str!("../migrations/0014_erasure.sql"),
    include_str!("../migrations/0015_keys_and_hashes.sql"),
    include_str!("../migrations/0016_clicks_and_removal.sql"),
    include_str!("../migrations/0017_sealed_media.sql"),
    include_str!("../migrations/0018_halts.sql"),
    include_str!("../migrations/0019_sets_of_contacts.sql"),
    include_str!("../migrations/0020_uploads.sql"),
    include_str!("../migrations/0021_template_parts.sql"),
    include_str!("../migrations/0022_message_search.sql"),
    include_str!("../migrations/0023_campaign_plan.sql"),
    include_str!("../migrations/0024_operator_tokens.sql"),
    include_str!("../migrations/0025_audit_entries.sql"),
    include_str!("../migrations/0026_logins.sql"),
    include_str!("../migrations/0027_remembered_opt_outs.sql"),
    include_str!("../migrations/0028_opted_out_contacts.sql"),
    include_str!("../migrations/0029_statuses_and_outcomes.sql"),
    include_str!("../migrations/0030_login_subjects.sql"),
    include_str!("../migrations/0031_totals_of_contacts.sql"),
    include_str!("../migrations/0032_totals_of_campaigns.sql"),
    include_str!("../migrations/0033_audit_entries_by_time.sql"),
    include_str!("../migrations/0034_moved_to_cells.sql"),
];

const HISTORY: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    number INTEGER PRIMARY KEY,
    checksum BLOB NOT NULL
) STRICT";

/// The number of the oldest schema whose programs run on the one that is named as the newest
/// (R248): one row.
const OLDEST: &str = "CREATE TABLE IF NOT EXISTS schema_oldest (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    number INTEGER NOT NULL,
    newest INTEGER NOT NULL
) STRICT";

/// The functions that migrations call.
fn define_functions(conn: &Connection) -> rusqlite::Result<()> {
    hashes::define(conn)?;
    contacts_facets::define(conn)
}

/// Applies all missing migrations, or none.
///
/// # Errors
///
/// When the database is newer than this release, or the text of an applied migration differs.
pub(crate) fn migrate(conn: &mut Connection) -> Result<(), SqliteError> {
    define_functions(conn)?;
    let tx = conn.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let has_migrated = apply_all(&tx, MIGRATIONS)?;
    // A newer program has its own form of the index.
    if applied(&tx, MIGRATIONS)? == number(MIGRATIONS.len()) {
        contacts_search::rebuild_if_stale(&tx)?;
    }
    tx.commit()?;
    if has_migrated {
        // What was replaced may be secret, and is not left in the log either. Where another process
        // reads, a later checkpoint does this.
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    }
    Ok(())
}

/// What migrating would do; nothing is written (R249).
pub(crate) fn plan(conn: &Connection) -> Result<MigrationPlan, SqliteError> {
    let found = applied(conn, MIGRATIONS)?;
    let pending = MIGRATIONS.iter().enumerate().skip(found as usize);
    let pending: Vec<_> = pending.map(|(at, sql)| (number(at + 1), *sql)).collect();
    let pages = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let bytes = conn.query_row(pages, [], |row| row.get::<_, i64>(0))?;
    // Of a table with its indexes.
    let mut size = conn.prepare(
        "SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE \
         AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name = ?1)",
    )?;
    let mut size = |name: &str| {
        let found = size.query_row([name], |row| row.get::<_, Option<i64>>(0)).ok().flatten();
        found.and_then(|bytes| u64::try_from(bytes).ok())
    };
    let bytes = u64::try_from(bytes).unwrap_or(0);
    Ok(MigrationPlan::new(found, number(MIGRATIONS.len()), pending, bytes, &mut size))
}

/// Whether the database has the migrations of this release, or later ones that only expand it.
pub(crate) fn check(conn: &Connection) -> Result<(), SqliteError> {
    let found = applied(conn, MIGRATIONS)?;
    let known = number(MIGRATIONS.len());
    if found < known { Err(SqliteError::Older { found, known }) } else { Ok(()) }
}

/// Whether any migration was applied. Reads only, also from a file that is empty.
pub(crate) fn exists(conn: &Connection) -> rusqlite::Result<bool> {
    let history = "SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'";
    if conn.query_row(history, [], |_| Ok(())).optional()?.is_none() {
        return Ok(false);
    }
    conn.query_row("SELECT EXISTS (SELECT 1 FROM schema_migrations)", [], |row| row.get(0))
}

/// Applies the migrations that are missing; whether there were any.
fn apply_all(tx: &Connection, migrations: &[&str]) -> Result<bool, SqliteError> {
    tx.execute_batch(HISTORY)?;
    tx.execute_batch(OLDEST)?;
    let done = applied(tx, migrations)?;
    for (index, migration) in migrations.iter().enumerate().skip(done as usize) {
        tx.execute_batch(migration)?;
        tx.execute(
            "INSERT INTO schema_migrations (number, checksum) VALUES (?1, ?2)",
            (number(index + 1), checksum(migration)),
        )?;
        let (oldest, or_else) = match expands(migration) {
            true => (index, ""),
            false => (index + 1, ", number = excluded.number"),
        };
        tx.execute(
            &format!(
                "INSERT INTO schema_oldest VALUES (1, ?1, ?2) \
                 ON CONFLICT DO UPDATE SET newest = excluded.newest{or_else}"
            ),
            [number(oldest), number(index + 1)],
        )?;
        tracing::info!(migration = index + 1, "migrated");
    }
    Ok((done as usize) < migrations.len())
}

/// The number of the latest migration of the database, after checking that all its migrations are
/// known, or later ones on which this program runs (R248).
fn applied(conn: &Connection, migrations: &[&str]) -> Result<u32, SqliteError> {
    let history = "SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'";
    if conn.query_row(history, [], |_| Ok(())).optional()?.is_none() {
        return Ok(0);
    }
    let mut found = 0;
    let mut rows =
        conn.prepare("SELECT number, checksum FROM schema_migrations ORDER BY number")?;
    let rows = rows.query_map([], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
    for row in rows {
        let (number, sum) = row?;
        if number as usize > migrations.len() {
            found = number;
            continue;
        }
        if number != found + 1 || sum != checksum(migrations[number as usize - 1]) {
            return Err(SqliteError::Changed(number));
        }
        found = number;
    }
    let known = self::number(migrations.len());
    if found > known && oldest(conn)?.is_none_or(|oldest| oldest > known) {
        return Err(SqliteError::Newer { found, known });
    }
    Ok(found)
}

/// The oldest schema whose programs run on the one of the database, if that is known of it.
fn oldest(conn: &Connection) -> rusqlite::Result<Option<u32>> {
    let there = "SELECT 1 FROM sqlite_schema WHERE name = 'schema_oldest'";
    if conn.query_row(there, [], |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    let query = "SELECT number FROM schema_oldest \
                 WHERE newest = (SELECT max(number) FROM schema_migrations)";
    conn.query_row(query, [], |row| row.get(0)).optional()
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("there are few migrations")
}

fn checksum(migration: &str) -> Vec<u8> {
    Sha256::digest(migration.as_bytes()).to_vec()
}

#[cfg(test)]
mod upgrades;

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies the missing ones of these migrations.
    fn apply(conn: &mut Connection, migrations: &[&str]) -> Result<(), SqliteError> {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Exclusive)?;
        apply_all(&tx, migrations)?;
        tx.commit()?;
        Ok(())
    }

    fn tables(conn: &Connection) -> i64 {
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap()
    }

    /// R264.
    #[test]
    fn a_database_is_there_once_it_was_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recado.db");
        let exists = |path: &std::path::Path| crate::SqliteStore::exists(path);
        assert!(!exists(&path).unwrap() && !exists(&path.join("inside")).unwrap());
        assert!(!path.exists(), "looking makes no file");
        std::fs::write(&path, "").unwrap();
        assert!(!exists(&path).unwrap());
        crate::SqliteStore::open(&path).unwrap().migrate().unwrap();
        assert!(exists(&path).unwrap());
        std::fs::write(&path, "something else altogether, as long as a page".repeat(100)).unwrap();
        assert!(exists(&path).is_err());
    }

    #[test]
    fn a_migrated_database_is_current_and_migrating_again_changes_nothing() {
        let mut conn = Connection::open_in_memory().unwrap();
        assert!(matches!(check(&conn), Err(SqliteError::Older { found: 0, .. })));
        migrate(&mut conn).unwrap();
        check(&conn).unwrap();
        let before = tables(&conn);
        migrate(&mut conn).unwrap();
        assert_eq!(tables(&conn), before);
    }

    #[test]
    fn later_migrations_are_applied_to_an_older_database() {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, &["CREATE TABLE a (x)"]).unwrap();
        apply(&mut conn, &["CREATE TABLE a (x)", "CREATE TABLE b (x)"]).unwrap();
        assert_eq!(applied(&conn, &["CREATE TABLE a (x)", "CREATE TABLE b (x)"]).unwrap(), 2);
    }

    #[test]
    fn a_newer_database_is_refused() {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, &["CREATE TABLE a (x)", "CREATE TABLE b (x)"]).unwrap();
        let refused = apply(&mut conn, &["CREATE TABLE a (x)"]);
        assert!(matches!(refused, Err(SqliteError::Newer { found: 2, known: 1 })));
    }

    #[test]
    fn a_migration_that_was_changed_afterwards_is_refused() {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, &["CREATE TABLE a (x)"]).unwrap();
        let refused = apply(&mut conn, &["CREATE TABLE a (y)", "CREATE TABLE b (x)"]);
        assert!(matches!(refused, Err(SqliteError::Changed(1))));
        assert_eq!(tables(&conn), 3, "nothing was applied");
    }

    #[test]
    fn a_migration_that_fails_leaves_no_trace() {
        let mut conn = Connection::open_in_memory().unwrap();
        let failed = apply(&mut conn, &["CREATE TABLE a (x)", "CREATE TABLE a (x)"]);
        assert!(matches!(failed, Err(SqliteError::Database(_))));
        assert_eq!(tables(&conn), 0);
    }

    #[test]
    fn contacts_of_an_older_database_are_taken_over() {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, &MIGRATIONS[..1]).unwrap();
        conn.execute_batch(
            "INSERT INTO companies VALUES (1, x'01', 'A', 'enterprise', 0, 0, 'BR', 0, 0, 1);
             INSERT INTO contacts (seq, company_id, id, facet_id, created_at, recency, version, \
             source_platform, identifier, name, display_name, inbox_status, priority, crm_status, \
             is_ai_enabled, external_ai_enabled, is_archived, is_pinned, is_muted, is_blocked, \
             is_group, is_simulated, custom_fields, updated_at) \
             VALUES (1, x'01', x'02', 1, 0, 9223372036854775807, 1, 'whatsapp', '55', '', '55', \
             'open', 'normal', 'lead', 1, 1, 0, 0, 0, 0, 0, 0, '{}', 0);",
        )
        .unwrap();
        migrate(&mut conn).unwrap();
        let query = "SELECT opt_out_backfilled, opted_in_at, identifier FROM contacts";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let contact: (i64, Option<i64>, String) = conn.query_row(query, [], read).unwrap();
        assert_eq!(contact, (0, None, "55".to_owned()));
    }

    #[test]
    fn events_of_an_older_database_keep_their_places_and_are_followed_by_later_ones() {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, &MIGRATIONS[..2]).unwrap();
        conn.execute_batch(
            "INSERT INTO events (seq, company_id, id, event_type, contact_id, at, data) VALUES \
             (3, x'01', x'02', 'message.sent', NULL, 5, '{\"a\":1}'), \
             (7, x'01', x'03', 'message.sent', x'09', 6, '{\"a\":2}');",
        )
        .unwrap();
        migrate(&mut conn).unwrap();
        conn.execute_batch(
            "UPDATE events SET data = NULL WHERE seq = 7;
             DELETE FROM events WHERE seq = 7;
             INSERT INTO events (company_id, id, event_type, at, data) \
             VALUES (x'01', x'04', 'message.sent', 7, '{}');",
        )
        .unwrap();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let mut statement = conn.prepare("SELECT seq, data FROM events ORDER BY seq").unwrap();
        let events: rusqlite::Result<Vec<(i64, String)>> =
            statement.query_map([], read).unwrap().collect();
        assert_eq!(events.unwrap(), [(3, "{\"a\":1}".to_owned()), (8, "{}".to_owned())]);
    }

    /// R207.
    /// R448.
    #[test]
    fn the_recipients_and_lines_of_campaigns_of_an_older_database_are_counted() {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.pragma_update(None, "foreign_keys", false).unwrap();
        define_functions(&conn).unwrap();
        apply(&mut conn, &MIGRATIONS[..31]).unwrap();
        let line = |id: u8, campaign: &str, prosas: i64| {
            format!(
                "INSERT INTO ledger_lines (company_id, id, consumption_id, kind, scope, prosas, \
                 cost, refunded_prosas, refunded_cost, campaign_id, created_at, version) \
                 VALUES (x'01', x'{id:02x}', x'01', 'debit', 'message', {prosas}, -1, 0, 0, \
                 {campaign}, 0, 1);"
            )
        };
        let recipients: String = ["waiting", "read", "waiting"]
            .iter()
            .enumerate()
            .map(|(n, status)| {
                format!(
                    "INSERT INTO recipients (company_id, campaign_id, number, status, version) \
                     VALUES (x'01', x'02', {n}, '{status}', 1);"
                )
            })
            .collect();
        let lines = [line(3, "x'02'", i64::MAX), line(4, "x'02'", 5), line(5, "NULL", 9)].concat();
        conn.execute_batch(&[recipients, lines].concat()).unwrap();
        migrate(&mut conn).unwrap();
        let counted = "SELECT group_concat(status || recipients) FROM recipient_counts";
        let counted: String = conn.query_row(counted, [], |row| row.get(0)).unwrap();
        assert_eq!(counted, "read1,waiting2");
        let summed = "SELECT lines, prosas_upper, prosas_lower, cost_upper, cost_lower \
                      FROM campaign_sums";
        let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<[i64; 5]> {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])
        };
        let summed = conn.query_row(summed, [], read).unwrap();
        assert_eq!(summed, [2, 9_223_372_036, 854_775_812, 0, -2]);
        conn.execute_batch("DELETE FROM ledger_lines").unwrap();
        let left = conn.query_row("SELECT count(*) FROM campaign_sums", [], |row| row.get(0));
        assert_eq!(left, Ok(0_i64));
    }

    #[test]
    fn the_clicks_of_people_on_links_of_an_older_database_are_counted() {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.pragma_update(None, "foreign_keys", false).unwrap();
        apply(&mut conn, &MIGRATIONS[..12]).unwrap();
        conn.execute_batch(
            "INSERT INTO links VALUES (x'01', x'02', x'09', 'a', 'https://a', 0, 1), \
             (x'01', x'03', x'09', 'b', 'https://b', 0, 1);
             INSERT INTO clicks VALUES (x'01', x'04', x'02', x'09', 5, 1, 1), \
             (x'01', x'05', x'02', x'09', 7, 1, 1), (x'01', x'06', x'02', x'09', 8, 0, 1), \
             (x'01', x'07', x'03', x'09', 9, 0, 1);",
        )
        .unwrap();
        migrate(&mut conn).unwrap();
        let query = "SELECT human_clicks, last_human_click_at FROM links ORDER BY id";
        let mut statement = conn.prepare(query).unwrap();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let counted: rusqlite::Result<Vec<(i64, Option<i64>)>> =
            statement.query_map([], read).unwrap().collect();
        assert_eq!(counted.unwrap(), [(2, Some(7)), (0, None)]);
    }

    #[test]
    fn templates_and_sent_messages_of_an_older_database_are_taken_over() {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, &MIGRATIONS[..4]).unwrap();
        conn.execute_batch(
            "INSERT INTO companies VALUES (1, x'01', 'A', 'enterprise', 0, 0, 'BR', 0, 0, 1);
             INSERT INTO contacts (seq, company_id, id, facet_id, created_at, recency, version, \
             source_platform, identifier, name, display_name, inbox_status, priority, crm_status, \
             is_ai_enabled, external_ai_enabled, is_archived, is_pinned, is_muted, is_blocked, \
             is_group, is_simulated, custom_fields, updated_at) \
             VALUES (1, x'01', x'02', 1, 0, 9223372036854775807, 1, 'whatsapp', '55', '', '55', \
             'open', 'normal', 'lead', 1, 1, 0, 0, 0, 0, 0, 0, '{}', 0);
             INSERT INTO templates (company_id, id, name, category, language, body, status, \
             token, created_at, updated_at, version) \
             VALUES (x'01', x'03', 'a', 'UTILITY', 'pt_BR', 'oi', 'APPROVED', x'04', 0, 0, 7);
             INSERT INTO messages (company_id, id, facet_id, created_at, contact_id, \
             connection_id, direction, message_type, sender_type, status, timestamp, is_history, \
             version) VALUES (x'01', x'05', 1, 9, x'02', x'06', 'outbound', 'text', 'system', \
             'sent', 9, 0, 1);",
        )
        .unwrap();
        migrate(&mut conn).unwrap();
        let query = "SELECT provider_id, needs, version FROM templates";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let template: (Option<String>, String, i64) = conn.query_row(query, [], read).unwrap();
        assert_eq!(template, (None, "{}".to_owned(), 7));
        let query = "SELECT count(*) FROM messages INDEXED BY messages_left_sent \
                     WHERE status = 'sent' AND direction = 'outbound' AND is_history = 0";
        let sent: i64 = conn.query_row(query, [], |row| row.get(0)).unwrap();
        assert_eq!(sent, 1);
        // R302: their texts are made afterwards.
        let query = "SELECT after_seq, last_seq, (SELECT seq FROM messages) FROM message_texts_due";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (after, last, seq): (i64, i64, i64) = conn.query_row(query, [], read).unwrap();
        assert_eq!((after, last), (0, seq));
    }
}
