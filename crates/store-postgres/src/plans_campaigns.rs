//! The cost of campaigns and inbound calls: how many rows and pages their statements touch, with
//! plans that were made while the tables were empty, or while every campaign was small.

use recado_core::campaigns::Recipient;
use recado_core::deliveries::Shards;
use recado_core::dispatches::DispatchWindow;
use recado_testkit::postgres::{TestDatabase, TestPostgres};
use serde_json::Value;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::campaigns::{COUNTED, RUNNING, SCHEDULED, STEPS, TOTALS};
use crate::contacts_draft::FIELDS;
use crate::inbound::BY_SLUG;
use crate::plans::walk;
use crate::portions::REMOVE_ROWS;
use crate::recipients::{ENROLL, LAST, OF_MESSAGES, QUEUE, counts_of, page_sql};
use crate::table::Table;
use crate::templates::BY_TOKEN;
use crate::upkeep::FORGET_WINDOWS;
use crate::{Options, PostgresStore};

/// What is known of the tables changes when a case says so, and at no other time.
const NO_AUTOVACUUM: &str = "DO $$ DECLARE t regclass; BEGIN \
FOR t IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace \
LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', t); END LOOP; END $$";

/// Foreign keys are not checked here: the rows that others refer to exist only where a statement
/// reads them.
const BEGIN: &str = "SET session_replication_role = replica; \
INSERT INTO companies SELECT md5('c' || i)::uuid, 'c', 'enterprise', false, false, 'BR', 0, 0, 1 \
FROM generate_series(1, 300) i;";

/// Three campaigns of each of 300 companies, with three recipients each, and as many rows of the
/// other tables.
const SMALL: &str = "\
INSERT INTO campaigns (company_id, id, name, template_id, list_id, variables, prosas, cost, \
messages_per_second, status, created_at, updated_at, version) \
SELECT md5('c' || c)::uuid, md5('g' || c || '.' || g)::uuid, 'n', md5('')::uuid, md5('')::uuid, '', \
0, 0, 1, CASE WHEN c % 100 = 0 THEN 'running' ELSE 'finished' END, g, 0, 1 \
FROM generate_series(1, 300) c, generate_series(1, 3) g; \
INSERT INTO recipients (company_id, campaign_id, number, contact_id, status, message_id, version) \
SELECT company_id, id, i, md5('p' || i)::uuid, 'read', md5(id || 'm' || i)::uuid, 1 \
FROM campaigns, generate_series(1, 3) i; \
INSERT INTO dispatch_windows SELECT c.id, md5('p' || i)::uuid, md5('k' || i)::bytea, md5('')::uuid, \
0, 'sent', i, 1 FROM companies c, generate_series(1, 3) i; \
INSERT INTO custom_fields SELECT c.id, md5('f' || i)::uuid, 's' || i, 'l', 'text', 'active', i, 1 \
FROM companies c, generate_series(1, 3) i; \
INSERT INTO list_members SELECT c.id, md5('l')::uuid, md5('p' || i)::uuid \
FROM companies c, generate_series(1, 3) i; \
INSERT INTO contact_tags SELECT c.id, md5('p' || i)::uuid, md5('t')::uuid \
FROM companies c, generate_series(1, 3) i; \
INSERT INTO inbound_endpoints SELECT id, id, 's' || id, '', 'public', 's', true, 0, 0, 1 \
FROM companies; \
INSERT INTO templates SELECT id, id, 'n', 'utility', 'pt_BR', 'b', 'approved', NULL, uuid_send(id), \
0, 0, 1 FROM companies;";

