//! Indexes and references that are made once all rows are there, and what triggers would have
//! derived: all of that is faster for a whole table than row by row.

use recado_core::store::StoreError;

use super::session::Session;
use super::tables::filled;
use crate::error::failed;

/// The references between the tables `$1`, with the statements that drop and make them.
const REFERENCES: &str = "\
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname), \
format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, \
pg_get_constraintdef(c.oid)) \
FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid \
WHERE c.contype = 'f' AND t.relnamespace = (SELECT oid FROM pg_namespace \
WHERE nspname = current_schema()) AND t.relname = ANY($1) ORDER BY c.conname";

/// The indexes of these tables, but those of constraints, in the same way.
const INDEXES: &str = "\
SELECT format('DROP INDEX %s', i.indexrelid::regclass), pg_get_indexdef(i.indexrelid) \
FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid \
WHERE t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
AND t.relname = ANY($1) \
AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid) \
ORDER BY i.indexrelid";

/// What the triggers keep as rows are written.
const DERIVED: &str = "\
INSERT INTO contact_facets (company_id, facet, source_platform, inbox_status, pipeline_stage_id, \
crm_status, is_ai_enabled, is_group, is_assigned, has_unread, n) SELECT company_id, facet, \
source_platform, inbox_status, pipeline_stage_id, crm_status, is_ai_enabled, is_group, \
assigned_to_member_id IS NOT NULL, has_unread, count(*) FROM contacts \
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10; \
INSERT INTO contact_totals SELECT company_id, sum(n) FROM contact_facets GROUP BY 1; \
INSERT INTO list_counts SELECT company_id, list_id, count(*) FROM list_members GROUP BY 1, 2; \
INSERT INTO recipient_counts \
SELECT company_id, campaign_id, status, count(*) FROM recipients GROUP BY 1, 2, 3; \
INSERT INTO campaign_sums SELECT company_id, campaign_id, sum(prosas), sum(cost) \
FROM ledger_lines WHERE campaign_id IS NOT NULL GROUP BY 1, 2; \
INSERT INTO contact_sets \
SELECT c.company_id, c.id, 1, m.list_id, c.facet, c.last_message_at, c.created_at \
FROM list_members m JOIN contacts c ON c.company_id = m.company_id AND c.id = m.contact_id \
UNION ALL \
SELECT c.company_id, c.id, 2, t.tag_id, c.facet, c.last_message_at, c.created_at \
FROM contact_tags t JOIN contacts c ON c.company_id = t.company_id AND c.id = t.contact_id \
UNION ALL \
SELECT company_id, id, 3, assigned_to_member_id, facet, last_message_at, created_at \
FROM contacts WHERE assigned_to_member_id IS NOT NULL \
UNION ALL \
SELECT company_id, id, 4, company_id, facet, last_message_at, created_at \
FROM contacts WHERE opted_out_at IS NOT NULL; \
INSERT INTO contact_orders \
SELECT company_id, id, facet, last_connection_id, last_message_at FROM contacts; \
INSERT INTO contact_listings \
SELECT company_id, id, facet, last_connection_id, created_at, updated_at FROM contacts; \
INSERT INTO contact_set_counts \
SELECT company_id, kind, set_id, facet, count(*) FROM contact_sets GROUP BY 1, 2, 3, 4 \
UNION ALL \
SELECT company_id, 5, last_connection_id, facet, count(*) FROM contacts \
WHERE last_connection_id IS NOT NULL GROUP BY 1, 3, 4; \
INSERT INTO message_counts SELECT company_id, connection_id, direction, message_type, status, \
count(*) FROM messages GROUP BY 1, 2, 3, 4, 5; \
INSERT INTO messages_left_sent SELECT created_at, company_id, id FROM messages \
WHERE status = 'sent' AND direction = 'outbound' AND NOT is_history; \
INSERT INTO messages_in_flight SELECT company_id, id, sender_id FROM messages \
WHERE sender_id IS NOT NULL";

/// The statements that make what was dropped.
pub(super) struct Dropped(Vec<String>);

/// Empties all tables that a move fills, and drops their references and indexes.
pub(super) async fn drop_all(session: &Session) -> Result<Dropped, StoreError> {
    let tables = filled(session.scope);
    let (mut drop, mut make) = (Vec::new(), Vec::new());
    // References need the indexes of constraints, which stay.
    for query in [INDEXES, REFERENCES] {
        for row in session.client.query(query, &[&tables]).await.map_err(failed)? {
            drop.push(row.get::<_, String>(0));
            make.push(row.get::<_, String>(1));
        }
    }
    drop.push(format!("TRUNCATE {}", tables.join(", ")));
    drop.extend(tables.iter().map(|table| format!("ALTER TABLE {table} DISABLE TRIGGER USER")));
    session.run(&drop.join("; ")).await?;
    Ok(Dropped(make))
}

impl Dropped {
    /// Derives what triggers would have, and makes what was dropped.
    pub(super) async fn make_again(self, session: &Session) -> Result<(), StoreError> {
        session.run(DERIVED).await?;
        for statement in &self.0 {
            session.run(statement).await?;
        }
        let tables = filled(session.scope);
        let enable: Vec<String> =
            tables.iter().map(|table| format!("ALTER TABLE {table} ENABLE TRIGGER USER")).collect();
        session.run(&enable.join("; ")).await?;
        session.run(&format!("ANALYZE {}", tables.join(", "))).await
    }
}

#[cfg(test)]
mod tests {
    use recado_store_sql::transfer::{Fill, Places, Scope, Transferable};
    use recado_testkit::postgres::TestPostgres;

    use crate::session::rows;
    use crate::{Options, PostgresStore};

    /// Everything of the schema that is dropped and made again.
    const SCHEMA: &str = "\
SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indrelid \
WHERE relnamespace = 'public'::regnamespace \
UNION ALL SELECT conname::text || pg_get_constraintdef(oid) FROM pg_constraint \
WHERE connamespace = 'public'::regnamespace \
UNION ALL SELECT tgname || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1";

    async fn schema(store: &PostgresStore) -> Vec<String> {
        let rows = rows(&store.pool, SCHEMA, Vec::new()).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// R259.
    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_dropped_is_made_again_as_it_was() {
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        let before = schema(&store).await;
        assert!(before.len() > 100);
        let mut filling = store.transfer_in(Scope::Installation, Fill::Anew).await.unwrap();
        filling.finish(Places::default()).await.unwrap();
        filling.commit().await.unwrap();
        assert_eq!(schema(&store).await, before);
    }
}
