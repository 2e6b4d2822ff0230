//! Reading the file that a link leads to (D31a).

use std::fmt;
use std::time::Duration;

use super::media_type::mimetype_of;
use super::{LinkTarget, Message, Messages, wants_fetch};
use crate::Timestamp;
use crate::code::Code;
use crate::documents::{AttachError, Document};
use crate::error::{Error, Rejection};
use crate::ids::{CompanyId, DocumentId, MessageId};
use crate::jobs::{Job, JobKind};
use crate::store::{RecordsExt, StoreError};

/// The least that a caller waits for a file that is being fetched.
const SHORTEST_WAIT: Duration = Duration::from_secs(2);

/// A file behind a link, to be opened by [`Documents::open`](crate::documents::Documents::open).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkedFile {
    /// The document.
    pub document: Document,
    /// Its media type, if the ending of its name is a known one.
    pub mimetype: Option<&'static str>,
}

impl fmt::Debug for LinkedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaFile").field("document", &self.document.id).finish_non_exhaustive()
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
            LinkTarget::Message(message) => self.file_of(company, message).await?,
            LinkTarget::Document(document) => document,
        };
        let known = self.app.store().get::<Document>((company, document)).await?;
        let contact = known.ok_or(NOT_FOUND)?.contact_id;
        let found = self.app.documents().find(company, contact, document).await;
        let document = found.map_err(|error| error.map(ReadMediaError::Document))?;
        Ok(LinkedFile { mimetype: mimetype_of(&document.filename), document })
    }

    /// The document that holds the file of a message.
    async fn file_of(
        &self,
        company: CompanyId,
        id: MessageId,
    ) -> Result<DocumentId, Error<ReadMediaError>> {
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
        message.and_then(|message| message.media.document).ok_or(NOT_FOUND)
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
