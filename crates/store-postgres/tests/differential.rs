//! Random commands, compared with the model.

mod support;

use recado_testkit::differential::{Mix, commands_of_mix, differential};
use recado_testkit::phone_forms::{
    every_form_is_one_contact, old_rows_are_their_person, written_forms,
};

/// Runs the same number of commands for each seed.
async fn seeds(mix: Mix, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let store = support::Database::fresh().await;
        differential(&[("postgres", &store)], &commands_of_mix(mix, seed, 401)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_as_the_model_does() {
    seeds(Mix::UseCases, 0..8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_conversations_as_the_model_does() {
    seeds(Mix::Messaging, 0..8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_around_webhooks_as_the_model_does() {
    seeds(Mix::Webhooks, 0..8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_keeps_rows_as_the_model_does() {
    seeds(Mix::Rows, 0..8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_keeps_campaigns_and_endpoints_as_the_model_does() {
    seeds(Mix::Reach, 0..8).await;
}

/// D15.
#[tokio::test(flavor = "multi_thread")]
async fn every_form_of_a_number_is_one_contact() {
    every_form_is_one_contact(&support::Database::fresh().await, &written_forms()).await;
}

/// D15, D16, R161.
#[tokio::test(flavor = "multi_thread")]
async fn old_rows_are_their_person_by_the_rules_of_today() {
    old_rows_are_their_person(&support::Database::fresh().await).await;
}

/// For longer runs: `scripts/test --test differential -- --ignored`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn it_answers_as_the_model_does_for_many_seeds() {
    for mix in [Mix::UseCases, Mix::Messaging, Mix::Webhooks, Mix::Rows, Mix::Reach] {
        seeds(mix, 1000..1100).await;
    }
}
