//! Lists of contacts.

use recado_core::lists::{List, ListMember};

use crate::record::record;

record! {
    List in "lists" key(company_id, id) {
        company("company_id"),
        id,
        name,
        is_active,
        created_at,
    }
}

record! {
    ListMember in "list_members" key(company_id, list_id, contact_id) {
        company("company_id"),
        list("list_id"),
        contact("contact_id"),
    }
}
