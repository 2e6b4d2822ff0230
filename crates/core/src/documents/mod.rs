//! Documents attached to contacts (D26): rows in the store, bytes in an object store.

mod files;
mod manage;

use async_trait::async_trait;
use serde::Serialize;

pub use files::{FileError, Files, file_key, undo_key};
pub use manage::{AttachError, Documents, MAX_DOCUMENT_BYTES};

use crate::Timestamp;
use crate::ids::{CompanyId, ContactId, DocumentId};
use crate::store::{StoreError, Stored};
use crate::words::words;

words! {
    /// Whether a document's bytes are there.
    DocumentState {
        /// Announced; its bytes may or may not be there yet. Not listed.
        Uploading = "uploading",
        /// Its bytes are durable.
        Stored = "stored",
    }
}

/// A document of a contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// The contact it is attached to.
    pub contact_id: ContactId,
    /// The name it was given.
    pub filename: String,
    /// Its size in bytes.
    pub size: u64,
    /// Whether its bytes are there.
    #[serde(skip)]
    pub state: DocumentState,
    /// When it was attached.
    pub created_at: Timestamp,
}

/// Reads of documents. Listings are by `created_at`, then `id`.
#[async_trait]
pub trait DocumentReads: Send + Sync {
    /// All documents of a contact, in any state.
    async fn documents(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<Document>>, StoreError>;
}
