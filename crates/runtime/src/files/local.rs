//! Documents in a local folder, durable when a call returns.
//!
//! It does not use `object_store`: that crate copies by a hard link, of which a repeated copy
//! leaves a staging name, and does not sync a removal. Both matter, as a purge must leave no file
//! (D26).

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use recado_core::documents::{FRAME_BYTES, FileError, FileReader, Files, Frames, StreamError};

/// The folder in which files are written before they are renamed to their place.
const STAGING: &str = ".staging";

/// Keeps documents in a folder, one file for each key.
#[derive(Debug)]
pub struct LocalFiles {
    root: PathBuf,
}

impl LocalFiles {
    /// Documents below `root`, which is made with the first of them.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Removes partly written files that a crash left, if they are older than `age`; younger files
    /// may be another process's. Call it at the start, from where blocking is allowed. A failure is
    /// logged and harmless; the next start tries again.
    pub fn sweep(&self, age: Duration) {
        let Ok(entries) = fs::read_dir(self.root.join(STAGING)) else { return };
        for entry in entries.flatten() {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let abandoned = modified.is_ok_and(|at| at.elapsed().is_ok_and(|old| old >= age));
            if abandoned && let Err(error) = fs::remove_file(entry.path()) {
                tracing::warn!(%error, "a half-written document could not be removed");
            }
        }
    }

    fn path(&self, key: &str) -> Result<PathBuf, FileError> {
        let plain = |part: &str| {
            !part.is_empty()
                && !part.starts_with('.')
                && part
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        if !key.split('/').all(plain) {
            return Err(FileError("the key is not a plain path".to_owned()));
        }
        Ok(self.root.join(key))
    }

    fn staged(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Another process may use the same folder, and in containers all processes have the same
        // id.
        let chance = uuid::Uuid::from_bytes(crate::ids::random());
        self.root.join(STAGING).join(format!("{number}-{chance}"))
    }
}

#[async_trait]
impl Files for LocalFiles {
    async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        let (target, staged) = (self.path(key)?, self.staged());
        blocking(move || replace(&target, &staged, |mut file| file.write_all(&bytes))).await
    }

    /// R345.
    async fn put_stream(
        &self,
        key: &str,
        mut frames: Frames<'_>,
        limit: u64,
    ) -> Result<u64, StreamError> {
        let target = self.path(key).map_err(StreamError::Files)?;
        let mut staged = Staged::new(self.staged()).await.map_err(StreamError::Files)?;
        let (mut gathered, mut size) = (Vec::new(), 0);
        while let Some(frame) = frames.next().await {
            let frame = frame.map_err(StreamError::Source)?;
            size += frame.len() as u64;
            if size > limit {
                return Err(StreamError::TooLarge);
            }
            // Frames may be tiny, and each write is the work of another thread.
            gathered.extend_from_slice(&frame);
            if gathered.len() >= FRAME_BYTES {
                let whole = std::mem::take(&mut gathered);
                gathered = staged.write(whole).await.map_err(StreamError::Files)?;
            }
        }
        staged.write(gathered).await.map_err(StreamError::Files)?;
        staged.become_file(target).await.map_err(StreamError::Files)?;
        Ok(size)
    }

    async fn open(&self, key: &str, from: u64) -> Result<Option<FileReader>, FileError> {
        let path = self.path(key)?;
        let opened = blocking(move || {
            let Some(mut file) = optional(File::open(path))? else { return Ok(None) };
            let size = file.metadata()?.len();
            file.seek(SeekFrom::Start(from))?;
            Ok(Some((file, size)))
        });
        // A file that is replaced or removed meanwhile can still be read where it is open.
        Ok(opened.await?.map(|(file, size)| FileReader::new(size, from, frames(file))))
    }

    async fn size(&self, key: &str) -> Result<Option<u64>, FileError> {
        let path = self.path(key)?;
        blocking(move || Ok(optional(fs::metadata(path))?.map(|file| file.len()))).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError> {
        let (from, target, staged) = (self.path(from)?, self.path(to)?, self.staged());
        blocking(move || {
            let Some(mut source) = optional(File::open(from))? else { return Ok(false) };
            replace(&target, &staged, |mut file| io::copy(&mut source, &mut file).map(drop))?;
            Ok(true)
        })
        .await
    }

    async fn remove(&self, key: &str) -> Result<(), FileError> {
        let path = self.path(key)?;
        blocking(move || match optional(fs::remove_file(&path))? {
            Some(()) => sync_parent(&path),
            None => Ok(()),
        })
        .await
    }
}

/// A file that is being written. It is removed unless it becomes another one.
struct Staged {
    path: PathBuf,
    /// `None` while another thread writes, and at the end.
    file: Option<File>,
    is_done: bool,
}

impl Staged {
    async fn new(path: PathBuf) -> Result<Self, FileError> {
        let place = path.clone();
        let opened = blocking(move || {
            make_parents(&place)?;
            OpenOptions::new().write(true).create_new(true).open(&place)
        });
        Ok(Self { file: Some(opened.await?), path, is_done: false })
    }

