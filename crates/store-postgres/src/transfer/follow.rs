//! Following a company of the source, by Postgres's own logical replication (R461).

use async_trait::async_trait;
use recado_core::ids::CompanyId;
use recado_core::store::StoreError;
use recado_store_sql::transfer::{CHANGES, ChangeReader, FollowError, Followed, Part, Scope, Told};
use tokio_postgres::error::SqlState;

use super::pgoutput::{Decoder, Message};
use super::session::Session;
use super::snapshot::Snapshot;
use crate::error::failed;
use crate::pool::Pool;

/// The first version whose publications can be of some rows.
const OLDEST: i32 = 150_000;
/// How many changes are told at once.
const TOLD: i32 = CHANGES as i32;

/// A commit that is durable, with everything before it.
const DURABLE: &str = "BEGIN; SET LOCAL synchronous_commit = on; \
    SELECT pg_logical_emit_message(true, 'recado', ''); COMMIT";

/// The tables of this store alone that are written with the rows of a company, and not by triggers.
const BESIDE_ROWS: [(&str, &str); 2] =
    [("contact_search", "company_id"), ("message_texts", "company_id")];

/// What the changes of a company come through: a publication of its rows and a slot, which keeps
/// the log of the source until its changes were told. The slot ends with the connection.
pub(super) struct Following {
    session: Session,
    name: String,
    seen: Snapshot,
    decoder: Decoder,
}

/// Tables whose changes are told, with the column of the company.
fn published() -> Vec<(&'static str, &'static str)> {
    let of_company = Part::order().into_iter().filter(|part| !part.is_log());
    of_company
        .filter(|part| !part.may_be_of_company())
        .filter_map(|part| Some((part.table(), part.company_column()?)))
        .chain(BESIDE_ROWS)
        .collect()
}

/// The name of the publication and of the slot.
fn name_of(company: CompanyId) -> String {
    format!("recado_move_{}", company.uuid().simple())
}

fn publication(company: CompanyId) -> String {
    let tables = published();
    let tables: Vec<String> = tables
        .iter()
        .map(|(table, column)| format!("TABLE {table} WHERE ({column} = '{}')", company.uuid()))
        .collect();
    let name = name_of(company);
    format!(
        "DROP PUBLICATION IF EXISTS {name}; CREATE PUBLICATION {name} FOR {} \
         WITH (publish = 'insert, update, delete')",
        tables.join(", ")
    )
}

/// Begins to follow a company. The state that is returned is read after the changes began to be
/// kept, so those that it sees are passed over.
pub(super) async fn follow(pool: &Pool, company: CompanyId) -> Result<Followed, FollowError> {
    let scope = Scope::Company(company);
    let session = Session::open(pool, scope).await?;
    check(&session).await?;
    session.client.batch_execute(&publication(company)).await.map_err(unsupported)?;
    let name = name_of(company);
    let slot = "SELECT pg_create_logical_replication_slot($1, 'pgoutput', true)";
    if let Err(error) = session.client.execute(slot, &[&name]).await {
        // What is not said of the first failure is said of the next attempt.
        let _ = session.run(&format!("DROP PUBLICATION IF EXISTS {name}")).await;
        return Err(unsupported(error));
    }
    let state = Session::open(pool, scope).await?;
    state.begin_reading(false).await?;
    let snapshot = state.client.query_one("SELECT pg_current_snapshot()::text", &[]).await;
    let snapshot: String = snapshot.map_err(failed)?.get(0);
    let seen = Snapshot::parse(&snapshot);
    let seen = seen.ok_or_else(|| StoreError::corrupt(format!("the snapshot {snapshot}")))?;
    let changes = Following { session, name, seen, decoder: Decoder::default() };
    Ok(Followed { state: Box::new(state), changes: Box::new(changes) })
}

