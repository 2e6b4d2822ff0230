//! Whether a call made a contact (D47).

use crate::words::words;

words! {
    /// Whether the contact was created or updated (D47).
    UpsertAction {
        /// It was made.
        Created = "created",
        /// It existed.
        Updated = "updated",
    }
}
