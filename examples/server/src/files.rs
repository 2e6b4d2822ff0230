//! Where the bytes of documents are kept.

use std::sync::Arc;
use std::time::Duration;

use recado_core::documents::Files;
use recado_runtime::LocalFiles;
#[cfg(feature = "s3")]
use recado_runtime::S3Files;

use crate::options::{ConfigError, DocumentStorage};

/// The age from which a partly written file counts as left by a crash.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Opens the storage that `--documents` names. Nothing is created before the first document.
pub(crate) fn open(place: &DocumentStorage) -> Result<Arc<dyn Files>, ConfigError> {
    match place {
        DocumentStorage::Folder(path) => {
            let files = Arc::new(LocalFiles::new(path));
            let swept = files.clone();
            tokio::task::spawn_blocking(move || swept.sweep(ABANDONED));
            Ok(files)
        }
        #[cfg(feature = "s3")]
        DocumentStorage::S3 { bucket, prefix } => S3Files::open(bucket, prefix)
            .map(|files| Arc::new(files) as Arc<dyn Files>)
            .map_err(|error| ConfigError(vec![format!("--documents cannot be used: {error}")])),
        #[cfg(not(feature = "s3"))]
        DocumentStorage::S3 { .. } => Err(ConfigError(vec![
            "--documents names a bucket, and this build has no S3 support".to_owned(),
        ])),
    }
}
