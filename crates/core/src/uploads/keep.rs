//! Storing a file as it comes (X10, X11, R348).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use sha2::{Digest, Sha256};

use super::detect::{HEAD_BYTES, Hints, shown_type};
use super::filename::cleaned;
use super::{FileHash, FileRefused, Upload, UploadState, Uploads};
use crate::code::Code;
use crate::documents::{FileError, Frames, StreamError};
use crate::error::{Error, Rejection};
use crate::ids::{CompanyId, UploadId};
use crate::problems::Problems;
use crate::store::{ChangeSet, StoreError, Stored, Version};

/// How long a file is kept of which it is not known yet what it is for: longer than any may take to
/// arrive, and to be sent. What a process leaves that dies is removed then (R348).
const UNDECIDED: Duration = Duration::from_secs(60 * 60);

/// What is known of a file before its bytes are there.
#[derive(Clone, Debug, Default)]
pub struct NewFile {
    /// Its declared media type.
    pub mimetype: Option<String>,
    /// Its name; paths and control characters go from it.
    pub filename: Option<String>,
    /// Whether it becomes one of the company's uploads; else it belongs to the messages that carry
    /// it.
    pub is_listed: bool,
}

/// Why a file was not stored.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// It is larger than the limit.
    #[error("the file is larger than {limit} bytes")]
    TooLarge {
        /// The most bytes.
        limit: u64,
    },
    /// It has no bytes.
    #[error(transparent)]
    Empty(Problems),
    /// It did not arrive whole.
    #[error("the file did not arrive whole")]
    Cut(#[source] FileError),
    /// Its first bytes are refused.
    #[error(transparent)]
    Refused(FileRefused),
    /// The object store failed; try again later.
    #[error("the file could not be stored")]
    Files(#[source] FileError),
}

impl Rejection for ReceiveError {
    fn code(&self) -> Code {
        match self {
            Self::TooLarge { .. } => Code::MediaTooLarge,
            Self::Empty(problems) => problems.code(),
            Self::Cut(_) => Code::BadRequest,
            Self::Refused(refused) => refused.code(),
            Self::Files(_) => Code::Unavailable,
        }
    }

    fn details(&self) -> Option<serde_json::Map<String, serde_json::Value>> {
        match self {
            Self::TooLarge { limit } => FileRefused::TooLarge { limit: *limit }.details(),
            Self::Empty(problems) => problems.details(),
            Self::Refused(refused) => refused.details(),
            Self::Cut(_) | Self::Files(_) => None,
        }
    }
}

/// What a file was while it came.
#[derive(Default)]
struct Passing {
    hash: Sha256,
    head: Vec<u8>,
    is_judged: bool,
    refused: Option<FileRefused>,
}

type Judge<'a> = dyn Fn(&[u8]) -> Result<(), FileRefused> + Send + Sync + 'a;

impl Passing {
    /// Takes note of a frame. Once the first bytes are there they are judged.
    fn frame(&mut self, frame: &[u8], judge: &Judge<'_>) -> Result<(), FileError> {
        self.hash.update(frame);
        let room = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&frame[..frame.len().min(room)]);
        if self.head.len() == HEAD_BYTES && !std::mem::replace(&mut self.is_judged, true) {
            judge(&self.head).map_err(|refused| {
                self.refused = Some(refused);
                FileError("its first bytes are refused".to_owned())
            })?;
        }
        Ok(())
    }
}

