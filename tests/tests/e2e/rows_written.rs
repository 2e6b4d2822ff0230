//! How many rows a call writes on Postgres: what it costs, whatever the machine does besides.

use std::collections::BTreeMap;
use std::time::Duration;

use recado_tests::{StoreKind, World, mobile, on_postgres};
use tokio_postgres::Client;

/// Rows inserted, replaced, replaced in place (no index has a new entry), and deleted.
type Written = (i64, i64, i64, i64);

/// Tables that are written by calls alone, and not by what runs in the background.
const WRITTEN: &str = "\
SELECT relname::text, n_tup_ins, n_tup_upd, n_tup_hot_upd, n_tup_del FROM pg_stat_user_tables \
WHERE relname IN ('audit_entries', 'contact_orders', 'contact_search', 'contact_sets', 'contacts', \
'conversations', 'deliveries', 'events', 'ledger_lines', 'message_refs', 'message_texts', 'messages', \
'messages_in_flight', 'messages_left_sent')";

async fn written(client: &Client) -> BTreeMap<String, Written> {
    let rows = client.query(WRITTEN, &[]).await.expect("an answer");
    let counts = |row: &tokio_postgres::Row| (row.get(1), row.get(2), row.get(3), row.get(4));
    rows.iter().map(|row| (row.get(0), counts(row))).collect()
}

/// What the tables have more than before, for each of so many calls. The server tells its counts
/// some time after the calls.
async fn each_of(client: &Client, calls: i64, before: &BTreeMap<String, Written>) -> String {
    let now = written(client).await;
    let mut text = String::new();
    for (table, now) in &now {
        let before = before.get(table).copied().unwrap_or_default();
        let more = [now.0 - before.0, now.1 - before.1, now.2 - before.2, now.3 - before.3];
        if more != [0; 4] {
            let [inserted, replaced, in_place, deleted] =
                more.map(|count| format!("{}", count as f64 / calls as f64));
            text += &format!("{table}: +{inserted} ~{replaced} ({in_place} in place) -{deleted}\n");
        }
    }
    text
}

/// What was written once the server has told all of it: a connection that is idle tells its counts
/// after ten seconds.
async fn settled(client: &Client) -> BTreeMap<String, Written> {
    let mut last = written(client).await;
    loop {
        tokio::time::sleep(Duration::from_secs(11)).await;
        let now = written(client).await;
        if now == last {
            return now;
        }
        last = now;
    }
}

async fn client(world: &World) -> Client {
    let url = world.database.url();
    let (client, connection) =
        tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

/// The people of a company whom messages were sent to before, through the same connection: so few
/// that all of their rows are on one page of a table.
const PEOPLE: u32 = 5;

/// R451.
#[on_postgres]
async fn a_send_to_a_known_person_writes_few_rows(kind: StoreKind) {
    let world = World::start(kind).await;
    let connection = world.silent("qr").await;
    let client = client(&world).await;
    let people: Vec<String> = (1..=PEOPLE).map(mobile).collect();
    for person in &people {
        world.send_through(&connection, person).await.expect(200);
    }
    let before = settled(&client).await;
    world.advance(Duration::from_secs(1));
    for person in &people {
        world.send_through(&connection, person).await.expect(200);
    }
    let expected = "\
audit_entries: +1 ~0 (0 in place) -0
contact_orders: +0 ~1 (0 in place) -0
contacts: +0 ~1 (1 in place) -0
conversations: +0 ~1 (1 in place) -0
events: +1 ~0 (0 in place) -0
message_refs: +1 ~0 (0 in place) -0
message_texts: +1 ~0 (0 in place) -0
messages: +1 ~1 (1 in place) -0
messages_in_flight: +1 ~0 (0 in place) -1
messages_left_sent: +1 ~0 (0 in place) -0
";
    let mut last = String::new();
    for _ in 0..150 {
        last = each_of(&client, i64::from(PEOPLE), &before).await;
        if last == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(last, expected);
}