    /// Writes bytes; answers the buffer, emptied, for the next ones.
    async fn write(&mut self, mut bytes: Vec<u8>) -> Result<Vec<u8>, FileError> {
        let Some(mut file) = self.file.take() else {
            return Err(FileError("the file is not open any more".to_owned()));
        };
        let written = blocking(move || {
            file.write_all(&bytes)?;
            bytes.clear();
            Ok((file, bytes))
        });
        let (file, bytes) = written.await?;
        self.file = Some(file);
        Ok(bytes)
    }

    /// Makes it durable, and puts it in the place of `target`.
    async fn become_file(mut self, target: PathBuf) -> Result<(), FileError> {
        let (file, path) = (self.file.take(), self.path.clone());
        blocking(move || {
            make_parents(&target)?;
            if let Some(file) = file {
                file.sync_all()?;
            }
            fs::rename(path, &target)?;
            sync_parent(&target)
        })
        .await?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.is_done {
            // A staged file that stays is swept at a later start.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The bytes of a file from where it stands on, each frame read when it is asked for.
fn frames(file: File) -> impl stream::Stream<Item = Result<Vec<u8>, FileError>> {
    stream::try_unfold(file, |mut file| {
        blocking(move || {
            let mut frame = Vec::with_capacity(FRAME_BYTES);
            Read::by_ref(&mut file).take(FRAME_BYTES as u64).read_to_end(&mut frame)?;
            Ok((!frame.is_empty()).then_some((frame, file)))
        })
    })
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, FileError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome.map_err(|error| FileError(error.to_string())),
        Err(error) => Err(FileError(error.to_string())),
    }
}

/// `None` for what does not exist.
fn optional<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes `staged`, syncs it, and puts it in the place of `target`.
fn replace(
    target: &Path,
    staged: &Path,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    make_parents(staged)?;
    make_parents(target)?;
    let outcome = OpenOptions::new().write(true).create_new(true).open(staged).and_then(|file| {
        write(&file)?;
        file.sync_all()?;
        fs::rename(staged, target)
    });
    if outcome.is_err() {
        // A staged file that stays is swept at a later start.
        let _ = fs::remove_file(staged);
    }
    outcome?;
    sync_parent(target)
}

/// Makes the folders above `path`, each durable in its parent.
fn make_parents(path: &Path) -> io::Result<()> {
    let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) else { return Ok(()) };
    if parent.is_dir() {
        return Ok(());
    }
    make_parents(parent)?;
    match fs::create_dir(parent) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    sync_parent(parent)
}

fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(parent)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    fn files() -> (tempfile::TempDir, LocalFiles) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = LocalFiles::new(folder.path().join("not/yet/there"));
        (folder, files)
    }

    fn staged(files: &LocalFiles) -> usize {
        fs::read_dir(files.root.join(STAGING)).expect("the folder was made").count()
    }

    #[tokio::test]
    async fn what_is_put_is_read_and_replaced_as_a_whole() {
        let (_folder, files) = files();
        assert_eq!(files.get("documents/a/b").await.expect("get"), None);
        for bytes in [&b"first"[..], b"2"] {
            files.put("documents/a/b", bytes.to_vec()).await.expect("put");
            assert_eq!(files.get("documents/a/b").await.expect("get"), Some(bytes.to_vec()));
        }
        assert_eq!(staged(&files), 0);
    }

