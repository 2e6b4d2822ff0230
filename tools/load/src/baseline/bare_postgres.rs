//! The Postgres driver without a server.

use std::error::Error;
use std::hint::black_box;

use recado_core::ids::CompanyId;
use tokio::runtime::Runtime;
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Client, NoTls};

use super::bare::Work;
use crate::stores::AnyError;

/// The settings of the server's connections, so that both get the same plans.
const SETTINGS: &str =
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off";
/// The plainest statement that answers the contacts of the first page with their tags, from the
/// table that has their order.
const PAGE: &str = "SELECT c.*, (SELECT json_agg(json_build_object('id', t.id, 'name', t.name, \
    'color', t.color) ORDER BY t.created_at, t.id) FROM contact_tags g \
    JOIN tags t ON t.company_id = g.company_id AND t.id = g.tag_id \
    WHERE g.company_id = c.company_id AND g.contact_id = c.id) AS tags \
    FROM (SELECT contact_id, last_message_at FROM contact_orders WHERE company_id = $1 \
    ORDER BY last_message_at DESC NULLS LAST, contact_id LIMIT 50) AS o \
    JOIN contacts c ON c.company_id = $1 AND c.id = o.contact_id \
    ORDER BY o.last_message_at DESC NULLS LAST, o.contact_id";

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

/// Repeats reading the first page with its tags, and every value of it.
pub(crate) fn pages(url: &str, company: CompanyId) -> Result<Work, AnyError> {
    let Connected { runtime, client } = connect(url)?;
    runtime.block_on(client.batch_execute(SETTINGS))?;
    let statement = runtime.block_on(client.prepare(PAGE))?;
    let company = company.uuid();
    Ok(Box::new(move || {
        let rows = runtime.block_on(client.query(&statement, &[&company]))?;
        if rows.len() != 50 {
            return Err("the statement answered something else than a page".into());
        }
        for row in &rows {
            for column in 0..row.len() {
                black_box(row.try_get::<_, Bytes>(column)?.0);
            }
        }
        Ok(())
    }))
}

/// The bytes of any value, copied.
struct Bytes(Option<Vec<u8>>);

impl FromSql<'_> for Bytes {
    fn from_sql(_: &Type, bytes: &[u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Some(bytes.to_vec())))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
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
