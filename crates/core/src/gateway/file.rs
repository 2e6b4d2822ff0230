//! A file that a message carries to its gateway.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use crate::documents::{FileError, FileReader, Files, StoredFile};
use crate::ids::UploadId;
use crate::messages::MessageType;
use crate::words::words;

words! {
    /// What a file is at the channel (X10).
    FileKind {
        /// A picture.
        Image = "image",
        /// A video.
        Video = "video",
        /// Sound, a voice note too.
        Audio = "audio",
        /// Any file.
        Document = "document",
        /// A sticker.
        Sticker = "sticker",
    }
}

impl FileKind {
    /// The type of a message that carries such a file.
    pub const fn message_type(self) -> MessageType {
        match self {
            Self::Image => MessageType::Image,
            Self::Video => MessageType::Video,
            Self::Audio => MessageType::Audio,
            Self::Document => MessageType::Document,
            Self::Sticker => MessageType::Sticker,
        }
    }
}

/// A file to be sent.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingFile {
    /// The upload that keeps it.
    pub upload: UploadId,
    /// Where its bytes are.
    pub stored: StoredFile,
    /// Its media type.
    pub mimetype: String,
    /// Its name; documents have one.
    pub filename: Option<String>,
}

impl OutgoingFile {
    /// Stands in a content for a file that is still to be got (X10).
    pub fn pending() -> Self {
        Self {
            upload: UploadId::new(Uuid::nil()),
            stored: StoredFile::new(Arc::new(NoFiles), "", 0),
            mimetype: String::new(),
            filename: None,
        }
    }

    /// Whether it only stands for a file.
    pub fn is_pending(&self) -> bool {
        self.upload.uuid().is_nil()
    }
}

/// Where the file is that is not there yet.
struct NoFiles;

#[async_trait]
impl Files for NoFiles {
    async fn put(&self, _key: &str, _bytes: Vec<u8>) -> Result<(), FileError> {
        Err(FileError("there is no file yet".to_owned()))
    }

    async fn open(&self, _key: &str, _from: u64) -> Result<Option<FileReader>, FileError> {
        Ok(None)
    }

    async fn size(&self, _key: &str) -> Result<Option<u64>, FileError> {
        Ok(None)
    }

    async fn copy(&self, _from: &str, _to: &str) -> Result<bool, FileError> {
        Ok(false)
    }

    async fn remove(&self, _key: &str) -> Result<(), FileError> {
        Ok(())
    }
}

impl fmt::Debug for OutgoingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingFile").field("upload", &self.upload).finish_non_exhaustive()
    }
}
