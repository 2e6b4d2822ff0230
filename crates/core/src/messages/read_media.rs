//! Reading the file that a link leads to (D31a).

use std::fmt;

use super::Messages;
use super::media_type::mimetype_of;
use crate::documents::{AttachError, Document};
use crate::error::Error;
use crate::ids::{CompanyId, DocumentId};
use crate::store::RecordsExt;

/// A file behind a link.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkedFile {
    /// The document.
    pub document: Document,
    /// Its media type, if the ending of its name is a known one.
    pub mimetype: Option<&'static str>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for LinkedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaFile").field("document", &self.document.id).finish_non_exhaustive()
    }
}

impl Messages<'_> {
    /// The file that a link leads to (D31a). The link is the only credential.
    ///
    /// # Errors
    ///
    /// [`AttachError::NotFound`] for a wrong signature and for a deleted file, alike;
    /// [`AttachError::Files`].
    pub async fn read_media(
        &self,
        company: CompanyId,
        document: DocumentId,
        signature: &str,
    ) -> Result<LinkedFile, Error<AttachError>> {
        if !self.app.media_links().await?.verifies(company, document, signature) {
            return Err(Error::Rejected(AttachError::NotFound));
        }
        let Some(known) = self.app.store().get::<Document>((company, document)).await? else {
            return Err(Error::Rejected(AttachError::NotFound));
        };
        let documents = self.app.documents();
        let (document, bytes) = documents.read(company, known.contact_id, document).await?;
        Ok(LinkedFile { mimetype: mimetype_of(&document.filename), document, bytes })
    }
}
