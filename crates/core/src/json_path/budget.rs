//! How much work evaluation may take.

use super::ast::Extent;
use super::pattern::{self, Patterns};

/// The work that may still be done. One budget is made for a mapping and shared by its expressions.
///
/// A step is a node visited, a part of a test, or a few bytes compared: some nanoseconds.
/// [`StepBudget::STEPS`] suffice for a hundred complete searches of a body of 5,000 values, or for
/// fifteen of a body of the largest size allowed. Using all of them takes at most some forty
/// milliseconds.
#[derive(Debug)]
pub struct StepBudget {
    left: u64,
    patterns: Patterns,
}

/// The budget is spent, or a regular expression is larger than any budget allows (D46a).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("finding a value takes more work than is allowed")]
pub struct TooCostly;

impl StepBudget {
    /// What a new budget holds (R90).
    pub const STEPS: u64 = 2_000_000;

    /// The budget of one mapping.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Self::STEPS)
    }

    /// A budget of so many steps.
    #[must_use]
    pub fn of(steps: u64) -> Self {
        Self { left: steps, patterns: Patterns::default() }
    }

    /// The steps that are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes `steps` from the budget before the work is done. If too few are left, the budget is
    /// empty afterwards.
    pub(super) fn charge(&mut self, steps: u64) -> Result<(), TooCostly> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(TooCostly)
            }
        }
    }

    /// Takes the steps for reading so many bytes.
    pub(super) fn charge_bytes(&mut self, bytes: usize) -> Result<(), TooCostly> {
        self.charge(bytes as u64 / 16)
    }

    /// Whether a regular expression matches a text; an invalid expression matches none.
    pub(super) fn matches(
        &mut self,
        source: &str,
        extent: Extent,
        text: &str,
    ) -> Result<bool, TooCostly> {
        // The compiled expressions are part of the budget, and matching also changes the budget:
        // they are moved out for the call.
        let mut patterns = std::mem::take(&mut self.patterns);
        let answer = pattern::matches(&mut patterns, self, source, extent, text);
        self.patterns = patterns;
        answer
    }
}

impl Default for StepBudget {
    fn default() -> Self {
        Self::new()
    }
}
