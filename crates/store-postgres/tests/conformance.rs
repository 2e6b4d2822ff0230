//! Every promise of the store contract, on Postgres.

mod support;

async fn fresh() -> support::Database {
    support::Database::fresh().await
}

recado_testkit::conformance_suite!(fresh);
