//! Messages in the database: counters, and what a status report writes.

mod support;

use std::sync::Arc;

use recado_core::Timestamp;
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::{Contact, Identifier, Platform};
use recado_core::figures::{FigureQuery, FigureReads};
use recado_core::ids::{CompanyId, ConnectionId, ContactId, MessageId, WorkerId};
use recado_core::messages::{
    Direction, Message, MessageFilter, MessageReads, MessageSearch, MessageStatus, MessageType,
};
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, Commit, RecordsExt, StoreError, Upkeep};
use support::Database;
use tokio_postgres::Client;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
const CONTACTS: u128 = 10;

fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

fn contact(number: u128) -> ContactId {
    ContactId::new(Uuid::from_u128(number + 100))
}

fn connection(number: u128) -> Connection {
    Connection {
        id: ConnectionId::new(Uuid::from_u128(number)),
        company: company(),
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: "Loja".to_owned(),
        identifier: "5534999990000".to_owned(),
        gateway: GatewayName::new("simulated"),
        settings: ConnectionSettings::default(),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: NOW,
        updated_at: NOW,
        last_heard_at: None,
    }
}

/// Two connections and ten contacts with 30 messages each.
const MESSAGES: &str = "\
INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
sender_type, status, is_history, created_at, stamped_at, version) \
SELECT c.company_id, gen_random_uuid(), c.id, n.id, \
CASE WHEN i % 3 = 0 THEN 'inbound' ELSE 'outbound' END, \
CASE WHEN i % 5 = 0 THEN 'image' ELSE 'text' END, 'system', \
CASE WHEN i % 3 = 0 THEN 'received' ELSE 'sent' END, false, i, i, 1 \
FROM contacts c, generate_series(1, 30) i \
JOIN connections n ON n.id = ('00000000-0000-0000-0000-00000000000' || 5 + i % 2)::uuid";

async fn with_messages() -> (Database, Client) {
    let database = Database::fresh().await;
    let made = support::company(company(), NOW);
    let mut changes = ChangeSet::new().insert(made).insert(connection(5)).insert(connection(6));
    for number in 0..CONTACTS {
        let identifier = Identifier::parse(&format!("c{number}")).expect("an identifier");
        let (id, platform) = (contact(number), Platform::whatsapp());
        changes = changes.insert(Contact::new(id, company(), platform, identifier, None, NOW));
    }
    database.store.commit(changes).await.expect("all is new");
    let client = database.client().await;
    client.batch_execute(MESSAGES).await.expect("all is new");
    (database, client)
}

fn filters() -> Vec<(&'static str, MessageFilter)> {
    let all = MessageFilter::default();
    let of = |status| MessageFilter { status: Some(status), ..MessageFilter::default() };
    vec![
        ("true", all.clone()),
        ("status = 'sent'", of(MessageStatus::Sent)),
        ("status = 'read'", of(MessageStatus::Read)),
        ("status = 'failed'", of(MessageStatus::Failed)),
        (
            "direction = 'inbound'",
            MessageFilter { direction: Some(Direction::Inbound), ..all.clone() },
        ),
        (
            "connection_id = '00000000-0000-0000-0000-000000000005' AND message_type = 'image'",
            MessageFilter {
                connection: Some(connection(5).id),
                message_type: Some(MessageType::Image),
                ..all
            },
        ),
    ]
}

async fn number(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.expect("it can be counted").get(0)
}

/// Asserts that the listings agree with the rows.
async fn assert_counted(database: &Database, client: &Client) {
    for (condition, filter) in filters() {
        let page = database.store.message_page(company(), &filter, PageRequest::FIRST).await;
        let page = page.expect("the database works");
        let counted =
            number(client, &format!("SELECT count(*) FROM messages WHERE {condition}")).await;
        assert_eq!(page.total, counted.cast_unsigned(), "{condition}");
        assert_eq!(page.items.len() as u64, page.total.min(50), "{condition}");
    }
}

