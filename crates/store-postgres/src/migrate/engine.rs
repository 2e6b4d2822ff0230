//! What commits need of the database's engine, tried before anything is made of it.

use std::fmt;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::MigrateError;
use crate::error::failed;

/// What an engine that speaks Postgres's protocol may lack, or do in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineFeature {
    /// Advisory locks that last as long as a transaction and are the same for all connections. On
    /// them rests that readers of the journal and exports miss nothing.
    AdvisoryLocks,
    /// Triggers on statements that see all rows of the statement. Counts and orders are made by
    /// them.
    TransitionTables,
    /// `SELECT … FOR UPDATE SKIP LOCKED`. Queues are claimed by it.
    SkipLocked,
}

impl fmt::Display for EngineFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AdvisoryLocks => {
                "advisory locks of transactions (pg_advisory_xact_lock) that all connections share"
            }
            Self::TransitionTables => {
                "triggers with transition tables (REFERENCING NEW TABLE AS …)"
            }
            Self::SkipLocked => "SELECT … FOR UPDATE SKIP LOCKED",
        })
    }
}

/// The advisory lock that is tried.
const TRIED: i64 = 0x7265_6361_646f_0004;

/// A trigger that sees both rows of a statement, or fails. The transaction is rolled back.
const TRIGGER: &str = "\
CREATE TABLE recado_tried (n int);
CREATE FUNCTION recado_try() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(*) FROM made) <> 2 THEN RAISE EXCEPTION 'a row is missing'; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER recado_try AFTER INSERT ON recado_tried REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION recado_try();
INSERT INTO recado_tried VALUES (1), (2);";

const SKIP: &str = "SELECT n FROM recado_tried FOR UPDATE SKIP LOCKED";

/// Whether the answer says that the engine cannot do it, rather than that this role may not, or
/// that the server is not well.
fn is_about_the_engine(code: &SqlState) -> bool {
    let unknown = [
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::SYNTAX_ERROR,
        SqlState::UNDEFINED_FUNCTION,
        SqlState::UNDEFINED_OBJECT,
        SqlState::RAISE_EXCEPTION,
    ];
    unknown.contains(code)
}

/// Fails if the engine lacks something. Leaves nothing behind.
///
/// R453.
pub(super) async fn check(client: &Client, other: &Client) -> Result<(), MigrateError> {
    let lacks = |lacks: EngineFeature| {
        move |error: Error| match error.as_db_error() {
            Some(said) if is_about_the_engine(said.code()) => {
                MigrateError::Engine { lacks, said: said.message().to_owned() }
            }
            _ => failed(error).into(),
        }
    };
    client.batch_execute("BEGIN").await.map_err(failed)?;
    let tried = async {
        let locks = lacks(EngineFeature::AdvisoryLocks);
        client.execute("SELECT pg_advisory_xact_lock($1)", &[&TRIED]).await.map_err(&locks)?;
        let again = "SELECT pg_try_advisory_xact_lock($1)";
        let row = other.query_one(again, &[&TRIED]).await.map_err(&locks)?;
        if row.get(0) {
            let said = "two connections had the same lock".to_owned();
            return Err(MigrateError::Engine { lacks: EngineFeature::AdvisoryLocks, said });
        }
        client.batch_execute(TRIGGER).await.map_err(lacks(EngineFeature::TransitionTables))?;
        client.batch_execute(SKIP).await.map_err(lacks(EngineFeature::SkipLocked))
    };
    let tried = tried.await;
    client.batch_execute("ROLLBACK").await.map_err(failed)?;
    tried
}
