//! The texts that searches for messages look in: what a search reads, and how the messages of an
//! earlier release get theirs.

use std::path::Path;

use recado_core::ids::{CompanyId, MessageId};
use recado_core::messages::{Message, MessageFilter, MessageReads, MessageSearch};
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, Commit, Stored, Upkeep, Version};
use rusqlite::{Connection, StatementStatus, params};
use uuid::Uuid;

use super::messages::{at, message, people};
use crate::support::{Scene, company};

fn says(of: CompanyId, n: u32, content: &str) -> Message {
    let id = MessageId::new(Uuid::from_u128(u128::from(n) + 10_000));
    Message { id, content: Some(content.to_owned()), ..message(of, n) }
}

async fn found(scene: &Scene, text: &str) -> u64 {
    let search = Some(MessageSearch::parse(text).expect("a search"));
    let filter = MessageFilter { search, ..MessageFilter::default() };
    let page = scene.store.message_page(scene.company, &filter, PageRequest::FIRST).await;
    page.expect("the store works").total
}

fn count(path: &Path, query: &str) -> i64 {
    let conn = Connection::open(path).expect("opens");
    conn.query_row(query, [], |row| row.get(0)).expect("a number")
}

/// The steps that SQLite needs for a search of the first company.
fn steps(path: &Path, needle: &str) -> i32 {
    let conn = Connection::open(path).expect("opens");
    let query = "SELECT created_at, id, seq FROM message_texts WHERE company_id = ?1 \
                 AND created_at BETWEEN ?2 AND ?3 AND instr(text, ?4) > 0 \
                 ORDER BY created_at DESC, id DESC";
    let mut statement = conn.prepare(query).expect("a query");
    let ours = Uuid::from_u128(1).into_bytes();
    let mut rows = statement.query(params![ours, i64::MIN, i64::MAX, needle]).expect("an answer");
    while rows.next().expect("a row").is_some() {}
    drop(rows);
    statement.get_status(StatementStatus::VmStep)
}

/// R199, R301: neither the messages of another company nor the word that is searched for changes
/// what a search reads: each text of the company once.
#[tokio::test]
async fn a_search_reads_each_text_of_its_company_once_and_nothing_of_others() {
    const OURS: u32 = 200;
    let scene = Scene::new().await;
    let path = scene.folder.path().join("recado.db");
    let ours = people(scene.company);
    let ours = (0..OURS).fold(ours, |changes, n| {
        changes.insert(says(scene.company, n, &"ana banana ".repeat(n as usize % 7 + 1)))
    });
    scene.store.commit(ours).await.unwrap();
    // A word of nobody, one of all, frequent trigrams in an order that no text has, the longest.
    let words = ["girafa", "banana", "nanana banana ana", &"ana banana ".repeat(18)];
    let before = words.map(|word| steps(&path, word));
    let other = company(2).id;
    scene.store.commit(ChangeSet::new().insert(company(2))).await.unwrap();
    let theirs = (0..3_000).fold(people(other), |changes, n| {
        changes.insert(says(other, n, "girafa banana nanana banana ana"))
    });
    scene.store.commit(theirs).await.unwrap();
    assert_eq!(words.map(|word| steps(&path, word)), before);
    let each = 20 * OURS.cast_signed();
    assert!(before.iter().all(|steps| *steps <= each), "{before:?}");
    assert_eq!(found(&scene, "girafa").await, 0);
    assert_eq!(found(&scene, "banana").await, u64::from(OURS));
}

/// R302: as a database of an earlier release is after its migration.
#[tokio::test]
async fn messages_of_an_earlier_release_are_found_at_once_and_get_their_texts_in_portions() {
    const MESSAGES: u32 = 10_700;
    let scene = Scene::new().await;
    let path = scene.folder.path().join("recado.db");
    let all = (0..MESSAGES).fold(people(scene.company), |changes, n| {
        changes.insert(says(scene.company, n, &format!("Pedido {n}")))
    });
    scene.store.commit(all).await.unwrap();
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "DELETE FROM message_texts;
             INSERT INTO message_texts_due SELECT 1, 0, max(seq) FROM messages;",
        )
        .unwrap();
    let texts = || count(&path, "SELECT count(*) FROM message_texts");
    assert_eq!(found(&scene, "pedido").await, u64::from(MESSAGES));
    assert_eq!(found(&scene, "pedido 10699").await, 1);
    // What is changed, deleted and added before its turn.
    let edit = |n: u32, content: &str| {
        let stored = Stored::new(says(scene.company, n, &format!("Pedido {n}")), Version::FIRST);
        ChangeSet::new().with(stored.update(says(scene.company, n, content)))
    };
    scene.store.commit(edit(10_600, "Girafa")).await.unwrap();
    let gone = Stored::new(says(scene.company, 10_601, "Pedido 10601"), Version::FIRST);
    scene.store.commit(ChangeSet::new().with(gone.delete())).await.unwrap();
    let new = says(scene.company, MESSAGES, "Girafa");
    scene.store.commit(ChangeSet::new().insert(new)).await.unwrap();
    let expected = async || {
        assert_eq!(found(&scene, "girafa").await, 2);
        assert_eq!(found(&scene, "pedido").await, u64::from(MESSAGES) - 2);
        assert_eq!(found(&scene, "pedido 10600").await, 0);
    };
    expected().await;
    scene.store.upkeep(at(0)).await.unwrap();
    assert_eq!(texts(), 10_000 + 2, "one round is bounded");
    expected().await;
    scene.store.commit(edit(1, "Zebra")).await.unwrap();
    scene.store.upkeep(at(0)).await.unwrap();
    assert_eq!(texts(), i64::from(MESSAGES));
    assert_eq!(count(&path, "SELECT count(*) FROM message_texts_due"), 0);
    assert_eq!(found(&scene, "zebra").await, 1);
    assert_eq!(found(&scene, "girafa").await, 2);
    assert_eq!(found(&scene, "pedido").await, u64::from(MESSAGES) - 3);
}

/// R303.
#[tokio::test]
async fn texts_go_with_the_contact_of_their_messages() {
    let scene = Scene::new().await;
    let path = scene.folder.path().join("recado.db");
    let all = (0..30)
        .fold(people(scene.company), |changes, n| changes.insert(says(scene.company, n, "Pedido")));
    scene.store.commit(all).await.unwrap();
    let contact = Stored::new(crate::support::contact(scene.company, 0, "Ana"), Version::FIRST);
    scene.store.commit(ChangeSet::new().with(contact.delete())).await.unwrap();
    let (texts, messages) = (
        count(&path, "SELECT count(*) FROM message_texts"),
        count(&path, "SELECT count(*) FROM messages"),
    );
    assert!(texts == messages && messages < 30, "{texts} {messages}");
}