    /// Frames of so many bytes, each filled with its number, and then perhaps an error.
    fn frames_of(lengths: &[usize], fails: bool) -> Frames<'static> {
        let numbered = lengths.iter().enumerate();
        let mut frames: Vec<_> =
            numbered.map(|(n, length)| Ok(vec![u8::try_from(n).unwrap_or(9); *length])).collect();
        if fails {
            frames.push(Err(FileError("cut off".to_owned())));
        }
        stream::iter(frames).boxed()
    }

    /// R345.
    #[tokio::test]
    async fn what_comes_in_frames_is_stored_as_a_whole_or_leaves_nothing_behind() {
        let (_folder, files) = files();
        let key = "uploads/a/b";
        let lengths = [1, 70_000, 0, 200_000, 3];
        let stored = files.put_stream(key, frames_of(&lengths, false), 270_004).await;
        assert_eq!(stored.expect("stored"), 270_004);
        let bytes = files.get(key).await.expect("get").expect("there");
        let expected = [(0, 1), (1, 70_000), (3, 200_000), (4, 3)];
        assert!(bytes == expected.map(|(n, length)| vec![n; length]).concat());

        let large = files.put_stream(key, frames_of(&lengths, false), 270_003).await;
        assert!(matches!(large, Err(StreamError::TooLarge)));
        let cut = files.put_stream(key, frames_of(&lengths, true), 270_004).await;
        assert!(matches!(cut, Err(StreamError::Source(_))));
        let dropped = files.put_stream(key, stream::pending().boxed(), 1);
        assert!(tokio::time::timeout(Duration::from_millis(20), dropped).await.is_err());
        assert_eq!(staged(&files), 0);
        assert!(files.get(key).await.expect("get").expect("there") == bytes, "as it was");
        assert!(matches!(
            files.put_stream("../x", frames_of(&[1], false), 9).await,
            Err(StreamError::Files(_))
        ));
    }

    #[tokio::test]
    async fn a_copy_repeated_leaves_one_copy_which_outlives_the_original() {
        let (_folder, files) = files();
        assert!(!files.copy("documents/a/b", "undo/a/b").await.expect("nothing to copy"));
        files.put("documents/a/b", b"bytes".to_vec()).await.expect("put");
        for _ in 0..2 {
            assert!(files.copy("documents/a/b", "undo/a/b").await.expect("copy"));
        }
        assert_eq!(staged(&files), 0);
        assert_eq!(fs::read_dir(files.root.join("undo/a")).expect("made").count(), 1);
        files.remove("documents/a/b").await.expect("remove");
        assert_eq!(files.get("documents/a/b").await.expect("get"), None);
        assert_eq!(files.get("undo/a/b").await.expect("get"), Some(b"bytes".to_vec()));
    }

    /// R190.
    #[tokio::test]
    async fn a_file_is_read_in_small_frames_from_anywhere() {
        let (_folder, files) = files();
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        files.put("documents/a/b", bytes.clone()).await.expect("put");
        assert_eq!(files.size("documents/a/b").await.expect("size"), Some(200_000));
        assert_eq!(files.size("documents/a/c").await.expect("size"), None);
        assert!(files.open("documents/a/c", 0).await.expect("open").is_none());
        for from in [0, 1, 65_536, 199_999] {
            let reader = files.open("documents/a/b", from as u64).await.expect("open");
            let reader = reader.expect("there");
            assert_eq!((reader.size(), reader.left()), (200_000, 200_000 - from as u64));
            let frames: Vec<_> = reader.map(|frame| frame.expect("read")).collect().await;
            assert!(frames.iter().all(|frame| frame.len() <= FRAME_BYTES));
            assert_eq!(frames.concat(), bytes[from..]);
        }
    }

    /// R190.
    #[tokio::test]
    async fn a_reader_goes_on_with_the_file_it_was_opened_on_or_fails() {
        let (_folder, files) = files();
        let key = "documents/a/b";
        let old = vec![1; 150_000];
        files.put(key, old.clone()).await.expect("put");
        let mut replaced = files.open(key, 0).await.expect("open").expect("there");
        let first = replaced.next().await.expect("a frame").expect("read");
        files.put(key, vec![2; 150_000]).await.expect("put");
        files.remove(key).await.expect("remove");
        let rest = replaced.read_to_end().await.expect("read");
        assert_eq!([first, rest].concat(), old);

        for size in [100_000, 200_000] {
            files.put(key, old.clone()).await.expect("put");
            let mut changed = files.open(key, 0).await.expect("open").expect("there");
            changed.next().await.expect("a frame").expect("read");
            let file = OpenOptions::new().write(true).open(files.path(key).expect("a path"));
            file.and_then(|file| file.set_len(size)).expect("changed in its place");
            assert!(changed.read_to_end().await.is_err(), "{size}");
        }
    }

    #[tokio::test]
    async fn only_what_was_abandoned_is_swept() {
        let (_folder, files) = files();
        files.put("documents/a/b", b"bytes".to_vec()).await.expect("put");
        fs::write(files.staged(), b"half").expect("written");
        files.sweep(Duration::from_secs(3600));
        assert_eq!(staged(&files), 1);
        files.sweep(Duration::ZERO);
        assert_eq!(staged(&files), 0);
        assert!(files.get("documents/a/b").await.expect("get").is_some());
    }

    #[tokio::test]
    async fn removing_what_is_not_there_is_fine() {
        let (_folder, files) = files();
        files.remove("documents/a/b").await.expect("nothing there");
    }

    #[tokio::test]
    async fn a_key_cannot_leave_the_folder() {
        let (_folder, files) = files();
        for key in ["", "/etc/passwd", "../secret", "a/../../b", "a//b", "a/./b", ".staging/x"] {
            assert!(files.put(key, Vec::new()).await.is_err(), "{key}");
            assert!(files.get(key).await.is_err(), "{key}");
        }
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("file");
        fs::write(&file, b"").expect("written");
        let files = LocalFiles::new(&file);
        assert!(files.put("documents/a/b", Vec::new()).await.is_err());
    }
}
