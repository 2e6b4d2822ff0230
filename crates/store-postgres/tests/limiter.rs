//! Every promise of the limiter contract, on Postgres.

mod support;

async fn fresh() -> support::Database {
    support::Database::fresh().await
}

recado_testkit::limiter_suite!(fresh);
