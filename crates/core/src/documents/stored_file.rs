//! A file that lies in the object store, to be read when it is needed.

use std::fmt;
use std::sync::Arc;

use super::{FileError, FileReader, Files};

/// A file in the object store. It is opened, in small frames, each time that it is read.
#[derive(Clone)]
pub struct StoredFile {
    files: Arc<dyn Files>,
    key: String,
    size: u64,
}

impl StoredFile {
    /// The file of `size` bytes under a key.
    pub fn new(files: Arc<dyn Files>, key: impl Into<String>, size: u64) -> Self {
        Self { files, key: key.into(), size }
    }

    /// Its key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Opens it from its first byte on.
    ///
    /// # Errors
    ///
    /// Of the object store; also where the file is gone or has another size.
    pub async fn open(&self) -> Result<FileReader, FileError> {
        let reader = self.files.open(&self.key, 0).await?;
        let reader = reader.ok_or_else(|| FileError("the file is gone".to_owned()))?;
        if reader.size() != self.size {
            return Err(FileError("the file has another size".to_owned()));
        }
        Ok(reader)
    }
}

/// The same file in the same place; object stores are not compared.
impl PartialEq for StoredFile {
    fn eq(&self, other: &Self) -> bool {
        (&self.key, self.size) == (&other.key, other.size)
    }
}

impl Eq for StoredFile {}

impl fmt::Debug for StoredFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredFile").field("size", &self.size).finish_non_exhaustive()
    }
}
