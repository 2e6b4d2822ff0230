//! Client organizations.

use recado_core::organizations::{Cnpj, Organization};

use crate::field::texts;
use crate::record::record;

record! {
    Organization in "organizations" key(company_id, id) {
        company("company_id"),
        id,
        name,
        cnpj,
        razao_social,
        enriched_at,
        created_at,
        updated_at,
    }
}

texts! {
    Cnpj: Cnpj::as_str, |text| Cnpj::from_stored(text.to_owned()).ok();
}
