//! References that triggers check by statement hold against commits at the same time.

mod support;

use recado_core::Timestamp;
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::{Contact, Identifier, Platform};
use recado_core::ids::{CompanyId, ConnectionId, ContactId};
use recado_core::store::{ChangeSet, Commit};
use support::{Database, until_waiting};
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

fn contact() -> Contact {
    let identifier = Identifier::parse("c2").expect("an identifier");
    let id = ContactId::new(Uuid::from_u128(2));
    Contact::new(id, company(), Platform::whatsapp(), identifier, None, NOW)
}

fn connection() -> Connection {
    Connection {
        id: ConnectionId::new(Uuid::from_u128(3)),
        company: company(),
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: "Loja".to_owned(),
        identifier: "5534900000000".to_owned(),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: NOW,
        updated_at: NOW,
        last_heard_at: None,
    }
}

/// Of the company 1, with the contact 2 and the connection 3.
const MESSAGE: &str = "INSERT INTO messages (company_id, id, contact_id, connection_id, direction, \
message_type, sender_type, status, is_history, created_at, stamped_at, version) VALUES (\
'00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000004', \
'00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000003', 'outbound', 'text', \
'user', 'sent', false, 1, 1, 1)";
const REF: &str = "INSERT INTO message_refs (company_id, connection_id, provider_id, message_id, \
version) VALUES ('00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000003', \
'wamid', '00000000-0000-0000-0000-000000000004', 1)";
const ALIAS: &str = "INSERT INTO aliases (company_id, source_platform, key, contact_id) VALUES (\
'00000000-0000-0000-0000-000000000001', 'whatsapp', 'k', '00000000-0000-0000-0000-000000000002')";
/// The transaction writes the contact, so that what refers to it needs no lock of its own.
const TOUCH: &str = "UPDATE contacts SET version = version + 1";

const NO_CONTACT: &str = "DELETE FROM contacts";
const NO_CONNECTION: &str = "DELETE FROM connections";
const NO_MESSAGE: &str = "DELETE FROM messages";

/// A database with a company, a contact and a connection.
async fn furnished() -> Database {
    let database = Database::fresh().await;
    let set = ChangeSet::new()
        .insert(support::company(company(), NOW))
        .insert(contact())
        .insert(connection());
    database.store.commit(set).await.expect("all is new");
    database
}

async fn run(client: &Client, statements: &[&str]) {
    client.batch_execute(&statements.join("; ")).await.expect("it is done");
}

/// A statement on a connection of its own.
async fn meanwhile(database: &Database, statement: &'static str) -> JoinHandle<Result<(), Error>> {
    let client = database.client().await;
    tokio::spawn(async move { client.batch_execute(statement).await })
}

fn refused(outcome: &Result<(), Error>) -> bool {
    let code = outcome.as_ref().err().and_then(Error::code);
    code == Some(&SqlState::FOREIGN_KEY_VIOLATION)
}

/// How many messages, references and aliases there are.
async fn left(client: &Client) -> [i64; 3] {
    let mut left = [0; 3];
    for (n, table) in left.iter_mut().zip(["messages", "message_refs", "aliases"]) {
        let counted = client.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await;
        *n = counted.expect("it is counted").get(0);
    }
    left
}

/// R459.
#[tokio::test(flavor = "multi_thread")]
async fn what_refers_to_a_missing_row_is_refused_whoever_writes_it() {
    let database = furnished().await;
    let client = database.client().await;
    for (gone, refers) in
        [(NO_CONTACT, MESSAGE), (NO_CONTACT, ALIAS), (NO_CONNECTION, MESSAGE), (NO_CONNECTION, REF)]
    {
        let both = format!("BEGIN; {gone}; {refers}");
        let outcome = client.batch_execute(&both).await;
        assert!(refused(&outcome), "{both}: {outcome:?}");
        run(&client, &["ROLLBACK"]).await;
    }
    assert!(refused(&client.batch_execute(REF).await), "there is no message");
    run(&client, &[MESSAGE]).await;
    for moved in [
        "UPDATE messages SET contact_id = company_id",
        "UPDATE messages SET connection_id = company_id",
        "UPDATE message_refs SET message_id = company_id",
        "UPDATE aliases SET contact_id = company_id",
    ] {
        run(&client, &["BEGIN", REF, ALIAS]).await;
        let outcome = client.batch_execute(moved).await;
        assert!(refused(&outcome), "{moved}: {outcome:?}");
        run(&client, &["ROLLBACK"]).await;
    }
}

