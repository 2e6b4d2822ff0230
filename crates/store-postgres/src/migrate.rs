//! The schema: forward-only, checksummed migrations that are part of this crate.

use std::collections::BTreeMap;

use recado_core::store::StoreError;
use recado_store_sql::{MigrationPlan, expands};
use sha2::{Digest, Sha256};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use crate::PostgresStore;
use crate::error::{MIGRATE, failed};

/// One migration. Never change one that was released: add another one.
struct Migration {
    version: i32,
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "base", sql: include_str!("migrations/0001_base.sql") },
    Migration { version: 2, name: "contacts", sql: include_str!("migrations/0002_contacts.sql") },
    Migration {
        version: 3,
        name: "conversations",
        sql: include_str!("migrations/0003_conversations.sql"),
    },
    Migration { version: 4, name: "webhooks", sql: include_str!("migrations/0004_webhooks.sql") },
    Migration { version: 5, name: "campaigns", sql: include_str!("migrations/0005_campaigns.sql") },
    Migration { version: 6, name: "gateways", sql: include_str!("migrations/0006_gateways.sql") },
    Migration { version: 7, name: "rates", sql: include_str!("migrations/0007_rates.sql") },
    Migration {
        version: 8,
        name: "template_needs",
        sql: include_str!("migrations/0008_template_needs.sql"),
    },
    Migration {
        version: 9,
        name: "participants",
        sql: include_str!("migrations/0009_participants.sql"),
    },
    Migration { version: 10, name: "reports", sql: include_str!("migrations/0010_reports.sql") },
    Migration {
        version: 11,
        name: "participants_of_groups",
        sql: include_str!("migrations/0011_participants_of_groups.sql"),
    },
    Migration { version: 12, name: "blocks", sql: include_str!("migrations/0012_blocks.sql") },
    Migration {
        version: 13,
        name: "unknown_events",
        sql: include_str!("migrations/0013_unknown_events.sql"),
    },
    Migration {
        version: 14,
        name: "changes_of_messages",
        sql: include_str!("migrations/0014_changes_of_messages.sql"),
    },
    Migration {
        version: 15,
        name: "sealed_secrets",
        sql: include_str!("migrations/0015_sealed_secrets.sql"),
    },
    Migration { version: 16, name: "erasure", sql: include_str!("migrations/0016_erasure.sql") },
    Migration {
        version: 17,
        name: "keys_and_hashes",
        sql: include_str!("migrations/0017_keys_and_hashes.sql"),
    },
    Migration {
        version: 18,
        name: "clicks_and_removal",
        sql: include_str!("migrations/0018_clicks_and_removal.sql"),
    },
    Migration {
        version: 19,
        name: "sealed_media",
        sql: include_str!("migrations/0019_sealed_media.sql"),
    },
    Migration { version: 20, name: "halts", sql: include_str!("migrations/0020_halts.sql") },
    Migration {
        version: 21,
        name: "sets_of_contacts",
        sql: include_str!("migrations/0021_sets_of_contacts.sql"),
    },
    Migration {
        version: 22,
        name: "campaign_plan",
        sql: include_str!("migrations/0022_campaign_plan.sql"),
    },
];

/// The advisory lock of the process that migrates.
const LOCK: i64 = 0x7265_6361_646f_0001;

impl Migration {
    fn checksum(&self) -> String {
        Sha256::digest(self.sql).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Why the schema could not be migrated.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// An applied migration differs from the one of this version. Either it was changed afterwards,
    /// or the database belongs to another program.
    #[error("migration {version} was applied with another content")]
    Changed {
        /// The number of the migration.
        version: i32,
    },
    /// The database was migrated by a newer version.
    #[error("the database was migrated by a newer version, to {version}")]
    Newer {
        /// The number of the last migration that was applied.
        version: i32,
    },
    /// The encoding of the database is not UTF-8.
    #[error("the database's encoding is {encoding}; it must be UTF8")]
    Encoding {
        /// The encoding of the database.
        encoding: String,
    },
    /// The database failed. The migration under way was not applied.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<MigrateError> for StoreError {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Store(error) => error,
            other => Self::corrupt(other),
        }
    }
}

