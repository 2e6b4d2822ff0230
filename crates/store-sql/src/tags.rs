//! Tags of contacts, and reasons for closing conversations.

use recado_core::tags::{CloseReason, Tag};

use crate::record::record;

record! {
    Tag in "tags" key(company_id, id) {
        company("company_id"),
        id,
        name,
        color,
        created_at,
    }
}

record! {
    CloseReason in "close_reasons" key(company_id, id) {
        company("company_id"),
        id,
        name,
        created_at,
    }
}
