//! Properties of whole use cases: `property!` runs an async body with many values.

use std::fmt::Debug;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

/// Runs a property for many values, each on its own runtime. `property!` calls it.
///
/// # Panics
///
/// If the property fails, with the smallest values found, in full.
#[track_caller]
pub fn check<S: Strategy, F>(
    name: &str,
    names: &[&str],
    cases: Option<u32>,
    values: &S,
    property: impl Fn(S::Value) -> F,
    shown: impl Fn(&S::Value) -> Vec<String>,
) where
    F: Future<Output = Result<(), TestCaseError>>,
    S::Value: Debug,
{
    let mut config = Config { failure_persistence: None, ..Config::default() };
    config.cases = cases.unwrap_or(config.cases);
    let outcome = TestRunner::new(config).run(values, |value| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime can be made").block_on(property(value))
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Abort(reason)) => panic!("{name} was given up: {reason}"),
        Err(TestError::Fail(reason, value)) => {
            let values = names.iter().zip(shown(&value));
            let values: Vec<_> = values.map(|(of, shown)| format!("    {of} = {shown}")).collect();
            panic!(
                "{name} does not hold: {reason}\nfor the smallest values found:\n{}",
                values.join("\n")
            )
        }
    }
}

/// Makes tests of properties with async bodies. Each runs for many values of its strategies, every
/// time on its own small runtime, and fails with the smallest values found.
///
/// A body fails by `assert!` and similar macros, by `prop_assert!`, or by `?` on a
/// [`TestCaseError`](proptest::test_runner::TestCaseError). Values that hide from logs are shown in
/// full. There are 256 cases, or as many as the attribute `cases` says, or else `PROPTEST_CASES`.
///
/// ```
/// use recado_core::strategies::phones;
/// use recado_testkit::Kit;
///
/// recado_testkit::property! {
///     /// A contact is known by its phone.
///     #[cases(8)]
///     async fn a_phone_is_one_contact(phone in phones()) {
///         let kit = Kit::new().await;
///         let contact = kit.contact(phone.as_str()).await;
///         assert_eq!(kit.contact_by_phone(phone.as_str()).await, Some(contact));
///     }
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! property {
    ($(
        $(#[doc = $doc:literal])*
        $(#[cases($cases:expr)])?
        async fn $name:ident($($value:ident in $strategy:expr),+ $(,)?) $body:block
    )+) => {$(
        $(#[doc = $doc])*
        #[cfg_attr(test, test)]
        #[allow(dead_code, clippy::allow_attributes, reason = "compiled in documentation, too")]
        fn $name() {
            #[allow(unused_mut, unused_assignments, clippy::allow_attributes, reason = "optional")]
            let mut cases: Option<u32> = None;
            $(cases = Some($cases);)?
            $crate::property::check(
                stringify!($name),
                &[$(stringify!($value)),+],
                cases,
                &($($strategy,)+),
                |($($value,)+)| async move {
                    $body
                    Ok(())
                },
                |($($value,)+)| vec![$(format!("{:-?}", $value)),+],
            );
        }
    )+};
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use proptest::prelude::*;
    use recado_core::strategies::emails;

    crate::property! {
        /// A body may await, and use proptest's assertions.
        #[cases(16)]
        async fn a_body_may_wait(one in 0..10_u8, other in 0..10_u8) {
            tokio::task::yield_now().await;
            prop_assert!(one < 10 && other < 10);
        }
    }

    #[test]
    fn a_property_that_does_not_hold_shows_the_smallest_values_in_full() {
        let failed = catch_unwind(AssertUnwindSafe(|| {
            super::check(
                "small",
                &["number", "email"],
                None,
                &(0..1_000_u32, emails()),
                |(number, _)| async move {
                    prop_assert!(number < 7, "too much");
                    Ok(())
                },
                |(number, email)| vec![format!("{number:-?}"), format!("{email:-?}")],
            );
        }));
        let failed = failed.expect_err("it does not hold");
        let told = failed.downcast_ref::<String>().expect("a message");
        assert!(told.contains("small does not hold"), "{told}");
        assert!(told.contains("number = 7"), "{told}");
        assert!(told.contains("email = Email(\"") && !told.contains('*'), "{told}");
    }
}
