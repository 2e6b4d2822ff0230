//! The statements of shared transactions, on the schema.

use recado_core::match_kind;
use recado_core::store::RowKind;
use recado_testkit::postgres::TestPostgres;

use crate::contacts_write;
use crate::messages_write;
use crate::table::{Sql, Table};
use crate::{Options, PostgresStore};

/// Every statement that writes several rows of a kind.
fn statements() -> Vec<(RowKind, &'static Sql)> {
    let mut all: Vec<_> =
        RowKind::ALL.iter().map(|kind| (*kind, match_kind!(*kind, T => T::sql()))).collect();
    all.push((RowKind::Contact, contacts_write::sql()));
    all.push((RowKind::Message, messages_write::sql()));
    all
}

#[tokio::test]
async fn the_statements_that_write_several_rows_fit_the_schema() {
    let database = TestPostgres::shared().fresh_database();
    let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
    store.migrate().await.unwrap();
    let client = store.pool.get().await.unwrap();
    for (kind, sql) in statements() {
        let several = sql.insert_many.iter().chain(&sql.update_many);
        for (rows, statement) in several.filter(|(rows, _)| *rows <= 4) {
            let prepared = client.prepare(statement).await;
            let prepared = prepared.unwrap_or_else(|error| panic!("{kind:?} × {rows}: {error:?}"));
            assert_eq!(prepared.params().len() % rows, 0, "{kind:?} × {rows}");
        }
    }
}
