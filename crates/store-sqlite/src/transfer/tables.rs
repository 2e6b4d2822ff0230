//! What a move does with the tables that belong to no kind of record.

#![cfg(test)]

use recado_store_sql::transfer::{Treatment, unaccounted};

use crate::error::ReadResult;
use crate::plans;

/// The tables of this store alone.
const OWN: &[(&str, Treatment)] = &[
    // Counts and sums, made as the rows that they count are written.
    ("contact_facets", Treatment::Derived),
    ("contact_totals", Treatment::Derived),
    ("contact_set_facets", Treatment::Derived),
    ("message_facets", Treatment::Derived),
    ("recipient_counts", Treatment::Derived),
    ("campaign_sums", Treatment::Derived),
    // The contacts of lists, tags and members, written by triggers.
    ("contact_sets", Treatment::Derived),
    // Search texts, and what full-text search keeps of them.
    ("contact_search", Treatment::Derived),
    ("contact_search_config", Treatment::Derived),
    ("contact_search_data", Treatment::Derived),
    ("contact_search_idx", Treatment::Derived),
    // The texts of messages, written with them, and which messages of this file have none yet.
    ("message_texts", Treatment::Derived),
    ("message_texts_due", Treatment::Stays),
    // The highest places that were given; raised to those of the source.
    ("sqlite_sequence", Treatment::Derived),
    // The history of this file, and what its planner is to believe.
    ("schema_migrations", Treatment::Stays),
    ("schema_oldest", Treatment::Stays),
    ("stale_indexes", Treatment::Stays),
    ("sqlite_stat1", Treatment::Stays),
    ("sqlite_stat4", Treatment::Stays),
];

/// R257.
#[test]
fn every_table_is_moved_or_derived_or_stays_for_a_reason() {
    let conn = plans::database();
    let mut statement =
        conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().collect::<ReadResult<_>>().unwrap();
    assert!(tables.len() > 40);
    assert_eq!(unaccounted(tables.iter().map(String::as_str), OWN), [""; 0]);
    let tomorrows = ["contacts", "tomorrows"];
    assert_eq!(unaccounted(tomorrows, OWN), ["tomorrows"]);
}