impl PostgresStore {
    /// Brings the schema up to date. Each migration is applied wholly or not at all. If several
    /// processes call this at the same time, one applies the migrations and the others wait for it.
    ///
    /// # Errors
    ///
    /// [`MigrateError`]; calling it again is safe.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        let client = self.pool.get().await?;
        // The connection is not returned to the pool, because its settings are changed. Dropping it
        // releases the lock.
        let client = crate::pool::Object::take(client);
        client
            .batch_execute(
                "SET statement_timeout = 0; SET lock_timeout = 0; \
                 SET idle_in_transaction_session_timeout = 0; SET enable_seqscan = on",
            )
            .await
            .map_err(failed)?;
        client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await.map_err(failed)?;
        migrate(&client).await?;
        drop(client);
        Ok(self.check_keys().await?)
    }

    /// Whether there is a database of Recado: at least one migration was applied. Makes nothing.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached.
    pub async fn exists(&self) -> Result<bool, StoreError> {
        let client = self.pool.get().await?;
        match client.query(APPLIED, &[]).await {
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(false),
            applied => Ok(!applied.map_err(failed)?.is_empty()),
        }
    }

    /// What migrating would do; nothing is written (R249).
    ///
    /// # Errors
    ///
    /// [`MigrateError`], as [`PostgresStore::migrate`].
    pub async fn plan(&self) -> Result<MigrationPlan, MigrateError> {
        let client = self.pool.get().await?;
        plan(&client).await
    }

    /// Fails unless the schema is the one of this version, or one on which it runs.
    pub(crate) async fn check_schema(&self) -> Result<(), StoreError> {
        let applied = crate::session::rows(&self.pool, APPLIED, Vec::new()).await?;
        let applied = applied.iter().map(|row| (row.get(0), row.get(1))).collect::<Vec<_>>();
        let oldest = match applied.len() > MIGRATIONS.len() {
            true => oldest(&*self.pool.get().await?).await.map_err(failed)?,
            false => None,
        };
        let pending = pending(&applied, oldest)?;
        if pending.is_empty() {
            return Ok(());
        }
        let found = format!(
            "it has migration {}, {} is needed",
            MIGRATIONS.len() - pending.len(),
            MIGRATIONS.len()
        );
        Err(StoreError::not_migrated(MIGRATE, found))
    }
}

/// The number of the oldest schema whose programs run on the one that is named as the newest
/// (R248): one row.
const OLDEST: &str = "CREATE TABLE IF NOT EXISTS recado_schema_oldest (\
                      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), \
                      number int NOT NULL, newest int NOT NULL)";

const APPLIED: &str = "SELECT version, checksum FROM recado_migrations ORDER BY version";

/// The migrations that were not applied yet. Later ones than this program knows are passed over if
/// it runs on them (R248).
fn pending(
    applied: &[(i32, String)],
    oldest: Option<i32>,
) -> Result<&'static [Migration], MigrateError> {
    let known = MIGRATIONS.len();
    for ((version, checksum), known) in applied.iter().zip(MIGRATIONS) {
        if known.version != *version || known.checksum() != *checksum {
            return Err(MigrateError::Changed { version: *version });
        }
    }
    match applied.last() {
        Some((version, _)) if applied.len() > known => {
            let runs =
                oldest.is_some_and(|oldest| usize::try_from(oldest).is_ok_and(|o| o <= known));
            if runs { Ok(&[]) } else { Err(MigrateError::Newer { version: *version }) }
        }
        _ => Ok(&MIGRATIONS[applied.len()..]),
    }
}

/// The oldest schema whose programs run on the one of the database, if that is known of it.
async fn oldest(client: &Client) -> Result<Option<i32>, Error> {
    let query = "SELECT number FROM recado_schema_oldest \
                 WHERE newest = (SELECT max(version) FROM recado_migrations)";
    match client.query_opt(query, &[]).await {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        found => Ok(found?.map(|row| row.get(0))),
    }
}

async fn migrate(client: &Client) -> Result<(), MigrateError> {
    let row = client.query_one("SHOW server_encoding", &[]).await.map_err(failed)?;
    let encoding: String = row.get(0);
    if encoding != "UTF8" {
        return Err(MigrateError::Encoding { encoding });
    }
    let applied = applied(client).await.map_err(failed)?;
    let oldest = oldest(client).await.map_err(failed)?;
    for migration in pending(&applied, oldest)? {
        tracing::info!(version = migration.version, name = migration.name, "migrating the schema");
        apply(client, migration).await.map_err(failed)?;
    }
    Ok(())
}

