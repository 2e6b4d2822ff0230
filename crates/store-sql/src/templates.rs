//! Templates of messages.

use recado_core::templates::{
    ButtonValue, Components, HeaderValue, Template, TemplateCategory, TemplateNeeds,
    TemplateStatus, TemplateTokenHash, VariableValues,
};

use crate::field::{bytes, json, words};
use crate::record::record;

record! {
    Template in "templates" key(company_id, id) {
        company("company_id"),
        id,
        name,
        category,
        language,
        body,
        components,
        status,
        connection("connection_id"),
        provider_id,
        needs,
        token_hash,
        created_at,
        updated_at,
    }
}

words! { TemplateCategory, TemplateStatus }

json! { TemplateNeeds, Components, VariableValues, HeaderValue, Vec<ButtonValue> }

// As bytes, unlike other hashes: the column had ids in it before.
bytes! {
    TemplateTokenHash: |hash| hash.as_bytes(),
        |bytes| bytes.try_into().ok().map(TemplateTokenHash::from_bytes);
}
