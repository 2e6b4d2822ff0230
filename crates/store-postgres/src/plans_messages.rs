//! The cost of listings of messages, and of the last messages of contacts: how many messages their
//! plans touch.

use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ConnectionId, ContactId};
use recado_core::messages::{Direction, MessageFilter, MessageStatus, MessageType};
use recado_core::page::PageRequest;
use serde_json::Value;
use uuid::Uuid;

use crate::message_refs::REFERRED;
use crate::messages_listing::page_statement;
use crate::plans::{company, plan, seeded, text, walk};
use crate::plans_campaigns::{Case as Statement, Filling};
use crate::records::LAST_MESSAGES;

/// As many messages as contacts, for each of two companies. One message in a hundred failed.
pub(crate) const SEED: &str = "\
INSERT INTO connections SELECT id, id, 'qr', 'whatsapp', 'n', 'i', 'simulated', '{}', true, \
'connected', 0, 0, 1 FROM companies; \
INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
sender_type, status, is_history, created_at, stamped_at, version) \
SELECT c.company_id, md5('m' || c.id)::uuid, \
md5(((substr(c.identifier, 5)::int % 20) + 1)::text)::uuid, c.company_id, \
CASE WHEN c.is_ai_enabled THEN 'inbound' ELSE 'outbound' END, 'text', 'system', \
CASE WHEN c.crm_status = 'lost' THEN 'failed' ELSE 'sent' END, false, c.created_at, 0, 1 \
FROM contacts c; \
ANALYZE connections, messages, message_counts, message_count_deltas";

/// A page of 50 must touch no more messages than this.
const FEW: f64 = 500.0;

struct Case {
    name: &'static str,
    filter: MessageFilter,
    /// The parameters after those that every listing has.
    arguments: String,
    /// How many messages may be counted, in addition to those of the page.
    counted: f64,
}

fn cases() -> Vec<Case> {
    let all = MessageFilter::default();
    let contact = Uuid::parse_str("c4ca4238-a0b9-2382-0dcc-509a6f75849b").expect("md5 of 1");
    let connection = ConnectionId::new(company().uuid());
    let uncounted = |name, filter, arguments| Case { name, filter, arguments, counted: 0.0 };
    vec![
        uncounted("all", all.clone(), String::new()),
        uncounted(
            "one direction",
            MessageFilter { direction: Some(Direction::Inbound), ..all.clone() },
            text(Some("inbound")),
        ),
        uncounted(
            "a type that none has",
            MessageFilter { message_type: Some(MessageType::Sticker), ..all.clone() },
            text(Some("sticker")),
        ),
        uncounted(
            "those that failed",
            MessageFilter { status: Some(MessageStatus::Failed), ..all.clone() },
            text(Some("failed")),
        ),
        uncounted(
            "one connection",
            MessageFilter { connection: Some(connection), ..all.clone() },
            text(Some(&connection.to_string())),
        ),
        Case {
            name: "one contact",
            filter: MessageFilter { contact: Some(ContactId::new(contact)), ..all.clone() },
            arguments: text(Some(&contact.to_string())),
            counted: 700.0,
        },
        Case {
            name: "some minutes",
            filter: MessageFilter { from: Some(Timestamp::from_millis(0)), ..all },
            arguments: "1690000110000".to_owned(),
            counted: 1_100.0,
        },
    ]
}

