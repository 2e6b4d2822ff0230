//! The object store that keeps the bytes of documents.

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use super::file_error::{FileError, StreamError};
use super::file_reader::FileReader;
use crate::ids::{CompanyId, DocumentId, UploadId};

/// Bytes that are to be stored, as they come.
pub type Frames<'a> = BoxStream<'a, Result<Vec<u8>, FileError>>;

/// Keeps the bytes of documents under keys such as `documents/<company>/<document>`.
///
/// # Contract
///
/// - `put`, `put_stream`, `copy` and `remove` are durable when they return.
/// - `put`, `put_stream` and `copy` replace the value of the key as a whole: no reader sees a part.
/// - A key without a value is `None` or `false`, never an error.
/// - A reader made by `open` reads no frame before it is asked for, and holds little more than one.
/// - What a reader yields is one value of the key. When the key is written or removed meanwhile, it
///   goes on with the value it was opened on, or fails; it never goes on with another one.
#[async_trait]
pub trait Files: Send + Sync {
    /// Stores bytes.
    async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FileError>;

    /// Stores bytes as they come, at most `limit` of them, and answers how many they were (R345).
    /// Little more than a frame is held at once, or a part where the store takes parts. If it
    /// fails, or is dropped, the key has the value that it had, and nothing else is left. By
    /// default all bytes are collected first.
    ///
    /// # Errors
    ///
    /// [`StreamError`], which says whose fault it is.
    async fn put_stream(
        &self,
        key: &str,
        mut frames: Frames<'_>,
        limit: u64,
    ) -> Result<u64, StreamError> {
        let mut bytes = Vec::new();
        while let Some(frame) = frames.next().await {
            bytes.extend_from_slice(&frame.map_err(StreamError::Source)?);
            if bytes.len() as u64 > limit {
                return Err(StreamError::TooLarge);
            }
        }
        let stored = bytes.len() as u64;
        self.put(key, bytes).await.map_err(StreamError::Files)?;
        Ok(stored)
    }

    /// Opens the bytes of a key for reading from the byte `from` on, in frames of at most
    /// [`FRAME_BYTES`](super::FRAME_BYTES) (R190); `None` if it has none. `from` is 0, or less than
    /// the size of the value.
    async fn open(&self, key: &str, from: u64) -> Result<Option<FileReader>, FileError>;

    /// How many bytes a key has; `None` if it has none. Reads none of them.
    async fn size(&self, key: &str) -> Result<Option<u64>, FileError>;

    /// The bytes of a key at once; `None` if it has none.
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FileError> {
        match self.open(key, 0).await? {
            Some(reader) => reader.read_to_end().await.map(Some),
            None => Ok(None),
        }
    }

    /// Copies the bytes of `from` to `to`; `false` if `from` has none.
    async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError>;

    /// Removes a key; removing a missing key succeeds.
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

/// Where the bytes of an upload are kept (X11).
pub fn upload_key(company: CompanyId, upload: UploadId) -> String {
    format!("uploads/{company}/{upload}")
}
