//! Bodies that create or change a contact: any JSON object is read to its end.

use recado_core::contacts::{ContactDraft, Region};
use serde_json::Value;

/// Takes one input.
pub(crate) fn take(body: &[u8]) {
    let Ok(Value::Object(body)) = serde_json::from_slice(body) else { return };
    let region = Region::br();
    let _ = ContactDraft::of_new(&body, &region);
    let _ = ContactDraft::of_patch(&body, &region);
}
