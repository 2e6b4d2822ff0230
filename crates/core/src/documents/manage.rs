//! Attaching, listing and reading documents.

use super::{Document, DocumentState, FileError, FileReader, file_key, undo_key};
use crate::Recado;
use crate::audit::RecordRef;
use crate::code::Code;
use crate::contacts::Contact;
use crate::error::{Error, NotFound, Rejection};
use crate::ids::{CompanyId, ContactId, DocumentId};
use crate::jobs::JobKind;
use crate::problems::Problems;
use crate::store::{ChangeSet, Conflict, Decided, RecordsExt, Stored, Version};
use crate::text;

/// The largest document (D70).
pub const MAX_DOCUMENT_BYTES: usize = 25 * 1024 * 1024;

/// The use cases on documents. Made by [`Recado::documents`].
#[derive(Clone, Copy, Debug)]
pub struct Documents<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Documents of contacts.
    pub fn documents(&self) -> Documents<'_> {
        Documents { app: self }
    }
}

/// Why a document was not attached or read.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The file name is not acceptable.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such contact, or no such document.
    #[error("no such record")]
    NotFound,
    /// The document is larger than 25 MiB.
    #[error("a document may have at most 25 MiB")]
    TooLarge,
    /// The document store failed; try again later.
    #[error("the document store failed")]
    Files(#[source] FileError),
}

impl Rejection for AttachError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(problems) => problems.code(),
            Self::NotFound => Code::NotFound,
            Self::TooLarge => Code::PayloadTooLarge,
            Self::Files(_) => Code::Unavailable,
        }
    }

    fn details(&self) -> Option<serde_json::Map<String, serde_json::Value>> {
        match self {
            Self::Invalid(problems) => problems.details(),
            Self::NotFound | Self::TooLarge | Self::Files(_) => None,
        }
    }
}

/// The outcome of recording that a document's bytes are stored.
enum Completed {
    /// It can be read.
    Stored(Document),
    /// Its contact is being deleted.
    Claimed,
    /// Its contact was deleted, and the record with it.
    Gone,
}

