//! How many records of its log Postgres writes for a call: what the call costs, whatever the
//! machine does besides. Counted are rows and entries of indexes, and locks of rows.

use std::fmt::Write as _;
use std::time::Duration;

use recado_tests::{StoreKind, World, digits, mobile, not_run, on_postgres, text};
use serde_json::json;
use tokio_postgres::Client;

/// The records of this database between two places, by table. What a page is tidied by, and a page
/// that is split, depend on how full pages are, and are left out.
const RECORDS: &str = "\
WITH placed AS (SELECT (regexp_match(block_ref, 'rel [0-9]+/([0-9]+)/([0-9]+)'))[1:2]::oid[] AS place \
FROM pg_get_wal_records_info($1::text::pg_lsn, $2::text::pg_lsn) \
WHERE (resource_manager, record_type) IN (('Heap', 'INSERT'), ('Heap', 'INSERT+INIT'), \
('Heap', 'UPDATE'), ('Heap', 'UPDATE+INIT'), ('Heap', 'HOT_UPDATE'), ('Heap', 'DELETE'), \
('Heap', 'LOCK'), ('Btree', 'INSERT_LEAF'))) \
SELECT coalesce(i.indrelid, c.oid)::regclass::text, count(*) FROM placed \
JOIN pg_class c ON c.oid = pg_filenode_relation(0, place[2]) \
LEFT JOIN pg_index i ON i.indexrelid = c.oid \
WHERE place[1] = (SELECT oid FROM pg_database WHERE datname = current_database()) \
AND coalesce(i.indrelid, c.oid)::regclass::text IN ('audit_entries', 'contact_listings', \
'contact_orders', 'contact_search', 'contact_sets', 'contacts', 'conversations', 'events', \
'message_refs', 'message_texts', 'messages', 'messages_in_flight', 'messages_left_sent') \
GROUP BY 1 ORDER BY 1";

/// A send: its message is inserted, then replaced in place; the contact and its conversation are
/// replaced in place, and the contact's place in the order of contacts moves.
const SEND: &str = "\
32
audit_entries 3
contact_orders 4
contacts 2
conversations 1
events 5
message_refs 3
message_texts 2
messages 7
messages_in_flight 3
messages_left_sent 2
";
/// A report that a message was delivered, alone in its call.
const REPORT: &str = "\
10
audit_entries 3
events 5
messages 1
messages_left_sent 1
";
/// The first unread message of a known person, alone in its call.
const RECEIVED: &str = "\
30
audit_entries 3
contact_listings 4
contact_orders 4
contact_search 1
contacts 1
conversations 1
events 5
message_refs 3
message_texts 2
messages 6
";
/// A new contact with a name.
const CREATION: &str = "\
21
audit_entries 3
contact_listings 3
contact_orders 3
contact_search 2
contacts 5
events 5
";

/// The people of a company whom messages were sent to before, through the same connection.
const PEOPLE: u32 = 5;

/// The log of a world's Postgres.
struct Log(Client);

impl Log {
    /// None where the server cannot show it.
    async fn of(world: &World) -> Option<Self> {
        let (client, connection) =
            tokio_postgres::connect(&world.database.url(), tokio_postgres::NoTls)
                .await
                .expect("connects");
        tokio::spawn(connection);
        if let Err(error) = client.batch_execute("CREATE EXTENSION pg_walinspect").await {
            not_run(
                "the records of the log of Postgres",
                &format!("it needs Postgres 15 with pg_walinspect: {error}"),
            );
            return None;
        }
        client.batch_execute("SET synchronous_commit = on").await.expect("set");
        Some(Self(client))
    }

    /// The place behind everything that was committed.
    async fn end(&self) -> String {
        // What is written before its commit is flushed with it.
        let flush = "SELECT pg_logical_emit_message(true, 'test', '')";
        self.0.query_one(flush, &[]).await.expect("written");
        let row = self.0.query_one("SELECT pg_current_wal_flush_lsn()::text", &[]).await;
        row.expect("an answer").get(0)
    }

    /// How many records each of so many calls has written since a place, in all and by table.
    async fn each_of(&self, calls: u32, since: &str) -> String {
        let end = self.end().await;
        let rows = self.0.query(RECORDS, &[&since, &end]).await.expect("an answer");
        let (mut all, mut lines) = (0, String::new());
        for row in rows {
            let (table, count): (String, i64) = (row.get(0), row.get(1));
            all += count;
            let _ = writeln!(lines, "{table} {}", count as f64 / f64::from(calls));
        }
        format!("{}\n{lines}", all as f64 / f64::from(calls))
    }
}

/// R451, R459.
#[on_postgres]
async fn a_call_writes_few_records_of_the_log(kind: StoreKind) {
    let world = World::start(kind).await;
    let connection = world.silent("qr").await;
    let Some(log) = Log::of(&world).await else { return };
    let people: Vec<String> = (1..=PEOPLE).map(mobile).collect();
    for person in &people {
        world.send_through(&connection, person).await.expect(200);
    }
    // The first event of a while says that the connection was heard of, too.
    world.receive(&connection, &digits(&mobile(50)), "oi").await;

    world.advance(Duration::from_secs(1));
    let since = log.end().await;
    let mut sent = Vec::new();
    for person in &people {
        let answer = world.send_through(&connection, person).await.expect(200);
        sent.push(world.message(&text(&answer["message_id"])).await);
    }
    let sends = log.each_of(PEOPLE, &since).await;

    world.advance(Duration::from_secs(1));
    let since = log.end().await;
    for message in &sent {
        let report = world.report(&text(&message["wamid"]), "delivered");
        world.gateway_one(&connection, report).await;
    }
    let reports = log.each_of(PEOPLE, &since).await;

    world.advance(Duration::from_secs(1));
    let since = log.end().await;
    for person in &people {
        world.receive(&connection, &digits(person), "oi").await;
    }
    let received = log.each_of(PEOPLE, &since).await;

    let since = log.end().await;
    for n in 0..PEOPLE {
        world.create(json!({"phone": mobile(100 + n), "name": format!("Ana {n}")})).await;
    }
    let creations = log.each_of(PEOPLE, &since).await;

    assert_eq!(sends, SEND);
    assert_eq!(reports, REPORT);
    assert_eq!(received, RECEIVED);
    assert_eq!(creations, CREATION);
}
