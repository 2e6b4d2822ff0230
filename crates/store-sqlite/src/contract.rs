//! Compares the schema with the references and unique keys that the core declares.

use std::collections::BTreeSet;

use recado_core::store::{OnDelete, REFERENCES, Reference, RowKind, UNIQUE};
use recado_store_sql::{table_of, unique_columns};
use rusqlite::Connection;

/// References without a foreign key of their own. A message refers to a row of `message_facets`,
/// which has the foreign key to the connection.
const HELD_OTHERWISE: &[(RowKind, &str)] = &[(RowKind::Message, "connection")];

fn migrated() -> Connection {
    let mut conn = Connection::open_in_memory().expect("SQLite opens");
    crate::schema::migrate(&mut conn).expect("the migrations apply");
    conn
}

/// A foreign key: its columns, the table it refers to, and what happens when the row there is
/// deleted.
type ForeignKey = (BTreeSet<String>, String, String);

fn foreign_keys(conn: &Connection, table: &str) -> Vec<ForeignKey> {
    let mut statement = conn
        .prepare("SELECT id, \"from\", \"table\", on_delete FROM pragma_foreign_key_list(?1)")
        .expect("a query");
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let rows: Vec<(i64, String, String, String)> = statement
        .query_map([table], read)
        .and_then(Iterator::collect)
        .expect("foreign keys are listed");
    let ids: BTreeSet<i64> = rows.iter().map(|(id, ..)| *id).collect();
    ids.into_iter()
        .map(|id| {
            let of: Vec<_> = rows.iter().filter(|row| row.0 == id).collect();
            let columns = of.iter().map(|(_, column, ..)| column.clone()).collect();
            (columns, of[0].2.clone(), of[0].3.clone())
        })
        .collect()
}

fn unique_indexes(conn: &Connection, table: &str) -> Vec<BTreeSet<String>> {
    let query = "SELECT name FROM pragma_index_list(?1) WHERE \"unique\"";
    let mut statement = conn.prepare(query).expect("a query");
    let names: Vec<String> = statement
        .query_map([table], |row| row.get(0))
        .and_then(Iterator::collect)
        .expect("indexes are listed");
    let columns = |name: &String| {
        let query = "SELECT name FROM pragma_index_info(?1)";
        let mut statement = conn.prepare(query).expect("a query");
        let columns = statement.query_map([name], |row| row.get(0)).and_then(Iterator::collect);
        columns.expect("columns are listed")
    };
    names.iter().map(columns).collect()
}

/// The foreign key that a reference needs. A field that becomes empty is emptied before the
/// deletion.
fn wanted(reference: &Reference, found: &[ForeignKey]) -> (String, String, String) {
    let table = table_of(reference.from);
    let column = table
        .columns_of(reference.field)
        .find(|column| found.iter().any(|(columns, ..)| columns.contains(*column)));
    let action = match reference.on_delete {
        OnDelete::Cascade => "CASCADE",
        OnDelete::Restrict | OnDelete::SetNull | OnDelete::Keep => "NO ACTION",
    };
    let column = column.unwrap_or("a column without a foreign key");
    (column.to_owned(), table_of(reference.to).name.to_owned(), action.to_owned())
}

#[test]
fn the_schema_has_the_references_that_the_core_declares_and_no_others() {
    let conn = migrated();
    for kind in RowKind::ALL.iter().copied() {
        let found = foreign_keys(&conn, table_of(kind).name);
        let within_company: BTreeSet<_> = found
            .iter()
            .filter_map(|(columns, table, action)| {
                let column = columns.iter().find(|column| *column != "company_id")?;
                Some((column.clone(), table.clone(), action.clone()))
            })
            .collect();
        let declared: BTreeSet<_> = REFERENCES
            .iter()
            .filter(|reference| reference.from == kind && reference.is_enforced())
            .filter(|reference| !HELD_OTHERWISE.contains(&(kind, reference.field)))
            .map(|reference| wanted(reference, &found))
            .collect();
        assert_eq!(within_company, declared, "{kind:?}");
        let of_company = found.iter().any(|(columns, ..)| columns.contains("company_id"));
        assert_eq!(of_company, Reference::to_company(kind).is_some(), "{kind:?}");
    }
}

#[test]
fn the_schema_has_the_unique_keys_that_the_core_declares_and_no_others() {
    let conn = migrated();
    for kind in RowKind::ALL.iter().copied() {
        let table = table_of(kind);
        let owned = |columns: &[&str]| columns.iter().map(|name| (*name).to_owned()).collect();
        let key: BTreeSet<String> = owned(&table.columns[..table.key]);
        let mut declared: BTreeSet<_> = UNIQUE
            .iter()
            .filter(|unique| unique.kind == kind)
            .map(|unique| unique_columns(unique).into_iter().map(str::to_owned).collect())
            .collect();
        declared.insert(key.clone());
        let mut found: BTreeSet<_> = unique_indexes(&conn, table.name).into_iter().collect();
        // A primary key of one integer column is the rowid, and has no index.
        found.insert(key);
        assert_eq!(found, declared, "{kind:?}");
    }
}
