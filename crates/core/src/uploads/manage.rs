//! The uploads of a company (X11).

use super::{FileRefused, NewFile, ReceiveError, Upload, UploadState, UploadView, Uploads};
use crate::Timestamp;
use crate::access::{Caller, Scope};
use crate::documents::{FileError, FileReader, Frames, StoredFile};
use crate::error::Error;
use crate::ids::{CompanyId, UploadId};
use crate::store::{ChangeSet, Decided, RecordsExt, Stored};

const NOT_FOUND: Error<FileRefused> = Error::Rejected(FileRefused::NotFound);

impl Uploads<'_> {
    /// Keeps a file as one of the company's uploads (X11). It is completed, or leaves nothing
    /// behind, also when this future is dropped.
    ///
    /// # Errors
    ///
    /// [`ReceiveError`].
    pub async fn create(
        &self,
        caller: &Caller,
        file: NewFile,
        frames: Frames<'static>,
    ) -> Result<UploadView, Error<ReceiveError>> {
        caller.require(Scope::MessagesSend)?;
        let file = NewFile { is_listed: true, ..file };
        let limit = super::MAX_FILE_BYTES;
        let upload = self.receive(caller.company(), file, frames, limit).await?;
        Ok(UploadView::new(&upload, None))
    }

    /// Makes a file that came with this call one of the company's uploads (X11).
    ///
    /// # Errors
    ///
    /// [`FileRefused::NotFound`].
    pub async fn list(
        &self,
        caller: &Caller,
        id: UploadId,
    ) -> Result<UploadView, Error<FileRefused>> {
        caller.require(Scope::MessagesSend)?;
        let (store, company) = (self.app.store(), caller.company());
        let listed = self.app.decide(|_| async move {
            let found = store.get::<Upload>((company, id)).await?.ok_or(NOT_FOUND)?;
            let listed = Upload {
                is_listed: true,
                expires_at: Some(self.retained_until(found.created_at)),
                ..found.value().clone()
            };
            Ok(Decided::new(ChangeSet::new().with(found.update(listed.clone())), listed))
        });
        Ok(UploadView::new(&listed.await?, None))
    }

    /// One upload, with a link to it (X11).
    ///
    /// # Errors
    ///
    /// [`FileRefused::NotFound`].
    pub async fn get(
        &self,
        caller: &Caller,
        id: UploadId,
    ) -> Result<UploadView, Error<FileRefused>> {
        caller.require(Scope::MessagesSend)?;
        let found = self.app.store().get::<Upload>((caller.company(), id)).await?;
        let found = found.filter(|found| found.is_there()).ok_or(NOT_FOUND)?;
        let links = self.app.media_links().await?;
        Ok(UploadView::new(&found, Some(links.link_to_upload(found.company, found.id))))
    }

    /// Takes an upload from the company's uploads. Its bytes go unless messages have it, which keep
    /// it (X11).
    ///
    /// # Errors
    ///
    /// [`FileRefused::NotFound`].
    pub async fn delete(&self, caller: &Caller, id: UploadId) -> Result<(), Error<FileRefused>> {
        caller.require(Scope::MessagesSend)?;
        let (store, company) = (self.app.store(), caller.company());
        let taken = self.app.decide(|now| async move {
            let found = store.get::<Upload>((company, id)).await?;
            let found = found.filter(|found| found.is_there()).ok_or(NOT_FOUND)?;
            let expires_at = found.expires_at.map(|_| now);
            let taken = Upload { is_listed: false, expires_at, ..found.value().clone() };
            Ok(Decided::new(ChangeSet::new().with(found.update(taken)), ()))
        });
        taken.await?;
        self.release(company, id).await;
        Ok(())
    }

    /// Until when an upload is kept that no message has (X11).
    pub(super) fn retained_until(&self, created_at: Timestamp) -> Timestamp {
        created_at.plus(self.app.settings().media_retention)
    }

    /// The bytes of an upload, to be sent.
    pub(super) fn stored(&self, upload: &Upload) -> StoredFile {
        StoredFile::new(self.app.shared_files(), upload.key(), upload.size)
    }

    /// Opens an upload for reading from the byte `from` on, in small frames (R190); `None` if it is
    /// gone.
    ///
    /// # Errors
    ///
    /// Of the object store, also where the file has another size than the upload.
    pub async fn open(&self, upload: &Upload, from: u64) -> Result<Option<FileReader>, FileError> {
        let Some(reader) = self.app.files().open(&upload.key(), from).await? else {
            return Ok(None);
        };
        if reader.size() != upload.size {
            return Err(FileError("the file has another size than its upload".to_owned()));
        }
        Ok(Some(reader))
    }

    /// An upload whose bytes are stored, listed or not.
    pub(crate) async fn find(
        &self,
        company: CompanyId,
        id: UploadId,
    ) -> Result<Option<Stored<Upload>>, crate::store::StoreError> {
        let found = self.app.store().get::<Upload>((company, id)).await?;
        Ok(found.filter(|found| found.state != UploadState::Uploading))
    }
}