/// One campaign of 9,000 recipients, of whom two thirds were processed since the enrolment, and as
/// many rows of the other tables.
const LARGE: &str = "\
INSERT INTO campaigns SELECT (jsonb_populate_record(g, jsonb_build_object('id', md5('new')::uuid))).* \
FROM campaigns g WHERE id = md5('g2.2')::uuid; \
INSERT INTO contacts (company_id, id, source_platform, identifier, name, display_name, \
inbox_status, priority, crm_status, is_ai_enabled, external_ai_enabled, is_archived, is_pinned, \
is_muted, is_blocked, is_group, is_simulated, custom_fields, created_at, updated_at, facet, version) \
SELECT md5('c2')::uuid, md5('p' || i)::uuid, 'whatsapp', 'i' || i, '', '', 'open', 'normal', 'lead', \
true, true, false, false, false, false, false, false, '{}', i, 0, md5('')::uuid, 1 \
FROM generate_series(1, 9000) i; \
INSERT INTO recipients (company_id, campaign_id, number, contact_id, status, version) \
SELECT md5('c2')::uuid, md5('g2.2')::uuid, i, md5('p' || i)::uuid, 'waiting', 1 \
FROM generate_series(4, 9000) i; \
UPDATE recipients SET status = 'sent', message_id = md5('m' || number)::uuid \
WHERE number BETWEEN 4 AND 6000; \
INSERT INTO dispatch_windows SELECT md5('c2')::uuid, md5('p1')::uuid, md5('k' || i)::bytea, \
md5('')::uuid, 0, 'sent', i, 1 FROM generate_series(4, 9000) i; \
INSERT INTO custom_fields \
SELECT md5('c2')::uuid, md5('f' || i)::uuid, 's' || i, 'l', 'text', 'active', i, 1 \
FROM generate_series(4, 9000) i; \
INSERT INTO list_members SELECT md5('c2')::uuid, md5('l2')::uuid, md5('p' || i)::uuid \
FROM generate_series(1, 9000) i; \
INSERT INTO list_members SELECT md5('c2')::uuid, md5('l3')::uuid, md5('p' || i)::uuid \
FROM generate_series(1, 200) i; \
INSERT INTO contact_tags SELECT md5('c2')::uuid, md5('p' || i)::uuid, md5('t' || t)::uuid \
FROM generate_series(1, 9000) i, generate_series(2, 3) t WHERE t = 2 OR i % 90 = 0; \
INSERT INTO ledger_lines (company_id, id, consumption_id, kind, scope, prosas, cost, \
refunded_prosas, refunded_cost, campaign_id, created_at, version) \
SELECT md5('c2')::uuid, md5('d' || i)::uuid, md5('d' || i)::uuid, 'debit', 'message', 1, 1, 0, 0, \
CASE WHEN i <= 6000 THEN md5('g2.2')::uuid END, i, 1 FROM generate_series(1, 9000) i;";

/// What the triggers would have kept.
const TOTALLED: &str = "\
DELETE FROM recipient_counts; DELETE FROM recipient_count_deltas; \
DELETE FROM campaign_sums; DELETE FROM campaign_sum_deltas; \
INSERT INTO recipient_counts \
SELECT company_id, campaign_id, status, count(*) FROM recipients GROUP BY 1, 2, 3; \
INSERT INTO recipient_count_deltas \
SELECT company_id, campaign_id, status, 0 FROM recipient_counts; \
INSERT INTO campaign_sums SELECT company_id, id, 1, 1 FROM campaigns; \
INSERT INTO campaign_sum_deltas SELECT company_id, id, 0, 0 FROM campaigns;";

const ANALYZE: &str = "ANALYZE campaigns, recipients, dispatch_windows, custom_fields, \
list_members, contact_tags, recipient_counts, recipient_count_deltas, campaign_sums, \
campaign_sum_deltas, inbound_endpoints, templates, companies";

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) sql: String,
    pub(super) arguments: String,
    /// How many rows the statement may touch, and how many pages it may read.
    pub(super) few: (f64, f64),
}

