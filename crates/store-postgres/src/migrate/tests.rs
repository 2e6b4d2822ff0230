//! Which migrations are pending, and what a database of each earlier step has afterwards.

use recado_core::Timestamp;
use recado_core::access::{Secret, SecretName};
use recado_core::figures::{FigureQuery, FigureReads};
use recado_core::ids::{CompanyId, MessageId};
use recado_core::inbound::{EndpointSlug, InboundReads};
use recado_core::keyed_hash::HashKey;
use recado_core::links::{LinkCode, LinkReads};
use recado_core::messages::{Message, MessageReads};
use recado_core::store::{RecordsExt, Stored};
use recado_core::templates::{Template, TemplateReads, TemplateTokenHash};
use recado_testkit::postgres::{TestDatabase, TestPostgres};
use uuid::Uuid;

use super::*;
use crate::Options;

fn applied(count: usize) -> Vec<(i32, String)> {
    MIGRATIONS[..count].iter().map(|m| (m.version, m.checksum())).collect()
}

#[test]
fn only_what_was_not_applied_is_pending() {
    for count in 0..=MIGRATIONS.len() {
        let pending = pending(&applied(count), None).unwrap();
        assert_eq!(pending.len(), MIGRATIONS.len() - count);
    }
}

#[test]
fn a_step_that_was_changed_afterwards_is_noticed() {
    let mut applied = applied(MIGRATIONS.len());
    applied[0].1 = "0".repeat(64);
    assert!(matches!(pending(&applied, None), Err(MigrateError::Changed { version: 1 })));
}

#[test]
fn a_newer_database_is_left_alone() {
    let mut applied = applied(MIGRATIONS.len());
    applied.push((99, String::new()));
    assert!(matches!(pending(&applied, None), Err(MigrateError::Newer { version: 99 })));
}

/// A company and its connection.
pub(super) const COMPANY: &str = "\
    INSERT INTO companies VALUES (md5('c')::uuid, 'c', 'enterprise', false, false, 'BR', 0, 0, \
    1); INSERT INTO connections SELECT id, id, 'qr', 'whatsapp', 'n', 'i', 'waha', '{}', true, \
    'connected', 0, 0, 1 FROM companies";

/// A person, whose id is the company's, and a group.
pub(super) const CONTACTS: &str = "\
    INSERT INTO contacts (company_id, id, source_platform, identifier, name, display_name, \
    inbox_status, priority, crm_status, is_ai_enabled, external_ai_enabled, is_archived, \
    is_pinned, is_muted, is_blocked, is_group, is_simulated, custom_fields, created_at, \
    updated_at, facet, version) SELECT c.id, md5(called)::uuid, 'whatsapp', called, '', '', \
    'open', 'normal', 'lead', true, true, false, false, false, false, is_group, false, '{}', \
    0, 0, c.id, 1 FROM companies c, (VALUES ('c', false), ('g', true)) AS k (called, is_group)";

/// A template, and messages of each kind, counted and not counted.
const AT_STEP_5: &str = "\
    INSERT INTO templates SELECT id, id, 'n', 'UTILITY', 'pt_BR', 'b', 'APPROVED', id, \
    '00000000-0000-0000-0000-000000000007', 0, 0, 1 FROM companies; \
    INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
    sender_type, status, is_history, created_at, stamped_at, version) \
    SELECT c.id, gen_random_uuid(), c.id, c.id, direction, 'text', 'system', status, history, \
    7, 7, 1 FROM companies c, (VALUES ('outbound', 'sent', false), ('outbound', 'sent', false), \
    ('outbound', 'read', false), ('inbound', 'received', false), ('outbound', 'sent', true)) \
    AS m (direction, status, history)";

/// A template that needs more than its text.
const AT_STEP_7: &str = "\
    INSERT INTO templates (company_id, id, name, category, language, body, status, \
    is_complex, token, created_at, updated_at, version) SELECT id, id, 'n', 'UTILITY', \
    'pt_BR', 'b', 'APPROVED', true, '00000000-0000-0000-0000-000000000007', 0, 0, 1 \
    FROM companies";

/// The same without that.
const SIMPLE_TEMPLATE: &str = "\
    INSERT INTO templates (company_id, id, name, category, language, body, status, token, \
    created_at, updated_at, version) SELECT id, id, 'n', 'UTILITY', 'pt_BR', 'b', 'APPROVED', \
    '00000000-0000-0000-0000-000000000007', 0, 0, 1 FROM companies";

/// Messages with files: 1 was given up, 2 is being fetched, 3 was fetched.
const AT_STEP_9: &str = "\
    INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
    sender_type, status, is_history, created_at, stamped_at, version, media_source, \
    media_document_id) SELECT c.id, m.id::uuid, c.id, c.id, 'inbound', 'image', 'contact', \
    'received', false, 0, 0, 1, 'source', document FROM companies c, (VALUES \
    ('00000000-0000-0000-0000-000000000001', NULL), \
    ('00000000-0000-0000-0000-000000000002', NULL), \
    ('00000000-0000-0000-0000-000000000003', gen_random_uuid())) AS m (id, document); \
    INSERT INTO jobs SELECT id, id, 'fetch_media', '00000000-0000-0000-0000-000000000002', \
    '{}', 0, 0, NULL, 0, 1 FROM companies";

