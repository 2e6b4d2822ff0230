//! What a move does with the tables that belong to no kind of record.

use recado_store_sql::transfer::{Scope, Treatment, filled_tables};

/// The tables of this store alone.
pub(super) const OWN: &[(&str, Treatment)] = &[
    // Counts and sums, made from the rows that they count.
    ("contact_facets", Treatment::Derived),
    ("contact_facet_deltas", Treatment::Derived),
    ("contact_totals", Treatment::Derived),
    ("contact_set_counts", Treatment::Derived),
    ("contact_set_count_deltas", Treatment::Derived),
    ("list_counts", Treatment::Derived),
    ("list_count_deltas", Treatment::Derived),
    ("recipient_counts", Treatment::Derived),
    ("recipient_count_deltas", Treatment::Derived),
    ("campaign_sums", Treatment::Derived),
    ("campaign_sum_deltas", Treatment::Derived),
    ("message_counts", Treatment::Derived),
    ("message_count_deltas", Treatment::Derived),
    // The contacts of lists, tags and members in the orders of the listing.
    ("contact_sets", Treatment::Derived),
    // All contacts in the orders by last message.
    ("contact_orders", Treatment::Derived),
    // All contacts in the orders by creation and by last change.
    ("contact_listings", Treatment::Derived),
    // Which messages are left at `sent`.
    ("messages_left_sent", Treatment::Derived),
    // Which messages a process is sending.
    ("messages_in_flight", Treatment::Derived),
    // Search texts, written with their contacts.
    ("contact_search", Treatment::Derived),
    // The texts of messages, written with them, and which messages of this database have none yet.
    ("message_texts", Treatment::Derived),
    ("message_texts_due", Treatment::Stays),
    // Allowances of the last minutes; they begin whole.
    ("rate_limits", Treatment::Stays),
    // The history of this database.
    ("recado_migrations", Treatment::Stays),
    ("recado_schema_oldest", Treatment::Stays),
];

/// The tables that a move fills in a target without companies.
pub(super) fn filled(scope: Scope) -> Vec<&'static str> {
    let derived = OWN.iter().filter(|(_, treatment)| *treatment == Treatment::Derived);
    filled_tables(scope).into_iter().chain(derived.map(|(table, _)| *table)).collect()
}

#[cfg(test)]
mod tests {
    use recado_store_sql::transfer::unaccounted;
    use recado_testkit::postgres::TestPostgres;

    use super::*;
    use crate::{Options, PostgresStore};

    /// R257.
    #[tokio::test(flavor = "multi_thread")]
    async fn every_table_is_moved_or_derived_or_stays_for_a_reason() {
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        let query = "SELECT relname::text FROM pg_class \
                     WHERE relkind IN ('r', 'p', 'm') AND relnamespace = 'public'::regnamespace";
        let rows = crate::session::rows(&store.pool, query, Vec::new()).await.unwrap();
        let tables: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert!(tables.len() > 40);
        assert_eq!(unaccounted(tables.iter().map(String::as_str), OWN), [""; 0]);
        let tomorrows = ["contacts", "tomorrows"];
        assert_eq!(unaccounted(tomorrows, OWN), ["tomorrows"]);
    }
}
