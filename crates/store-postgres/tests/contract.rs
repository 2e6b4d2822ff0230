//! Compares the schema with the references and unique keys that the core declares.

mod support;

use std::collections::BTreeSet;

use recado_core::store::{OnDelete, REFERENCES, Reference, RowKind, UNIQUE};
use recado_store_sql::{table_of, unique_columns};

/// A foreign key: its columns, the table it refers to, and what happens when the row there is
/// deleted.
type ForeignKey = (BTreeSet<String>, String, String);

/// References without a foreign key of their own: triggers check them by statement.
const HELD_OTHERWISE: &[(RowKind, &str)] = &[
    (RowKind::Alias, "contact"),
    (RowKind::Message, "contact"),
    (RowKind::Message, "connection"),
    (RowKind::MessageRef, "connection"),
    (RowKind::MessageRef, "target"),
];

const FOREIGN_KEYS: &str = "SELECT array(SELECT attname::text FROM pg_attribute \
        WHERE attrelid = c.conrelid AND attnum = ANY (c.conkey)), \
        c.confrelid::regclass::text, c.confdeltype::text \
    FROM pg_constraint c WHERE c.contype = 'f' AND c.conrelid = $1::text::regclass";

const UNIQUE_INDEXES: &str = "SELECT array(SELECT attname::text FROM pg_attribute \
        WHERE attrelid = i.indrelid AND attnum = ANY (i.indkey)) \
    FROM pg_index i WHERE i.indisunique AND i.indrelid = $1::text::regclass";

/// The foreign key that a reference needs.
fn wanted(reference: &Reference, found: &[ForeignKey]) -> (String, String, String) {
    let table = table_of(reference.from);
    let column = table
        .columns_of(reference.field)
        .find(|column| found.iter().any(|(columns, ..)| columns.contains(*column)));
    let action = match reference.on_delete {
        OnDelete::Cascade => "c",
        OnDelete::SetNull => "n",
        OnDelete::Restrict | OnDelete::Keep => "a",
    };
    let column = column.unwrap_or("a column without a foreign key");
    (column.to_owned(), table_of(reference.to).name.to_owned(), action.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_has_the_references_that_the_core_declares_and_no_others() {
    let database = support::Database::fresh().await;
    let client = database.client().await;
    for kind in RowKind::ALL.iter().copied() {
        let rows = client.query(FOREIGN_KEYS, &[&table_of(kind).name]).await.expect("a query");
        let read = |row: &tokio_postgres::Row| {
            let columns: Vec<String> = row.get(0);
            (columns.into_iter().collect(), row.get(1), row.get(2))
        };
        let found: Vec<ForeignKey> = rows.iter().map(read).collect();
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
        let of_company = found.iter().any(|(columns, ..)| columns.contains("company_id"))
            || HELD_OTHERWISE.iter().any(|(from, _)| *from == kind);
        assert_eq!(of_company, Reference::to_company(kind).is_some(), "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_has_the_unique_keys_that_the_core_declares() {
    let database = support::Database::fresh().await;
    let client = database.client().await;
    for unique in UNIQUE {
        let table = table_of(unique.kind).name;
        let rows = client.query(UNIQUE_INDEXES, &[&table]).await.expect("a query");
        let found: Vec<BTreeSet<String>> =
            rows.iter().map(|row| row.get::<_, Vec<String>>(0).into_iter().collect()).collect();
        let columns = unique_columns(unique).into_iter().map(str::to_owned).collect();
        assert!(found.contains(&columns), "{unique:?}: {columns:?} is not in {found:?}");
    }
}