fn locked(passing: &Mutex<Passing>) -> MutexGuard<'_, Passing> {
    passing.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Uploads<'_> {
    /// Stores a file as it comes. It is completed, or leaves nothing behind, also when this future
    /// is dropped. A file that is not listed belongs to the messages that carry it; one that no
    /// message has carried within an hour is removed (R348).
    ///
    /// # Errors
    ///
    /// [`ReceiveError`].
    pub async fn receive(
        &self,
        company: CompanyId,
        file: NewFile,
        frames: Frames<'static>,
        limit: u64,
    ) -> Result<Upload, Error<ReceiveError>> {
        let app = self.app.clone();
        let receiving =
            async move { app.uploads().store(company, &file, frames, limit, &|_| Ok(())).await };
        let received = self.app.tasks().run(receiving).await;
        received.unwrap_or_else(|cut_off| Err(Error::Store(StoreError::outcome_unknown(cut_off))))
    }

    /// [`Uploads::receive`], with a judge of the first bytes; dropping this future leaves a record
    /// that is removed later.
    pub(super) async fn store(
        &self,
        company: CompanyId,
        file: &NewFile,
        frames: Frames<'_>,
        limit: u64,
        judge: &Judge<'_>,
    ) -> Result<Upload, Error<ReceiveError>> {
        let announced = self.announce(company, file).await?;
        let stored = self.put(&announced, file, frames, limit, judge).await;
        match stored {
            Ok(upload) => {
                let change = ChangeSet::new().with(announced.update(upload.clone()));
                if self.app.commit_once(change).await? {
                    return Ok(upload);
                }
                // It took so long that it was removed, or the company is being deleted.
                self.forget(&announced).await?;
                Err(Error::Busy)
            }
            Err(error) => {
                self.forget(&announced).await?;
                Err(Error::Rejected(error))
            }
        }
    }

    /// Records the file before its bytes, so that a crash leaves no bytes without a record.
    async fn announce(
        &self,
        company: CompanyId,
        file: &NewFile,
    ) -> Result<Stored<Upload>, Error<ReceiveError>> {
        let now = self.app.now();
        let upload = Upload {
            company,
            id: UploadId::new(self.app.uuid(now)),
            mimetype: "application/octet-stream".to_owned(),
            size: 0,
            sha256: FileHash::NONE,
            filename: file.filename.as_deref().and_then(cleaned),
            state: UploadState::Uploading,
            is_listed: false,
            created_at: now,
            expires_at: Some(now.plus(UNDECIDED)),
        };
        match self.app.commit_once(ChangeSet::new().insert(upload.clone())).await? {
            true => Ok(Stored::new(upload, Version::FIRST)),
            false => Err(Error::Busy),
        }
    }

    async fn put(
        &self,
        announced: &Upload,
        file: &NewFile,
        frames: Frames<'_>,
        limit: u64,
        judge: &Judge<'_>,
    ) -> Result<Upload, ReceiveError> {
        let passing = Arc::new(Mutex::new(Passing::default()));
        let noted = Arc::clone(&passing);
        let frames = frames.map(move |frame| {
            let frame = frame?;
            locked(&noted).frame(&frame, judge)?;
            Ok(frame)
        });
        let stored = self.app.files().put_stream(&announced.key(), frames.boxed(), limit).await;
        let Passing { hash, head, is_judged, refused } = std::mem::take(&mut *locked(&passing));
        let size = match (stored, refused) {
            (_, Some(refused)) => return Err(ReceiveError::Refused(refused)),
            (Ok(size), None) => size,
            (Err(StreamError::TooLarge), None) => return Err(ReceiveError::TooLarge { limit }),
            (Err(StreamError::Source(error)), None) => return Err(ReceiveError::Cut(error)),
            (Err(StreamError::Files(error)), None) => return Err(ReceiveError::Files(error)),
        };
        if size == 0 {
            return Err(ReceiveError::Empty(Problems::of("file", "is empty")));
        }
        if !is_judged {
            judge(&head).map_err(ReceiveError::Refused)?;
        }
        let mimetype = file.mimetype.as_deref();
        let hints = Hints { mimetype, filename: announced.filename.as_deref() };
        let expires_at = match file.is_listed {
            true => Some(self.retained_until(announced.created_at)),
            false => announced.expires_at,
        };
        Ok(Upload {
            mimetype: shown_type(&head, hints),
            size,
            sha256: FileHash::from_bytes(hash.finalize().into()),
            state: UploadState::Stored,
            is_listed: file.is_listed,
            expires_at,
            ..announced.clone()
        })
    }

    /// Removes a file that was not completed. Its bytes may be there all the same. If they cannot
    /// be removed now, the record stays, and they are removed later.
    async fn forget(&self, announced: &Stored<Upload>) -> Result<(), StoreError> {
        if self.app.files().remove(&announced.key()).await.is_ok() {
            self.app.commit_once(ChangeSet::new().with(announced.delete())).await?;
        }
        Ok(())
    }
}
