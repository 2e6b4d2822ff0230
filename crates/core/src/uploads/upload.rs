//! An upload as it is stored (X11).

use std::fmt;

use crate::Timestamp;
use crate::documents::upload_key;
use crate::ids::{CompanyId, UploadId};
use crate::secret::hides;
use crate::words::words;

words! {
    /// How far an upload is.
    UploadState {
        /// Announced; its bytes may or may not be stored yet.
        Uploading = "uploading",
        /// Its bytes are durable.
        Stored = "stored",
        /// Its bytes are being removed, unless a message turns out to have it.
        Removing = "removing",
    }
}

/// The SHA-256 of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileHash([u8; 32]);

impl FileHash {
    /// What an upload has before its bytes are stored.
    pub const NONE: Self = Self([0; 32]);

    /// A hash that was computed.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A file that was uploaded, or fetched, to be sent. Messages name it; it is removed when it has
/// expired and no message has it.
#[derive(Clone, PartialEq, Eq)]
pub struct Upload {
    /// Its company.
    pub company: CompanyId,
    /// Its id.
    pub id: UploadId,
    /// Its media type.
    pub mimetype: String,
    /// Its bytes.
    pub size: u64,
    /// Their hash.
    pub sha256: FileHash,
    /// The name it was given, cleaned.
    pub filename: Option<String>,
    /// How far it is.
    pub state: UploadState,
    /// Whether it is one of the company's uploads, which are named by `media_id`; else it belongs
    /// to its messages alone.
    pub is_listed: bool,
    /// When it was announced.
    pub created_at: Timestamp,
    /// From when on it is removed unless a message has it; none while messages have it.
    pub expires_at: Option<Timestamp>,
}

hides! {
    Upload {
        shows { id, state }
        hides {
            company, mimetype, size, sha256, filename, is_listed, created_at, expires_at,
        }
    }
}

impl Upload {
    /// Where its bytes are.
    pub fn key(&self) -> String {
        upload_key(self.company, self.id)
    }

    /// Whether it can be named by `media_id` (X11).
    pub fn is_there(&self) -> bool {
        self.is_listed && self.state != UploadState::Uploading
    }

    /// As it is once a message has it (R348).
    pub fn held(&self) -> Self {
        Self { state: UploadState::Stored, expires_at: None, ..self.clone() }
    }
}
