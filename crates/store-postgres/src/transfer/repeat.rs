//! Repeating the changes of a source in the target, and reading rows by their keys (R461).

use std::collections::HashMap;

use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use recado_core::store::StoreError;
use recado_store_sql::transfer::{ChangedCell, Moved, Part, RowChange, RowChangeKind};
use tokio_postgres::types::ToSql;

use super::read::query;
use super::session::Session;
use crate::columns::Columns;
use crate::error::failed;
use crate::pool::PooledConnection;

/// How many changes are sent before the first one is answered; few enough that a future for each is
/// polled in turn.
const SENT: usize = 30;

/// The columns of a table: their types, and those that no change writes, because they were given
/// once for all.
#[derive(Debug, Default)]
pub(super) struct Shapes(HashMap<String, HashMap<String, Shape>>);

#[derive(Debug)]
struct Shape {
    sql_type: String,
    is_given: bool,
}

const COLUMNS: &str = "SELECT attname::text, format_type(atttypid, atttypmod), \
    attidentity = 'a' FROM pg_attribute \
    WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped";

impl Shapes {
    async fn of(
        &mut self,
        client: &PooledConnection,
        table: &str,
    ) -> Result<&HashMap<String, Shape>, StoreError> {
        if !self.0.contains_key(table) {
            let rows = client.query(COLUMNS, &[&table]).await.map_err(failed)?;
            let columns = rows.iter().map(|row| {
                let shape = Shape { sql_type: row.get(1), is_given: row.get(2) };
                (row.get(0), shape)
            });
            self.0.insert(table.to_owned(), columns.collect());
        }
        self.0.get(table).ok_or_else(|| StoreError::corrupt("a table without columns"))
    }
}

fn shape<'a>(
    columns: &'a HashMap<String, Shape>,
    cell: &ChangedCell,
) -> Result<&'a Shape, StoreError> {
    let unknown = || StoreError::corrupt(format!("the target has no column {}", cell.column));
    columns.get(&cell.column).ok_or_else(unknown)
}

/// The statement of a change, and the values that it takes.
fn statement<'a>(
    change: &'a RowChange,
    columns: &HashMap<String, Shape>,
) -> Result<(String, Vec<&'a Option<String>>), StoreError> {
    let mut values = Vec::new();
    let mut value = |cell: &'a ChangedCell| {
        values.push(&cell.value);
        let typed = &shape(columns, cell)?.sql_type;
        Ok::<_, StoreError>(format!("${}::text::{typed}", values.len()))
    };
    let table = &change.table;
    let text = match change.kind {
        RowChangeKind::Insert => {
            let names: Vec<&str> = change.values.iter().map(|cell| cell.column.as_str()).collect();
            let given = change.values.iter().map(&mut value).collect::<Result<Vec<_>, _>>()?;
            format!(
                "INSERT INTO {table} ({}) OVERRIDING SYSTEM VALUE VALUES ({})",
                names.join(", "),
                given.join(", ")
            )
        }
        RowChangeKind::Update | RowChangeKind::Delete => {
            let mut set = Vec::new();
            for cell in &change.values {
                if !shape(columns, cell)?.is_given {
                    set.push(format!("{} = {}", cell.column, value(cell)?));
                }
            }
            let mut key = Vec::new();
            for cell in &change.key {
                key.push(format!("{} = {}", cell.column, value(cell)?));
            }
            let key = key.join(" AND ");
            match change.kind {
                RowChangeKind::Delete => format!("DELETE FROM {table} WHERE {key}"),
                _ => format!("UPDATE {table} SET {} WHERE {key}", set.join(", ")),
            }
        }
    };
    Ok((text, values))
}

/// Repeats changes, in their order: each meets what it met at the source, so references and unique
/// keys hold, and the triggers derive what they derived there.
pub(super) async fn repeat(session: &mut Session, changes: &[RowChange]) -> Result<(), StoreError> {
    for changes in changes.chunks(SENT) {
        let mut sent = Vec::with_capacity(changes.len());
        for change in changes {
            let columns = session.shapes.of(&session.client, &change.table).await?;
            let (text, values) = statement(change, columns)?;
            sent.push((session.client.prepare_cached(&text).await.map_err(failed)?, values));
        }
        // They are sent in this order, and the server carries them out in the order they come in.
        let client = &session.client;
        let executed = sent.iter().map(|(prepared, values)| async move {
            let values: Vec<&(dyn ToSql + Sync)> =
                values.iter().map(|value| *value as &(dyn ToSql + Sync)).collect();
            client.execute(prepared, &values).await
        });
        try_join_all(executed).await.map_err(failed)?;
    }
    Ok(())
}

