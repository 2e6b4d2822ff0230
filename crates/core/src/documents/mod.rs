//! Documents attached to contacts (D26): rows in the store, bytes in an object store.

mod document;
mod file_error;
mod file_reader;
mod files;
mod manage;
mod reads;
mod stored_file;

pub use document::{Document, DocumentState};
pub use file_error::FileError;
pub use file_reader::{FRAME_BYTES, FileReader};
pub use files::{Files, file_key, undo_key};
pub use manage::{AttachError, Documents, MAX_DOCUMENT_BYTES};
pub use reads::DocumentReads;
pub use stored_file::StoredFile;
