//! Files to be sent.

use recado_core::uploads::{FileHash, Upload, UploadState};

use crate::field::{bytes, words};
use crate::record::record;

record! {
    Upload in "uploads" key(company_id, id) {
        company("company_id"),
        id,
        mimetype,
        size,
        sha256,
        filename,
        state,
        is_listed,
        created_at,
        expires_at,
    }
}

words! { UploadState }

bytes! {
    FileHash: |hash| hash.as_bytes(), |bytes| bytes.try_into().ok().map(FileHash::from_bytes);
}
