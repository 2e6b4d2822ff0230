//! Documents in an S3-compatible bucket.

use std::fmt;

use async_trait::async_trait;
use futures_util::{TryStreamExt, stream};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use recado_core::documents::{FRAME_BYTES, FileError, FileReader, Files};

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
    /// Opens a bucket; every key in it begins with `prefix`.
    ///
    /// # Errors
    ///
    /// When variables for reaching it are missing from the environment.
    pub fn open(bucket: &str, prefix: &str) -> Result<Self, FileError> {
        Self::build(AmazonS3Builder::from_env().with_bucket_name(bucket), prefix)
    }

    fn build(builder: AmazonS3Builder, prefix: &str) -> Result<Self, FileError> {
        let store = builder.build().map_err(failed)?;
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

    async fn open(&self, key: &str, from: u64) -> Result<Option<FileReader>, FileError> {
        let range = (from > 0).then_some(GetRange::Offset(from));
        let asked = GetOptions { range, ..GetOptions::default() };
        let found = optional(self.store.get_opts(&self.path(key), asked).await)?;
        Ok(found.map(|found| {
            let size = found.meta.size;
            // One answer of the bucket is one version of the object, whatever happens meanwhile.
            let chunks = found.into_stream().map_err(failed);
            let frames = chunks.map_ok(|mut chunk| {
                stream::iter(std::iter::from_fn(move || {
                    let frame = chunk.split_to(chunk.len().min(FRAME_BYTES));
                    (!frame.is_empty()).then(|| Ok(frame.to_vec()))
                }))
            });
            FileReader::new(size, from, frames.try_flatten())
        }))
    }

    async fn size(&self, key: &str) -> Result<Option<u64>, FileError> {
        Ok(optional(self.store.head(&self.path(key)).await)?.map(|found| found.size))
    }

    async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError> {
        let copied = self.store.copy(&self.path(from), &self.path(to)).await;
        optional(copied).map(|copied| copied.is_some())
    }

    async fn remove(&self, key: &str) -> Result<(), FileError> {
        optional(self.store.delete(&self.path(key)).await).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use recado_testkit::bucket::Bucket;

    use super::*;

    fn files(bucket: &Bucket) -> S3Files {
        let builder = AmazonS3Builder::new()
            .with_endpoint(bucket.endpoint())
            .with_bucket_name("bucket")
            .with_access_key_id("id")
            .with_secret_access_key("secret")
            .with_allow_http(true);
        S3Files::build(builder, "some/prefix").expect("built")
    }

    /// R190.
    #[tokio::test]
    async fn an_object_is_read_in_small_frames_from_anywhere() {
        let files = files(&Bucket::start());
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        files.put("documents/a", bytes.clone()).await.expect("put");
        assert_eq!(files.size("documents/a").await.expect("size"), Some(300_000));
        assert_eq!(files.size("documents/b").await.expect("size"), None);
        assert!(files.open("documents/b", 0).await.expect("open").is_none());
        for from in [0, 1, 200_000, 299_999] {
            let reader = files.open("documents/a", from as u64).await.expect("open");
            let reader = reader.expect("there");
            assert_eq!((reader.size(), reader.left()), (300_000, 300_000 - from as u64));
            let frames: Vec<_> = reader.map(|frame| frame.expect("read")).collect().await;
            assert!(frames.iter().all(|frame| frame.len() <= FRAME_BYTES));
            assert_eq!(frames.concat(), bytes[from..]);
        }
    }

    #[tokio::test]
    async fn a_bucket_keeps_what_it_is_given_under_its_prefix() {
        let bucket = Bucket::start();
        let files = files(&bucket);
        assert_eq!(files.get("documents/a").await.expect("get"), None);
        assert!(!files.copy("documents/a", "undo/a").await.expect("nothing to copy"));
        files.remove("documents/a").await.expect("nothing to remove");

        files.put("documents/a", b"bytes".to_vec()).await.expect("put");
        assert_eq!(bucket.keys(), ["bucket/some/prefix/documents/a"]);
        assert!(files.copy("documents/a", "undo/a").await.expect("copy"));
        files.remove("documents/a").await.expect("remove");
        assert_eq!(files.get("documents/a").await.expect("get"), None);
        assert_eq!(files.get("undo/a").await.expect("get"), Some(b"bytes".to_vec()));
    }
}
