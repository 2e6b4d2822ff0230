//! The cost of listings: how many rows their plans touch in a large database.
//!
//! The plans are the ones that running servers use: generic plans of connections of the pool.

use std::ops::Range;
use std::sync::{Arc, Weak};

use recado_core::Timestamp;
use recado_core::contacts::{
    AssigneeFilter, ContactFilter, CrmStatus, ExportPosition, InboxStatus, SearchQuery,
};
use recado_core::ids::{CompanyId, ContactId, ListId, MemberId, TagId};
use recado_core::page::PageRequest;
use recado_core::store::Upkeep;
use recado_testkit::postgres::{TestDatabase, TestPostgres};
use serde_json::Value;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::contacts_listing::{export_statement, page_statement};
use crate::param::Param;
use crate::{Options, PostgresStore};

/// The number of contacts of the company. Another company has as many.
const CONTACTS: u64 = 12_000;
/// A page of 50 must touch no more rows than this, whatever it is filtered by.
const FEW: f64 = 3_000.0;

const SEED: &str = include_str!("plans_seed.sql");
const SEED_CONTACTS: &str = include_str!("plans_seed_contacts.sql");
const ANALYZE: &str = "ANALYZE companies, stages, contacts, contact_search, contact_sets";
/// So many contacts come in one transaction: each is counted in rows that the transaction has
/// changed for all before it.
const STEP: u64 = 4_000;

/// The seeded database, while a test has a copy of it: seeding takes longer than copying.
static ORIGINAL: Mutex<Weak<TestDatabase>> = Mutex::const_new(Weak::new());

/// A test's copy of the database.
pub(super) struct Seeded {
    copy: TestDatabase,
    _original: Arc<TestDatabase>,
}

pub(super) async fn seeded() -> (PostgresStore, Seeded) {
    let mut original = ORIGINAL.lock().await;
    let database = match original.upgrade() {
        Some(database) => database,
        None => {
            let database = Arc::new(TestPostgres::shared().fresh_database());
            let store = connected(&database).await;
            store.migrate().await.unwrap();
            store.pool.get().await.unwrap().batch_execute(SEED).await.unwrap();
            add_contacts(&store, 0..CONTACTS).await;
            *original = Arc::downgrade(&database);
            database
        }
    };
    let seeded = Seeded { copy: database.copy(), _original: database };
    (connected(&seeded.copy).await, seeded)
}

async fn connected(database: &TestDatabase) -> PostgresStore {
    let options = Options { pool_size: 2, ..Options::default() };
    PostgresStore::connect(database.url(), options).await.unwrap()
}

async fn add_contacts(store: &PostgresStore, numbers: Range<u64>) {
    let client = store.pool.get().await.unwrap();
    let end = numbers.end;
    for done in numbers.step_by(usize::try_from(STEP).unwrap()) {
        let (first, last) = ((done + 1).to_string(), (done + STEP).min(end).to_string());
        let step = SEED_CONTACTS.replace(":first", &first).replace(":last", &last);
        client.batch_execute(&step).await.unwrap();
    }
    client.batch_execute(ANALYZE).await.unwrap();
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
                ..all.clone()
            },
        },
        Case { name: "unread ones", filter: ContactFilter { unread: Some(true), ..all.clone() } },
        Case {
            name: "unassigned ones",
            filter: ContactFilter { assigned_to: Some(AssigneeFilter::Nobody), ..all.clone() },
        },
        Case {
            name: "a list of half of all",
            filter: ContactFilter { list: Some(list()), ..all.clone() },
        },
        Case {
            name: "a rare status in a list",
            filter: ContactFilter {
                list: Some(list()),
                crm_status: Some(CrmStatus::Lost),
                ..all.clone()
            },
        },
        Case {
            name: "a member and a combination",
            filter: ContactFilter {
                assigned_to: Some(AssigneeFilter::Member(MemberId::new(Uuid::from_u128(0xa1)))),
                inbox_status: Some(InboxStatus::Open),
                ..all.clone()
            },
        },
        Case { name: "a rare tag", filter: ContactFilter { tag: Some(tag()), ..all } },
    ]
}

fn list() -> ListId {
    ListId::new(Uuid::from_u128(0xb1))
}

fn tag() -> TagId {
    TagId::new(Uuid::from_u128(0xd1))
}

fn since(millis: i64) -> Option<Timestamp> {
    Some(Timestamp::from_millis(millis))
}

fn searched(text: &str) -> ContactFilter {
    ContactFilter { search: SearchQuery::parse(text).unwrap(), ..ContactFilter::default() }
}

pub(super) fn text(value: Option<&str>) -> String {
    value.map_or("NULL".to_owned(), |value| format!("'{}'", value.replace('\'', "''")))
}

