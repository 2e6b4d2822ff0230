//! How many lines a second strangers may cause in the log (R162).

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most lines of one kind in each second.
pub(crate) const LINES: u32 = 10;
/// The time to which the bound applies.
const SPAN: Duration = Duration::from_secs(1);

/// Lets the first lines of each second pass, and counts the others.
#[derive(Debug, Default)]
pub(crate) struct LineLimit(Mutex<Second>);

/// The second that runs.
#[derive(Debug, Default)]
struct Second {
    began: Option<Instant>,
    passed: u32,
    withheld: u64,
}

impl LineLimit {
    /// Whether a line that is to be written at `now` passes.
    pub(crate) fn passes(&self, now: Instant) -> bool {
        let mut second = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if second.has_ended(now) {
            // What was withheld is kept until it is told.
            second.began = Some(now);
            second.passed = 0;
        }
        let passes = second.passed < LINES;
        match passes {
            true => second.passed += 1,
            false => second.withheld += 1,
        }
        passes
    }

    /// How many lines were withheld in a second that has ended. They are told once.
    pub(crate) fn withheld(&self, now: Instant) -> Option<u64> {
        let mut second = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if second.withheld == 0 || !second.has_ended(now) {
            return None;
        }
        Some(std::mem::take(&mut second.withheld))
    }
}

impl Second {
    fn has_ended(&self, now: Instant) -> bool {
        self.began.is_none_or(|began| now.saturating_duration_since(began) >= SPAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R162.
    #[test]
    fn of_a_flood_the_first_lines_of_each_second_pass_and_the_others_are_counted() {
        let (limit, began) = (LineLimit::default(), Instant::now());
        let (mut passed, mut told) = (0, Vec::new());
        // 1,000 lines a second for three seconds.
        for millis in 0..3000 {
            let now = began + Duration::from_millis(millis);
            told.extend(limit.withheld(now));
            passed += u32::from(limit.passes(now));
        }
        assert_eq!(passed, 3 * LINES);
        assert_eq!(told, [990, 990]);
        let later = began + Duration::from_secs(3);
        assert_eq!(limit.withheld(later), Some(990));
        assert_eq!(limit.withheld(later), None, "each is told once");
    }

    /// R162.
    #[test]
    fn what_stays_below_the_bound_passes_whole() {
        let (limit, began) = (LineLimit::default(), Instant::now());
        for second in 0..60 {
            for line in 0..LINES {
                let now = began + Duration::from_millis(u64::from(second * 1000 + line * 50));
                assert_eq!(limit.withheld(now), None);
                assert!(limit.passes(now));
            }
        }
    }
}
