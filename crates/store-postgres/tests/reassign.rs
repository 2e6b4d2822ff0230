//! Merged contacts on Postgres: what moves, and which commits wait for which.

mod support;
use recado_core::Timestamp;
use recado_core::contacts::Contact;
use recado_core::ids::{CompanyId, ContactId, LinkId, ListId, MessageId};
use recado_core::links::{Link, LinkClicks, LinkCodeHash};
use recado_core::lists::ListReads;
use recado_core::messages::{Message, MessageReads, MessageStatus};
use recado_core::store::{Change, ChangeSet, Commit, CommitError, Conflict, RecordsExt};
use recado_store_postgres::PostgresStore;
use support::{Database, until_waiting};
use tokio::task::JoinHandle;
use tokio_postgres::Client;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// Three contacts of a company and one of another, with rows in every table that refers to
/// contacts.
const SEED: &str = "\
INSERT INTO companies SELECT md5('c' || i)::uuid, 'c', 'enterprise', false, false, 'BR', 0, 0, 1 \
FROM generate_series(1, 2) i; \
INSERT INTO connections SELECT id, id, 'qr', 'whatsapp', 'n', 'i', 'waha', '{}', true, 'connected', \
0, 0, 1 FROM companies; \
CREATE TABLE people AS SELECT c.id AS company_id, md5('p' || p)::uuid AS contact_id, p \
FROM companies c, generate_series(1, 3) p; \
INSERT INTO contacts (company_id, id, source_platform, identifier, name, display_name, \
inbox_status, priority, crm_status, is_ai_enabled, external_ai_enabled, is_archived, is_pinned, \
is_muted, is_blocked, is_group, is_simulated, custom_fields, created_at, updated_at, facet, version) \
SELECT company_id, contact_id, 'whatsapp', 'i' || p, '', '', 'open', 'normal', \
'lead', true, true, false, false, false, false, false, false, '{}'::jsonb, 0, 0, md5('')::uuid, 1 \
FROM people; \
CREATE TABLE had AS SELECT p.*, i, \
md5(concat_ws('.', p.company_id, p.contact_id, i))::uuid AS id, \
md5('s' || i + 2 * p)::uuid AS shared FROM people p, generate_series(1, 10) i; \
INSERT INTO tags SELECT DISTINCT company_id, shared, 't', '#fff', 0, 1 FROM had; \
INSERT INTO lists SELECT DISTINCT company_id, shared, 'l', true, 0, 1 FROM had; \
INSERT INTO campaigns (company_id, id, name, template_id, list_id, variables, prosas, cost, \
messages_per_second, status, created_at, updated_at, version) \
SELECT DISTINCT company_id, shared, 'n', md5('')::uuid, md5('')::uuid, '', 0, 0, 1, 'finished', \
0, 0, 1 FROM had; \
INSERT INTO aliases SELECT company_id, 'whatsapp', id::text, contact_id FROM had; \
INSERT INTO links SELECT company_id, id, contact_id, id::text, 'u', i, 1 FROM had; \
INSERT INTO clicks SELECT company_id, id, id, contact_id, i, true FROM had; \
INSERT INTO contact_tags SELECT company_id, contact_id, shared FROM had; \
INSERT INTO deals SELECT company_id, id, contact_id, 't', NULL, NULL, 'open', i, 0, 1 FROM had; \
INSERT INTO dispatch_windows SELECT company_id, contact_id, sha256(shared::text::bytea), \
md5('')::uuid, 0, 'sent', i + 2 * p, 1 FROM had; \
INSERT INTO documents SELECT company_id, id, contact_id, 'f', 0, 'stored', i, 1 FROM had; \
INSERT INTO events SELECT company_id, id, 'message.sent', contact_id, i, \
CASE WHEN i % 2 = 0 THEN 'd' END FROM had; \
INSERT INTO ledger_lines SELECT company_id, id, id, 'debit', 'contact', 1, 1, 0, 0, contact_id, \
NULL, NULL, i, 1 FROM had; \
INSERT INTO list_members SELECT company_id, shared, contact_id FROM had; \
INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
sender_type, status, is_history, created_at, stamped_at, version) \
SELECT company_id, id, contact_id, company_id, 'outbound', 'text', 'system', 'sent', false, i, i, 1 \
FROM had; \
INSERT INTO recipients (company_id, campaign_id, number, contact_id, status, version) \
SELECT company_id, shared, p, contact_id, 'read', 1 FROM had; \
INSERT INTO remembered_calls SELECT company_id, 'o', id::text, sha256(''), NULL, 'a', contact_id, \
i, 1 FROM had";

