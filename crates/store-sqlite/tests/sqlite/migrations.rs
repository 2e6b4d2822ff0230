//! Opening and migrating a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recado_core::Timestamp;
use recado_core::access::Secret;
use recado_core::access::SecretName;
use recado_core::campaigns::CampaignReads;
use recado_core::connections::ConnectionReads;
use recado_core::contacts::{AssigneeFilter, Contact, ContactFilter, ContactReads};
use recado_core::deliveries::Shards;
use recado_core::ids::{
    CompanyId, ConnectionId, ContactId, ListId, MemberId, MessageId, TagId, TemplateId,
};
use recado_core::inbound::{EndpointSlug, InboundReads};
use recado_core::keyed_hash::HashKey;
use recado_core::links::{LinkCode, LinkReads};
use recado_core::messages::{Message, MessageReads};
use recado_core::page::PageRequest;
use recado_core::secret::SecretBytes;
use recado_core::store::{ChangeSet, Commit, CommitError, RecordsExt, StoreError, Stored, Upkeep};
use recado_core::templates::{Template, TemplateReads, TemplateTokenHash};
use recado_store_sqlite::{SqliteError, SqliteStore};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use uuid::Uuid;

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recado.db");
    (folder, path)
}

fn secret() -> Secret {
    Secret { name: SecretName::CursorKey, bytes: SecretBytes::new([7; 32]) }
}

/// Whether an error names the function that migrates.
fn says_what_migrates<T>(answer: Result<T, StoreError>) -> bool {
    let Err(error @ StoreError::NotMigrated { .. }) = answer else { return false };
    error.to_string().contains("SqliteStore::migrate")
}

#[tokio::test]
async fn a_database_is_ready_once_it_is_migrated() {
    let (_folder, path) = file();
    let store = SqliteStore::open(&path).unwrap();
    assert!(says_what_migrates(store.ready().await));
    assert!(says_what_migrates(store.get::<Secret>(SecretName::CursorKey).await));
    assert!(matches!(
        store.commit(ChangeSet::new().insert(secret())).await,
        Err(CommitError::Store(StoreError::NotMigrated { .. }))
    ));
    store.migrate().unwrap();
    store.ready().await.unwrap();
    assert!(store.get::<Secret>(SecretName::CursorKey).await.unwrap().is_none());
}

#[tokio::test]
async fn what_was_committed_is_there_after_closing_and_opening_again() {
    let (_folder, path) = file();
    let store = SqliteStore::open(&path).unwrap();
    store.migrate().unwrap();
    store.commit(ChangeSet::new().insert(secret())).await.unwrap();
    store.upkeep(Timestamp::MIN).await.unwrap();
    store.close().await;
    let store = SqliteStore::open(&path).unwrap();
    store.ready().await.unwrap();
    let kept = store.get::<Secret>(SecretName::CursorKey).await.unwrap();
    assert_eq!(kept.as_deref(), Some(&secret()));
}

/// D69.
#[tokio::test]
async fn a_template_that_needed_more_than_its_text_still_does() {
    let (_folder, path) = file();
    older_file(&path, 5).unwrap();
    let conn = Connection::open(&path).unwrap();
    let (company, id) = (CompanyId::new(Uuid::from_u128(1)), TemplateId::new(Uuid::from_u128(2)));
    let blob = |number: u128| number.to_be_bytes();
    let row = "INSERT INTO companies VALUES (1, ?1, 'A', 'enterprise', 0, 0, 'BR', 0, 0, 1)";
    conn.execute(row, [blob(1)]).unwrap();
    let row = "INSERT INTO templates (company_id, id, name, category, language, body, status, \
               is_complex, token, created_at, updated_at, version) \
               VALUES (?1, ?2, 'a', 'UTILITY', 'pt_BR', 'oi', 'APPROVED', 1, ?3, 0, 0, 7)";
    conn.execute(row, [blob(1), blob(2), blob(3)]).unwrap();
    let store = SqliteStore::open(&path).unwrap();
    store.migrate().unwrap();
    let template = store.get::<Template>((company, id)).await.unwrap().unwrap();
    assert!(template.needs.to_string().contains("read again"), "{}", template.needs);
}