/// The parameters of a statement as literals.
pub(super) fn arguments(params: &[Param]) -> String {
    let literal = |param: &Param| match param {
        Param::Null => "NULL".to_owned(),
        Param::Bool(flag) => flag.to_string(),
        Param::Int(number) => number.to_string(),
        Param::Id(id) => text(Some(&id.to_string())),
        Param::Text(value) => text(Some(value)),
        other => panic!("{other:?} has no literal here"),
    };
    params.iter().map(literal).collect::<Vec<_>>().join(", ")
}

/// The plan of a statement that was executed.
pub(super) async fn plan(store: &PostgresStore, sql: &str, arguments: &str) -> Value {
    plan_under(store, "SELECT 1", sql, arguments).await
}

/// The plan of a statement that was executed after another one.
pub(super) async fn plan_under(
    store: &PostgresStore,
    settings: &str,
    sql: &str,
    arguments: &str,
) -> Value {
    let client = store.pool.get().await.unwrap();
    client.batch_execute(&format!("BEGIN; {settings}")).await.unwrap();
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
        let counts = table.starts_with("contact_facet") || table.starts_with("contact_set_count");
        if table.starts_with("contact") && !counts {
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
        let (sql, params) = page_statement(company(), &case.filter, page, true);
        let first = plan(&store, &sql, &arguments(&params)).await;
        println!("{}: {} rows of {CONTACTS}", case.name, touched(&first));
        assert_few(&format!("the first page of {}", case.name), &first, FEW);

        let page = PageRequest { page: 3, limit: 50 };
        let (sql, params) = page_statement(company(), &case.filter, page, true);
        let third = plan(&store, &sql, &arguments(&params)).await;
        assert_few(&format!("the third page of {}", case.name), &third, 3.0 * FEW);

        let middle = ExportPosition {
            created_at: Timestamp::from_millis(1_690_000_060_000),
            id: ContactId::new(Uuid::nil()),
        };
        let (sql, params) = export_statement(company(), &case.filter, Some(middle), 50, false);
        let export = plan(&store, &sql, &arguments(&params)).await;
        assert_few(&format!("an export of {}", case.name), &export, FEW);
    }
}

/// D77: with four times as many contacts the bound is the same.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_costs_does_not_follow_the_number_of_contacts() {
    let (store, _database) = seeded().await;
    add_contacts(&store, CONTACTS..4 * CONTACTS).await;
    let page = PageRequest { page: 1, limit: 50 };
    for case in cases() {
        let (sql, params) = page_statement(company(), &case.filter, page, false);
        let plan = plan(&store, &sql, &arguments(&params)).await;
        println!("{}: {} rows of {}", case.name, touched(&plan), 4 * CONTACTS);
        assert_few(case.name, &plan, FEW);
    }
}

