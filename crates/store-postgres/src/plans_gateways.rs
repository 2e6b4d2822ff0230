//! The cost of gateways and merges: how many rows and pages their statements touch, with plans that
//! were made while the tables were empty, or while every contact had few rows.

use recado_core::contacts::{Phone, Region};
use recado_core::conversations::ChannelQuery;
use recado_core::gateway::{KeptOrder, KeptQuery};
use recado_core::ids::{CompanyId, ConnectionId};
use recado_store_sql::{SealedColumn, TableDef, sealed_columns};
use uuid::Uuid;

use crate::channel_lookup::ChannelLookup;
use crate::connections::ANYWHERE;
use crate::message_refs;
use crate::messages::LEFT_SENT;
use crate::plans_campaigns::{Case, Filling};
use crate::portions;
use crate::reassign::REASSIGN;
use crate::sealing::{left_query, next_key_query};
use crate::unknown_events::{FORGET, statements};

/// Three rows of each table for each of three contacts of 300 companies.
const SMALL: &str = "\
INSERT INTO connections SELECT id, id, 'qr', 'whatsapp', 'n', 'i', 'waha', '{}', true, 'connected', \
0, 0, 1 FROM companies; \
CREATE TABLE had AS SELECT c.id AS company_id, md5('p' || p)::uuid AS contact_id, \
md5(c.id::text || p || '.' || i)::uuid AS id, i FROM companies c, generate_series(1, 3) p, \
generate_series(1, 3) i; ";

/// One contact with 3,000 rows in each table, and another one that has equal keys for half of them.
const LARGE: &str = "\
DELETE FROM had; \
INSERT INTO had SELECT md5('c2')::uuid, md5('from')::uuid, md5('l' || i)::uuid, i \
FROM generate_series(1, 3000) i; \
INSERT INTO had SELECT md5('c2')::uuid, md5('into')::uuid, md5('m' || i)::uuid, i \
FROM generate_series(1, 6000, 2) i; ";

/// Inserts rows as `had` says.
const FILL: &str = "\
INSERT INTO contacts (company_id, id, source_platform, identifier, name, display_name, \
inbox_status, priority, crm_status, is_ai_enabled, external_ai_enabled, is_archived, is_pinned, \
is_muted, is_blocked, is_group, is_simulated, custom_fields, created_at, updated_at, facet, version) \
SELECT DISTINCT company_id, contact_id, 'whatsapp', contact_id::text, '', '', 'open', 'normal', \
'lead', true, true, false, false, false, false, false, false, '{}'::jsonb, 0, 0, md5('')::uuid, 1 \
FROM had; \
INSERT INTO aliases SELECT company_id, 'whatsapp', id::text, contact_id FROM had; \
INSERT INTO clicks SELECT company_id, id, id, contact_id, i, true FROM had; \
INSERT INTO contact_tags SELECT company_id, contact_id, md5('t' || i)::uuid FROM had; \
INSERT INTO deals SELECT company_id, id, contact_id, 't', NULL, NULL, 'open', i, 0, 1 FROM had; \
INSERT INTO dispatch_windows SELECT company_id, contact_id, md5('k' || i)::bytea, md5('')::uuid, 0, \
'sent', i, 1 FROM had; \
INSERT INTO documents SELECT company_id, id, contact_id, 'f', 0, 'stored', i, 1 FROM had; \
INSERT INTO events SELECT company_id, id, 'message.sent', contact_id, i, \
CASE WHEN i % 2 = 0 THEN 'd' END FROM had; \
INSERT INTO ledger_lines SELECT company_id, id, id, 'debit', 's', 1, 1, 0, 0, contact_id, NULL, \
NULL, i, 1 FROM had; \
INSERT INTO links SELECT company_id, id, contact_id, id::text, 'u', i, 1 FROM had; \
INSERT INTO list_members SELECT company_id, md5('l' || i)::uuid, contact_id FROM had; \
INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
sender_type, status, is_history, created_at, stamped_at, version, provider_id, media_source) \
SELECT company_id, id, contact_id, company_id, 'outbound', 'text', 'system', 'sent', false, i, 0, \
1, id::text, 'http' FROM had; \
INSERT INTO messages_left_sent SELECT i, company_id, id FROM had; \
INSERT INTO recipients (company_id, campaign_id, number, contact_id, status, version) \
SELECT company_id, md5('g' || i)::uuid, row_number() OVER (), contact_id, \
CASE WHEN contact_id = md5('into')::uuid THEN 'waiting' ELSE 'read' END, 1 FROM had; \
INSERT INTO remembered_calls SELECT company_id, 'o', id::text, '', NULL, NULL, contact_id, i, 1 \
FROM had; \
INSERT INTO unknown_events SELECT company_id, id, contact_id, contact_id, 'k' || i % 3, \
'unsupported', 'gateway', i, NULL, '{}', 1 FROM had;";

const ANALYZE: &str = "ANALYZE aliases, clicks, contact_tags, contacts, connections, deals, \
dispatch_windows, documents, events, ledger_lines, links, list_members, messages, \
messages_left_sent, recipients, remembered_calls, unknown_events";

