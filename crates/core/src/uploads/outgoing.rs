//! Getting a file that is to be sent (X10).

use futures_util::StreamExt;

use super::detect::{HEAD_BYTES, Hints, sent_type};
use super::filename::{document_name, of_address};
use super::limits::{allowed_types, contract_limit};
use super::{FileRefused, FileSource, FileWish, NewFile, Upload, UploadState, Uploads};
use crate::connections::Connection;
use crate::error::Error;
use crate::gateway::{FileKind, OutgoingFile};
use crate::ids::{CompanyId, UploadId};
use crate::store::{RecordsExt, StoreError};

impl Uploads<'_> {
    /// The file that is wished for, to be sent through `connection`: looked up or fetched, stored,
    /// and checked by its first bytes (X10). Call it after everything that would refuse the send
    /// without it; if the send is refused afterwards, call [`Uploads::release`].
    ///
    /// # Errors
    ///
    /// [`FileRefused`]; then nothing is left of a file that was fetched, or that came with the
    /// call.
    pub async fn outgoing(
        &self,
        company: CompanyId,
        connection: Option<&Connection>,
        wish: &FileWish,
    ) -> Result<OutgoingFile, Error<FileRefused>> {
        let limit = self.limit(connection, wish.kind);
        let upload = match &wish.source {
            FileSource::Url(url) => {
                let filename = wish.filename.clone().or_else(|| of_address(url.as_str()));
                let file = NewFile { mimetype: wish.mimetype.clone(), filename, is_listed: false };
                let name = file.filename.clone();
                let judge = |head: &[u8]| judged(wish, head, name.as_deref()).map(drop);
                self.fetch(company, url, file, limit, &judge).await?
            }
            FileSource::Upload(id) => {
                let found = self.stored_upload(company, *id).await?;
                found.filter(|upload| upload.is_listed).ok_or(NOT_FOUND)?
            }
            FileSource::Received(id) | FileSource::Shared(id) => {
                self.stored_upload(company, *id).await?.ok_or(NOT_FOUND)?
            }
        };
        let id = upload.id;
        let checked = self.checked(upload, limit, wish).await;
        if checked.is_err() && wish.source.is_own() {
            self.release(company, id).await;
        }
        checked.map_err(Error::Rejected)
    }

    /// The most bytes of a file of this kind through a connection: those of its gateway, if they
    /// are fewer than the contract's (X10).
    fn limit(&self, connection: Option<&Connection>, kind: FileKind) -> u64 {
        let gateway = connection.and_then(|found| self.app.providers().description(&found.gateway));
        let own = gateway.and_then(|gateway| gateway.limit_of(kind));
        own.map_or(contract_limit(kind), |own| own.min(contract_limit(kind)))
    }

    async fn stored_upload(
        &self,
        company: CompanyId,
        id: UploadId,
    ) -> Result<Option<Upload>, StoreError> {
        let found = self.app.store().get::<Upload>((company, id)).await?;
        let found = found.map(crate::store::Stored::into_value);
        Ok(found.filter(|upload| upload.state == UploadState::Stored))
    }

    async fn checked(
        &self,
        upload: Upload,
        limit: u64,
        wish: &FileWish,
    ) -> Result<OutgoingFile, FileRefused> {
        if upload.size > limit {
            return Err(FileRefused::TooLarge { limit });
        }
        let opened = self.open(&upload, 0).await.map_err(FileRefused::Files)?;
        let mut reader = opened.ok_or(FileRefused::NotFound)?.first(HEAD_BYTES as u64);
        let mut head = Vec::new();
        while let Some(frame) = reader.next().await {
            head.extend_from_slice(&frame.map_err(FileRefused::Files)?);
        }
        let name = wish.filename.as_deref().or(upload.filename.as_deref());
        let mimetype = judged(wish, &head, name)?;
        let filename = (wish.kind == FileKind::Document).then(|| document_name(name, mimetype));
        let stored = self.stored(&upload);
        Ok(OutgoingFile { upload: upload.id, stored, mimetype: mimetype.to_owned(), filename })
    }
}

const NOT_FOUND: Error<FileRefused> = Error::Rejected(FileRefused::NotFound);

/// The media type that a file is sent with, by its first bytes.
fn judged(wish: &FileWish, head: &[u8], name: Option<&str>) -> Result<&'static str, FileRefused> {
    let hints = Hints { mimetype: wish.mimetype.as_deref(), filename: name };
    let allowed = allowed_types(wish.kind, wish.is_voice);
    sent_type(wish.kind, wish.is_voice, head, hints).ok_or(FileRefused::TypeUnsupported { allowed })
}
