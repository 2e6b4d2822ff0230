//! Reading the file that a link leads to (D31a).

use std::fmt;
use std::time::Duration;

use super::media_type::{known_type, mimetype_of};
use super::{LinkTarget, Message, Messages, wants_fetch};
use crate::Timestamp;
use crate::code::Code;
use crate::documents::{AttachError, Document};
use crate::error::{Error, Rejection};
use crate::ids::{CompanyId, DocumentId, MessageId, UploadId};
use crate::jobs::{Job, JobKind};
use crate::store::{RecordsExt, StoreError};
use crate::uploads::Upload;

/// The least that a caller waits for a file that is being fetched.
const SHORTEST_WAIT: Duration = Duration::from_secs(2);

/// What keeps the bytes of a file behind a link.
#[derive(Clone, PartialEq, Eq)]
pub enum KeptFile {
    /// A document, to be opened by [`Documents::open`](crate::documents::Documents::open).
    Document(Document),
    /// An upload, to be opened by [`Uploads::open`](crate::uploads::Uploads::open).
    Upload(Upload),
}

impl KeptFile {
    /// Its name.
    pub fn filename(&self) -> &str {
        match self {
            Self::Document(document) => &document.filename,
            Self::Upload(upload) => upload.filename.as_deref().unwrap_or("file"),
        }
    }

    /// Its bytes.
    pub const fn size(&self) -> u64 {
        match self {
            Self::Document(document) => document.size,
            Self::Upload(upload) => upload.size,
        }
    }
}

/// A file behind a link.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkedFile {
    /// Where its bytes are.
    pub file: KeptFile,
    /// Its media type, if it is a known one.
    pub mimetype: Option<&'static str>,
}

impl fmt::Debug for LinkedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkedFile").field("size", &self.file.size()).finish_non_exhaustive()
    }
}

impl LinkedFile {
    fn upload(upload: Upload) -> Self {
        let mimetype = known_type(&upload.mimetype);
        Self { file: KeptFile::Upload(upload), mimetype }
    }
}

/// Why the file of a message was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadMediaError {
    /// The file is still to be fetched from the gateway; try again then.
    #[error("the file is being fetched from the gateway")]
    NotYet {
        /// When it may be there.
        wait: Duration,
    },
    /// There is no file, or the link is none of ours.
    #[error("no such record")]
    NotFound,
    /// The file could not be read.
    #[error(transparent)]
    Document(AttachError),
}

impl Rejection for ReadMediaError {
    fn code(&self) -> Code {
        match self {
            Self::NotYet { .. } => Code::Unavailable,
            Self::NotFound => Code::NotFound,
            Self::Document(error) => error.code(),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::NotYet { wait } => Some(*wait),
            Self::NotFound | Self::Document(_) => None,
        }
    }
}

/// When a file may be there that this job fetches: its next try, or shortly while one is under way
/// (D31a).
fn wait_for(job: &Job, now: Timestamp) -> Duration {
    job.due_at.since(now).max(SHORTEST_WAIT)
}

/// What holds the file of a message.
enum FileOf {
    Document(DocumentId),
    Upload(UploadId),
}

const NOT_FOUND: Error<ReadMediaError> = Error::Rejected(ReadMediaError::NotFound);

impl Messages<'_> {
    /// The file that a link leads to (D31a). The link is the only credential. `id` is the message
    /// of the link, or the document in links of the first release; `presented` is what follows it.
    ///
    /// # Errors
    ///
    /// [`ReadMediaError::NotYet`] until the file was fetched; [`ReadMediaError::NotFound`] for a
    /// wrong signature, a link that has ended (R193) and a file that does not exist, alike;
    /// [`ReadMediaError::Document`].
    pub async fn linked_file(
        &self,
        company: CompanyId,
        id: MessageId,
        presented: &str,
    ) -> Result<LinkedFile, Error<ReadMediaError>> {
        let target = self.app.media_target(company, id, presented).await?;
        let target = target.ok_or(NOT_FOUND)?;
        self.app.company(company).await?.ok_or(NOT_FOUND)?;
        let document = match target {
            LinkTarget::Message(message) => match self.file_of(company, message).await? {
                FileOf::Document(document) => document,
                FileOf::Upload(upload) => {
                    let found = self.app.uploads().find(company, upload).await?.ok_or(NOT_FOUND)?;
                    return Ok(LinkedFile::upload(found.into_value()));
                }
            },
            LinkTarget::Document(document) => document,
            LinkTarget::Upload(upload) => {
                let found = self.app.uploads().find(company, upload).await?;
                let found = found.filter(|found| found.is_there()).ok_or(NOT_FOUND)?;
                return Ok(LinkedFile::upload(found.into_value()));
            }
        };
        let known = self.app.store().get::<Document>((company, document)).await?;
        let contact = known.ok_or(NOT_FOUND)?.contact_id;
        let found = self.app.documents().find(company, contact, document).await;
        let document = found.map_err(|error| error.map(ReadMediaError::Document))?;
        let mimetype = mimetype_of(&document.filename);
        Ok(LinkedFile { file: KeptFile::Document(document), mimetype })
    }

    /// What holds the file of a message.
    async fn file_of(
        &self,
        company: CompanyId,
        id: MessageId,
    ) -> Result<FileOf, Error<ReadMediaError>> {
        let mut message = self.message_of_link(company, id).await?;
        if message.as_ref().is_some_and(wants_fetch) {
            let kind = JobKind::FetchMedia { message: id };
            if let Some(job) = self.app.store().job_like(company, &kind).await? {
                let wait = wait_for(&job, self.app.now());
                return Err(Error::Rejected(ReadMediaError::NotYet { wait }));
            }
            // The job ended in the commit that says of the message how; or the file was given up by
            // a release that did not say it.
            message = self.message_of_link(company, id).await?;
        }
        let media = message.ok_or(NOT_FOUND)?.media;
        let document = media.document.map(FileOf::Document);
        document.or(media.upload.map(FileOf::Upload)).ok_or(NOT_FOUND)
    }

    async fn message_of_link(
        &self,
        company: CompanyId,
        id: MessageId,
    ) -> Result<Option<Message>, StoreError> {
        let found = self.app.store().messages(company, &[id]).await?.into_iter().next();
        Ok(found.map(crate::store::Stored::into_value))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::super::samples::{at, message};
    use super::super::{Direction, fetch_job};
    use super::*;
    use crate::ids::JobId;

    /// D31a.
    #[test]
    fn a_caller_waits_for_the_next_try_and_a_moment_while_one_is_under_way() {
        let message = message(Direction::Inbound, at(0));
        let job = fetch_job(JobId::new(Uuid::from_u128(7)), &message, at(0));
        assert_eq!(wait_for(&job, at(9_000)), SHORTEST_WAIT);
        let later = Job { due_at: at(120_000), ..job };
        assert_eq!(wait_for(&later, at(20_000)), Duration::from_secs(100));
        assert_eq!(wait_for(&later, at(119_000)), SHORTEST_WAIT);
    }

    /// D31a.
    #[test]
    fn only_a_file_that_is_being_fetched_is_worth_another_try() {
        let wait = Duration::from_secs(100);
        assert_eq!(ReadMediaError::NotYet { wait }.retry_after(), Some(wait));
        assert_eq!(ReadMediaError::NotFound.retry_after(), None);
    }
}