/// R224.
#[tokio::test]
async fn secrets_of_earlier_releases_become_the_hashes_that_the_core_makes() {
    let (folder, path) = file();
    older_file(&path, 12).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    conn.execute_batch(COMPANY).unwrap();
    let token = Uuid::from_u128(0x7c1d_4f0a_52be_4a37_9d0e_6b1f_2a8c_3e55);
    let (secret, code) = ("a secret that somebody chose", "abcdefghijklmnopqrstuv");
    conn.execute(
        "INSERT INTO templates (company_id, id, name, category, language, body, status, token, \
         created_at, updated_at, version) \
         SELECT id, id, 'a', 'UTILITY', 'pt_BR', 'oi', 'APPROVED', ?1, 0, 0, 1 FROM companies",
        [token.as_bytes()],
    )
    .unwrap();
    conn.execute(
        "INSERT INTO inbound_endpoints SELECT id, id, 'site', '{}', 'secret_required', ?1, 1, 0, \
         0, 1 FROM companies",
        [secret],
    )
    .unwrap();
    conn.execute(
        "INSERT INTO links SELECT company_id, id, id, ?1, 'https://example.com', 0, 1 \
         FROM contacts WHERE identifier = 'person'",
        [code],
    )
    .unwrap();
    drop(conn);
    let store = SqliteStore::open(&path).unwrap();
    store.migrate().unwrap();

    let key = store.get::<Secret>(SecretName::HashKey).await.unwrap().expect("it was made");
    let key = HashKey::new(key.into_value().bytes);
    let token_hash = TemplateTokenHash::of_token(&key, token);
    let (template, _) = store.template_by_token(&token_hash).await.unwrap().unwrap();
    assert_eq!(template.name, "a");
    let slug = EndpointSlug::parse("site").unwrap();
    let (endpoint, _) = store.endpoint_by_slug(&slug).await.unwrap().unwrap();
    let is_secret = |text: &str| endpoint.secret_hash.is_presented(&key, &[text.as_bytes()]);
    assert!(is_secret(secret) && !is_secret("another"));
    let link = LinkCode::parse(code).unwrap().hash(&key);
    assert_eq!(store.link_by_code(&link).await.unwrap().unwrap().url, "https://example.com");

    // Nothing of them is left in the free space of the file, or in its log.
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for secret in [secret.as_bytes(), code.as_bytes(), token.as_bytes()] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret));
        }
    }
}

/// R224: the core makes the key of a new database.
#[tokio::test]
async fn a_database_without_secrets_to_hash_gets_no_key() {
    let (_folder, path) = file();
    let store = SqliteStore::open(&path).unwrap();
    store.migrate().unwrap();
    assert_eq!(store.get::<Secret>(SecretName::HashKey).await.unwrap(), None);
}

/// All migrations, in their order.
fn migrations() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let entries = std::fs::read_dir(folder).expect("the folder of the migrations");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a migration")).collect()
}

/// A file as it was after the first few migrations.
fn older_file(path: &Path, steps: usize) -> rusqlite::Result<()> {
    let conn = Connection::open(path)?;
    let history = "CREATE TABLE schema_migrations \
                   (number INTEGER PRIMARY KEY, checksum BLOB NOT NULL) STRICT";
    conn.execute_batch(history)?;
    // There is nothing to hash.
    for function in ["endpoint_secret_hash", "link_code_hash", "template_token_hash"] {
        let flags = FunctionFlags::SQLITE_UTF8;
        conn.create_scalar_function(function, 2, flags, |_| Ok(rusqlite::types::Null))?;
    }
    // Nor are there contacts.
    let flags = FunctionFlags::SQLITE_UTF8;
    conn.create_scalar_function("facet_key", 8, flags, |_| Ok(rusqlite::types::Null))?;
    for (number, migration) in (1_u32..).zip(migrations()).take(steps) {
        conn.execute_batch(&migration)?;
        let row = (number, Sha256::digest(&migration).to_vec());
        conn.execute("INSERT INTO schema_migrations VALUES (?1, ?2)", row)?;
    }
    Ok(())
}