/// Messages that say who wrote them: 1 is in a group, 2 is a person's.
const AT_STEP_10: &str = "\
    INSERT INTO messages (company_id, id, contact_id, connection_id, direction, message_type, \
    sender_type, status, is_history, created_at, stamped_at, version, participant, \
    participant_phone, participant_name) SELECT c.id, m.id::uuid, k.id, c.id, 'inbound', \
    'text', 'contact', 'received', false, 0, 0, 1, '1@lid', '+5534991230001', 'Bia' \
    FROM companies c, contacts k, (VALUES ('g', '00000000-0000-0000-0000-000000000001'), \
    ('c', '00000000-0000-0000-0000-000000000002')) AS m (called, id) WHERE called = identifier";

/// A link with clicks of people and of programs, and one without any of people.
const CLICKS_AT_STEP_14: &str = "\
    INSERT INTO links SELECT id, md5(code)::uuid, id, code, 'https://a', 0, 1 \
    FROM companies, (VALUES ('a'), ('b')) AS l (code); \
    INSERT INTO clicks SELECT id, gen_random_uuid(), md5(code)::uuid, id, at, human \
    FROM companies, (VALUES ('a', 5, true), ('a', 7, true), ('a', 8, false), ('b', 9, false)) \
    AS k (code, at, human)";

/// A database without a step.
pub(super) async fn empty() -> (TestDatabase, PostgresStore) {
    let database = TestPostgres::shared().fresh_database();
    let options = Options { pool_size: 2, ..Options::default() };
    let store = PostgresStore::connect(database.url(), options).await.unwrap();
    store.pool.get().await.unwrap().batch_execute(HISTORY).await.unwrap();
    (database, store)
}

/// A database in which these rows were there after the first steps, and all steps were taken.
pub(super) async fn migrated(steps: usize, rows: &[&str]) -> (TestDatabase, PostgresStore) {
    let database = TestPostgres::shared().fresh_database();
    let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
    {
        let client = store.pool.get().await.unwrap();
        client.batch_execute(HISTORY).await.unwrap();
        for migration in &MIGRATIONS[..steps] {
            apply(&client, migration).await.unwrap();
        }
        for rows in rows {
            client.batch_execute(rows).await.unwrap();
        }
    }
    assert!(store.check_schema().await.is_err(), "steps are missing after {steps}");
    store.migrate().await.unwrap();
    store.check_schema().await.unwrap();
    (database, store)
}