/// What migrating would do.
async fn plan(client: &Client) -> Result<MigrationPlan, MigrateError> {
    let applied = match client.query(APPLIED, &[]).await {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Vec::new(),
        rows => rows.map_err(failed)?.iter().map(|row| (row.get(0), row.get(1))).collect(),
    };
    let oldest = oldest(client).await.map_err(failed)?;
    let pending = pending(&applied, oldest)?;
    let sizes = "SELECT relname::text, pg_total_relation_size(oid) FROM pg_class \
                 WHERE relkind = 'r' AND pg_table_is_visible(oid)";
    let sizes = client.query(sizes, &[]).await.map_err(failed)?;
    let sizes: BTreeMap<String, i64> = sizes.iter().map(|row| (row.get(0), row.get(1))).collect();
    let bytes = client.query_one("SELECT pg_database_size(current_database())", &[]).await;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let found = applied.last().map_or(0, |(version, _)| u32::try_from(*version).unwrap_or(0));
    Ok(MigrationPlan::new(
        found,
        number(MIGRATIONS.len()),
        pending.iter().map(|m| (u32::try_from(m.version).unwrap_or(0), m.sql)),
        u64::try_from(bytes.map_err(failed)?.get::<_, i64>(0)).unwrap_or(0),
        |name| sizes.get(name).and_then(|bytes| u64::try_from(*bytes).ok()),
    ))
}

async fn applied(client: &Client) -> Result<Vec<(i32, String)>, Error> {
    let rows = match client.query(APPLIED, &[]).await {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {
            let create = "CREATE TABLE recado_migrations (version int PRIMARY KEY, \
                          name text NOT NULL, checksum text NOT NULL, \
                          applied_at timestamptz NOT NULL DEFAULT now())";
            client.batch_execute(create).await?;
            Vec::new()
        }
        rows => rows?,
    };
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Applies one migration and records it, in one transaction.
async fn apply(client: &Client, migration: &Migration) -> Result<(), Error> {
    let (oldest, or_else) = match expands(migration.sql) {
        true => (migration.version - 1, ""),
        false => (migration.version, ", number = excluded.number"),
    };
    let newest = migration.version;
    // None of the values needs escaping: a number, a name of this crate, hexadecimal digits.
    let script = format!(
        "BEGIN;\n{OLDEST};\n{}\nINSERT INTO recado_migrations (version, name, checksum) \
         VALUES ({newest}, '{}', '{}');\n\
         INSERT INTO recado_schema_oldest (number, newest) VALUES ({oldest}, {newest}) \
         ON CONFLICT (only_row) DO UPDATE SET newest = excluded.newest{or_else};\nCOMMIT;",
        migration.sql,
        migration.name,
        migration.checksum(),
    );
    client.batch_execute(&script).await
}

#[cfg(test)]
mod sets_tests;

#[cfg(test)]
mod upgrades;

#[cfg(test)]
mod tests {
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

    /// A database in which these rows were there after the first steps, and all steps were taken.
    pub(super) async fn migrated(steps: usize, rows: &[&str]) -> (TestDatabase, PostgresStore) {
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
        {
            let client = store.pool.get().await.unwrap();
            super::applied(&client).await.unwrap();
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
        for steps in 0..MIGRATIONS.len() {
            // Connections and contacts are as they are now from the third step on.
            let rows: &[&str] = if steps < 3 { &[] } else { &[COMPANY, CONTACTS] };
            let (_database, store) = migrated(steps, rows).await;
            let client = store.pool.get().await.unwrap();
            let row = client.query_one("SELECT count(*) FROM contacts", &[]).await.unwrap();
            assert_eq!(row.get::<_, i64>(0), if steps < 3 { 0 } else { 2 }, "after {steps}");
        }
    }

    /// R264.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_database_is_there_once_it_was_migrated() {
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
        assert!(!store.exists().await.unwrap());
        {
            let client = store.pool.get().await.unwrap();
            super::applied(&client).await.unwrap();
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
        let query =
            "SELECT human_clicks, last_human_click_at FROM links ORDER BY human_clicks DESC";
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
        let (_database, store) =
            migrated(14, &[COMPANY, CONTACTS, SIMPLE_TEMPLATE, AT_STEP_14]).await;
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
}