/// The company, with a contact that is a person and one that is a group.
const COMPANY: &str = "\
    INSERT INTO companies (no, id, name, plan, inbound_contacts, template_dispatch, \
    default_region, created_at, updated_at, version) VALUES \
    (1, x'00000000000000000000000000000001', 'A', 'enterprise', 0, 0, 'BR', 0, 0, 1); \
    INSERT INTO contacts (company_id, id, facet_id, created_at, recency, version, \
    source_platform, identifier, name, display_name, inbox_status, priority, crm_status, \
    is_ai_enabled, external_ai_enabled, is_archived, is_pinned, is_muted, is_blocked, is_group, \
    is_simulated, custom_fields, updated_at) SELECT c.id, unhex(k.column1), 1, 0, \
    9223372036854775807, 1, 'whatsapp', k.column2, '', '', 'open', 'normal', 'lead', 1, 1, 0, 0, \
    0, 0, k.column2 = 'group', 0, '{}', 0 FROM companies c, (VALUES \
    ('0000000000000000000000000000000a', 'person'), \
    ('0000000000000000000000000000000b', 'group')) AS k";

/// Adds messages with the numbers given, each to the contact of this name, with more columns.
fn add_messages(conn: &Connection, columns: &str, messages: &[(u128, &str, &str)]) {
    for (number, contact, values) in messages {
        let row = format!(
            "INSERT INTO messages (company_id, id, facet_id, created_at, contact_id, \
             connection_id, direction, message_type, sender_type, status, timestamp, is_history, \
             version, {columns}) SELECT company_id, ?1, 1, 0, id, id, 'inbound', 'image', \
             'contact', 'received', 0, 0, 1, {values} FROM contacts WHERE identifier = ?2"
        );
        let added = conn.execute(&row, (number.to_be_bytes(), contact)).expect("a message");
        assert_eq!(added, 1);
    }
}

/// The messages with the numbers 1 to 3, as far as they are there, once the file was migrated.
async fn messages_after(path: &Path) -> Vec<Message> {
    let store = SqliteStore::open(path).expect("the file opens");
    store.migrate().expect("it migrates");
    let ids = [1, 2, 3].map(|number| MessageId::new(Uuid::from_u128(number)));
    let company = CompanyId::new(Uuid::from_u128(1));
    let mut found = store.messages(company, &ids).await.expect("it can be read");
    found.sort_by_key(|message| message.id);
    found.into_iter().map(Stored::into_value).collect()
}

/// D31a.
#[tokio::test]
async fn only_a_file_that_was_given_up_loses_where_the_gateway_had_it() {
    let (_folder, path) = file();
    older_file(&path, 7).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(COMPANY).unwrap();
    let messages = [
        (1, "person", "'given up', NULL"),
        (2, "person", "'being fetched', NULL"),
        (3, "person", "'fetched', x'0000000000000000000000000000000d'"),
    ];
    add_messages(&conn, "media_source, media_document_id", &messages);
    let job = "INSERT INTO jobs SELECT company_id, id, 'fetch_media', id, '{}', 0, 0, NULL, 0, 1 \
               FROM messages WHERE media_source = 'being fetched'";
    assert_eq!(conn.execute(job, []).unwrap(), 1);
    let found = messages_after(&path).await;
    let sources: Vec<_> = found.iter().map(|message| message.media.source.as_deref()).collect();
    assert_eq!(sources, [None, Some("being fetched"), Some("fetched")]);
}

/// D72.
#[tokio::test]
async fn only_a_message_in_a_group_keeps_who_wrote_it() {
    let (_folder, path) = file();
    older_file(&path, 8).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(COMPANY).unwrap();
    let wrote = "'1@lid', '+5534991230001', 'Bia'";
    let messages = [(1, "group", wrote), (2, "person", wrote), (3, "group", "NULL, NULL, NULL")];
    add_messages(&conn, "participant, participant_phone, participant_name", &messages);
    let found = messages_after(&path).await;
    let names = found.iter().map(|message| message.participant.as_ref()?.name.as_deref());
    assert_eq!(names.collect::<Vec<_>>(), [Some("Bia"), None, None]);
}

