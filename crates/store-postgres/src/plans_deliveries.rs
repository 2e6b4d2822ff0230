//! The cost of the outbox: how many rows and pages its statements touch when there are many pending
//! deliveries and many dead index entries, with plans that were made while the tables were empty.

use recado_core::Timestamp;
use recado_core::deliveries::{Delivery, DeliveryFilter, DeliveryStatus};
use recado_core::ids::CompanyId;
use recado_core::page::PageRequest;
use recado_testkit::postgres::TestPostgres;
use serde_json::Value;
use tokio_postgres::{Client, SimpleQueryMessage};
use uuid::Uuid;

use crate::deliveries::{ABOUT, PENDING, page_statement};
use crate::deliveries_batch::UPDATE;
use crate::deliveries_due::{AGAIN, FRESH, QUEUES};
use crate::events::journal_sql;
use crate::outbox::{ERASE, LEFT, SWEEP_DELIVERIES, SWEEP_EVENTS};
use crate::plans::walk;
use crate::table::Table;
use crate::{Options, PostgresStore};

/// Three companies with a queue of 10,000 deliveries each. A third is finished, so its index
/// entries are dead. A third had no attempt yet. A third is due again.
const SEED: &str = "\
INSERT INTO events (company_id, id, event_type, contact_id, at, data) \
SELECT md5('c' || c)::uuid, md5('e' || i)::uuid, 'message.sent', md5('p' || i % 100)::uuid, i, 'd' \
FROM generate_series(1, 3) c, generate_series(1, 10000) i; \
INSERT INTO deliveries (company_id, id, webhook_id, event_id, created_at, due_at, queued_at, \
attempts, tries, version, status, event_type, log) \
SELECT md5('c' || c)::uuid, md5('d' || i)::uuid, md5('w' || c)::uuid, md5('e' || i)::uuid, i, i, \
never, 0, 0, 1, 'pending', 'message.sent', '[]' \
FROM generate_series(1, 3) c, generate_series(1, 10000) i; \
UPDATE deliveries SET queued_at = NULL, status = 'delivered' WHERE created_at % 3 = 0; \
UPDATE deliveries SET queued_at = created_at, attempts = 1 WHERE created_at % 3 = 1";

struct Case {
    name: &'static str,
    sql: String,
    arguments: String,
    /// How many rows the statement may touch, and how many pages it may read.
    few: (f64, f64),
}

/// The statement of a page of a company's pending deliveries.
fn pending_page() -> String {
    let filter =
        DeliveryFilter { status: Some(DeliveryStatus::Pending), ..DeliveryFilter::default() };
    let page = PageRequest { page: 1, limit: 50 };
    page_statement(CompanyId::new(Uuid::nil()), &filter, page).0
}