fn md5(of: &str) -> Uuid {
    // What Postgres makes of these texts with `md5`.
    Uuid::parse_str(match of {
        "c1" => "a9f7e97965d6cf799a529102a973b8b9",
        "p1" => "ec6ef230f1828039ee794566b9c58adc",
        "p2" => "1d665b9b1467944c128a5575119d1cfd",
        "p3" => "7bc3ca68769437ce986455407dab2a1f",
        _ => unreachable!("a text of these tests"),
    })
    .expect("a digest")
}

fn company() -> CompanyId {
    CompanyId::new(md5("c1"))
}

fn contact(number: u32) -> ContactId {
    ContactId::new(md5(&format!("p{number}")))
}

async fn seeded() -> (Database, Client) {
    let database = Database::fresh().await;
    let client = database.client().await;
    client.batch_execute(SEED).await.expect("all is new");
    (database, client)
}

async fn number(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.expect("it can be counted").get(0)
}

/// Moves all rows of one contact to the other and deletes it, as merging does.
async fn merge(store: &PostgresStore, from: u32, into: u32) -> Result<(), CommitError> {
    let gives = store.get::<Contact>((company(), contact(from))).await.expect("it works");
    let takes = store.get::<Contact>((company(), contact(into))).await.expect("it works");
    let moved = Change::reassign(company(), contact(from), contact(into));
    let mut changes = ChangeSet::new().with(moved);
    changes = changes.with(gives.expect("it is there").delete());
    let takes = takes.expect("it is there");
    store.commit(changes.with(takes.update(takes.value().clone()))).await
}

fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(task)
}

/// The tables that refer to a contact, and the number of rows there after a merge into it. Of rows
/// that a contact can have once, eight of ten are the same for both.
const HELD: [(&str, bool, i64); 13] = [
    ("aliases", false, 20),
    ("clicks", false, 20),
    ("contact_tags", false, 12),
    ("deals", true, 20),
    ("dispatch_windows", true, 12),
    ("documents", true, 20),
    ("events", false, 20),
    ("ledger_lines", true, 20),
    ("links", true, 20),
    ("list_members", false, 12),
    ("messages", true, 20),
    ("recipients", true, 12),
    ("remembered_calls", true, 20),
];