/// R199.
#[tokio::test]
async fn the_contacts_of_an_older_file_are_found_and_can_be_renamed_and_deleted() {
    let (_folder, path) = file();
    older_file(&path, 12).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(COMPANY).unwrap();
    let seq = "UPDATE contacts SET seq = (1 << 36) + seq, name = 'Ana', display_name = 'Ana' \
               WHERE identifier = 'person'";
    assert_eq!(conn.execute(seq, []).unwrap(), 1);
    let store = SqliteStore::open(&path).unwrap();
    store.migrate().unwrap();
    let found = |search: &str| {
        let query = "SELECT count(*) FROM contact_search(?1)";
        conn.query_row(query, [search], |row| row.get::<_, i64>(0)).unwrap()
    };
    let (ana, eva) = ("b1ana", "b1eva");
    assert_eq!((found(ana), found("b1a*"), found(eva)), (1, 1, 0));
    let key = (CompanyId::new(Uuid::from_u128(1)), ContactId::new(Uuid::from_u128(10)));
    let stored = store.get::<Contact>(key).await.unwrap().unwrap();
    let mut renamed = stored.value().clone();
    renamed.name = "Eva".to_owned();
    renamed.derive();
    store.commit(ChangeSet::new().with(stored.update(renamed))).await.unwrap();
    assert_eq!((found(ana), found(eva)), (0, 1));
    let stored = store.get::<Contact>(key).await.unwrap().unwrap();
    store.commit(ChangeSet::new().with(stored.delete())).await.unwrap();
    assert_eq!(found(eva), 0);
}

/// R195: the answers to deliveries of events that were erased already.
#[tokio::test]
async fn what_receivers_answered_about_people_deleted_before_is_erased() {
    let (_folder, path) = file();
    older_file(&path, 12).unwrap();
    let conn = Connection::open(&path).unwrap();
    let log = r#"[{"attempt":1,"started_at":2,"duration_ms":3,"status_code":200,"error":null,"response":"Ana"}]"#;
    let rows = format!(
        "INSERT INTO events (seq, company_id, id, event_type, contact_id, at, data) VALUES \
         (1, x'01', x'0a', 'contact.created', x'03', 5, NULL), \
         (2, x'01', x'0b', 'contact.created', x'04', 6, '{{}}'); \
         INSERT INTO deliveries (company_id, id, webhook_id, event_id, event_type, status, \
         attempts, tries, created_at, log, version) \
         SELECT company_id, id, x'05', id, event_type, 'delivered', 1, 1, at, '{log}', 1 \
         FROM events"
    );
    conn.execute_batch(&rows).unwrap();
    SqliteStore::open(&path).unwrap().migrate().unwrap();
    let query = "SELECT log, version FROM deliveries ORDER BY seq";
    let mut statement = conn.prepare(query).unwrap();
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let logs: Vec<(String, i64)> =
        statement.query_map([], read).unwrap().collect::<Result<_, _>>().unwrap();
    let bare = log.replace("\"Ana\"", "null");
    assert_eq!(logs, [(bare, 2), (log.to_owned(), 1)]);
}

#[tokio::test]
async fn a_file_of_each_older_release_is_migrated_and_keeps_what_it_had() {
    for steps in 0..migrations().len() {
        let (_folder, path) = file();
        older_file(&path, steps).unwrap();
        let conn = Connection::open(&path).unwrap();
        let contacts = if steps == 0 { 0 } else { 2 };
        conn.execute_batch(if steps == 0 { "" } else { COMPANY }).unwrap();
        let store = SqliteStore::open(&path).unwrap();
        assert!(store.ready().await.is_err(), "steps are missing after {steps}");
        store.migrate().unwrap();
        store.ready().await.unwrap();
        let kept = conn.query_row("SELECT count(*) FROM contacts", [], |row| row.get::<_, i64>(0));
        assert_eq!(kept.unwrap(), contacts, "after {steps}");
    }
}