fn cases() -> Vec<Case> {
    let case = |name, sql: &str, arguments: &str, few| Case {
        name,
        sql: sql.to_owned(),
        arguments: arguments.to_owned(),
        few,
    };
    let queue = "md5('c2')::uuid, md5('w2')::uuid";
    let ids: Vec<String> = (1..=100).map(|i| format!("md5('d{}')::uuid", i * 3 - 1)).collect();
    let of = |value: &str, kind: &str| format!("array_fill({value}::{kind}, '{{100}}')");
    let batch = [
        of("md5('c2')", "uuid"),
        format!("ARRAY[{}]", ids.join(", ")),
        of("1", "bigint"),
        of("md5('w2')", "uuid"),
        of("md5('e1')", "uuid"),
        of("'message.sent'", "text"),
        of("'delivered'", "text"),
        of("1", "bigint"),
        of("1", "bigint"),
        of("NULL", "bigint"),
        of("NULL", "bigint"),
        of("1", "bigint"),
        of("1", "bigint"),
        of("'[]'", "text"),
    ];
    let shards = |count: u8| {
        let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        let starts = format!("array_fill('{}'::uuid, '{{{count}}}')", Uuid::nil());
        format!("'{{{}}}', {starts}, {starts}", numbers.join(","))
    };
    vec![
        case("the queue", &FRESH, &format!("{queue}, 0, 128"), (300.0, 1_600.0)),
        case("those due again", &AGAIN, &format!("{queue}, 9000, 128"), (300.0, 1_600.0)),
        case("an empty stretch", &AGAIN, &format!("{queue}, 0, 128"), (0.0, 10.0)),
        case("the queues", &QUEUES, &format!("100, {}", shards(64)), (150.0, 700.0)),
        case("the queues of one shard", &QUEUES, &format!("100, {}", shards(1)), (15.0, 300.0)),
        case(
            "the pending ones of a webhook",
            &format!("{} {PENDING}", Delivery::sql().select),
            &format!("{queue}, 50"),
            (50.0, 200.0),
        ),
        // All pending ones of the company are counted, and sorted for their first page.
        case(
            "a page of the pending ones",
            &pending_page(),
            "md5('c2')::uuid, 50, 0, 'pending'",
            (14_000.0, 8_000.0),
        ),
        case("outcomes", UPDATE, &batch.join(", "), (250.0, 8_000.0)),
        case(
            "the journal",
            &journal_sql(),
            "md5('c2')::uuid, '{contact.created,message.sent}', 5000, 101",
            (110.0, 700.0),
        ),
        case("an erasure", ERASE, "md5('c2')::uuid, md5('p1')::uuid, NULL, 50", (300.0, 3_000.0)),
        case(
            "what is pending about a contact",
            &ABOUT,
            "md5('c2')::uuid, md5('p1')::uuid, md5('d1')::uuid, 50",
            (300.0, 3_000.0),
        ),
        case("what is left", LEFT, "md5('c2')::uuid, md5('p1')::uuid, NULL", (2.0, 250.0)),
        case("old deliveries", SWEEP_DELIVERIES, "5000, 100", (450.0, 2_000.0)),
        case("old events", SWEEP_EVENTS, "300, 10", (2_000.0, 9_000.0)),
    ]
}

/// The first column of the answer to a script.
async fn first_column(client: &Client, sql: &str) -> String {
    let messages = client.simple_query(sql).await.unwrap();
    let lines = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn number(node: &Value, name: &str) -> f64 {
    node[name].as_f64().unwrap_or(0.0)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_outbox_touches_few_rows_however_much_is_pending_or_dead() {
    let database = TestPostgres::shared().fresh_database();
    let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
    store.migrate().await.unwrap();
    let (client, seeding) = (store.pool.get().await.unwrap(), store.pool.get().await.unwrap());
    let cases = cases();
    for (at, case) in cases.iter().enumerate() {
        // Executed once, so that it is planned for empty tables. Updates fail as expected: there is
        // nothing to update.
        let prepare = format!("PREPARE case_{at} AS {}", case.sql);
        client.batch_execute(&prepare).await.unwrap();
        let execute = format!("EXECUTE case_{at} ({})", case.arguments);
        assert_eq!(client.simple_query(&execute).await.is_err(), case.sql == UPDATE);
    }
    let never = Timestamp::MIN.millis().to_string();
    seeding.batch_execute(&SEED.replace("never", &never)).await.unwrap();
    for round in ["planned while it was empty", "planned when it was full"] {
        for (at, case) in cases.iter().enumerate() {
            let explain = format!(
                "BEGIN; EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE case_{at} ({}); ROLLBACK",
                case.arguments
            );
            let plan: Value = serde_json::from_str(&first_column(&client, &explain).await).unwrap();
            let plan = &plan[0]["Plan"];
            let mut touched = 0.0;
            walk(plan, &mut |node| {
                assert!(node["Node Type"] != "Seq Scan", "{} scans: {plan:#}", case.name);
                if node["Relation Name"].is_string() && node["Node Type"] != "ModifyTable" {
                    let each = number(node, "Actual Rows") + number(node, "Rows Removed by Filter");
                    touched += each * number(node, "Actual Loops");
                }
            });
            let pages = number(plan, "Shared Hit Blocks") + number(plan, "Shared Read Blocks");
            let (rows, most) = case.few;
            assert!(
                touched <= rows && pages <= most,
                "{}, {round}, touches {touched} rows on {pages} pages: {plan:#}",
                case.name
            );
        }
        seeding.batch_execute("ANALYZE deliveries, events").await.unwrap();
    }
}
