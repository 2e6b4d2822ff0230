//! The events of a company in the database, before any delivery (D52), and the processes that
//! shards are assigned to.

use serde_json::Value;

use crate::backend::Database;

/// An event of the outbox.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its type, such as `message.received`.
    pub event: String,
    /// The contact it is about.
    pub contact: Option<String>,
    /// Its `data`; null after it was erased.
    pub data: Value,
}

impl Database {
    /// All events of a company, in the order in which they were stored.
    pub async fn events(&self, company: &str) -> Vec<Event> {
        let rows = match self {
            Self::Sqlite(folder) => sqlite(&folder.path().join("recado.db"), company),
            Self::Postgres(database) => postgres(database.url(), company).await,
        };
        rows.into_iter()
            .map(|(event, contact, data)| Event {
                event,
                contact,
                data: data
                    .map_or(Value::Null, |data| serde_json::from_str(&data).expect("data is JSON")),
            })
            .collect()
    }
}

impl Database {
    /// The processes that shards of webhooks are assigned to: one entry for each assigned shard.
    pub async fn shard_owners(&self) -> Vec<String> {
        let Self::Postgres(database) = self else { panic!("only Postgres has several processes") };
        let (client, connection) =
            tokio_postgres::connect(database.url(), tokio_postgres::NoTls).await.expect("connects");
        tokio::spawn(connection);
        let query = "SELECT owner::text FROM shards WHERE owner IS NOT NULL";
        let rows = client.query(query, &[]).await.expect("rows");
        rows.iter().map(|row| row.get(0)).collect()
    }
}

type Row = (String, Option<String>, Option<String>);

fn sqlite(file: &std::path::Path, company: &str) -> Vec<Row> {
    let conn = rusqlite::Connection::open(file).expect("opens");
    conn.busy_timeout(std::time::Duration::from_secs(10)).expect("a setting");
    let mut statement = conn
        .prepare(
            "SELECT event_type, lower(hex(contact_id)), data FROM events \
             WHERE lower(hex(company_id)) = ?1 ORDER BY seq",
        )
        .expect("a statement");
    let rows = statement
        .query_map([company.replace('-', "")], |row| {
            let contact: Option<String> = row.get(1)?;
            Ok((row.get(0)?, contact.map(|hex| hyphenated(&hex)), row.get(2)?))
        })
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

fn hyphenated(hex: &str) -> String {
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

async fn postgres(url: &str, company: &str) -> Vec<Row> {
    let (client, connection) =
        tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    let query = "SELECT event_type, contact_id::text, data FROM events \
                 WHERE company_id::text = $1 ORDER BY place";
    let rows = client.query(query, &[&company]).await.expect("rows");
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
}
