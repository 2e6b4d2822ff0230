//! The Postgres driver without a server.

use std::hint::black_box;

use recado_core::ids::CompanyId;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use super::bare::Work;
use crate::stores::AnyError;

/// The settings of the server's connections, so that both get the same plans.
const SETTINGS: &str =
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off";
/// The statement of the first page as the database received it from the server, so that exactly the
/// same statement is compared.
const SEEN: &str = "SELECT query FROM pg_stat_activity \
    WHERE datname = current_database() AND pid <> pg_backend_pid() \
    AND query LIKE 'WITH %' AND query LIKE '%last_message_at DESC NULLS LAST%' \
    AND query NOT LIKE '%search_text%' AND query NOT LIKE '% heads AS %' \
    ORDER BY query_start DESC LIMIT 1";

/// A connection with its own runtime, so that connections do not wait for each other.
struct Connected {
    runtime: Runtime,
    client: Client,
}

fn connect(url: &str) -> Result<Connected, AnyError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
    // The task ends with the client. The client has reported its errors already.
    runtime.spawn(async move { drop(connection.await) });
    Ok(Connected { runtime, client })
}

/// The statement that a server sent to the database for the first page just before.
///
/// # Errors
///
/// When the database fails, or has not kept the whole statement.
pub(crate) fn page_statement(url: &str) -> Result<String, AnyError> {
    let url = url.to_owned();
    alone(move || {
        let Connected { runtime, client } = connect(&url)?;
        let row = runtime.block_on(client.query_opt(SEEN, &[]))?;
        let query: String = row.ok_or("the server's statement was not seen")?.get(0);
        // A statement that was cut off cannot be prepared; this message is clearer than a syntax
        // error.
        if !query.contains("$9") {
            return Err("start Postgres with track_activity_query_size=65536".into());
        }
        Ok(query)
    })
}

/// Repeats reading the first page with everything it refers to, with that statement.
pub(crate) fn pages(url: &str, company: CompanyId, statement: &str) -> Result<Work, AnyError> {
    let Connected { runtime, client } = connect(url)?;
    runtime.block_on(client.batch_execute(SETTINGS))?;
    let statement = runtime.block_on(client.prepare(statement))?;
    let (company, none, page) = (company.uuid(), None::<&str>, (50_i64, 0_i64));
    Ok(Box::new(move || {
        let (no_id, no_flag) = (None::<Uuid>, None::<bool>);
        let rows = runtime.block_on(client.query(
            &statement,
            &[&company, &none, &none, &no_id, &none, &no_flag, &no_flag, &page.0, &page.1],
        ))?;
        if rows.len() != 50 {
            return Err("the statement answered something else than a page".into());
        }
        black_box(rows);
        Ok(())
    }))
}

/// Calls `look` with the process id of a database process that serves the server.
///
/// # Errors
///
/// When the database fails, and what `look` fails with.
pub(crate) fn at_backend<T: Send + 'static>(
    url: &str,
    inspect: impl FnOnce(u32) -> Result<T, AnyError> + Send + 'static,
) -> Result<T, AnyError> {
    let url = url.to_owned();
    alone(move || {
        let Connected { runtime, client } = connect(&url)?;
        let row = runtime.block_on(client.query_one("SELECT pg_backend_pid()", &[]))?;
        inspect(u32::try_from(row.get::<_, i32>(0))?)
    })
}

/// Creates the table for [`inserts`].
///
/// # Errors
///
/// When the database fails.
pub(crate) fn prepare_inserts(url: &str) -> Result<(), AnyError> {
    run(
        url,
        "DROP TABLE IF EXISTS bare_inserts;
        CREATE TABLE bare_inserts (
            id bigserial PRIMARY KEY, phone text NOT NULL UNIQUE, name text NOT NULL,
            email text, city text, created_at bigint NOT NULL)",
    )
}

/// Drops that table.
///
/// # Errors
///
/// When the database fails.
pub(crate) fn drop_inserts(url: &str) -> Result<(), AnyError> {
    run(url, "DROP TABLE bare_inserts")
}

fn run(url: &str, sql: &'static str) -> Result<(), AnyError> {
    let url = url.to_owned();
    alone(move || {
        let Connected { runtime, client } = connect(&url)?;
        Ok(runtime.block_on(client.batch_execute(sql))?)
    })
}

/// Runs on its own thread, because the caller's runtime cannot be entered twice.
fn alone<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AnyError> + Send + 'static,
) -> Result<T, AnyError> {
    let thread = std::thread::spawn(work);
    thread.join().map_err(|_| "a thread of the bare driver panicked")?
}

/// Repeats inserting one row and waiting until it is durable.
pub(crate) fn inserts(url: &str, connection: usize) -> Result<Work, AnyError> {
    let Connected { runtime, client } = connect(url)?;
    let statement = runtime.block_on(client.prepare(
        "INSERT INTO bare_inserts (phone, name, email, city, created_at)
         VALUES ($1, $2, $3, $4, $5)",
    ))?;
    let mut index = connection as u64 * 1_000_000;
    let mut random = fastrand::Rng::with_seed(index);
    Ok(Box::new(move || {
        let person = crate::people::person(index, &mut random);
        index += 1;
        let at = i64::try_from(index)?;
        runtime.block_on(client.execute(
            &statement,
            &[&person.phone, &person.name, &person.email, &person.city, &at],
        ))?;
        Ok(())
    }))
}