#[tokio::test]
async fn an_older_file_is_not_ready_until_it_is_migrated_and_keeps_what_it_had() {
    let (_folder, path) = file();
    older_file(&path, 3).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute("INSERT INTO secrets VALUES ('cursor_key', ?1, 1)", [[7_u8; 32]]).unwrap();
    let store = SqliteStore::open(&path).unwrap();
    assert!(store.ready().await.is_err());
    assert!(store.active_campaigns(&Shards::USUAL.all().collect(), Timestamp::MAX).await.is_err());
    store.migrate().unwrap();
    store.ready().await.unwrap();
    assert_eq!(
        store.active_campaigns(&Shards::USUAL.all().collect(), Timestamp::MAX).await.unwrap(),
        []
    );
    let kept = store.get::<Secret>(SecretName::CursorKey).await.unwrap();
    assert_eq!(kept.as_deref(), Some(&secret()));
}

#[tokio::test]
async fn a_file_of_the_release_before_gateways_keeps_its_templates() {
    let (_folder, path) = file();
    older_file(&path, 4).unwrap();
    let conn = Connection::open(&path).unwrap();
    let (company, id) = (CompanyId::new(Uuid::from_u128(1)), TemplateId::new(Uuid::from_u128(2)));
    let blob = |number: u128| number.to_be_bytes();
    let row = "INSERT INTO companies VALUES (1, ?1, 'A', 'enterprise', 0, 0, 'BR', 0, 0, 1)";
    conn.execute(row, [blob(1)]).unwrap();
    let row = "INSERT INTO templates (company_id, id, name, category, language, body, status, \
               token, created_at, updated_at, version) \
               VALUES (?1, ?2, 'a', 'UTILITY', 'pt_BR', 'oi', 'APPROVED', ?3, 0, 0, 7)";
    conn.execute(row, [blob(1), blob(2), blob(3)]).unwrap();
    let store = SqliteStore::open(&path).unwrap();
    assert!(store.ready().await.is_err());
    store.migrate().unwrap();
    store.ready().await.unwrap();
    let template = store.get::<Template>((company, id)).await.unwrap().unwrap();
    assert_eq!((template.provider_id.as_deref(), template.needs.is_empty()), (None, true));
    assert_eq!(template.version().number(), 7);
    let nobody = ConnectionId::new(Uuid::from_u128(4));
    assert_eq!(store.connection_anywhere(nobody).await.unwrap(), None);
}

#[tokio::test]
async fn two_handles_that_migrate_at_once_do_it_once() {
    let (_folder, path) = file();
    let migrate = |path: PathBuf| move || SqliteStore::open(path).unwrap().migrate();
    let first = std::thread::spawn(migrate(path.clone()));
    let second = std::thread::spawn(migrate(path.clone()));
    first.join().unwrap().unwrap();
    second.join().unwrap().unwrap();
    SqliteStore::open(&path).unwrap().ready().await.unwrap();
}

#[tokio::test]
async fn a_database_of_a_newer_release_is_refused() {
    let (_folder, path) = file();
    let store = SqliteStore::open(&path).unwrap();
    store.migrate().unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute("INSERT INTO schema_migrations (number, checksum) VALUES (999, x'00')", [])
        .unwrap();
    assert!(store.ready().await.is_err());
    assert!(matches!(store.migrate(), Err(SqliteError::Newer { found: 999, .. })));
    assert!(matches!(SqliteStore::open(&path), Err(SqliteError::Newer { found: 999, .. })));
}

#[tokio::test]
async fn a_database_that_was_migrated_in_another_form_is_refused() {
    let (_folder, path) = file();
    SqliteStore::open(&path).unwrap().migrate().unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute("UPDATE schema_migrations SET checksum = x'00'", []).unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(SqliteError::Changed(1))));
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let (_folder, path) = file();
    std::fs::write(&path, "this is no database, and long enough to be read as a header".repeat(9))
        .unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(SqliteError::Database(_))));
}

