//! The bare driver of Postgres.

use std::hint::black_box;

use futures_util::future::try_join_all;
use recado_core::ids::CompanyId;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, Statement};
use uuid::Uuid;

use super::bare::Work;
use crate::stores::AnyError;

/// What the store asks for the first page: its rows, the counts of the total, and what the rows
/// refer to.
const PAGE: &[&str] = &["SELECT * FROM contacts WHERE company_id = $1
     ORDER BY last_message_at DESC NULLS LAST, id LIMIT 50"];

/// A connection with a runtime of its own, so that connections do not wait for each other.
struct Connected {
    runtime: Runtime,
    client: Client,
}

fn connect(url: &str) -> Result<Connected, AnyError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
    // It ends with the client; what it would say then, the client has said already.
    runtime.spawn(async move { drop(connection.await) });
    Ok(Connected { runtime, client })
}

/// Reads the first page with everything it refers to, in one transaction and one round trip.
pub(crate) fn pages(url: &str, company: CompanyId) -> Result<Work, AnyError> {
    let Connected { runtime, client } = connect(url)?;
    let statements = runtime.block_on(try_join_all(PAGE.iter().map(|sql| client.prepare(sql))))?;
    let company: Uuid = company.uuid();
    Ok(Box::new(move || runtime.block_on(page(&client, &statements, company))))
}

async fn page(client: &Client, statements: &[Statement], company: Uuid) -> Result<(), AnyError> {
    for statement in statements {
        for row in client.query(statement, &[&company]).await? {
            black_box(row);
        }
    }
    Ok(())
}

/// Makes the table that [`inserts`] writes to.
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
    // On a thread of its own, because the caller's runtime cannot be entered twice.
    let done = std::thread::spawn(move || -> Result<(), AnyError> {
        let Connected { runtime, client } = connect(&url)?;
        Ok(runtime.block_on(client.batch_execute(sql))?)
    });
    done.join().map_err(|_| "a thread of the bare driver panicked")?
}

/// Inserts one row and waits until it is durable, again and again.
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
