//! The SQLite driver without a server.

use std::collections::HashSet;
use std::hint::black_box;

use recado_core::ids::CompanyId;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params};

use super::bare::Work;
use crate::stores::AnyError;

/// The page cache of a connection in KiB, as in the store (negative by SQLite's convention).
const CACHE: i64 = -6 * 1024;

/// The statements of the store for the first page: the combinations of the exact filters with their
/// counts, the order, then each contact with its tags, each stage once, and the custom fields.
const FACETS: &str = "SELECT id, contacts, source_platform, inbox_status, pipeline_stage_id, \
    crm_status, is_ai_enabled, is_group FROM contact_facets WHERE company_id = ?1";
const ORDER: &str = "SELECT recency, id, seq, pipeline_stage_id FROM contacts \
    INDEXED BY contacts_by_recency WHERE company_id = ?1 ORDER BY recency, id LIMIT 50";
const CONTACT: &str = "SELECT * FROM contacts WHERE seq = ?1";
const TAGS: &str = "SELECT t.* FROM contact_tags AS g \
    JOIN tags AS t ON t.company_id = g.company_id AND t.id = g.tag_id \
    WHERE g.company_id = ?1 AND g.contact_id = ?2 ORDER BY t.created_at, t.id";
const STAGE: &str = "SELECT * FROM stages WHERE company_id = ?1 AND id = ?2";
const FIELDS: &str = "SELECT * FROM custom_fields WHERE company_id = ?1 ORDER BY created_at, id";

/// Repeats reading the first page with everything it refers to, in one transaction.
pub(crate) fn pages(path: &str, company: CompanyId) -> Result<Work, AnyError> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    // As in the store, plans never depend on bound values.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "cache_size", CACHE)?;
    connection.set_prepared_statement_cache_capacity(64);
    let company = company.uuid().into_bytes();
    Ok(Box::new(move || {
        connection.prepare_cached("BEGIN")?.execute([])?;
        page(&connection, company)?;
        connection.prepare_cached("ROLLBACK")?.execute([])?;
        Ok(())
    }))
}

fn page(connection: &Connection, company: [u8; 16]) -> Result<(), AnyError> {
    read_all(connection, FACETS, params![company])?;
    let places: Vec<([u8; 16], i64, Option<[u8; 16]>)> = connection
        .prepare_cached(ORDER)?
        .query_map([company], |row| Ok((row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<Result<_, _>>()?;
    let mut stages = HashSet::new();
    for (id, seq, stage) in places {
        read_all(connection, CONTACT, params![seq])?;
        read_all(connection, TAGS, params![company, id])?;
        if let Some(stage) = stage
            && stages.insert(stage)
        {
            read_all(connection, STAGE, params![company, stage])?;
        }
    }
    read_all(connection, FIELDS, params![company])
}

/// Reads every column of every row.
fn read_all(
    connection: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
) -> Result<(), AnyError> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    black_box(bytes.to_vec());
                }
                other => {
                    black_box(other);
                }
            }
        }
    }
    Ok(())
}

/// Repeats inserting one row and waiting until it is durable.
pub(crate) fn inserts(path: &str) -> Result<Work, AnyError> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS bare (
             id INTEGER PRIMARY KEY, phone TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
             email TEXT, city TEXT, created_at INTEGER NOT NULL
         ) STRICT",
    )?;
    let mut index = 0;
    let mut random = fastrand::Rng::with_seed(1);
    Ok(Box::new(move || {
        let person = crate::people::person(index, &mut random);
        index += 1;
        connection
            .prepare_cached(
                "INSERT INTO bare (phone, name, email, city, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                person.phone,
                person.name,
                person.email,
                person.city,
                i64::try_from(index)?
            ])?;
        Ok(())
    }))
}
