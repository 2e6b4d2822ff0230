//! Documents in an S3-compatible bucket.

use std::fmt;

use async_trait::async_trait;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{
    GetOptions, GetRange, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload, PutPayloadMut,
};
use recado_core::documents::{FRAME_BYTES, FileError, FileReader, Files, Frames, StreamError};

/// The size of the parts of an object that comes in frames: the least that S3 takes. One part is
/// held at a time.
const PART_BYTES: usize = 5 * 1024 * 1024;

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

    /// R345.
    async fn put_stream(
        &self,
        key: &str,
        mut frames: Frames<'_>,
        limit: u64,
    ) -> Result<u64, StreamError> {
        let path = self.path(key);
        let mut parts = Parts { store: &self.store, path: &path, upload: None };
        match parts.put(&mut frames, limit).await {
            Ok(size) => Ok(size),
            Err(error) => {
                parts.abort().await;
                Err(error)
            }
        }
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

/// An object that is stored in parts, or at once if it is small.
struct Parts<'a> {
    store: &'a AmazonS3,
    path: &'a Path,
    /// Begun with the first part.
    upload: Option<Box<dyn MultipartUpload>>,
}

impl Parts<'_> {
    async fn put(&mut self, frames: &mut Frames<'_>, limit: u64) -> Result<u64, StreamError> {
        let files = |error| StreamError::Files(failed(error));
        let (mut size, mut part) = (0, PutPayloadMut::new());
        while let Some(frame) = frames.next().await {
            let frame = frame.map_err(StreamError::Source)?;
            size += frame.len() as u64;
            if size > limit {
                return Err(StreamError::TooLarge);
            }
            // Parts are alike but for the last one: some stores require it.
            let room = PART_BYTES - part.content_length();
            let (now, later) = frame.split_at(frame.len().min(room));
            part.extend_from_slice(now);
            if part.content_length() == PART_BYTES {
                self.part(std::mem::take(&mut part).freeze()).await.map_err(files)?;
            }
            part.extend_from_slice(later);
        }
        let last = part.freeze();
        if self.upload.is_none() {
            self.store.put(self.path, last).await.map_err(files)?;
            return Ok(size);
        }
        if last.content_length() > 0 {
            self.part(last).await.map_err(files)?;
        }
        if let Some(upload) = &mut self.upload {
            upload.complete().await.map_err(files)?;
        }
        Ok(size)
    }

    async fn part(&mut self, part: PutPayload) -> object_store::Result<()> {
        let upload = match &mut self.upload {
            Some(upload) => upload,
            None => self.upload.insert(self.store.put_multipart(self.path).await?),
        };
        upload.put_part(part).await
    }

    /// Gives up the parts. If this fails, or the process dies, they stay until the bucket's rule
    /// for unfinished uploads removes them.
    async fn abort(&mut self) {
        if let Some(mut upload) = self.upload.take()
            && let Err(error) = upload.abort().await
        {
            tracing::warn!(%error, "the parts of an unfinished upload could not be removed");
        }
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

    /// R345.
    #[tokio::test]
    async fn what_comes_in_frames_is_stored_in_parts_or_leaves_nothing_behind() {
        let bucket = Bucket::start();
        let files = files(&bucket);
        let frames = |bytes: usize, fails: bool| -> Frames<'static> {
            let whole: Vec<u8> = (0..bytes).map(|n| n.to_le_bytes()[1]).collect();
            let mut frames: Vec<_> = whole.chunks(60_000).map(|part| Ok(part.to_vec())).collect();
            if fails {
                frames.push(Err(FileError("cut off".to_owned())));
            }
            stream::iter(frames).boxed()
        };
        for bytes in [0, 5, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES + 60_001] {
            let stored = files.put_stream("a", frames(bytes, false), bytes as u64).await;
            assert_eq!(stored.expect("stored"), bytes as u64);
            let got = files.get("a").await.expect("get").expect("there");
            assert!((0..bytes).map(|n| n.to_le_bytes()[1]).eq(got), "{bytes}");
        }
        let before = files.size("a").await.expect("size");
        let bytes = PART_BYTES + 70_000;
        let large = files.put_stream("a", frames(bytes, false), bytes as u64 - 1).await;
        assert!(matches!(large, Err(StreamError::TooLarge)));
        let cut = files.put_stream("a", frames(bytes, true), bytes as u64).await;
        assert!(matches!(cut, Err(StreamError::Source(_))));
        assert_eq!(files.size("a").await.expect("size"), before);
        assert_eq!(bucket.keys(), ["bucket/some/prefix/a"], "no parts are left");
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