/// The messages with the numbers 1 to 3, as far as they are there.
async fn messages(store: &PostgresStore) -> Vec<Message> {
    let client = store.pool.get().await.unwrap();
    let row = client.query_one("SELECT id FROM companies", &[]).await.unwrap();
    let company = CompanyId::new(row.get(0));
    let ids = [1, 2, 3].map(|number| MessageId::new(Uuid::from_u128(number)));
    let mut found = store.messages(company, &ids).await.unwrap();
    found.sort_by_key(|message| message.id);
    found.into_iter().map(Stored::into_value).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_each_older_step_is_migrated_and_keeps_what_it_had() {
    let (_database, store) = empty().await;
    let client = store.pool.get().await.unwrap();
    for (steps, migration) in MIGRATIONS.iter().enumerate() {
        // Connections and contacts are as they are now from the third step on.
        if steps >= 3 {
            for rows in [COMPANY, CONTACTS] {
                client.batch_execute(&of_step(steps, rows)).await.unwrap();
            }
        }
        assert!(store.check_schema().await.is_err(), "steps are missing after {steps}");
        apply(&client, migration).await.unwrap();
    }
    store.check_schema().await.unwrap();
    let each = "SELECT count(*) FROM contacts GROUP BY company_id";
    let found = client.query(each, &[]).await.unwrap();
    let found: Vec<i64> = found.iter().map(|row| row.get(0)).collect();
    assert_eq!(found, vec![2; MIGRATIONS.len() - 3]);
}

/// Rows of a company that was made after so many steps, beside those of others.
fn of_step(steps: usize, rows: &str) -> String {
    let company = format!("(SELECT * FROM companies WHERE id = md5('c{steps}')::uuid)");
    rows.replace("'c'", &format!("'c{steps}'"))
        .replace("'g'", &format!("'g{steps}'"))
        .replace("FROM companies c,", &format!("FROM {company} c,"))
        .replace("1 FROM companies", &format!("1 FROM {company} companies"))
}

/// R264.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_there_once_it_was_migrated() {
    let database = TestPostgres::shared().fresh_database();
    let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
    assert!(!store.exists().await.unwrap());
    {
        let client = store.pool.get().await.unwrap();
        client.batch_execute(HISTORY).await.unwrap();
    }
    assert!(!store.exists().await.unwrap(), "a history without a step is none");
    store.migrate().await.unwrap();
    assert!(store.exists().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_there_before_a_step_is_as_the_step_would_have_made_it() {
    let (_database, store) = migrated(5, &[COMPANY, CONTACTS, AT_STEP_5]).await;
    let template = template_of_7(&store).await;
    assert_eq!((template.provider_id, template.needs.is_empty()), (None, true));
    let at = Timestamp::from_millis(7);
    let query = FigureQuery { left_sent: (at, at), ..FigureQuery::at(at) };
    assert_eq!(store.figures(&query).await.unwrap().left_sent, 2);
}

/// D69.
#[tokio::test(flavor = "multi_thread")]
async fn a_template_that_needed_more_than_its_text_still_does() {
    let (_database, store) = migrated(7, &[COMPANY, AT_STEP_7]).await;
    let template = template_of_7(&store).await;
    assert!(template.needs.to_string().contains("read again"), "{}", template.needs);
}

/// R207.
#[tokio::test(flavor = "multi_thread")]
async fn the_clicks_of_people_that_were_there_are_counted() {
    let (_database, store) = migrated(14, &[COMPANY, CONTACTS, CLICKS_AT_STEP_14]).await;
    let client = store.pool.get().await.unwrap();
    let query = "SELECT human_clicks, last_human_click_at FROM links ORDER BY human_clicks DESC";
    let found = client.query(query, &[]).await.unwrap();
    let counted = found.iter().map(|row| (row.get(0), row.get(1)));
    assert_eq!(counted.collect::<Vec<(i64, Option<i64>)>>(), [(2, Some(7)), (0, None)]);
}

/// D31a.
#[tokio::test(flavor = "multi_thread")]
async fn only_a_file_that_was_given_up_loses_where_the_gateway_had_it() {
    let (_database, store) = migrated(9, &[COMPANY, CONTACTS, AT_STEP_9]).await;
    let found = messages(&store).await;
    let sources: Vec<bool> = found.iter().map(|m| m.media.source.is_some()).collect();
    assert_eq!(sources, [false, true, true]);
}

/// D72.
#[tokio::test(flavor = "multi_thread")]
async fn only_a_message_in_a_group_keeps_who_wrote_it() {
    let (_database, store) = migrated(10, &[COMPANY, CONTACTS, AT_STEP_10]).await;
    let found = messages(&store).await;
    let wrote = found.iter().map(|m| Some(m.participant.as_ref()?.name.as_deref()));
    assert_eq!(wrote.collect::<Vec<_>>(), [Some(Some("Bia")), None]);
}

/// The template whose token was the number 7.
async fn template_of_7(store: &PostgresStore) -> Template {
    let token = TemplateTokenHash::of_token(&hash_key(store).await, Uuid::from_u128(7));
    store.template_by_token(&token).await.unwrap().unwrap().0
}

/// The key that the migration has made.
async fn hash_key(store: &PostgresStore) -> HashKey {
    let key = store.get::<Secret>(SecretName::HashKey).await.unwrap().expect("it was made");
    HashKey::new(key.into_value().bytes)
}

/// An endpoint, and a link of the person.
const AT_STEP_14: &str = "\
    INSERT INTO inbound_endpoints SELECT id, id, 'site', '{}', 'secret_required', \
    'a secret that somebody chose', true, 0, 0, 1 FROM companies; \
    INSERT INTO links SELECT id, id, id, 'abcdefghijklmnopqrstuv', 'https://example.com', 0, 1 \
    FROM companies";

/// R224.
#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_earlier_releases_become_the_hashes_that_the_core_makes() {
    let (_database, store) = migrated(14, &[COMPANY, CONTACTS, SIMPLE_TEMPLATE, AT_STEP_14]).await;
    let key = hash_key(&store).await;
    let template = template_of_7(&store).await;
    assert_eq!(template.name, "n");
    let slug = EndpointSlug::parse("site").unwrap();
    let (endpoint, _) = store.endpoint_by_slug(&slug).await.unwrap().unwrap();
    let is_secret = |text: &str| endpoint.secret_hash.is_presented(&key, &[text.as_bytes()]);
    assert!(is_secret("a secret that somebody chose") && !is_secret("another"));
    let code = LinkCode::parse("abcdefghijklmnopqrstuv").unwrap();
    let link = store.link_by_code(&code.hash(&key)).await.unwrap().unwrap();
    assert_eq!(link.url, "https://example.com");
}

/// R224: the core makes the key of a new database.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_secrets_to_hash_gets_no_key() {
    let (_database, store) = migrated(14, &[COMPANY, CONTACTS]).await;
    assert_eq!(store.get::<Secret>(SecretName::HashKey).await.unwrap(), None);
}

#[test]
fn versions_count_from_one() {
    let versions: Vec<i32> = MIGRATIONS.iter().map(|m| m.version).collect();
    assert_eq!(versions, (1..=MIGRATIONS.len() as i32).collect::<Vec<_>>());
}
