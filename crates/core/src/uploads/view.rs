//! How an upload is shown (X11).

use serde::Serialize;

use super::Upload;
use crate::Timestamp;
use crate::ids::UploadId;

/// An upload as it is shown (X11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Upload))]
#[non_exhaustive]
pub struct UploadView {
    /// Its id: `media_id` of sends.
    pub id: UploadId,
    /// Its media type, by its first bytes.
    pub mimetype: String,
    /// Its bytes.
    pub size: u64,
    /// Their SHA-256, in hexadecimal.
    pub sha256: String,
    /// Its name, if it was given one.
    pub filename: Option<String>,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// From when on it is not kept any more; `null` while messages have it.
    pub expires_at: Option<Timestamp>,
    /// A link to its bytes; only where one upload is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl UploadView {
    pub(super) fn new(upload: &Upload, url: Option<String>) -> Self {
        Self {
            id: upload.id,
            mimetype: upload.mimetype.clone(),
            size: upload.size,
            sha256: upload.sha256.to_string(),
            filename: upload.filename.clone(),
            created_at: upload.created_at,
            expires_at: upload.expires_at,
            url,
        }
    }
}