/// R459.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_takes_what_refers_to_the_row_and_a_connection_with_messages_stays() {
    let database = furnished().await;
    let client = database.client().await;
    run(&client, &[MESSAGE, REF, ALIAS]).await;
    assert!(refused(&client.batch_execute(NO_CONNECTION).await));
    run(&client, &["BEGIN", NO_MESSAGE]).await;
    assert_eq!(left(&client).await, [0, 0, 1]);
    run(&client, &["ROLLBACK", NO_CONTACT]).await;
    assert_eq!(left(&client).await, [0, 0, 0]);
    let also = "SELECT (SELECT count(*) FROM contact_search) + (SELECT count(*) FROM contact_sets) \
        + (SELECT count(*) FROM message_texts) + (SELECT count(*) FROM messages_left_sent)";
    assert_eq!(client.query_one(also, &[]).await.expect("counted").get::<_, i64>(0), 0);
    run(&client, &[NO_CONNECTION]).await;
}

/// R459.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_waits_for_who_writes_what_refers_to_the_row_and_takes_it() {
    for before in [&[TOUCH, MESSAGE, REF, ALIAS][..], &[MESSAGE, REF, ALIAS]] {
        let database = furnished().await;
        let client = database.client().await;
        run(&client, &[&["BEGIN"], before].concat()).await;
        let deletion = meanwhile(&database, NO_CONTACT).await;
        until_waiting(&client, 1).await;
        run(&client, &["COMMIT"]).await;
        deletion.await.expect("no panic").expect("it deletes");
        assert_eq!(left(&client).await, [0, 0, 0], "{before:?}");
    }
}

/// R459.
#[tokio::test(flavor = "multi_thread")]
async fn the_deletion_of_a_connection_waits_for_who_writes_a_message_and_is_refused() {
    let database = furnished().await;
    let client = database.client().await;
    run(&client, &["BEGIN", TOUCH, MESSAGE]).await;
    let deletion = meanwhile(&database, NO_CONNECTION).await;
    until_waiting(&client, 1).await;
    run(&client, &["COMMIT"]).await;
    assert!(refused(&deletion.await.expect("no panic")));
}

/// R459.
#[tokio::test(flavor = "multi_thread")]
async fn who_refers_to_a_row_waits_for_its_deletion_and_is_refused() {
    for (gone, refers) in
        [(NO_CONTACT, MESSAGE), (NO_CONTACT, ALIAS), (NO_CONNECTION, MESSAGE), (NO_MESSAGE, REF)]
    {
        let database = furnished().await;
        let client = database.client().await;
        if gone == NO_MESSAGE {
            run(&client, &[MESSAGE]).await;
        }
        run(&client, &["BEGIN", gone]).await;
        let referring = meanwhile(&database, refers).await;
        until_waiting(&client, 1).await;
        run(&client, &["COMMIT"]).await;
        assert!(refused(&referring.await.expect("no panic")), "{gone}: {refers}");
    }
}

/// Many messages and their references, in a transaction whose statistics know of none: as when a
/// company moves to a database that has few.
///
/// R459.
#[tokio::test(flavor = "multi_thread")]
async fn references_of_many_new_messages_are_checked_by_the_key_of_each() {
    const MANY: &str = "FROM generate_series(1, 3000) AS n";
    let database = furnished().await;
    let client = database.client().await;
    let id = "('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid";
    let (ours, contact, connection) =
        (company().uuid(), contact().id.uuid(), connection().id.uuid());
    let messages = format!(
        "INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
         sender_type, status, is_history, created_at, stamped_at, version) \
         SELECT '{ours}', {id}, '{contact}', '{connection}', 'outbound', 'text', 'user', 'sent', \
         false, n, n, 1 {MANY}"
    );
    let refs = format!(
        "INSERT INTO message_refs (company_id, connection_id, provider_id, message_id, version) \
         SELECT '{ours}', '{connection}', 'wamid' || n, {id}, 1 {MANY}"
    );
    run(&client, &["SET enable_seqscan = on", "BEGIN", &messages]).await;
    let read = "SELECT pg_stat_get_xact_blocks_fetched('messages_by_connection'::regclass)";
    let blocks = async || -> i64 { client.query_one(read, &[]).await.expect("counted").get(0) };
    let before = blocks().await;
    run(&client, &[&refs]).await;
    let read = blocks().await - before;
    assert!(read < 100, "{read} blocks of all messages of the connection");
}
