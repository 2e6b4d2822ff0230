//! When failures stop a campaign (X16, R295).

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::RecipientNumber;
use crate::body::{Required, body};
use crate::form::{Form, Number};

/// The most messages that a limit looks back on.
const MOST: u32 = 1_000;

body! {
    /// So many failures among the last so many messages pause a campaign.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub struct FailureLimit as "StopAfterFailures" {
        /// How many of them failed.
        failed: u32 = Required<Number<1, MOST>>,
        /// How many messages are looked back on.
        of: u32 = Required<Number<1, MOST>>,
    }
    check |input| if failed.zip(of).is_some_and(|(failed, of)| failed > of) {
        input.problem("failed", "must not be more than of");
    };
}

impl Form for FailureLimit {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let object = value.as_object().ok_or("must be an object")?;
        Self::parse(object).map_err(|problems| problems.to_string())
    }

    crate::form::component!();
}

impl<'de> Deserialize<'de> for FailureLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl FailureLimit {
    /// The number from which on the others matter: that of the failure that would be one too many.
    /// `failed` are the last failures, the latest first; those up to `counted_after` do not count
    /// any more.
    pub(super) fn decisive(
        self,
        failed: &[RecipientNumber],
        counted_after: Option<RecipientNumber>,
    ) -> Option<RecipientNumber> {
        let nth = usize::try_from(self.failed).ok()?.checked_sub(1)?;
        failed.get(nth).copied().filter(|number| Some(*number) > counted_after)
    }

    /// Whether it is reached: of the last `of` messages, `failed` failed. `others` is how many
    /// messages after the [decisive](Self::decisive) one did not fail.
    pub(super) fn is_reached(self, others: usize) -> bool {
        usize::try_from(self.of - self.failed).is_ok_and(|room| others <= room)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// X16.
    #[test]
    fn a_limit_is_a_part_of_the_last_messages() {
        let read = |failed: u32, of: u32| FailureLimit::read(&json!({"failed": failed, "of": of}));
        assert_eq!(read(3, 10), Ok(FailureLimit::new(3_u32, 10_u32)));
        assert!(read(1, 1).is_ok() && read(1_000, 1_000).is_ok());
        for (failed, of) in [(0, 5), (6, 5), (1, 1_001), (0, 0)] {
            assert!(read(failed, of).is_err(), "{failed} of {of}");
        }
        assert!(FailureLimit::read(&json!({"failed": 1})).is_err());
        assert!(FailureLimit::read(&json!(5)).is_err());
    }

    proptest! {
        /// X16, R295: it is reached exactly when so many of the last so many failed.
        #[test]
        fn a_limit_is_reached_when_so_many_of_the_last_so_many_failed(
            of in 1_u32..12,
            part in 0_u32..12,
            outcomes in prop::collection::vec(any::<bool>(), 0..40),
            forgotten in 0_u32..40,
        ) {
            let limit = FailureLimit::new(1 + part % of, of);
            // An outcome is whether the message failed; numbers begin at 1.
            let numbered = || (1..).map(RecipientNumber).zip(outcomes.iter().copied());
            let counted_after = (forgotten > 0).then_some(RecipientNumber(forgotten));
            let counted: Vec<bool> = numbered()
                .filter(|(number, _)| Some(*number) > counted_after)
                .map(|(_, failed)| failed)
                .collect();
            let last = counted.iter().rev().take(of as usize);
            let expected = last.filter(|failed| **failed).count() >= limit.failed as usize;

            let mut failed: Vec<_> = numbered().filter(|(_, failed)| *failed).map(|(n, _)| n).collect();
            failed.reverse();
            failed.truncate(limit.failed as usize);
            let reached = limit.decisive(&failed, counted_after).is_some_and(|decisive| {
                limit.is_reached(numbered().filter(|(n, failed)| !failed && *n > decisive).count())
            });
            prop_assert_eq!(reached, expected);
        }
    }
}
