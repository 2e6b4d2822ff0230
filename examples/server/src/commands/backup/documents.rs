//! The documents and uploads of a backup: those that records name, from a folder or a bucket alike.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use futures_util::StreamExt;
use recado_core::Recado;
use recado_core::access::Company;
use recado_core::documents::{Document, FRAME_BYTES, FileError, Files, file_key};
use recado_core::store::{Listing, RecordsExt, RowKind, StoreError};
use recado_core::uploads::Upload;
use sha2::{Digest, Sha256};

use super::manifest::{Manifest, ManifestFile, hex};

/// The keys of the files of all records.
async fn keys(recado: &Recado) -> Result<Vec<String>, StoreError> {
    let mut keys = Vec::new();
    for company in recado.store().all::<Company>(()).await? {
        let (company, kind, limit) = (company.id, RowKind::Document, i32::MAX.unsigned_abs());
        for row in recado.store().rows(Listing::Some { company, kind, limit }).await? {
            if let Ok(document) = Document::try_from(row.into_value()) {
                keys.push(file_key(company, document.id));
            }
        }
        let kind = RowKind::Upload;
        for row in recado.store().rows(Listing::Some { company, kind, limit }).await? {
            if let Ok(upload) = Upload::try_from(row.into_value()) {
                keys.push(upload.key());
            }
        }
    }
    keys.sort_unstable();
    Ok(keys)
}

/// Copies the files of all records into the backup; how many there are. A file that is not there
/// is passed over: its record is about to go, or its upload has not ended.
pub(super) async fn copy_out(
    recado: &Recado,
    files: &dyn Files,
    folder: &Path,
    manifest: &mut Manifest,
) -> Result<u64, String> {
    let mut copied = 0;
    let listed = keys(recado).await;
    for key in listed.map_err(|error| format!("documents cannot be listed: {error}"))? {
        let failed = |error: &dyn std::fmt::Display| format!("{key} cannot be copied: {error}");
        let Some(mut frames) = files.open(&key, 0).await.map_err(|error| failed(&error))? else {
            continue;
        };
        let (size, path) = (frames.size(), folder.join(&key));
        let mut hash = Sha256::new();
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| failed(&error))?;
        let mut file = File::create_new(&path).map_err(|error| failed(&error))?;
        while let Some(frame) = frames.next().await {
            let frame = frame.map_err(|error| failed(&error))?;
            hash.update(&frame);
            file.write_all(&frame).map_err(|error| failed(&error))?;
        }
        file.sync_all().map_err(|error| failed(&error))?;
        let sha256 = hex(&hash.finalize());
        manifest.files.push(ManifestFile { path: key, size, sha256 });
        copied += 1;
    }
    Ok(copied)
}

/// The files of a manifest that are documents.
pub(super) fn of(manifest: &Manifest) -> impl Iterator<Item = &ManifestFile> {
    let kept = |file: &&ManifestFile| {
        file.path.starts_with("documents/") || file.path.starts_with("uploads/")
    };
    manifest.files.iter().filter(kept)
}

/// Whether one of the documents is at its place already.
pub(super) async fn any_there(files: &dyn Files, manifest: &Manifest) -> Result<bool, String> {
    for file in of(manifest) {
        let size = files.size(&file.path).await;
        if size.map_err(|error| format!("documents cannot be looked at: {error}"))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Puts the documents of a backup in their place.
pub(super) async fn copy_in(
    files: &dyn Files,
    folder: &Path,
    manifest: &Manifest,
) -> Result<u64, String> {
    let mut copied = 0;
    for file in of(manifest) {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.path);
        let source = File::open(file.place(folder)?).map_err(|error| failed(&error))?;
        let frames = futures_util::stream::try_unfold(source, |mut source| async move {
            let mut frame = Vec::with_capacity(FRAME_BYTES);
            let read = Read::by_ref(&mut source).take(FRAME_BYTES as u64).read_to_end(&mut frame);
            read.map_err(|error| FileError(error.to_string()))?;
            Ok((!frame.is_empty()).then_some((frame, source)))
        });
        let stored = files.put_stream(&file.path, frames.boxed(), u64::MAX).await;
        stored.map_err(|error| failed(&error))?;
        copied += 1;
    }
    Ok(copied)
}
