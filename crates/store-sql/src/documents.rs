//! Documents of contacts.

use recado_core::documents::{Document, DocumentState};

use crate::field::words;
use crate::record::record;

record! {
    Document in "documents" key(company_id, id) {
        company("company_id"),
        id,
        contact_id,
        filename,
        size,
        state,
        created_at,
    }
}

words! { DocumentState }
