//! Failures of the object store.

/// The object store failed; the operation may or may not have been done.
#[derive(Debug, thiserror::Error)]
#[error("the document store failed: {0}")]
pub struct FileError(pub String);
