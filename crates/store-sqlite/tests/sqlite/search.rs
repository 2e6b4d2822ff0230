//! The search index finds the same contacts as the core's own comparison.

use std::path::Path;

use crate::support::{Scene, company, contact};
use proptest::prelude::*;
use recado_core::contacts::{Contact, ContactFilter, ContactReads, SearchQuery};
use recado_core::ids::CompanyId;
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, Commit, RecordsExt};
use recado_store_sqlite::SqliteStore;
use rusqlite::{Connection, StatementStatus};

/// Names and searches are made of these pieces, so that they match often.
const PIECES: &[&str] = &[
    "a",
    "an",
    "ana",
    "b",
    "\"",
    "\"\"",
    "'",
    "*",
    "-",
    "(",
    ")",
    " ",
    "  ",
    "%",
    "_",
    "^",
    ":",
    "OR",
    "AND",
    "NEAR",
    "é",
    "ß",
    "😀",
    "日本",
    "\u{fffd}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{e000}",
    "\u{10ffff}",
    "\u{d7ff}",
    "x",
    "1",
    "12",
];

fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, pieces).prop_map(|pieces| pieces.concat())
}

async fn found(store: &SqliteStore, company: CompanyId, query: &SearchQuery) -> Vec<Contact> {
    let filter = ContactFilter { search: Some(query.clone()), ..ContactFilter::default() };
    let page = PageRequest { page: 1, limit: 100 };
    let slice = store.contact_page(company, &filter, page, false).await.expect("a page");
    assert_eq!(slice.total, slice.records.len() as u64);
    slice.records.into_iter().map(|record| record.contact.into_value()).collect()
}

#[tokio::test]
async fn characters_that_the_tokenizer_takes_for_one_are_distinguished() {
    let scene = Scene::new().await;
    let alike = ['\u{fffd}', '\u{fffe}', '\u{ffff}'];
    for (n, c) in (0..).zip(alike) {
        let changes = ChangeSet::new().insert(contact(scene.company, n, &format!("a{c}b")));
        scene.store.commit(changes).await.unwrap();
    }
    for (n, c) in (0..).zip(alike) {
        for search in [format!("{c}"), format!("a{c}"), format!("a{c}b")] {
            let query = SearchQuery::parse(&search).unwrap().expect("a search");
            let found = found(&scene.store, scene.company, &query).await;
            let found: Vec<_> = found.iter().map(|contact| contact.id).collect();
            assert_eq!(found, [contact(scene.company, n, "").id], "{search:?}");
        }
    }
}

/// The steps that SQLite needs for a search of the first company.
fn steps(path: &Path, term: &str) -> i32 {
    let conn = Connection::open(path).expect("opens");
    let mut statement = conn.prepare("SELECT rowid FROM contact_search(?1)").expect("a query");
    let mut rows = statement.query([term]).expect("an answer");
    while rows.next().expect("a row").is_some() {}
    drop(rows);
    statement.get_status(StatementStatus::VmStep)
}

/// R199: the names of another company change neither what a search of ours finds nor what it
/// costs; all that the index is asked for begins with the company.
#[tokio::test]
async fn a_search_reads_nothing_of_another_company() {
    let scene = Scene::new().await;
    let ours = (0..5)
        .fold(ChangeSet::new(), |changes, n| changes.insert(contact(scene.company, n, "ana")));
    scene.store.commit(ours).await.unwrap();
    let path = scene.folder.path().join("recado.db");
    let searches = ["\"b1a\" *", "\"b1ana\""];
    let before = searches.map(|search| steps(&path, search));
    let other = company(2);
    let mut changes = ChangeSet::new().insert(other.clone());
    for n in 0..300 {
        let names: String = ('\u{4e00}'..).take(40).map(|c| format!("a{c}{n}")).collect();
        changes = changes.insert(contact(other.id, n, &names));
    }
    scene.store.commit(changes).await.unwrap();
    assert_eq!(searches.map(|search| steps(&path, search)), before);
    let query = SearchQuery::parse("a").unwrap().expect("a search");
    assert_eq!(found(&scene.store, scene.company, &query).await.len(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_search_finds_what_the_core_finds(
        names in prop::collection::vec(text(0..6), 1..25),
        renamed in prop::collection::vec(text(0..6), 0..8),
        searches in prop::collection::vec(text(1..4), 1..25),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        runtime.block_on(async {
            let scene = Scene::new().await;
            let other = company(2);
            let mut changes = ChangeSet::new().insert(other.clone());
            for (n, name) in (0..).zip(&names) {
                changes = changes.insert(contact(scene.company, n, name));
                changes = changes.insert(contact(other.id, n, name));
            }
            scene.store.commit(changes).await.unwrap();
            let mut all: Vec<Contact> =
                (0..).zip(&names).map(|(n, name)| contact(scene.company, n, name)).collect();
            for (now, name) in all.iter_mut().zip(&renamed) {
                let stored = scene.store.get::<Contact>((scene.company, now.id)).await.unwrap().unwrap();
                now.name.clone_from(name);
                now.derive();
                let change = stored.update(now.clone());
                scene.store.commit(ChangeSet::new().with(change)).await.unwrap();
            }
            if let Some(gone) = all.pop() {
                let stored = scene.store.get::<Contact>((scene.company, gone.id)).await.unwrap().unwrap();
                scene.store.commit(ChangeSet::new().with(stored.delete())).await.unwrap();
            }
            for search in &searches {
                if let Ok(Some(query)) = SearchQuery::parse(search) {
                    let expected: Vec<_> = all
                        .iter()
                        .filter(|contact| query.matches(&contact.search_text()))
                        .map(|contact| contact.id)
                        .collect();
                    let found = found(&scene.store, scene.company, &query).await;
                    let found: Vec<_> = found.iter().map(|contact| contact.id).collect();
                    assert_eq!(found, expected, "{search:?}");
                }
            }
        });
    }
}