fn cases() -> Vec<Case> {
    let case = |name, sql: String, arguments: &str, few| Case {
        name,
        sql,
        arguments: arguments.to_owned(),
        few,
    };
    let query = |kind: Option<&str>, order| KeptQuery {
        connection: Some(ConnectionId::new(Uuid::nil())),
        kind: kind.map(str::to_owned),
        order,
        limit: 10,
    };
    let (count, newest) = statements(&query(None, KeptOrder::NewestFirst));
    let oldest = KeptOrder::OldestFirst { after: None };
    let (count_of_kind, oldest) = statements(&query(Some("k1"), oldest));
    let (few, kind) =
        ("md5('c2')::uuid, md5('p2')::uuid", "md5('c2')::uuid, md5('p2')::uuid, 'k1'");
    let mut cases = vec![
        case("a call of a gateway", ANYWHERE.clone(), "md5('c2')::uuid", (1.0, 6.0)),
        case("how many are kept", count, few, (3.0, 10.0)),
        case("kept events", newest, &format!("{few}, 10"), (3.0, 10.0)),
        case("how many of a kind", count_of_kind, kind, (3.0, 10.0)),
        case("kept events of a kind", oldest, &format!("{kind}, 10"), (3.0, 10.0)),
        case("old kept events", format!("{FORGET} RETURNING 1"), "2, 10", (20.0, 100.0)),
    ];
    for (name, keys, to_seal) in [
        ("unknown_events", "the keys of kept events", "kept events to seal"),
        ("messages", "the keys of files' addresses", "files' addresses to seal"),
    ] {
        let is_it = |(table, _): &(TableDef, SealedColumn)| table.name == name;
        let (table, column) = sealed_columns().find(is_it).expect("they are sealed");
        let next_key = next_key_query(table, column);
        cases.push(case(keys, next_key, "'rs1.', 'rs1/'", (3.0, 10.0)));
        for (order, beginning) in [("<", "'rs'"), (">", "'~'")] {
            let left = left_query(table, column, order);
            cases.push(case(to_seal, left, &format!("{beginning}, 10"), (10.0, 10.0)));
        }
    }
    for reassign in REASSIGN.iter() {
        // Only the statements that look for duplicates run with a contact that has rows already.
        let meets = reassign.contains("IS TRUE") || reassign.contains("IN ($2, $3)");
        let takes = if meets { "into" } else { "nobody" };
        let contacts = format!("md5('c2')::uuid, md5('from')::uuid, md5('{takes}')::uuid");
        // Each moved row is compared with the existing rows and written to every index. A plan for
        // an empty table may read all rows of the company.
        cases.push(case("a merge", reassign.clone(), &contacts, (9_100.0, 60.0 * 3_000.0)));
    }
    let phone = Phone::parse("+5534991230001", &Region::br()).expect("a phone");
    let query = ChannelQuery { per_phone: Some(2), ..ChannelQuery::of_phone(&phone) };
    let lookup = ChannelLookup::new(CompanyId::new(Uuid::nil()), query);
    let names = "ARRAY[1, 1], ARRAY[md5('p2')::uuid::text, 'nobody']";
    let named = format!("ARRAY[md5('c2')::uuid], ARRAY[2::bigint], {names}, {names}, {names}");
    cases.push(case("names on a channel", lookup.sql(), &named, (20.0, 60.0)));
    let moved = "UPDATE contacts SET last_message_at = $3::bigint \
                 WHERE company_id = $1::uuid AND id = $2::uuid";
    let message = "md5('c2')::uuid, md5('p2')::uuid, 1";
    cases.push(case("a contact that a message moves", moved.to_owned(), message, (30.0, 300.0)));
    let contact = "md5('c2')::uuid, md5('from')::uuid, 9";
    let forget = message_refs::FORGET.clone();
    cases.push(case("a deletion", forget, contact, (9_100.0, 60.0 * 3_000.0)));
    let portion = format!("{contact}, 20");
    cases.push(case("a part of a deletion", portions::REMOVE.clone(), &portion, (300.0, 3_000.0)));
    let lines = "md5('c2')::uuid, md5('from')::uuid, 20";
    cases.push(case("lines that are left", portions::LEAVE.clone(), lines, (100.0, 1_000.0)));
    cases.push(case("whether it is long", portions::HAS_MANY.clone(), lines, (100.0, 300.0)));
    for moved in portions::MOVE.iter() {
        let both = "md5('c2')::uuid, md5('from')::uuid, md5('into')::uuid, 20";
        cases.push(case("a part of a merge", moved.clone(), both, (300.0, 3_000.0)));
    }
    cases
}

/// The plan of this statement for an empty table does not use the index that finds its messages. It
/// runs rarely, and is planned again when the tables have grown.
fn cases_for_some() -> Vec<Case> {
    let mut cases = cases();
    // Each message is looked up with its connection and its contact.
    cases.push(Case {
        name: "those left sent",
        sql: LEFT_SENT.to_owned(),
        arguments: "5000, 5100".to_owned(),
        few: (220.0, 700.0),
    });
    cases
}

/// Each of the two is followed by the rows that it says.
const FILLING: Filling = Filling { small: &[SMALL, FILL], large: &[LARGE, FILL], analyze: ANALYZE };

/// R440.
#[tokio::test(flavor = "multi_thread")]
async fn names_are_looked_up_one_by_one_where_all_is_vacuumed() {
    let names = cases().into_iter().filter(|case| case.name == "names on a channel").collect();
    FILLING.assert_few_when_vacuumed("VACUUM ANALYZE aliases, contacts", names).await;
}

/// R440, R451.
#[tokio::test(flavor = "multi_thread")]
async fn gateways_and_merges_touch_few_rows_by_plans_for_empty_tables() {
    FILLING.assert_few_by_plans_for_empty_tables(cases()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn merges_touch_few_rows_when_one_contact_has_more_than_all_others() {
    FILLING.assert_few_when_one_has_grown(cases_for_some()).await;
}
