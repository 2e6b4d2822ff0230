//! A document of a contact (4.2).

use serde::Serialize;

use crate::Timestamp;
use crate::ids::{CompanyId, ContactId, DocumentId};
use crate::words::words;

words! {
    /// Whether a document's bytes are stored.
    DocumentState {
        /// Announced; its bytes may or may not be stored yet. Not listed.
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
    /// Whether its bytes are stored.
    #[serde(skip)]
    pub state: DocumentState,
    /// When it was attached.
    pub created_at: Timestamp,
}
