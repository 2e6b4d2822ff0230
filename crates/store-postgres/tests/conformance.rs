//! Every promise of the store contract, on Postgres.

mod support;

async fn fresh() -> support::Database {
    support::Database::fresh().await
}

recado_testkit::conformance_suite!(fresh);

/// What reads and writes secrets, with secrets sealed.
mod sealed {
    use crate::support::Database;

    async fn fresh() -> Database {
        Database::fresh_sealed().await
    }

    recado_testkit::conformance_suite!(fresh, topics: [
        commits, access, accounts, rows, contacts_draft, connections, conversations, channel_rows,
        unknown_events, outbound_rows, deliveries_due, reassign, upkeep
    ]);
}
