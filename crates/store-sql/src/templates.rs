//! Templates of messages.

use recado_core::templates::{Template, TemplateCategory, TemplateNeeds, TemplateStatus};

use crate::field::{json, words};
use crate::record::record;

record! {
    Template in "templates" key(company_id, id) {
        company("company_id"),
        id,
        name,
        category,
        language,
        body,
        status,
        connection("connection_id"),
        provider_id,
        needs,
        token,
        created_at,
        updated_at,
    }
}

words! { TemplateCategory, TemplateStatus }

json! { TemplateNeeds }
