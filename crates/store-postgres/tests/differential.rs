//! Random commands, answered as the model does.

mod support;

use recado_testkit::differential::{commands_of, differential};

/// The same number of commands for each seed.
async fn seeds(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let store = support::Database::fresh().await;
        differential(&[("postgres", &store)], &commands_of(seed, 251)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_as_the_model_does() {
    seeds(0..8).await;
}

/// For a longer search: `scripts/test --test differential -- --ignored`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn it_answers_as_the_model_does_for_many_seeds() {
    seeds(1000..1100).await;
}
