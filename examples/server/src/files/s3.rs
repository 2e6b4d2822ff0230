//! Documents in an S3-compatible bucket.

use std::fmt;

use async_trait::async_trait;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use recado_core::documents::{FileError, Files};

/// Keeps documents in a bucket. Credentials, region and endpoint come from the usual `AWS_…`
/// variables of the environment.
pub struct S3Files {
    store: AmazonS3,
    prefix: String,
}

impl fmt::Debug for S3Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Files").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl S3Files {
    /// A bucket, and what every key in it begins with.
    ///
    /// # Errors
    ///
    /// When the environment does not say how to reach it.
    pub fn open(bucket: &str, prefix: &str) -> Result<Self, FileError> {
        let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build().map_err(failed)?;
        Ok(Self { store, prefix: prefix.to_owned() })
    }

    fn path(&self, key: &str) -> Path {
        match self.prefix.as_str() {
            "" => Path::from(key),
            prefix => Path::from(format!("{prefix}/{key}")),
        }
    }
}

fn failed(error: object_store::Error) -> FileError {
    FileError(error.to_string())
}

/// `None` for what does not exist.
fn optional<T>(outcome: object_store::Result<T>) -> Result<Option<T>, FileError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

#[async_trait]
impl Files for S3Files {
    async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        self.store.put(&self.path(key), bytes.into()).await.map(drop).map_err(failed)
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FileError> {
        let Some(found) = optional(self.store.get(&self.path(key)).await)? else {
            return Ok(None);
        };
        found.bytes().await.map(|bytes| Some(bytes.to_vec())).map_err(failed)
    }

    async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError> {
        let copied = self.store.copy(&self.path(from), &self.path(to)).await;
        optional(copied).map(|copied| copied.is_some())
    }

    async fn remove(&self, key: &str) -> Result<(), FileError> {
        optional(self.store.delete(&self.path(key)).await).map(drop)
    }
}
