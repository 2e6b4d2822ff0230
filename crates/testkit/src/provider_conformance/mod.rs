//! The conformance suite for providers: one test for every promise of
//! [`Provider`](recado_core::gateway::Provider). It runs on any adapter.
//!
//! Describe your gateway as a [`ProviderCase`], then write in a test file of your crate
//!
//! ```no_run
//! use recado_testkit::provider_conformance::ProviderCase;
//!
//! /// The adapter, its settings, and how its gateway answers.
//! fn case() -> ProviderCase {
//!     # unimplemented!("an example")
//! }
//!
//! recado_testkit::provider_conformance_suite!(case);
//! # fn main() {}
//! ```
//!
//! Each promise becomes a test of its own. The tests use `#[tokio::test]`: the crate needs `tokio`
//! with `macros` and `rt`.

mod between;
pub mod carrying;
mod case;
pub mod describing;
mod hostile;
mod logs;
pub mod secrets;
pub mod sending;
pub mod webhooks;

pub use case::{Expected, ProviderCase};

/// Makes a test of every promise for the adapter of a
/// [`ProviderCase`](crate::provider_conformance::ProviderCase). Takes the name of a function
/// without arguments that makes the case.
#[macro_export]
macro_rules! provider_conformance_suite {
    ($case:ident) => {
        $crate::provider_conformance_topic!($case, describing:
            the_settings_are_those_that_the_gateway_describes,
            what_the_gateway_can_do_by_its_description_it_can_be_asked,
            content_that_the_gateway_cannot_send_is_refused_before_any_request,
        );
        $crate::provider_conformance_topic!($case, sending:
            a_message_is_taken_with_an_id_by_one_request,
            every_request_ends_within_the_time_limit,
            a_request_that_sends_is_never_repeated,
            a_lost_answer_is_uncertain,
            a_gateway_that_cannot_be_reached_has_surely_sent_nothing,
            a_hostile_answer_is_never_a_sure_failure_of_what_may_have_been_sent,
            a_wrong_value_in_an_answer_is_never_a_sure_failure,
            each_answer_means_what_the_case_says,
            a_limit_says_after_how_long_to_try_again,
        );
        $crate::provider_conformance_topic!($case, carrying:
            each_kind_that_is_declared_is_taken_by_one_request,
            a_kind_that_is_not_declared_is_refused_before_any_request,
            a_lost_answer_to_any_kind_is_uncertain,
            a_file_that_does_not_get_there_is_surely_not_sent,
            every_kind_ends_within_the_time_limit,
            what_is_declared_beside_sends_can_be_done,
        );
        $crate::provider_conformance_topic!($case, secrets:
            what_is_sent_as_a_credential_is_declared_secret,
            no_secret_is_shown_or_logged_whatever_the_gateway_repeats,
        );
        $crate::provider_conformance_topic!($case, webhooks:
            a_call_without_a_right_signature_or_token_is_refused,
            a_missing_secret_lets_nobody_in,
            a_call_reports_the_same_however_often_it_comes,
            a_repeated_call_is_stored_once,
            a_hostile_body_is_refused_or_reported_and_nothing_else,
            a_wrong_value_in_a_body_never_stops_the_adapter,
            events_in_one_call_are_reported_as_in_several,
        );
    };
}

/// Makes a test of each named promise of a topic; [`provider_conformance_suite!`] makes the tests
/// of all promises.
#[macro_export]
macro_rules! provider_conformance_topic {
    ($case:ident, $topic:ident: $($promise:ident),+ $(,)?) => {$(
        #[tokio::test]
        async fn $promise() {
            $crate::provider_conformance::$topic::$promise(&$case()).await;
        }
    )+};
}