#[tokio::test(flavor = "multi_thread")]
async fn everything_of_a_contact_becomes_anothers_and_outlives_it() {
    let (database, client) = seeded().await;
    merge(&database.store, 1, 2).await.unwrap();
    let (from, into) = (contact(1), contact(2));
    for (table, versioned, held) in HELD {
        let of = |condition: String| {
            format!(
                "SELECT count(*) FROM {table} WHERE company_id = '{}' AND {condition}",
                company()
            )
        };
        let left = number(&client, &of(format!("contact_id = '{from}'"))).await;
        assert_eq!(left, 0, "{table} of who gave");
        let all = number(&client, &of(format!("contact_id = '{into}'"))).await;
        assert_eq!(all, held, "{table} of who took");
        if versioned {
            let moved = of(format!("contact_id = '{into}' AND version = 2"));
            assert_eq!(number(&client, &moved).await, held - 10, "{table} that moved");
        }
        let others = format!(
            "SELECT count(*) FROM {table} WHERE company_id <> '{}' OR contact_id NOT IN ('{from}', \
             '{into}')",
            company()
        );
        assert_eq!(number(&client, &others).await, 40, "{table} of others");
    }
    let nobodys = "SELECT count(*) FROM recipients WHERE contact_id IS NULL AND version >= 2";
    assert_eq!(number(&client, nobodys).await, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_count_contacts_that_were_merged_once() {
    let (database, client) = seeded().await;
    merge(&database.store, 1, 2).await.unwrap();
    let lists = client.query("SELECT id FROM lists WHERE company_id = md5('c1')::uuid", &[]).await;
    for row in lists.unwrap() {
        let id = ListId::new(row.get(0));
        let (_, counted) = database.store.list(company(), id).await.unwrap().unwrap();
        let held = "SELECT count(*) FROM list_members WHERE company_id = $1 AND list_id = $2";
        let held = client.query_one(held, &[&company().uuid(), &id.uuid()]).await.unwrap();
        assert_eq!(counted, held.get::<_, i64>(0).cast_unsigned());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_takes_what_there_is_and_anybody_nothing() {
    let (database, client) = seeded().await;
    let store = &database.store;
    let nobody = ContactId::new(Uuid::from_u128(9));
    let moved = |from, into| ChangeSet::new().with(Change::reassign(company(), from, into));
    let refused = store.commit(moved(contact(1), nobody)).await;
    assert!(matches!(refused, Err(CommitError::Conflict(Conflict::Reference))), "{refused:?}");
    store.commit(moved(nobody, contact(1))).await.unwrap();
    store.commit(moved(contact(1), contact(1))).await.unwrap();
    assert_eq!(number(&client, "SELECT count(*) FROM messages WHERE version = 1").await, 60);

    // Events have no foreign key to their contact, and still they are not moved to a missing one.
    for (table, ..) in HELD.iter().rev().filter(|(table, ..)| *table != "events") {
        client.batch_execute(&format!("DELETE FROM {table}")).await.unwrap();
    }
    let refused = store.commit(moved(contact(1), nobody)).await;
    assert!(matches!(refused, Err(CommitError::Conflict(Conflict::Reference))), "{refused:?}");
    client.batch_execute("DELETE FROM events").await.unwrap();
    store.commit(moved(contact(1), nobody)).await.unwrap();
}

const INSERT: &str = "\
INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
sender_type, status, is_history, created_at, stamped_at, version) \
SELECT company_id, md5('late')::uuid, contact_id, company_id, 'inbound', 'text', 'system', \
'received', false, 99, 99, 1 FROM people \
WHERE p = 1 AND company_id = md5('c1')::uuid";

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_being_stored_moves_as_well() {
    let (database, client) = seeded().await;
    let holder = database.client().await;
    holder.batch_execute(&format!("BEGIN; {INSERT}")).await.unwrap();
    let store = database.store.clone();
    let merging = spawn(async move { merge(&store, 1, 2).await });
    until_waiting(&client, 1).await;
    holder.batch_execute("COMMIT").await.unwrap();
    merging.await.unwrap().unwrap();
    let late = "SELECT count(*) FROM messages WHERE id = md5('late')::uuid \
                AND contact_id = md5('p2')::uuid AND version = 2";
    assert_eq!(number(&client, late).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_for_a_contact_that_is_being_merged_is_refused_and_not_lost() {
    let (database, client) = seeded().await;
    let holder = database.client().await;
    // The merge has to wait in the middle.
    let held = "BEGIN; SELECT FROM deals WHERE contact_id = md5('p1')::uuid FOR UPDATE";
    holder.batch_execute(held).await.unwrap();
    let store = database.store.clone();
    let merging = spawn(async move { merge(&store, 1, 2).await });
    until_waiting(&client, 1).await;
    let link = |id: u128, of| Link {
        id: LinkId::new(Uuid::from_u128(id)),
        company: company(),
        contact: of,
        code_hash: LinkCodeHash::from_bytes([id as u8; 32]),
        url: "https://example.com".to_owned(),
        created_at: NOW,
        clicks: LinkClicks::default(),
    };
    let store = database.store.clone();
    let (late, later) = (link(1, contact(1)), link(2, contact(2)));
    let late = spawn(async move { store.commit(ChangeSet::new().insert(late)).await });
    until_waiting(&client, 2).await;
    let store = database.store.clone();
    let later = spawn(async move { store.commit(ChangeSet::new().insert(later)).await });
    until_waiting(&client, 3).await;
    holder.batch_execute("COMMIT").await.unwrap();
    merging.await.unwrap().unwrap();
    let refused = late.await.unwrap();
    assert!(matches!(refused, Err(CommitError::Conflict(Conflict::Reference))), "{refused:?}");
    later.await.unwrap().unwrap();
}

/// Writes reports of all messages of the first two contacts, as a batch of events does.
async fn reports(store: &PostgresStore, ids: &[MessageId]) -> Result<(), CommitError> {
    let messages = store.messages(company(), ids).await.expect("it works");
    let read = |message: &Message| Message { status: MessageStatus::Read, ..message.clone() };
    let changes = messages.iter().fold(ChangeSet::new(), |changes, message| {
        changes.with(message.update(read(message.value())))
    });
    store.commit(changes).await
}

#[tokio::test(flavor = "multi_thread")]
async fn merges_and_batches_of_reports_never_deadlock() {
    let (database, client) = seeded().await;
    let ids = "SELECT id FROM messages WHERE company_id = $1 AND contact_id <> $2";
    let ids = client.query(ids, &[&company().uuid(), &contact(3).uuid()]).await.unwrap();
    let ids: Vec<MessageId> = ids.iter().map(|row| MessageId::new(row.get(0))).collect();
    assert_eq!(ids.len(), 20);
    let store = &database.store;
    let moved = |from, into| {
        let moved = Change::reassign(company(), contact(from), contact(into));
        store.commit(ChangeSet::new().with(moved))
    };
    for _ in 0..30 {
        let (there, back, reported) = tokio::join!(moved(1, 2), moved(2, 1), reports(store, &ids));
        there.unwrap();
        back.unwrap();
        let fits = matches!(reported, Ok(()) | Err(CommitError::Conflict(Conflict::Stale(_))));
        assert!(fits, "{reported:?}");
    }
    let messages = "SELECT count(*) FROM messages WHERE company_id = md5('c1')::uuid";
    assert_eq!(number(&client, messages).await, 30);
    assert_eq!(number(&client, "SELECT count(*) FROM recipients").await, 60);
}
