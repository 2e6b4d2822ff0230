//! The suite as macros: all topics, or some.

/// Makes a test of every promise for the store of a [`crate::conformance::Harness`]. Takes the name
/// of an async function without arguments that makes a harness.
///
/// While a store is being written, `conformance_suite!(fresh, topics: [commits, unique_keys])`
/// makes the tests of some topics only. docs/writing-a-store.md lists the topics in an order in
/// which each needs few new methods.
#[macro_export]
macro_rules! conformance_suite {
    ($fresh:ident) => {
        $crate::conformance_topics! { $crate::conformance_suite [$fresh] }
    };
    ([$fresh:ident] $($topic:ident)+) => {
        $crate::conformance_suite! { $fresh, topics: [$($topic),+] }
    };
    ($fresh:ident, topics: [$($topic:ident),* $(,)?]) => {
        $($crate::conformance_topic! { $crate::conformance_tests [$fresh] $topic })*
    };
}

/// Passes the names of all topics to a macro, in the order in which a store is best written.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_topics {
    ($($go:tt)::+ [$($in:tt)*]) => {
        $($go)::+! { [$($in)*]
            commits unique_keys preconditions references lists documents links deals jobs access accounts
            cascades contacts_totals contacts_listing contacts_search contacts_filters
            contacts_export rows
            contacts_draft connections conversations channel_keys channel_references
            channel_cascades activity message_rows messages messages_listing messages_search channel_rows prosas
            forgotten unknown_events outbound_rows routed inbound_rows journal deliveries_due
            deliveries_listing outbox dispatches campaigns enrollment recipients reassign
            reassign_duplicates portions upkeep removal halts audit races figures
        }
    };
}

/// Makes a test of every promise for a [`crate::conformance::LimiterHarness`]. Takes the name of an
/// async function without arguments that makes a harness. Needs the feature `proptest`.
#[cfg(feature = "proptest")]
#[macro_export]
macro_rules! limiter_suite {
    ($fresh:ident) => {
        $crate::conformance_tests! { [$fresh] limiter:
            every_call_is_decided_as_the_core_defines,
            a_whole_allowance_passes_at_once_and_not_one_more,
            after_the_wait_that_was_named_one_call_passes,
            a_refusal_charges_no_allowance,
            a_refusal_names_the_longest_wait,
            a_changed_rate_holds_from_the_next_call_on,
            keys_and_kinds_have_allowances_of_their_own,
            what_is_limited_has_an_allowance_of_its_own,
            a_client_and_what_it_calls_are_charged_together,
            a_pace_by_the_second_is_kept,
            concurrent_calls_never_pass_more_than_the_allowance,
            two_limiters_on_one_state_never_pass_more_than_the_allowance,
        }
    };
}

/// A module with one test for each promise of a topic.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ([$fresh:ident] $topic:ident: $($bullet:ident,)+) => {
        mod $topic {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $bullet() {
                    let harness = super::$fresh().await;
                    $crate::conformance::$topic::$bullet(&harness).await;
                }
            )+
        }
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// The names after a marker, up to the first character that cannot be part of a name.
    fn names_after<'a>(source: &'a str, marker: &'a str) -> impl Iterator<Item = &'a str> {
        source.split(marker).skip(1).map(|rest| {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            &rest[..end.unwrap_or(rest.len())]
        })
    }

    macro_rules! stringified {
        ([] $($topic:ident)+) => { [$(stringify!($topic)),+] };
    }

    #[test]
    fn every_topic_is_in_the_suite() {
        let topics: BTreeSet<&str> = conformance_topics!(stringified []).into_iter().collect();
        let arms: BTreeSet<&str> = names_after(include_str!("topics.rs"), "$in:tt)*] ").collect();
        let with_bullets = arms.into_iter().filter(|name| !name.is_empty()).collect();
        assert_eq!(topics, with_bullets);
    }

    #[test]
    fn every_bullet_is_in_the_suite() {
        let suite = [include_str!("suite.rs"), include_str!("topics.rs")];
        let listed: BTreeSet<&str> = suite
            .into_iter()
            .flat_map(str::lines)
            .filter_map(|line| line.trim().strip_suffix(','))
            .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
            .collect();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/conformance");
        let mut written = 0;
        for file in fs::read_dir(folder).unwrap() {
            let source = fs::read_to_string(file.unwrap().path()).unwrap();
            for name in names_after(&source, "\npub async fn ") {
                assert!(listed.contains(name), "{name} is not in the suite");
                written += 1;
            }
        }
        assert_eq!(written, listed.len(), "the suite lists each bullet once");
    }
}
