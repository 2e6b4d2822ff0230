//! Lines of the log that cannot fail what they tell of (R162).

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Writes a line. Where the subscriber panics, as those do that print to a standard error nobody
/// reads, the line is lost and nothing else (R162).
pub(crate) fn quietly(line: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(line));
}
