//! Inbound endpoints.

use recado_core::inbound::{
    AuthMode, EndpointSecretHash, EndpointSlug, InboundEndpoint, VariableMapping,
};

use crate::cell::{CellReader, CellWriter};
use crate::field::{Column, hash_texts, json_of, texts, words};
use crate::record::record;

record! {
    InboundEndpoint in "inbound_endpoints" key(company_id, id) {
        company("company_id"),
        id,
        slug,
        mapping("variable_mapping"),
        auth_mode,
        secret_hash,
        is_active,
        created_at,
        updated_at,
    }
}

words! { AuthMode }

hash_texts! { EndpointSecretHash }

texts! {
    EndpointSlug: EndpointSlug::as_str, EndpointSlug::parse;
}

impl Column for VariableMapping {
    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        writer.json(json_of(self.entries()).into());
    }

    fn read_or_null<R: CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
        Ok(reader.json()?.map(Self::from_stored))
    }
}