fn cases() -> Vec<Case> {
    let case = |name, sql: &str, arguments: &str, few| Case {
        name,
        sql: sql.to_owned(),
        arguments: arguments.to_owned(),
        few,
    };
    let ids = |kind: &str, numbers: std::ops::Range<u32>| {
        let ids: Vec<String> = numbers.map(|n| format!("md5('{kind}{n}')::uuid")).collect();
        format!("ARRAY[{}]", ids.join(", "))
    };
    let company = "md5('c2')::uuid";
    let campaign = "md5('c2')::uuid, md5('g2.2')::uuid";
    let nulls = "NULL, NULL, NULL, NULL, NULL, NULL";
    let update = format!("{campaign}, 7000, NULL, 'sending', md5('x')::uuid, {nulls}, 1");
    let fields = format!("{company}, {}, '{{s8000,s8001,s8002}}'", ids("f", 7000..7020));
    let window = format!("{company}, md5('p1')::uuid, md5('k7000')::bytea");
    let forgotten = "UPDATE ONLY recipients SET contact_id = NULL \
                     WHERE $1::uuid = company_id AND $2::uuid = contact_id";
    let enrolled = "md5('c2')::uuid, md5('new')::uuid, md5('l3')::uuid";
    let ended = format!("{FORGET_WINDOWS} RETURNING 1");
    let [of_list, of_tag, of_campaign] = &*REMOVE_ROWS;
    let rows_of = |record: &str| format!("{company}, md5('{record}')::uuid, 20");
    let every: Vec<String> = Shards::USUAL.all().map(|shard| shard.number().to_string()).collect();
    vec![
        case("a part of a list", of_list, &rows_of("l2"), (100.0, 1_000.0)),
        case("a part of a tag", of_tag, &rows_of("t2"), (100.0, 1_000.0)),
        case("those with a rare tag", of_tag, &rows_of("t3"), (100.0, 1_000.0)),
        case("a part of a campaign", of_campaign, &rows_of("g2.2"), (100.0, 1_000.0)),
        case("the queue", &QUEUE, &format!("{campaign}, 'waiting', 6100, 100"), (120.0, 40.0)),
        case("the whole queue", &QUEUE, &format!("{campaign}, 'waiting', -1, 100"), (120.0, 400.0)),
        case("the last ones", &LAST, &format!("{campaign}, 'waiting', 100"), (120.0, 40.0)),
        case("an empty queue", &QUEUE, &format!("{campaign}, 'sending', -1, 100"), (0.0, 10.0)),
        // What comes before the page is passed in an index. A plan for an empty table of contacts
        // looks each of the page up in any index of the company.
        case("a page", &page_sql(false), &format!("{campaign}, 50, 200"), (420.0, 4_500.0)),
        case(
            "a page of a status",
            &page_sql(true),
            &format!("{campaign}, 'waiting', -1, 50, 200"),
            (420.0, 4_500.0),
        ),
        case("counts", &counts_of("$1::uuid", "$2::uuid"), campaign, (10.0, 20.0)),
        // A row for each status and one for the sums of each campaign, with what came since (R448).
        case("the campaigns", &COUNTED, company, (60.0, 100.0)),
        case("the totals", &TOTALS, campaign, (14.0, 30.0)),
        // The rows of its recipients, once.
        case(
            "its outcomes",
            STEPS,
            &format!("{campaign}, 0, 60000, 3600000"),
            (46_000.0, 25_000.0),
        ),
        case("those that run", &RUNNING, &format!("'{{{}}}'", every.join(",")), (9.0, 200.0)),
        case(
            "those whose time has come",
            &SCHEDULED,
            &format!("'{{{}}}', 0", every.join(",")),
            (0.0, 150.0),
        ),
        case(
            "those of messages",
            &OF_MESSAGES,
            &format!("{company}, {}", ids("m", 5000..5032)),
            (32.0, 200.0),
        ),
        case("a recipient", &Recipient::sql().get, &format!("{campaign}, 7000"), (1.0, 10.0)),
        case("a turn", &Recipient::sql().update, &update, (3.0, 80.0)),
        case(
            "a contact that goes",
            forgotten,
            &format!("{company}, md5('p7000')::uuid"),
            (2.0, 60.0),
        ),
        case("an enrolment", ENROLL, enrolled, (610.0, 25_000.0)),
        case("definitions", &FIELDS, &fields, (23.0, 200.0)),
        case("an endpoint", &BY_SLUG, "'s' || md5('c2')::uuid", (2.0, 10.0)),
        case("a token", &BY_TOKEN, &format!("uuid_send({company})"), (2.0, 10.0)),
        case("a window", &DispatchWindow::sql().get, &window, (1.0, 10.0)),
        case("ended windows", &ended, "4, 10", (1_300.0, 200.0)),
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

/// A connection of the pool that has prepared all cases, and another one that inserts the rows.
struct Prepared {
    client: crate::pool::Object,
    seeding: crate::pool::Object,
    cases: Vec<Case>,
    _database: TestDatabase,
}

impl Prepared {
    async fn new(seeds: &[&str], cases: Vec<Case>) -> Self {
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        let (client, seeding) = (store.pool.get().await.unwrap(), store.pool.get().await.unwrap());
        client.batch_execute("SET session_replication_role = replica").await.unwrap();
        seeding.batch_execute(NO_AUTOVACUUM).await.unwrap();
        seeding.batch_execute(BEGIN).await.unwrap();
        for seed in seeds {
            seeding.batch_execute(seed).await.unwrap();
        }
        for (at, case) in cases.iter().enumerate() {
            // Explained once, so that it is planned for the rows of this moment.
            let prepare = format!("PREPARE case_{at} AS {}", case.sql);
            client.batch_execute(&prepare).await.unwrap();
            client.simple_query(&format!("EXPLAIN {}", execute(at, case))).await.unwrap();
        }
        Self { client, seeding, cases, _database: database }
    }

    async fn seed(&self, sql: &str) {
        self.seeding.batch_execute(sql).await.unwrap();
    }

    async fn assert_few(&self, round: &str) {
        for (at, case) in self.cases.iter().enumerate() {
            let explain = format!(
                "BEGIN; EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {}; ROLLBACK",
                execute(at, case)
            );
            let answer = first_column(&self.client, &explain).await;
            let plan: Value = serde_json::from_str(&answer).unwrap();
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
    }
}

fn execute(at: usize, case: &Case) -> String {
    match case.arguments.is_empty() {
        true => format!("EXECUTE case_{at}"),
        false => format!("EXECUTE case_{at} ({})", case.arguments),
    }
}

/// How the tables of some cases are filled.
pub(super) struct Filling {
    /// With a few rows of each of many.
    pub(super) small: &'static [&'static str],
    /// Then with many rows of one.
    pub(super) large: &'static [&'static str],
    /// Gathers what is known of them.
    pub(super) analyze: &'static str,
}

impl Filling {
    /// Cases that were planned while the tables were empty touch few rows when they are full.
    pub(super) async fn assert_few_by_plans_for_empty_tables(&self, cases: Vec<Case>) {
        let prepared = Prepared::new(&[], cases).await;
        for seed in self.small.iter().chain(self.large) {
            prepared.seed(seed).await;
        }
        prepared.assert_few("planned while it was empty").await;
        prepared.seed(self.analyze).await;
        prepared.assert_few("planned when it was full").await;
    }

    /// Cases touch few rows where whole tables can be read from their indexes alone. A transaction
    /// that has just ended may keep a row from that, so it is vacuumed again.
    pub(super) async fn assert_few_when_vacuumed(&self, vacuum: &'static str, cases: Vec<Case>) {
        let seeds = [self.small, self.large, &[vacuum; 3]].concat();
        Prepared::new(&seeds, cases).await.assert_few("planned when it was vacuumed").await;
    }

    /// Cases that were planned while each had few rows touch few of one that has grown.
    pub(super) async fn assert_few_when_one_has_grown(&self, cases: Vec<Case>) {
        let prepared = Prepared::new(&[self.small, &[self.analyze]].concat(), cases).await;
        for seed in self.large {
            prepared.seed(seed).await;
        }
        prepared.assert_few("planned while all were small").await;
        prepared.client.batch_execute("DISCARD PLANS").await.unwrap();
        prepared.assert_few("planned by what was known of small ones").await;
    }
}

const FILLING: Filling =
    Filling { small: &[SMALL, TOTALLED], large: &[LARGE, TOTALLED], analyze: ANALYZE };

#[tokio::test(flavor = "multi_thread")]
async fn campaigns_touch_few_rows_by_plans_for_empty_tables() {
    FILLING.assert_few_by_plans_for_empty_tables(cases()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn campaigns_touch_few_rows_when_one_grows_beyond_all_others() {
    FILLING.assert_few_when_one_has_grown(cases()).await;
}