impl Documents<'_> {
    /// Attaches a document to a contact. The record is made first, so that a crash leaves no file
    /// without a record; the document is listed once its bytes are durable.
    ///
    /// # Errors
    ///
    /// [`AttachError`]; [`Error::Busy`] while the contact is being deleted.
    pub async fn attach(
        &self,
        company: CompanyId,
        contact: ContactId,
        filename: &str,
        bytes: Vec<u8>,
    ) -> Result<Document, Error<AttachError>> {
        if bytes.len() > MAX_DOCUMENT_BYTES {
            return Err(Error::Rejected(AttachError::TooLarge));
        }
        let announced = self.announce(company, contact, filename, bytes.len()).await?;
        let key = file_key(company, announced.id);
        if let Err(error) = self.app.files().put(&key, bytes).await {
            // The bytes may be stored all the same. The record stays until they are surely removed,
            // so that they are deleted with the contact at the latest.
            if self.app.files().remove(&key).await.is_ok() {
                self.forget(&announced).await?;
            }
            return Err(Error::Rejected(AttachError::Files(error)));
        }
        let refused = match self.complete(&announced).await? {
            Completed::Stored(document) => return Ok(document),
            Completed::Claimed => Error::Busy,
            Completed::Gone => Error::Rejected(AttachError::NotFound),
        };
        let removed = self.app.files().remove(&key).await;
        removed.map_err(|error| Error::Rejected(AttachError::Files(error)))?;
        Err(refused)
    }

    /// Records that a document's bytes are stored.
    async fn complete(
        &self,
        announced: &Stored<Document>,
    ) -> Result<Completed, Error<AttachError>> {
        let complete = |_, conflict: Option<Conflict>| async move {
            let mut known = announced.clone();
            if conflict.is_some() {
                match self.app.store().get::<Document>((known.company, known.id)).await? {
                    Some(now) if now.version() == known.version() => {}
                    // Its contact was merged into another one since.
                    Some(now) if self.has_moved(&known, &now).await? => known = now,
                    Some(_) => return Ok(Decided::unchanged(Completed::Claimed)),
                    None => return Ok(Decided::unchanged(Completed::Gone)),
                }
            }
            let stored = Document { state: DocumentState::Stored, ..known.value().clone() };
            let changes = ChangeSet::new().with(known.update(stored.clone()));
            Ok(Decided::new(changes, Completed::Stored(stored)))
        };
        self.app.decide_after(complete).await
    }

    /// Whether a document that is being attached belongs to another contact now, which keeps it.
    async fn has_moved(
        &self,
        before: &Document,
        now: &Document,
    ) -> Result<bool, Error<AttachError>> {
        let moved = now.contact_id != before.contact_id && now.state == DocumentState::Uploading;
        let store = self.app.store();
        Ok(moved
            && store.job_like(now.company, &JobKind::purge_of(now.contact_id)).await?.is_none())
    }

    async fn announce(
        &self,
        company: CompanyId,
        contact: ContactId,
        filename: &str,
        size: usize,
    ) -> Result<Stored<Document>, Error<AttachError>> {
        let filename = &read_filename(filename).map_err(|p| Error::Rejected(p.into()))?;
        let store = self.app.store();
        let id = DocumentId::new(self.app.uuid(self.app.now()));
        let announce = |now| async move {
            let Some(owner) = store.get::<Contact>((company, contact)).await? else {
                return Err(Error::Rejected(AttachError::NotFound));
            };
            if store.job_like(company, &JobKind::purge_of(contact)).await?.is_some() {
                return Err(Error::Busy);
            }
            let document = Document {
                id,
                company,
                contact_id: contact,
                filename: filename.clone(),
                size: size as u64,
                state: DocumentState::Uploading,
                created_at: now,
            };
            // The contact is written too, so that a concurrent deletion that has already read the
            // documents conflicts and reads them again.
            let changes =
                ChangeSet::new().insert(document.clone()).with(owner.update(owner.value().clone()));
            Ok(Decided::new(changes, Stored::new(document, Version::FIRST)))
        };
        self.app.decide(announce).await
    }

    /// Removes the record of a document whose bytes could not be stored.
    async fn forget(&self, announced: &Stored<Document>) -> Result<(), Error<AttachError>> {
        self.app.commit_once(ChangeSet::new().with(announced.delete())).await?;
        Ok(())
    }

    /// The documents of a contact.
    ///
    /// # Errors
    ///
    /// [`NotFound`] when there is no such contact.
    pub async fn list(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Document>, Error<NotFound>> {
        let store = self.app.store();
        if store.get::<Contact>((company, contact)).await?.is_none() {
            return Err(Error::Rejected(NotFound));
        }
        let documents = store.documents(company, contact).await?;
        Ok(documents
            .into_iter()
            .map(Stored::into_value)
            .filter(|document| document.state == DocumentState::Stored)
            .collect())
    }

    /// A document of a contact, which can be read.
    ///
    /// # Errors
    ///
    /// [`AttachError::NotFound`].
    pub async fn find(
        &self,
        company: CompanyId,
        contact: ContactId,
        id: DocumentId,
    ) -> Result<Document, Error<AttachError>> {
        let known = self.app.store().get::<Document>((company, id)).await?.map(Stored::into_value);
        let found = known.filter(|document| {
            document.contact_id == contact && document.state == DocumentState::Stored
        });
        found.ok_or(Error::Rejected(AttachError::NotFound))
    }

    /// Opens a document for reading from the byte `from` on, in small frames (R190). While a
    /// deletion that failed is being undone, the bytes are read from the copy kept for that (D26).
    /// The read is logged: what goes on from a later byte is the same one (R386).
    ///
    /// # Errors
    ///
    /// [`AttachError::NotFound`]; [`AttachError::Files`], also when the file has another size than
    /// the document.
    pub async fn open(
        &self,
        document: &Document,
        from: u64,
    ) -> Result<FileReader, Error<AttachError>> {
        let (actor, now) = (self.app.acting().actor(), self.app.now());
        let reads = self.app.document_reads();
        if !reads.goes_on(actor, document.id, from, now) {
            let record = RecordRef::new("document", document.id);
            self.app.audit().note_read(document.company, [record]).await?;
        }
        // Only now: a read whose entry could not be written stands for no later one.
        reads.remember(actor, document.id, now);
        for key in places(document) {
            match self.app.files().open(&key, from).await {
                Ok(Some(reader)) => return has_its_size(document, reader.size()).map(|()| reader),
                Ok(None) => {}
                Err(error) => return Err(Error::Rejected(AttachError::Files(error))),
            }
        }
        Err(Error::Rejected(AttachError::NotFound))
    }

    /// Looks whether a document could be read, without reading it (R190).
    ///
    /// # Errors
    ///
    /// As [`Documents::open`].
    pub async fn check(&self, document: &Document) -> Result<(), Error<AttachError>> {
        for key in places(document) {
            match self.app.files().size(&key).await {
                Ok(Some(size)) => return has_its_size(document, size),
                Ok(None) => {}
                Err(error) => return Err(Error::Rejected(AttachError::Files(error))),
            }
        }
        Err(Error::Rejected(AttachError::NotFound))
    }

    /// A document of a contact with its bytes, in memory.
    ///
    /// # Errors
    ///
    /// As [`Documents::find`] and [`Documents::open`].
    pub async fn read(
        &self,
        company: CompanyId,
        contact: ContactId,
        id: DocumentId,
    ) -> Result<(Document, Vec<u8>), Error<AttachError>> {
        let document = self.find(company, contact, id).await?;
        let reader = self.open(&document, 0).await?;
        let bytes = reader.read_to_end().await;
        Ok((document, bytes.map_err(|error| Error::Rejected(AttachError::Files(error)))?))
    }
}

/// Where the bytes of a document may be, in the order of asking: a deletion that is being undone
/// may put them back after the first question (D26).
fn places(document: &Document) -> [String; 3] {
    let Document { company, id, .. } = *document;
    [file_key(company, id), undo_key(company, id), file_key(company, id)]
}

/// Refuses a file that is not the one that was attached.
///
/// R190.
fn has_its_size(document: &Document, size: u64) -> Result<(), Error<AttachError>> {
    if size == document.size {
        return Ok(());
    }
    let error = FileError("the file has another size than its document".to_owned());
    Err(Error::Rejected(AttachError::Files(error)))
}

/// A file name: one line without path separators.
fn read_filename(filename: &str) -> Result<String, Problems> {
    let cleaned = text::name(filename, text::SHORT)
        .map_err(|error| Problems::of("filename", error.to_string()))?;
    if cleaned.is_empty() {
        return Err(Problems::of("filename", "is required"));
    }
    if cleaned.chars().any(|c| c.is_control() || matches!(c, '/' | '\\')) {
        return Err(Problems::of("filename", "may not hold slashes or control characters"));
    }
    Ok(cleaned)
}
