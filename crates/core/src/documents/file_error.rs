//! Failures of the object store.

/// The object store failed; the operation may or may not have been done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the document store failed: {0}")]
pub struct FileError(pub String);

/// Why bytes that came one after the other were not stored (R345).
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// They are more than the limit.
    #[error("the file is too large")]
    TooLarge,
    /// They ended with an error.
    #[error("the file did not come whole: {}", .0.0)]
    Source(FileError),
    /// The object store failed.
    #[error(transparent)]
    Files(FileError),
}
