//! The cost of listings: how many rows their plans touch in a large database.
//!
//! The plans are the ones that running servers use: generic plans of connections of the pool.

use recado_core::contacts::{ContactFilter, CrmStatus, InboxStatus, SearchQuery};
use recado_core::ids::CompanyId;
use recado_core::page::PageRequest;
use recado_testkit::postgres::{TestDatabase, TestPostgres};
use serde_json::Value;
use uuid::Uuid;

use crate::contacts_listing::{export_statement, page_statement};
use crate::contacts_search::trigram_query;
use crate::{Options, PostgresStore};

/// The number of contacts of the company. Another company has as many.
const CONTACTS: u64 = 12_000;
/// A page of 50 must touch no more rows than this, whatever it is filtered by.
const FEW: f64 = 3_000.0;

const SEED: &str = include_str!("plans_seed.sql");

pub(super) async fn seeded() -> (PostgresStore, TestDatabase) {
    let database = TestPostgres::shared().fresh_database();
    let options = Options { pool_size: 2, ..Options::default() };
    let store = PostgresStore::connect(database.url(), options).await.unwrap();
    store.migrate().await.unwrap();
    let client = store.pool.get().await.unwrap();
    client.batch_execute(&SEED.replace(":contacts", &CONTACTS.to_string())).await.unwrap();
    (store, database)
}

pub(super) fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(0xc1))
}

/// A filter with its name.
struct Case {
    name: &'static str,
    filter: ContactFilter,
}

fn cases() -> Vec<Case> {
    let all = ContactFilter::default();
    vec![
        Case { name: "nothing", filter: all.clone() },
        Case {
            name: "a rare status",
            filter: ContactFilter { crm_status: Some(CrmStatus::Lost), ..all.clone() },
        },
        Case {
            name: "half of all",
            filter: ContactFilter { is_ai_enabled: Some(true), ..all.clone() },
        },
        Case {
            name: "a combination",
            filter: ContactFilter {
                inbox_status: Some(InboxStatus::Open),
                is_group: Some(false),
                ..all
            },
        },
    ]
}

fn searched(text: &str) -> ContactFilter {
    ContactFilter { search: SearchQuery::parse(text).unwrap(), ..ContactFilter::default() }
}

pub(super) fn text(value: Option<&str>) -> String {
    value.map_or("NULL".to_owned(), |value| format!("'{}'", value.replace('\'', "''")))
}

/// The parameters of a statement as literals.
fn arguments(filter: &ContactFilter, limit: u32, offset: u64, position: Option<i64>) -> String {
    let flag = |flag: Option<bool>| flag.map_or("NULL".to_owned(), |flag| flag.to_string());
    let mut all = vec![
        text(Some(&company().to_string())),
        text(filter.source_platform.as_ref().map(|platform| platform.as_str())),
        text(filter.inbox_status.map(InboxStatus::as_str)),
        text(None),
        text(filter.crm_status.map(CrmStatus::as_str)),
        flag(filter.is_ai_enabled),
        flag(filter.is_group),
        limit.to_string(),
        offset.to_string(),
    ];
    if let Some(created_at) = position {
        all.extend([created_at.to_string(), text(Some(&Uuid::nil().to_string()))]);
    }
    if let Some(search) = &filter.search {
        let needles = search.needles();
        all.push(text(Some(&trigram_query(company(), search))));
        all.push(text(needles.first().map(String::as_str)));
        all.push(text(needles.last().map(String::as_str)));
    }
    all.join(", ")
}

/// The plan of a statement that was executed.
pub(super) async fn plan(store: &PostgresStore, sql: &str, arguments: &str) -> Value {
    let client = store.pool.get().await.unwrap();
    client.batch_execute(&format!("DEALLOCATE ALL; PREPARE listing AS {sql}")).await.unwrap();
    let explain = format!("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE listing ({arguments})");
    let messages = client.simple_query(&explain).await.unwrap();
    let lines: Vec<String> = messages
        .iter()
        .filter_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
        .collect();
    let plan: Value = serde_json::from_str(&lines.join("\n")).unwrap();
    drop(crate::pool::Object::take(client));
    plan[0]["Plan"].clone()
}

/// Calls `visit` with every node of a plan.
pub(super) fn walk<'p>(node: &'p Value, visit: &mut impl FnMut(&'p Value)) {
    visit(node);
    for child in node["Plans"].as_array().into_iter().flatten() {
        walk(child, visit);
    }
}

/// The number of rows that the scans of a plan touched in the tables of contacts.
fn touched(plan: &Value) -> f64 {
    let number = |node: &Value, name: &str| node[name].as_f64().unwrap_or(0.0);
    let mut rows = 0.0;
    walk(plan, &mut |node| {
        let table = node["Relation Name"].as_str().unwrap_or_default();
        if table.starts_with("contact") && !table.starts_with("contact_facet") {
            let each = number(node, "Actual Rows")
                + number(node, "Rows Removed by Filter")
                + number(node, "Rows Removed by Index Recheck");
            rows += each * number(node, "Actual Loops");
        }
    });
    rows
}

fn assert_indexed(name: &str, plan: &Value) {
    walk(plan, &mut |node| {
        let scans = node["Node Type"] == "Seq Scan";
        assert!(!scans, "{name} scans {}: {plan:#}", node["Relation Name"]);
    });
}

fn assert_few(name: &str, plan: &Value, few: f64) {
    assert_indexed(name, plan);
    let touched = touched(plan);
    assert!(touched <= few, "{name} touches {touched} rows: {plan:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_exports_touch_few_rows_under_any_filter() {
    let (store, _database) = seeded().await;
    for case in cases() {
        let page = PageRequest { page: 1, limit: 50 };
        let (sql, _) = page_statement(company(), &case.filter, page, true);
        let first = plan(&store, &sql, &arguments(&case.filter, 50, 0, None)).await;
        assert_few(&format!("the first page of {}", case.name), &first, FEW);

        let page = PageRequest { page: 3, limit: 50 };
        let (sql, _) = page_statement(company(), &case.filter, page, true);
        let third = plan(&store, &sql, &arguments(&case.filter, 50, 100, None)).await;
        assert_few(&format!("the third page of {}", case.name), &third, 3.0 * FEW);

        let (sql, _) = export_statement(company(), &case.filter, None, 50, false);
        let middle = Some(1_690_000_060_000);
        let export = plan(&store, &sql, &arguments(&case.filter, 51, 0, middle)).await;
        assert_few(&format!("an export of {}", case.name), &export, FEW);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_touches_little_more_than_it_finds() {
    let (store, _database) = seeded().await;
    let page = PageRequest { page: 1, limit: 50 };
    // A text, the digits of a phone, and beginnings of trigrams. Each is found in few contacts.
    for search in ["nona silva 07", "0777", "qx", "zzzz"] {
        let filter = searched(search);
        let (sql, _) = page_statement(company(), &filter, page, false);
        let plan = plan(&store, &sql, &arguments(&filter, 50, 0, None)).await;
        assert_few(&format!("the search {search:?}"), &plan, FEW);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_finds_much_sorts_little_of_it() {
    let (store, _database) = seeded().await;
    let page = PageRequest { page: 1, limit: 50 };
    for filter in [searched("silva"), ContactFilter { is_group: Some(false), ..searched("silva") }]
    {
        let (sql, _) = page_statement(company(), &filter, page, false);
        let plan = plan(&store, &sql, &arguments(&filter, 50, 0, None)).await;
        // Each text that is found, and the contacts of a page.
        let third = CONTACTS as f64 / 3.0;
        assert_few("a search for one in three", &plan, third + FEW);
    }
}
