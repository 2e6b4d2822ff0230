//! The cost of searches for messages: how many texts and messages their plans touch (R301).

use recado_core::Timestamp;
use recado_core::ids::ContactId;
use recado_core::messages::{Direction, MessageFilter, MessageSearch, MessageStatus};
use recado_core::page::PageRequest;
use serde_json::Value;
use uuid::Uuid;

use crate::messages_listing::page_statement;
use crate::messages_search::{ADD, SETTINGS, STORED_BEFORE};
use crate::param::params;
use crate::plans::{company, plan, plan_under, seeded, text, walk};
use crate::plans_messages::SEED;
use crate::session::{Session, Statement, TransactionMode};

/// How many messages each of the two companies has.
const OURS: f64 = 12_000.0;

/// Ours say one thing in two, theirs always the same.
const TEXTS: &str = "\
INSERT INTO message_texts SELECT company_id, created_at, id, \
CASE WHEN company_id <> '00000000-0000-0000-0000-0000000000c1' THEN 'girafa banana nanana' \
WHEN direction = 'inbound' THEN 'ana banana ' || created_at ELSE 'nada' END FROM messages; \
ANALYZE message_texts";

/// How many rows of a table were touched.
fn touched(plan: &Value, table: &str) -> f64 {
    let number = |node: &Value, name: &str| node[name].as_f64().unwrap_or(0.0);
    let mut rows = 0.0;
    walk(plan, &mut |node| {
        if node["Relation Name"] == table {
            let each = number(node, "Actual Rows")
                + number(node, "Rows Removed by Filter")
                + number(node, "Rows Removed by Index Recheck");
            rows += each * number(node, "Actual Loops");
        }
    });
    rows
}

struct Case {
    name: &'static str,
    filter: MessageFilter,
    /// The parameters after those that every listing has.
    arguments: Vec<String>,
    texts: f64,
    messages: f64,
}

fn case(name: &'static str, search: &str, texts: f64, messages: f64) -> Case {
    let found = MessageSearch::parse(search).expect("a search");
    let filter = MessageFilter { search: Some(found), ..MessageFilter::default() };
    Case { name, filter, arguments: vec![text(Some(search))], texts, messages }
}

fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("a word of nobody", "zzzz", OURS, 0.0),
        case("a word in every message of another company", "girafa", OURS, 0.0),
        case("a word in one of two", "banana", OURS, 100.0),
        case("frequent trigrams in an order that no text has", "nanana bana", OURS, 0.0),
    ];
    let mut of = case("inbound ones", "banana", OURS, OURS + 100.0);
    of.filter.direction = Some(Direction::Inbound);
    of.arguments.insert(0, text(Some("inbound")));
    cases.push(of);
    let mut of = case("failed ones", "banana", OURS, OURS + 100.0);
    of.filter.status = Some(MessageStatus::Failed);
    of.arguments.insert(0, text(Some("failed")));
    cases.push(of);
    let mut of = case("some minutes", "banana", 1_100.0, 100.0);
    of.filter.from = Some(Timestamp::from_millis(1_690_000_110_000));
    of.arguments.insert(0, "1690000110000".to_owned());
    cases.push(of);
    let mut of = case("one contact", "banana", 700.0, 800.0);
    let contact = Uuid::parse_str("c4ca4238-a0b9-2382-0dcc-509a6f75849b").expect("md5 of 1");
    of.filter.contact = Some(ContactId::new(contact));
    of.arguments.insert(0, text(Some(&contact.to_string())));
    cases.push(of);
    cases
}

/// X17, R199, R301.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_touches_each_text_of_its_company_and_span_once_whatever_it_searches_for() {
    let (store, _database) = seeded().await;
    let client = store.pool.get().await.expect("it is there");
    client.batch_execute(SEED).await.expect("all is new");
    client.batch_execute(TEXTS).await.expect("all is new");
    drop(client);
    let own = company();
    for Case { name, filter, arguments, texts, messages } in cases() {
        for number in [1, 3] {
            let page = PageRequest { page: number, limit: 50 };
            let (sql, _) = page_statement(own, &filter, page);
            let mut all = vec![text(Some(&own.to_string())), "50".to_owned()];
            all.push(page.offset().to_string());
            all.extend(arguments.clone());
            let plan = plan_under(&store, SETTINGS, &sql, &all.join(", ")).await;
            let (read, rows) = (touched(&plan, "message_texts"), touched(&plan, "messages"));
            println!("{name}: {read} texts, {rows} messages of {OURS}");
            assert!(read <= texts, "{name} touches {read} texts: {plan:#}");
            assert!(rows <= messages, "{name} touches {rows} messages: {plan:#}");
            walk(&plan, &mut |node| {
                assert_ne!(node["Node Type"], "Seq Scan", "{name}: {plan:#}");
            });
        }
    }
}

/// R302.
#[tokio::test(flavor = "multi_thread")]
async fn texts_of_earlier_messages_are_made_without_reading_others() {
    let (store, _database) = seeded().await;
    let own = company();
    let client = store.pool.get().await.expect("it is there");
    client.batch_execute(SEED).await.expect("all is new");
    let sql = "SELECT id FROM messages WHERE company_id = $1 LIMIT 1";
    let one = client.query_one(sql, &[&own.uuid()]).await.expect("there are messages");
    let one: Uuid = one.get(0);
    drop(client);
    let nil = Uuid::nil();
    let read = plan(&store, STORED_BEFORE, &format!("'{nil}', '{nil}', 500")).await;
    assert!(touched(&read, "messages") <= 501.0, "{read:#}");
    let added =
        format!("ARRAY['{own}']::uuid[], ARRAY['{one}']::uuid[], ARRAY[1]::bigint[], ARRAY['a']");
    let added = plan(&store, ADD, &added).await;
    assert!(touched(&added, "messages") <= 2.0, "{added:#}");
}

/// R301.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_ends_after_five_seconds_and_other_reads_are_not_limited_by_that() {
    let (store, _database) = seeded().await;
    let timeout = || Statement::new("SHOW statement_timeout", Vec::new());
    let run = async |settings: &'static str| {
        let session = Session::take(&store.pool).await.expect("it is there");
        let statements = vec![Statement::new(settings, params![]), timeout()];
        let outcome = session.run(TransactionMode::Transaction, statements).await.expect("runs");
        let rows = outcome.into_rows().unwrap_or_else(|_| panic!("it works"));
        rows[1][0].get::<_, String>(0)
    };
    for _ in 0..3 {
        assert_eq!(run(SETTINGS).await, "5s");
        assert_eq!(run("SELECT 1").await, "30s");
    }
}
