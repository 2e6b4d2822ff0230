//! The bytes of documents and of uploads.

use recado_core::documents::{Document, FileError, Files, file_key, undo_key};
use recado_core::store::{Row, RowKind, StoreError};
use recado_core::uploads::Upload;

use super::moved::Moved;
use super::order::{MoveError, Progress};
use super::part::Part;
use super::stores::TransferReader;

/// What was found of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentCount {
    /// How many there are.
    pub documents: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of them have no bytes in the source.
    pub missing: u64,
}

/// The documents of a scope, as their rows name them.
///
/// # Errors
///
/// When the database fails.
pub(super) async fn count(reader: &mut dyn TransferReader) -> Result<DocumentCount, StoreError> {
    let mut counted = DocumentCount::default();
    reader.open(Part::Rows(RowKind::Document)).await?;
    while let Some(rows) = reader.next().await? {
        for document in rows.iter().filter_map(document) {
            counted.documents += 1;
            counted.bytes += document.size;
        }
    }
    reader.open(Part::Rows(RowKind::Upload)).await?;
    while let Some(rows) = reader.next().await? {
        for upload in rows.iter().filter_map(upload) {
            counted.documents += 1;
            counted.bytes += upload.size;
        }
    }
    Ok(counted)
}

fn upload(moved: &Moved) -> Option<&Upload> {
    match moved {
        Moved::Row { row: Row::Upload(upload), .. } => Some(upload),
        _ => None,
    }
}

fn document(moved: &Moved) -> Option<&Document> {
    match moved {
        Moved::Row { row: Row::Document(document), .. } => Some(document),
        _ => None,
    }
}

/// Copies the bytes of all documents, also of those whose removal can still be undone. What the
/// target has in the right size is not copied again: the bytes of a key never change.
///
/// R263.
///
/// # Errors
///
/// When a database or a storage fails.
pub(super) async fn copy(
    reader: &mut dyn TransferReader,
    (from, to): (&dyn Files, &dyn Files),
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<DocumentCount, MoveError> {
    let mut copied = DocumentCount::default();
    reader.open(Part::Rows(RowKind::Document)).await?;
    while let Some(rows) = reader.next().await? {
        for document in rows.iter().filter_map(document) {
            let (company, id) = (document.company, document.id);
            let bytes = copy_file(from, to, &file_key(company, id)).await?;
            let kept = copy_file(from, to, &undo_key(company, id)).await?;
            let is_missing = bytes.is_none() && kept.is_none();
            let bytes = bytes.unwrap_or(0) + kept.unwrap_or(0);
            copied.documents += 1;
            copied.bytes += bytes;
            copied.missing += u64::from(is_missing);
            progress(Progress::Document { bytes });
        }
    }
    reader.open(Part::Rows(RowKind::Upload)).await?;
    while let Some(rows) = reader.next().await? {
        for upload in rows.iter().filter_map(upload) {
            let found = copy_file(from, to, &upload.key()).await?;
            let bytes = found.unwrap_or(0);
            copied.documents += 1;
            copied.bytes += bytes;
            copied.missing += u64::from(found.is_none());
            progress(Progress::Document { bytes });
        }
    }
    Ok(copied)
}

/// Copies one file; how many bytes it has, if it is there.
async fn copy_file(from: &dyn Files, to: &dyn Files, key: &str) -> Result<Option<u64>, FileError> {
    let Some(size) = from.size(key).await? else { return Ok(None) };
    if to.size(key).await? == Some(size) {
        return Ok(Some(size));
    }
    let Some(bytes) = from.open(key, 0).await? else { return Ok(None) };
    to.put_stream(key, bytes.into_frames(), size)
        .await
        .map_err(|error| FileError(error.to_string()))?;
    match to.size(key).await? {
        Some(stored) if stored == size => Ok(Some(size)),
        _ => Err(FileError("a document did not arrive whole".to_owned())),
    }
}