/// Refuses a server that cannot tell changes.
async fn check(session: &Session) -> Result<(), FollowError> {
    let settings = "SELECT current_setting('server_version_num')::integer, \
                    current_setting('wal_level')";
    let row = session.client.query_one(settings, &[]).await.map_err(failed)?;
    let (version, level): (i32, String) = (row.get(0), row.get(1));
    if version < OLDEST {
        let text = "a company moves while it is in use from Postgres 15 or later";
        return Err(FollowError::Unsupported(text.to_owned()));
    }
    if level != "logical" {
        return Err(FollowError::Unsupported(format!(
            "the Postgres of the source has wal_level = {level}: set it to logical and start it again"
        )));
    }
    Ok(())
}

/// What a user is not allowed to do, and what there is no room for, can be mended by its operator.
fn unsupported(error: tokio_postgres::Error) -> FollowError {
    let mendable = [
        SqlState::INSUFFICIENT_PRIVILEGE,
        SqlState::CONFIGURATION_LIMIT_EXCEEDED,
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        SqlState::DUPLICATE_OBJECT,
    ];
    match error.as_db_error() {
        Some(db) if mendable.contains(db.code()) => FollowError::Unsupported(format!(
            "the Postgres of the source does not tell its changes: {}",
            db.message()
        )),
        _ => FollowError::Store(failed(error)),
    }
}

#[async_trait]
impl ChangeReader for Following {
    async fn next(&mut self) -> Result<Told, StoreError> {
        let told = "SELECT data FROM pg_logical_slot_get_binary_changes($1, NULL, $2, \
                    'proto_version', '1', 'publication_names', $3)";
        // What was committed is told once it is durable: this commit waits for that.
        self.session.run(DURABLE).await?;
        loop {
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                [&self.name, &TOLD, &self.name];
            let rows = self.session.client.query(told, &values).await.map_err(failed)?;
            let (mut changes, mut is_new) = (Vec::new(), true);
            for row in &rows {
                let message = self.decoder.read(row.get(0));
                match message.map_err(|_| StoreError::corrupt("a change that cannot be read"))? {
                    Message::Begin { transaction } => is_new = !self.seen.sees(transaction),
                    Message::Change(change) if is_new => changes.push(change),
                    Message::Change(_) | Message::Other => {}
                }
            }
            // What is told ends after so many messages, or with the log.
            let is_all = rows.len() < CHANGES;
            if is_all || !changes.is_empty() {
                return Ok(Told { changes, is_all });
            }
        }
    }

    async fn end(self: Box<Self>) -> Result<(), StoreError> {
        let name = self.name;
        let drop = "SELECT pg_drop_replication_slot($1)";
        self.session.client.execute(drop, &[&name]).await.map_err(failed)?;
        self.session.run(&format!("DROP PUBLICATION IF EXISTS {name}")).await
    }
}

#[cfg(test)]
mod tests {
    use recado_store_sql::transfer::Treatment;
    use recado_testkit::postgres::TestPostgres;

    use super::super::tables::OWN;
    use super::*;
    use crate::{Options, PostgresStore};

    /// R461: a filter on other columns than the key's would refuse changes of the table.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_company_is_of_the_key_of_every_table_that_is_published() {
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        let keys = "SELECT c.relname::text, a.attname::text FROM pg_index i \
            JOIN pg_class c ON c.oid = i.indrelid \
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey) \
            WHERE i.indisprimary AND c.relnamespace = 'public'::regnamespace";
        let rows = crate::session::rows(&store.pool, keys, Vec::new()).await.unwrap();
        let keys: Vec<(String, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        assert!(published().len() > 40);
        for (table, column) in published() {
            assert!(keys.contains(&(table.to_owned(), column.to_owned())), "{table}");
        }
    }

    /// R461.
    #[test]
    fn what_is_derived_is_derived_at_the_target_but_for_what_is_written_with_its_rows() {
        for (table, _) in BESIDE_ROWS {
            assert!(OWN.contains(&(table, Treatment::Derived)), "{table}");
        }
        let tables: Vec<&str> = published().into_iter().map(|(table, _)| table).collect();
        assert!(!tables.contains(&"operator_tokens") && !tables.contains(&"audit_entries"));
        assert!(tables.contains(&"companies") && tables.contains(&"events"));
    }
}
