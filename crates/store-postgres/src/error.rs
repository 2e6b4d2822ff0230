//! What Postgres reports, in the terms of the contract.

use recado_core::store::{CommitError, Conflict, StoreError, UniqueKey};
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

/// The unique key of a constraint of the schema.
fn unique_key(constraint: &str) -> UniqueKey {
    match constraint {
        "contact_identifier" => UniqueKey::ContactIdentifier,
        "contact_email" => UniqueKey::ContactEmail,
        "custom_field_slug" => UniqueKey::CustomFieldSlug,
        "organization_cnpj" => UniqueKey::OrganizationCnpj,
        "key_hash" => UniqueKey::KeyHash,
        "link_code" => UniqueKey::LinkCode,
        "job_subject" => UniqueKey::JobSubject,
        "secret_name" => UniqueKey::SecretName,
        "list_member" => UniqueKey::ListMember,
        "contact_tag" => UniqueKey::ContactTag,
        "alias_key" => UniqueKey::AliasKey,
        "group_code" => UniqueKey::GroupCode,
        "conversation" => UniqueKey::Conversation,
        "provider_message" => UniqueKey::ProviderMessage,
        "lead_memory" => UniqueKey::LeadMemory,
        "call_key" => UniqueKey::CallKey,
        "company_routes" => UniqueKey::Routes,
        "shard_number" => UniqueKey::Shard,
        "template_token" => UniqueKey::TemplateToken,
        "endpoint_slug" => UniqueKey::EndpointSlug,
        "dispatch_window" => UniqueKey::DispatchWindow,
        "recipient" | "recipient_contact" => UniqueKey::Recipient,
        _ => UniqueKey::Id,
    }
}

/// What brings a database up to date.
pub(crate) const MIGRATE: &str = "PostgresStore::migrate";

/// Whether the server refused for want of means, or because it is going down: a later attempt may
/// succeed.
fn passes(error: &DbError) -> bool {
    // Classes: connection, resources, operator intervention, system, read-only after a failover.
    let code = error.code().code();
    ["08", "53", "57", "58"].iter().any(|class| code.starts_with(class))
        || *error.code() == SqlState::READ_ONLY_SQL_TRANSACTION
        || *error.code() == SqlState::LOCK_NOT_AVAILABLE
}

/// Why a read failed. The server's `DETAIL` may quote rows, so it is not repeated.
pub(crate) fn failed(error: Error) -> StoreError {
    match error.as_db_error() {
        // Nobody has migrated yet: a server may be up before its database is.
        Some(db) if *db.code() == SqlState::UNDEFINED_TABLE => {
            StoreError::not_migrated(MIGRATE, error)
        }
        Some(db) if !passes(db) => {
            StoreError::corrupt(format!("{}: {}", db.code().code(), db.message()))
        }
        _ => StoreError::unavailable(error),
    }
}

/// Why a statement of a commit failed. `about` is what it means that the statement found no row; a
/// failure of the connection may have come after the commit.
pub(crate) fn refused(error: Error, about: Option<Conflict>) -> CommitError {
    let Some(db) = error.as_db_error() else {
        return StoreError::outcome_unknown(error).into();
    };
    let code = db.code();
    if let (true, Some(conflict)) = (*code == SqlState::DIVISION_BY_ZERO, about) {
        return conflict.into();
    }
    if *code == SqlState::UNIQUE_VIOLATION {
        return Conflict::Taken(unique_key(db.constraint().unwrap_or_default())).into();
    }
    if *code == SqlState::FOREIGN_KEY_VIOLATION || *code == SqlState::RESTRICT_VIOLATION {
        return Conflict::Reference.into();
    }
    let raced = [
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    if raced.contains(code) {
        return Conflict::Contended.into();
    }
    failed(error).into()
}

/// Whether a statement failed only because an earlier one of its transaction did.
pub(crate) fn follows(error: &Error) -> bool {
    error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primary_keys_are_the_identity_of_their_rows() {
        assert_eq!(unique_key("contacts_pkey"), UniqueKey::Id);
        assert_eq!(unique_key("contact_email"), UniqueKey::ContactEmail);
    }
}