#[tokio::test]
async fn the_file_keeps_a_log() {
    let (_folder, path) = file();
    let store = SqliteStore::open(&path).unwrap();
    store.migrate().unwrap();
    let conn = Connection::open(&path).unwrap();
    let mode: String = conn.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn a_shared_store_is_closed_once_and_then_refuses() {
    let (_folder, path) = file();
    let store = Arc::new(SqliteStore::open(&path).unwrap());
    store.migrate().unwrap();
    let other = Arc::clone(&store);
    store.commit(ChangeSet::new().insert(secret())).await.unwrap();
    store.close().await;
    other.close().await;
    assert!(other.get::<Secret>(SecretName::CursorKey).await.is_err());
    assert!(other.commit(ChangeSet::new().insert(secret())).await.is_err());
}

#[tokio::test]
async fn a_closed_store_has_no_log_left_behind() {
    let (folder, path) = file();
    let store = SqliteStore::open(&path).unwrap();
    store.migrate().unwrap();
    store.commit(ChangeSet::new().insert(secret())).await.unwrap();
    store.close().await;
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 1, "SQLite folds the log when the last connection closes");
}

/// D77: what was in lists, had tags, was assigned or unread before is found as such.
#[tokio::test]
async fn the_sets_of_contacts_of_an_older_file_are_found() {
    let (_folder, path) = file();
    older_file(&path, 16).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(COMPANY).unwrap();
    conn.execute_batch(
        "INSERT INTO contact_facets VALUES (1, x'01', x'00', 'whatsapp', 'open', NULL, 'lead', 1, \
         0, 2); \
         INSERT INTO members SELECT id, id, 'Bia', 'agent', 0, 1 FROM companies; \
         INSERT INTO lists SELECT id, id, 'VIP', 1, 0, 0, 1 FROM companies; \
         INSERT INTO tags SELECT id, id, 'T', '#fff', 0, 1 FROM companies; \
         INSERT INTO connections (company_id, id, kind, platform, name, identifier, gateway, \
         settings, is_active, status, created_at, updated_at, version) \
         SELECT id, id, 'qr', 'whatsapp', 'n', 'i', 'waha', '{}', 1, 'connected', 0, 0, 1 \
         FROM companies; \
         INSERT INTO list_members SELECT company_id, company_id, id FROM contacts; \
         INSERT INTO contact_tags SELECT company_id, id, company_id FROM contacts \
         WHERE identifier = 'group'; \
         UPDATE contacts SET assigned_to_member_id = company_id WHERE identifier = 'person'; \
         INSERT INTO conversations (company_id, contact_id, connection_id, identifier, unread, \
         version) SELECT company_id, id, company_id, '1', 2 * is_group, 1 FROM contacts",
    )
    .unwrap();
    let store = SqliteStore::open(&path).unwrap();
    store.migrate().unwrap();
    let id = Uuid::from_u128(1);
    let all = ContactFilter::default();
    let member = AssigneeFilter::Member(MemberId::new(id));
    for (filter, wanted) in [
        (all.clone(), 2),
        (ContactFilter { list: Some(ListId::new(id)), ..all.clone() }, 2),
        (ContactFilter { tag: Some(TagId::new(id)), is_group: Some(true), ..all.clone() }, 1),
        (ContactFilter { assigned_to: Some(member), unread: Some(false), ..all.clone() }, 1),
        (ContactFilter { list: Some(ListId::new(id)), unread: Some(true), ..all }, 1),
    ] {
        let page = store.contact_page(CompanyId::new(id), &filter, PageRequest::FIRST, false).await;
        let page = page.unwrap();
        assert_eq!((page.total, page.records.len()), (wanted, wanted as usize), "{filter:?}");
        for record in page.records {
            let key = record.contact.facet_key().as_bytes().to_vec();
            let query = "SELECT contacts FROM contact_facets WHERE key = ?1";
            assert_eq!(conn.query_row(query, [key], |row| row.get::<_, i64>(0)).unwrap(), 1);
        }
    }
}