/// The rows of a part that have one of these keys. Each is looked up by itself: statistics that are
/// older than the rows must not make anything read all of them.
pub(super) async fn rows_of(
    session: &mut Session,
    part: Part,
    keys: &[Vec<ChangedCell>],
) -> Result<Vec<Moved>, StoreError> {
    let Some(first) = keys.first() else { return Ok(Vec::new()) };
    let columns = session.shapes.of(&session.client, part.table()).await?;
    let (mut matching, mut values) = (Vec::new(), Vec::new());
    for (at, cell) in first.iter().enumerate() {
        let sql_type = &shape(columns, cell)?.sql_type;
        matching.push(format!("t.{} = k.v{at}::{sql_type}", cell.column));
        let of_column = |key: &Vec<ChangedCell>| key.get(at).and_then(|cell| cell.value.clone());
        values.push(keys.iter().map(of_column).collect::<Vec<Option<String>>>());
    }
    let arrays: Vec<String> = (1..=values.len()).map(|at| format!("${at}::text[]")).collect();
    let aliases: Vec<String> = (0..values.len()).map(|at| format!("v{at}")).collect();
    let from = format!(
        "unnest({}) AS k ({}) CROSS JOIN LATERAL (SELECT * FROM {} t WHERE {} OFFSET 0) AS r",
        arrays.join(", "),
        aliases.join(", "),
        part.table(),
        matching.join(" AND ")
    );
    let values: Vec<&(dyn ToSql + Sync)> =
        values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
    let text = query(part, &from, "true");
    let rows = session.client.query_raw(&text, values).await.map_err(failed)?;
    let rows: Vec<_> = rows.try_collect().await.map_err(failed)?;
    rows.iter().map(|row| Moved::read(part, &mut Columns::new(row), &session.sealer)).collect()
}

#[cfg(test)]
mod tests {
    use recado_core::ids::CompanyId;
    use recado_store_sql::transfer::Scope;
    use recado_testkit::postgres::TestPostgres;
    use uuid::Uuid;

    use super::*;
    use crate::{Options, PostgresStore};

    fn cell(column: &str, value: Option<&str>) -> ChangedCell {
        ChangedCell { column: column.to_owned(), value: value.map(str::to_owned) }
    }

    fn columns() -> HashMap<String, Shape> {
        let shape = |sql_type: &str, is_given| Shape { sql_type: sql_type.to_owned(), is_given };
        HashMap::from([
            ("id".to_owned(), shape("uuid", false)),
            ("seq".to_owned(), shape("bigint", true)),
            ("a".to_owned(), shape("jsonb", false)),
        ])
    }

    fn text(kind: RowChangeKind, values: Vec<ChangedCell>) -> String {
        let key = vec![cell("id", Some("1"))];
        let change = RowChange { table: "t".to_owned(), kind, key, values };
        statement(&change, &columns()).expect("a statement").0
    }

    /// R461: a place is given once, with the row.
    #[test]
    fn a_change_is_repeated_by_the_key_and_leaves_places_as_they_are() {
        let row = || vec![cell("id", Some("1")), cell("seq", Some("7")), cell("a", None)];
        assert_eq!(
            text(RowChangeKind::Insert, row()),
            "INSERT INTO t (id, seq, a) OVERRIDING SYSTEM VALUE \
             VALUES ($1::text::uuid, $2::text::bigint, $3::text::jsonb)"
        );
        assert_eq!(
            text(RowChangeKind::Update, row()),
            "UPDATE t SET id = $1::text::uuid, a = $2::text::jsonb WHERE id = $3::text::uuid"
        );
        assert_eq!(
            text(RowChangeKind::Delete, Vec::new()),
            "DELETE FROM t WHERE id = $1::text::uuid"
        );
    }

    /// R461.
    #[test]
    fn a_column_that_the_target_lacks_is_an_error() {
        let (key, values) = (vec![cell("id", Some("1"))], vec![cell("new", None)]);
        let (table, kind) = ("t".to_owned(), RowChangeKind::Insert);
        assert!(statement(&RowChange { table, kind, key, values }, &columns()).is_err());
    }

    /// R461: a table that was just filled is not read as a whole.
    #[tokio::test(flavor = "multi_thread")]
    async fn rows_are_looked_up_by_their_keys_where_no_statistics_know_of_them() {
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        let id = |n: u128| Uuid::from_u128(n).to_string();
        let scope = Scope::Company(CompanyId::new(Uuid::from_u128(1)));
        let mut session = Session::open(&store.pool, scope).await.unwrap();
        let filled = format!(
            "BEGIN; INSERT INTO events (company_id, id, event_type, at, data) \
             SELECT '{}', lpad(to_hex(n), 32, '0')::uuid, 'contact.created', 1, '{{}}' \
             FROM generate_series(1, 20000) AS n",
            id(1)
        );
        session.run(&filled).await.unwrap();
        let keys: Vec<_> = (1..=10)
            .map(|n| {
                let (company, row) = (id(1), id(n * 1_000));
                vec![cell("company_id", Some(&company)), cell("id", Some(&row))]
            })
            .collect();
        let blocks = "SELECT pg_stat_get_xact_blocks_fetched('events'::regclass)";
        let before: i64 = session.client.query_one(blocks, &[]).await.unwrap().get(0);
        assert_eq!(rows_of(&mut session, Part::Events, &keys).await.unwrap().len(), 10);
        let read = session.client.query_one(blocks, &[]).await.unwrap().get::<_, i64>(0) - before;
        assert!((10..50).contains(&read), "{read} blocks of the table");
    }
}