fn touched(plan: &Value) -> f64 {
    let number = |node: &Value, name: &str| node[name].as_f64().unwrap_or(0.0);
    let mut rows = 0.0;
    walk(plan, &mut |node| {
        if node["Relation Name"] == "messages" {
            let each = number(node, "Actual Rows") + number(node, "Rows Removed by Filter");
            rows += each * number(node, "Actual Loops");
        }
    });
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_messages_touch_few_of_them_under_any_filter() {
    let (store, _database) = seeded().await;
    let client = store.pool.get().await.expect("it is there");
    client.batch_execute(SEED).await.expect("all is new");
    drop(client);
    let own: CompanyId = company();
    for Case { name, filter, arguments, counted } in cases() {
        for number in [1, 3] {
            let page = PageRequest { page: number, limit: 50 };
            let (sql, _) = page_statement(own, &filter, page);
            let mut all = vec![text(Some(&own.to_string())), "50".to_owned()];
            all.push(page.offset().to_string());
            all.extend((!arguments.is_empty()).then(|| arguments.clone()));
            let plan = plan(&store, &sql, &all.join(", ")).await;
            let touched = touched(&plan);
            assert!(touched <= FEW + counted, "{name} touches {touched} messages: {plan:#}");
            walk(&plan, &mut |node| {
                // The differences have no index, because they are few.
                let scans = node["Node Type"] == "Seq Scan"
                    && node["Relation Name"] != "message_count_deltas";
                assert!(!scans, "{name} scans {}", node["Relation Name"]);
            });
        }
    }
}

/// Many connections with few references, and one that has grown since the tables were last
/// analyzed.
const REFERENCES: &str = "\
INSERT INTO companies SELECT (jsonb_populate_record(c, jsonb_build_object('id', \
md5('small' || i)::uuid))).* FROM companies c, generate_series(1, 3000) i \
WHERE c.id = (SELECT id FROM companies LIMIT 1); \
INSERT INTO connections SELECT (jsonb_populate_record(c, jsonb_build_object('company_id', s.id, \
'id', s.id))).* FROM connections c, companies s \
WHERE c.id = (SELECT id FROM connections LIMIT 1) ON CONFLICT DO NOTHING; \
INSERT INTO message_refs (company_id, connection_id, provider_id, report_status, expires_at, \
version) SELECT id, id, 'r' || i, 'sent', 0, 1 FROM companies, generate_series(1, 5) i; \
ANALYZE message_refs; \
INSERT INTO message_refs (company_id, connection_id, provider_id, message_id, version) \
SELECT m.company_id, m.connection_id, \
'p' || row_number() OVER (PARTITION BY m.company_id ORDER BY m.id), m.id, 1 FROM messages m";

#[tokio::test(flavor = "multi_thread")]
async fn ids_of_a_provider_are_looked_up_one_by_one_however_large_the_connection_has_grown() {
    let (store, _database) = seeded().await;
    let client = store.pool.get().await.expect("it is there");
    client.batch_execute(SEED).await.expect("all is new");
    client.batch_execute(REFERENCES).await.expect("all is new");
    drop(client);
    let own = company();
    let wanted: Vec<String> = (1..=32).map(|n| format!("'p{n}'")).collect();
    let arguments = format!("'{own}', '{own}', ARRAY[{}]", wanted.join(", "));
    let plan = plan(&store, REFERRED.as_str(), &arguments).await;
    walk(&plan, &mut |node| {
        let number = |name: &str| node[name].as_f64().unwrap_or(0.0);
        let each = number("Actual Rows") + number("Rows Removed by Filter");
        assert!(each * number("Actual Loops") <= 64.0, "{plan:#}");
    });
}

/// Inserts messages as the rows `(c, p, i)` of `had` say: the company, the contact, the number. Who
/// has a higher number wrote later.
const TALKS: &str = "\
INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
sender_type, status, is_history, created_at, stamped_at, version) \
SELECT md5('c' || c)::uuid, md5('m' || c || '.' || p || '.' || i)::uuid, md5('p' || p)::uuid, \
md5('')::uuid, 'inbound', 'text', 'contact', 'received', false, p * 1000 + i, 0, 1 FROM had;";

/// Three messages of each of three contacts of 300 companies.
const FEW_TALKS: &str = "\
CREATE TABLE had AS SELECT c, p, i FROM generate_series(1, 300) c, generate_series(1, 3) p, \
generate_series(1, 3) i;";

/// Thirty messages of each of 400 more contacts of one company.
const MANY_TALKS: &str = "\
DELETE FROM had; \
INSERT INTO had SELECT 2, p, i FROM generate_series(4, 403) p, generate_series(1, 30) i;";

/// The last messages of 50 contacts, all of whom have been silent while the others wrote.
fn last_messages() -> Vec<Statement> {
    let contacts: Vec<String> = (4..54).map(|n| format!("md5('p{n}')::uuid")).collect();
    vec![Statement {
        name: "the last messages of some contacts",
        sql: LAST_MESSAGES.clone(),
        arguments: format!("md5('c2')::uuid, ARRAY[{}]", contacts.join(", ")),
        // One of each contact.
        few: (50.0, 300.0),
    }]
}

const TALKING: Filling = Filling {
    small: &[FEW_TALKS, TALKS],
    large: &[MANY_TALKS, TALKS],
    analyze: "ANALYZE messages",
};

#[tokio::test(flavor = "multi_thread")]
async fn the_last_messages_of_contacts_are_found_by_plans_for_empty_tables() {
    TALKING.assert_few_by_plans_for_empty_tables(last_messages()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_messages_of_contacts_are_found_when_one_company_has_more_than_all_others() {
    TALKING.assert_few_when_one_has_grown(last_messages()).await;
}
