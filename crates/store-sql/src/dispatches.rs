//! The windows in which a template is not dispatched to a contact again.

use recado_core::dispatches::{DispatchWindow, WindowKey, WindowState};

use crate::field::{bytes, words};
use crate::record::record;

record! {
    DispatchWindow in "dispatch_windows" key(company_id, contact_id, key) {
        company("company_id"),
        contact("contact_id"),
        key,
        message("message_id"),
        sent_at,
        state,
        ends_at,
    }
}

words! { WindowState }

bytes! {
    WindowKey: |key| key.as_bytes(), |bytes| bytes.try_into().ok().map(WindowKey::from_bytes);
}
