//! Companies, their keys and members, and secrets of the installation.

use recado_core::access::{
    ApiKey, Company, Features, KeyHash, Member, OperatorRole, OperatorToken, Plan, Role, Scope,
    Scopes, Secret, SecretName, TimeZone,
};
use recado_core::contacts::Region;
use recado_core::secret::SecretBytes;

use crate::cell::{CellReader, CellWriter};
use crate::field::{Column, bytes, texts, words};
use crate::record::record;

record! {
    Company in "companies" key(id) {
        id,
        name,
        plan,
        features: Features { inbound_contacts, template_dispatch },
        default_region,
        time_zone,
        erase_deleted_messages,
        created_at,
        updated_at,
        deleted_at,
    }
}

record! {
    ApiKey in "api_keys" key(company_id, id) {
        company("company_id"),
        id,
        name,
        hash,
        scopes,
        rate_per_minute,
        export_rate_per_minute,
        expires_at,
        last_used_at,
        created_at,
    }
}

record! {
    Member in "members" key(company_id, id) {
        company("company_id"),
        id,
        display_name,
        role,
        created_at,
    }
}

record! {
    OperatorToken in "operator_tokens" key(id) {
        id,
        name,
        hash,
        role,
        company("company_id"),
        expires_at,
        last_used_at,
        created_at,
    }
}

record! {
    Secret in "secrets" key(name) {
        name,
        bytes,
    }
    sealed Bytes { "bytes" }
}

words! { OperatorRole, Plan, Role, SecretName }

texts! {
    Region: Region::as_str, Region::parse;
    TimeZone: TimeZone::as_str, TimeZone::parse;
}

bytes! {
    KeyHash: |hash| hash.as_bytes(), |bytes| bytes.try_into().ok().map(KeyHash::from_bytes);
    SecretBytes: SecretBytes::expose, |bytes| Some(SecretBytes::new(bytes));
}

impl Column for Scopes {
    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        writer.words(self.iter().map(Scope::as_str).collect());
    }

    fn read_or_null<R: CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
        Ok(reader.words(Scope::parse)?.map(|scopes| Self::of(&scopes)))
    }
}
