//! Whether something between the program and the server keeps sessions.

use tokio_postgres::{Client, Error, SimpleQueryMessage};

/// What is between the program and the server gives two connections the same session in turns.
#[derive(Debug, thiserror::Error)]
#[error(
    "a pooler between here and Postgres does not keep sessions: connect to Postgres itself, or set \
     pool_mode = session for this database"
)]
pub(crate) struct SharedSessions;

/// Whether each of two connections has a session of the server for itself. The pooler cannot give
/// both the same one while the other one has a transaction.
///
/// R454.
pub(crate) async fn keeps_sessions(one: &Client, other: &Client) -> Result<bool, Error> {
    let own = process(one).await?;
    other.batch_execute("BEGIN").await?;
    let others = process(other).await?;
    let later = process(one).await?;
    other.batch_execute("ROLLBACK").await?;
    Ok(own != others && own == later)
}

/// The process of a connection and when its server started, by a query that needs no prepared
/// statement. Of several hosts, two may have a process with the same number.
async fn process(client: &Client) -> Result<Option<String>, Error> {
    let query = "SELECT concat(pg_backend_pid(), ' ', pg_postmaster_start_time())";
    let answer = client.simple_query(query).await?;
    Ok(answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}
