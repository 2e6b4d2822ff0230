//! The model and SQLite under the same random commands.

mod harness;

use recado_testkit::differential::{commands_of, differential};

/// The same number of commands for each seed.
async fn seeds(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let store = harness::fresh().await;
        differential(&[("sqlite", &store)], &commands_of(seed, 251)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_as_the_model_does() {
    seeds(0..8).await;
}

/// For a longer search: `cargo test -p recado-store-sqlite --test differential -- --ignored`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn it_answers_as_the_model_does_for_many_seeds() {
    seeds(1000..1200).await;
}