/// Counts messages that stay at `sent`, one by one.
const LEFT_SENT: &str = "\
SELECT count(*) FROM messages m JOIN connections n ON n.id = m.connection_id \
JOIN contacts c ON c.id = m.contact_id WHERE m.status = 'sent' AND m.direction = 'outbound' \
AND NOT m.is_history AND m.created_at BETWEEN 3 AND 25 AND NOT c.is_group AND n.kind = 'qr' \
AND n.is_active AND n.status = 'connected'";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_sent_follows_messages_however_they_change() {
    let (database, client) = with_messages().await;
    let changes = [
        "SELECT 1",
        "UPDATE messages SET status = 'read' WHERE created_at < 5",
        "UPDATE messages SET status = 'sent' WHERE created_at < 10",
        "UPDATE messages SET status = CASE status WHEN 'sent' THEN 'read' ELSE 'sent' END",
        "UPDATE messages SET status = CASE status WHEN 'sent' THEN 'read' ELSE 'sent' END",
        "UPDATE messages SET direction = 'outbound' WHERE created_at = 9",
        "UPDATE messages SET direction = 'inbound' WHERE created_at = 10",
        "UPDATE messages SET is_history = true WHERE created_at = 11",
        "UPDATE messages SET created_at = created_at + 1 WHERE created_at >= 25",
        "UPDATE messages SET content = 'x'",
        "DELETE FROM messages WHERE created_at = 20",
        "DELETE FROM contacts WHERE identifier = 'c3'",
        "UPDATE contacts SET is_group = true WHERE identifier = 'c4'",
        "UPDATE connections SET is_active = false \
         WHERE id = '00000000-0000-0000-0000-000000000005'",
        "UPDATE connections SET status = 'disconnected', is_active = true \
         WHERE id = '00000000-0000-0000-0000-000000000005'",
        "UPDATE connections SET kind = 'official_cloud', status = 'connected' \
         WHERE id = '00000000-0000-0000-0000-000000000006'",
    ];
    let (from, to) = (Timestamp::from_millis(3), Timestamp::from_millis(25));
    for change in changes {
        client.batch_execute(change).await.unwrap();
        let query = FigureQuery { left_sent: (from, to), ..FigureQuery::at(to) };
        let left = database.store.figures(&query).await.unwrap().left_sent;
        assert_eq!(left, number(&client, LEFT_SENT).await.cast_unsigned(), "{change}");
        let kept = "SELECT count(*) FROM messages_left_sent";
        let sent = "SELECT count(*) FROM messages \
                    WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history";
        assert_eq!(number(&client, kept).await, number(&client, sent).await, "{change}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_being_sent_follows_messages_however_they_change() {
    let (database, client) = with_messages().await;
    let (one, other) = (WorkerId::new(Uuid::from_u128(1)), WorkerId::new(Uuid::from_u128(2)));
    let sends = |worker: &WorkerId| format!("sender_id = '{worker}', status = 'pending'");
    let changes = [
        "SELECT 1".to_owned(),
        format!("UPDATE messages SET {} WHERE created_at < 5", sends(&one)),
        format!("UPDATE messages SET {} WHERE created_at < 3", sends(&other)),
        "UPDATE messages SET status = 'sent' WHERE created_at = 4".to_owned(),
        "UPDATE messages SET content = 'x'".to_owned(),
        "UPDATE messages SET sender_id = NULL WHERE created_at = 2".to_owned(),
        "DELETE FROM messages WHERE created_at = 1".to_owned(),
        format!("UPDATE messages SET {} WHERE created_at < 9", sends(&one)),
        "DELETE FROM contacts WHERE identifier = 'c3'".to_owned(),
    ];
    for change in changes {
        client.batch_execute(&change).await.unwrap();
        let kept = "SELECT count(*) FROM messages_in_flight";
        let sent = "SELECT count(*) FROM messages WHERE sender_id IS NOT NULL";
        assert_eq!(number(&client, kept).await, number(&client, sent).await, "{change}");
        for worker in [one, other] {
            let found = database.store.messages_in_flight(worker, 1_000).await.unwrap();
            assert!(found.iter().all(|message| message.value().sender == Some(worker)));
            let pending = format!(
                "SELECT count(*) FROM messages WHERE sender_id = '{worker}' AND status = 'pending'"
            );
            let pending = number(&client, &pending).await.cast_unsigned();
            assert_eq!(found.len() as u64, pending, "{change}");
        }
        let abandoned = database.store.abandoned_messages(NOW, 1_000).await.unwrap().len();
        let pending = "SELECT count(*) FROM messages WHERE sender_id IS NOT NULL \
                       AND status = 'pending'";
        assert_eq!(abandoned as u64, number(&client, pending).await.cast_unsigned(), "{change}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_change_in_one_statement_make_one_difference_of_a_count() {
    let (database, client) = with_messages().await;
    database.store.upkeep(NOW).await.unwrap();
    let differences = "SELECT count(*) FROM message_count_deltas";
    client.batch_execute("UPDATE messages SET content = 'y'").await.unwrap();
    assert_eq!(number(&client, differences).await, 0);
    let read = "UPDATE messages SET status = 'read' \
                WHERE direction = 'outbound' AND message_type = 'text' AND status <> 'read'";
    let kinds = "SELECT count(DISTINCT (connection_id, status)) FROM messages \
                 WHERE direction = 'outbound' AND message_type = 'text'";
    let before = number(&client, kinds).await;
    client.batch_execute(read).await.unwrap();
    let made = number(&client, differences).await;
    assert!(made > 0 && made <= 2 * before, "{made} differences for {before} kinds");
    assert_counted(&database, &client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_follow_messages_however_they_change() {
    let (database, client) = with_messages().await;
    assert_counted(&database, &client).await;
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!(number(&client, "SELECT count(*) FROM message_count_deltas").await, 0);
    assert_counted(&database, &client).await;

    let changes = [
        "UPDATE messages SET status = 'read' WHERE direction = 'outbound' AND created_at < 12",
        "UPDATE messages SET status = 'failed' WHERE direction = 'outbound' AND created_at > 27",
        "UPDATE messages SET connection_id = '00000000-0000-0000-0000-000000000006' \
         WHERE created_at = 4",
        "DELETE FROM messages WHERE created_at = 20",
    ];
    for change in changes {
        client.batch_execute(change).await.unwrap();
        assert_counted(&database, &client).await;
    }
    database.store.upkeep(NOW).await.unwrap();
    assert_counted(&database, &client).await;

    // The messages that are deleted with a contact are subtracted from the counters.
    let gone = database.store.get::<Contact>((company(), contact(3))).await.unwrap().unwrap();
    database.store.commit(ChangeSet::new().with(gone.delete())).await.unwrap();
    assert_eq!(number(&client, "SELECT count(*) FROM messages").await, 29 * 9);
    assert_counted(&database, &client).await;
    database.store.upkeep(NOW).await.unwrap();
    assert_counted(&database, &client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_counts_nothing() {
    let (database, client) = with_messages().await;
    database.store.upkeep(NOW).await.unwrap();
    client.batch_execute("UPDATE messages SET content = 'x', edited_at = 1").await.unwrap();
    assert_eq!(number(&client, "SELECT count(*) FROM message_count_deltas").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_report_touches_no_index() {
    let (_database, client) = with_messages().await;
    client
        .batch_execute(
            "BEGIN; UPDATE messages SET status = 'delivered', version = version + 1 \
             WHERE id = (SELECT id FROM messages WHERE status = 'sent' ORDER BY id LIMIT 1)",
        )
        .await
        .unwrap();
    let hot = "SELECT pg_stat_get_xact_tuples_hot_updated('messages'::regclass)";
    assert_eq!(number(&client, hot).await, 1);
    client.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn upkeep_lets_the_planner_look_at_what_has_grown() {
    let (database, client) = with_messages().await;
    for _ in 0..5 {
        client.batch_execute(MESSAGES).await.unwrap();
    }
    // The server publishes the statistics of a session when it is idle, or when asked to.
    client.execute("SELECT pg_stat_force_next_flush()", &[]).await.unwrap();
    let analyzed = "SELECT count(*) FROM pg_stats WHERE tablename = 'messages'";
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while number(&client, analyzed).await == 0 {
        assert!(std::time::Instant::now() < until, "nobody looked");
        database.store.upkeep(NOW).await.unwrap();
    }
}

/// Messages as an earlier release stored them: without texts.
const OF_EARLIER: &str = "\
UPDATE messages SET content = 'Pedido ' || created_at; \
INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
sender_type, status, is_history, created_at, stamped_at, version, media_caption) \
SELECT company_id, gen_random_uuid(), contact_id, connection_id, direction, 'image', \
sender_type, status, false, created_at + 1000, i, 1, 'PEDIDO ' || i \
FROM messages, generate_series(1, 35) i; \
INSERT INTO message_texts_due VALUES (true, \
'00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000')";

/// R302.
#[tokio::test(flavor = "multi_thread")]
async fn messages_of_an_earlier_release_get_their_texts_in_portions_and_searches_wait_for_them() {
    let (database, client) = with_messages().await;
    client.batch_execute(OF_EARLIER).await.expect("all is new");
    let store = &database.store;
    let found = async |text: &str| {
        let search = Some(MessageSearch::parse(text).expect("a search"));
        let filter = MessageFilter { search, ..MessageFilter::default() };
        store.message_page(company(), &filter, PageRequest::FIRST).await.map(|page| page.total)
    };
    let refused = found("pedido").await;
    assert!(matches!(refused, Err(StoreError::NotSearchable)), "{refused:?}");
    let all = MessageFilter::default();
    let everything = store.message_page(company(), &all, PageRequest::FIRST);
    assert_eq!(everything.await.expect("other listings go on").total, 300 * 36);
    // What is changed, deleted and added before its turn.
    let sql = "SELECT id FROM messages ORDER BY company_id DESC, id DESC LIMIT 2";
    let last: Vec<Uuid> =
        client.query(sql, &[]).await.expect("rows").iter().map(|row| row.get(0)).collect();
    let stored = async |id: Uuid| {
        let found = store.messages(company(), &[MessageId::new(id)]).await.expect("it works");
        found.into_iter().next().expect("it is there")
    };
    let edited = stored(last[0]).await;
    let mut girafa = edited.value().clone();
    (girafa.content, girafa.media.caption) = (Some("Girafa".to_owned()), None);
    let gone = stored(last[1]).await;
    let changes = ChangeSet::new().with(edited.update(girafa.clone())).with(gone.delete());
    store.commit(changes).await.expect("nothing stands in the way");
    let new = MessageId::new(Uuid::from_u128(7));
    let new = ChangeSet::new().insert(Message { id: new, ..girafa });
    store.commit(new).await.expect("nothing stands in the way");
    store.upkeep(NOW).await.expect("it works");
    let texts = number(&client, "SELECT count(*) FROM message_texts").await;
    assert!((10_000..10_003).contains(&texts), "one round is bounded: {texts}");
    let refused = found("pedido").await;
    assert!(matches!(refused, Err(StoreError::NotSearchable)), "{refused:?}");
    store.upkeep(NOW).await.expect("it works");
    assert_eq!(number(&client, "SELECT count(*) FROM message_texts").await, 300 * 36);
    assert_eq!(number(&client, "SELECT count(*) FROM message_texts_due").await, 0);
    assert_eq!(found("girafa").await.expect("it works"), 2);
    assert_eq!(found("pedido").await.expect("it works"), 300 * 36 - 2);
}

/// R302, R303: an edit and the making of the same text, at once and in both orders.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_changed_while_its_text_is_made_has_the_text_of_the_change() {
    let (database, client) = with_messages().await;
    client.batch_execute(OF_EARLIER).await.expect("all is new");
    let store = Arc::new(database.store);
    let sql = "SELECT id FROM messages WHERE message_type = 'text' ORDER BY id LIMIT 200";
    let ids: Vec<MessageId> = client
        .query(sql, &[])
        .await
        .expect("rows")
        .iter()
        .map(|row| MessageId::new(row.get(0)))
        .collect();
    let writer = tokio::spawn({
        let (store, ids) = (Arc::clone(&store), ids.clone());
        async move {
            for (n, id) in ids.into_iter().enumerate() {
                let found = store.messages(company(), &[id]).await.expect("it works");
                let stored = found.into_iter().next().expect("it is there");
                let change = match n % 2 {
                    0 => stored.delete(),
                    _ => stored.update(Message {
                        content: Some("Girafa".to_owned()),
                        ..stored.value().clone()
                    }),
                };
                store.commit(ChangeSet::new().with(change)).await.expect("nobody else changes it");
            }
        }
    });
    for _ in 0..4 {
        store.upkeep(NOW).await.expect("it works");
    }
    writer.await.expect("no panic");
    store.upkeep(NOW).await.expect("it works");
    let wrong = "SELECT count(*) FROM messages m FULL JOIN message_texts t \
                 ON t.company_id = m.company_id AND t.message_id = m.id \
                 WHERE m.id IS NULL OR t.search_text IS DISTINCT FROM \
                 lower(coalesce(m.content || chr(31), '') || coalesce(m.media_caption || chr(31), ''))";
    assert_eq!(number(&client, wrong).await, 0);
    let girafas = "SELECT count(*) FROM message_texts WHERE search_text LIKE 'girafa%'";
    assert_eq!(number(&client, girafas).await, 100);
}

/// How many of the updates of contacts in this transaction were in place, and how many there were.
const IN_PLACE: &str = "SELECT pg_stat_get_xact_tuples_hot_updated('contacts'::regclass), \
pg_stat_get_xact_tuples_updated('contacts'::regclass)";

/// Another connection, an unread message and a later change are in no index of contacts.
///
/// R451.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_message_changes_leaves_the_contact_in_place() {
    let (_database, client) = with_messages().await;
    client
        .batch_execute(
            "BEGIN; UPDATE contacts SET last_message_at = 7, has_unread = true, \
             facet = gen_random_uuid(), updated_at = 8, \
             last_connection_id = '00000000-0000-0000-0000-000000000005' \
             WHERE identifier < 'c3'",
        )
        .await
        .unwrap();
    let counted = client.query_one(IN_PLACE, &[]).await.unwrap();
    let (in_place, all): (i64, i64) = (counted.get(0), counted.get(1));
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!((in_place, all), (3, 3));
}

/// Whatever changes of a contact, its rows in the orders are its own.
///
/// R451.
#[tokio::test(flavor = "multi_thread")]
async fn the_orders_of_contacts_follow_them() {
    let (_database, client) = with_messages().await;
    let differing = "SELECT count(*) FROM contacts c \
         FULL JOIN contact_orders o ON o.company_id = c.company_id AND o.contact_id = c.id \
         FULL JOIN contact_listings l ON l.company_id = c.company_id AND l.contact_id = c.id \
         WHERE (c.facet, c.last_connection_id, c.last_message_at) \
         IS DISTINCT FROM (o.facet, o.connection_id, o.last_message_at) \
         OR (c.facet, c.last_connection_id, c.created_at, c.updated_at) \
         IS DISTINCT FROM (l.facet, l.connection_id, l.created_at, l.updated_at)";
    let changes = [
        "SELECT 1",
        "UPDATE contacts SET last_message_at = 7 WHERE identifier < 'c5'",
        "UPDATE contacts SET last_connection_id = '00000000-0000-0000-0000-000000000005' \
         WHERE identifier > 'c3'",
        "UPDATE contacts SET facet = gen_random_uuid(), last_message_at = 9, updated_at = 9",
        "UPDATE contacts SET last_message_at = NULL, created_at = 5 WHERE identifier > 'c5'",
        "UPDATE contacts SET last_connection_id = NULL, updated_at = 11 WHERE identifier > 'c7'",
        "DELETE FROM contacts WHERE identifier > 'c6'",
        "DELETE FROM contacts",
    ];
    for change in changes {
        client.batch_execute(change).await.expect(change);
        assert_eq!(number(&client, differing).await, 0, "{change}");
    }
    assert_eq!(number(&client, "SELECT count(*) FROM contact_listings").await, 0);
}
