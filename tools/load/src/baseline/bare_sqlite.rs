//! The SQLite driver without a server.

use std::hint::black_box;

use recado_core::ids::CompanyId;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params};

use super::bare::Work;
use crate::stores::AnyError;

/// The page cache of a connection in KiB, as in the store (negative by SQLite's convention).
const CACHE: i64 = -6 * 1024;

/// The plainest statement that answers the contacts of the first page with their tags.
const PAGE: &str = "SELECT c.*, (SELECT json_group_array(json_object('id', hex(t.id), \
    'name', t.name, 'color', t.color)) FROM (SELECT t.id, t.name, t.color FROM contact_tags AS g \
    JOIN tags AS t ON t.company_id = g.company_id AND t.id = g.tag_id \
    WHERE g.company_id = c.company_id AND g.contact_id = c.id ORDER BY t.created_at, t.id) AS t) \
    FROM contacts AS c WHERE c.company_id = ?1 ORDER BY c.recency, c.id LIMIT 50";

/// Repeats reading the first page with its tags.
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
    Ok(Box::new(move || read_all(&connection, PAGE, params![company])))
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
