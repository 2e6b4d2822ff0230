//! The object store that keeps the bytes of documents.

use async_trait::async_trait;

use crate::ids::{CompanyId, DocumentId};

/// The object store failed; what it was asked may or may not have happened.
#[derive(Debug, thiserror::Error)]
#[error("the document store failed: {0}")]
pub struct FileError(pub String);

/// Keeps the bytes of documents under keys such as `documents/<company>/<document>`.
///
/// # Contract
///
/// - `put`, `copy` and `remove` are durable when they answer.
/// - `put` and `copy` replace whatever the key held, as a whole: no reader sees a part.
/// - A key that holds nothing is `None` or `false`, never an error.
#[async_trait]
pub trait Files: Send + Sync {
    /// Stores bytes.
    async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FileError>;

    /// The bytes of a key, or `None` when it holds nothing.
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FileError>;

    /// Copies what `from` holds to `to`; `false` when `from` holds nothing.
    async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError>;

    /// Removes a key; one that holds nothing is fine.
    async fn remove(&self, key: &str) -> Result<(), FileError>;
}

/// Where the bytes of a document are kept.
pub fn file_key(company: CompanyId, document: DocumentId) -> String {
    format!("documents/{company}/{document}")
}

/// Where they are kept while their removal can still be undone (D26).
pub fn undo_key(company: CompanyId, document: DocumentId) -> String {
    format!("undo/{company}/{document}")
}