/// D77: what is found has no order of its own, and costs what a search for as much does.
#[tokio::test(flavor = "multi_thread")]
async fn times_and_several_sets_touch_little_more_than_the_fewest_of_them() {
    let (store, _database) = seeded().await;
    let all = ContactFilter::default();
    // Each finds at most 120 contacts of 12,000; the list alone has half of all.
    let (updated, active) = (since(1_690_000_118_800), since(1_700_094_000_000));
    for (name, filter) in [
        ("what changed lately", ContactFilter { updated_since: updated, ..all.clone() }),
        ("who wrote lately", ContactFilter { active_since: active, ..all.clone() }),
        (
            "what changed lately in a list",
            ContactFilter { updated_since: updated, list: Some(list()), ..all.clone() },
        ),
        (
            "a rare tag among all that changed",
            ContactFilter { updated_since: since(0), tag: Some(tag()), ..all.clone() },
        ),
        (
            "a list and a rare tag",
            ContactFilter { list: Some(list()), tag: Some(tag()), ..all.clone() },
        ),
        ("a search in a list", ContactFilter { list: Some(list()), ..searched("nona silva 0077") }),
    ] {
        let page = PageRequest { page: 1, limit: 50 };
        let (sql, params) = page_statement(company(), &filter, page, false);
        let paged = plan(&store, &sql, &arguments(&params)).await;
        println!("{name}: {} rows of {CONTACTS}", touched(&paged));
        assert!(touched(&paged) > 0.0, "{name} finds nothing");
        assert_few(name, &paged, 1_000.0);
        let (sql, params) = export_statement(company(), &filter, None, 50, false);
        let export = plan(&store, &sql, &arguments(&params)).await;
        assert_few(&format!("an export of {name}"), &export, 1_000.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_touches_little_more_than_it_finds() {
    let (store, _database) = seeded().await;
    let page = PageRequest { page: 1, limit: 50 };
    // A text, the digits of a phone, and beginnings of trigrams. Each is found in few contacts.
    for search in ["nona silva 07", "0777", "qx", "zzzz"] {
        let filter = searched(search);
        let (sql, params) = page_statement(company(), &filter, page, false);
        let plan = plan(&store, &sql, &arguments(&params)).await;
        assert_few(&format!("the search {search:?}"), &plan, FEW);
    }
}

/// How many rows the scans of a table, or of an index, brought.
fn brought(plan: &Value, name: &str) -> f64 {
    let number = |node: &Value, name: &str| node[name].as_f64().unwrap_or(0.0);
    let mut rows = 0.0;
    walk(plan, &mut |node| {
        if node["Relation Name"] == name || node["Index Name"] == name || node["CTE Name"] == name {
            let each = number(node, "Actual Rows") + number(node, "Rows Removed by Filter");
            rows += each * number(node, "Actual Loops");
        }
    });
    rows
}

/// R417.
#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_all_contacts_is_one_row_once_it_is_folded() {
    let (store, _database) = seeded().await;
    store.upkeep(Timestamp::from_millis(1_700_000_000_000)).await.unwrap();
    let page = PageRequest { page: 1, limit: 50 };
    let (sql, params) = page_statement(company(), &ContactFilter::default(), page, false);
    let plan = plan(&store, &sql, &arguments(&params)).await;
    assert_eq!(brought(&plan, "contact_totals"), 1.0, "{plan:#}");
    for counts in ["contact_facets", "contact_facet_deltas"] {
        assert_eq!(brought(&plan, counts), 0.0, "{plan:#}");
    }
}

/// R417.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_far_from_the_beginning_is_found_from_the_nearer_end() {
    let (store, _database) = seeded().await;
    let client = store.pool.get().await.unwrap();
    let query = "SELECT id FROM contacts WHERE company_id = $1 \
                 ORDER BY last_message_at DESC NULLS LAST, id";
    let all = client.query(query, &[&company().uuid()]).await.unwrap();
    let all: Vec<Uuid> = all.iter().map(|row| row.get(0)).collect();
    drop(client);
    let filter = ContactFilter::default();
    let pages = [(11, 100), (60, 100), (61, 100), (121, 50), (120, 100), (172, 70), (130, 100)];
    for (page, limit) in pages {
        let page = PageRequest { page, limit };
        let slice = store.page(company(), &filter, page, false).await.unwrap();
        let found: Vec<Uuid> =
            slice.records.iter().map(|record| record.contact.id.uuid()).collect();
        let skipped = usize::try_from(page.offset()).unwrap();
        let wanted: Vec<Uuid> = all.iter().copied().skip(skipped).take(limit as usize).collect();
        assert_eq!(found, wanted, "page {page:?}");
        assert_eq!(slice.total, CONTACTS);

        let (sql, params) = page_statement(company(), &filter, page, false);
        let plan = plan(&store, &sql, &arguments(&params)).await;
        assert_few("a page", &plan, CONTACTS as f64 / 2.0 + 1_000.0);
    }
}

/// R417: of a filter that many contacts pass, no combination is read by itself; of one that few
/// pass, not many contacts are read in vain.
#[tokio::test(flavor = "multi_thread")]
async fn what_many_contacts_pass_is_found_in_the_order_of_all() {
    let (store, _database) = seeded().await;
    store.upkeep(Timestamp::from_millis(1_700_000_000_000)).await.unwrap();
    let page = PageRequest { page: 1, limit: 50 };
    let all = ContactFilter::default();
    let open = ContactFilter { inbox_status: Some(InboxStatus::Open), ..all.clone() };
    let people = ContactFilter { is_group: Some(false), ..all.clone() };
    let lost = ContactFilter { crm_status: Some(CrmStatus::Lost), ..all };
    for (filter, heads, most) in [(open, 0.0, 500.0), (people, 0.0, 500.0), (lost, 1.0, FEW)] {
        let (sql, params) = page_statement(company(), &filter, page, false);
        let plan = plan(&store, &sql, &arguments(&params)).await;
        let found = brought(&plan, "heads");
        assert!((found == 0.0) == (heads == 0.0), "{found} combinations: {plan:#}");
        assert_few("a filter", &plan, most);
    }
}

/// R417: the hits of a short search are counted, and a page of them is found without the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_short_search_that_finds_much_only_counts_it() {
    let (store, _database) = seeded().await;
    store.upkeep(Timestamp::from_millis(1_700_000_000_000)).await.unwrap();
    let page = PageRequest { page: 1, limit: 50 };
    for search in ["si", "ilv"] {
        let (sql, params) = page_statement(company(), &searched(search), page, false);
        let plan = plan(&store, &sql, &arguments(&params)).await;
        assert_eq!(brought(&plan, "hits"), 0.0, "{plan:#}");
        let third = CONTACTS as f64 / 3.0;
        assert_few("a short search", &plan, third + 1_000.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_finds_much_sorts_little_of_it() {
    let (store, _database) = seeded().await;
    let page = PageRequest { page: 1, limit: 50 };
    for filter in [searched("silva"), ContactFilter { is_group: Some(false), ..searched("silva") }]
    {
        let (sql, params) = page_statement(company(), &filter, page, false);
        let plan = plan(&store, &sql, &arguments(&params)).await;
        // Each text that is found, and the contacts of a page.
        let third = CONTACTS as f64 / 3.0;
        assert_few("a search for one in three", &plan, third + FEW);
    }
}
