//! Conversion of Postgres errors to those of the contract.

use std::sync::Arc;

use recado_core::store::{CommitError, Conflict, StoreError, UniqueKey};
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

/// The unique key that a constraint of the schema enforces.
fn unique_key(constraint: &str) -> UniqueKey {
    match constraint {
        "contact_identifier" => UniqueKey::ContactIdentifier,
        "contact_email" => UniqueKey::ContactEmail,
        "custom_field_slug" => UniqueKey::CustomFieldSlug,
        "organization_cnpj" => UniqueKey::OrganizationCnpj,
        "key_hash" => UniqueKey::KeyHash,
        "login_member" | "login_link_member" => UniqueKey::LoginMember,
        "login_email" => UniqueKey::LoginEmail,
        "login_subject" => UniqueKey::LoginSubject,
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
        "halt" => UniqueKey::Halt,
        "template_token" => UniqueKey::TemplateToken,
        "endpoint_slug" => UniqueKey::EndpointSlug,
        "dispatch_window" => UniqueKey::DispatchWindow,
        "recipient" | "recipient_contact" => UniqueKey::Recipient,
        _ => UniqueKey::Id,
    }
}

/// The name of the function that migrates a database, for messages.
pub(crate) const MIGRATE: &str = "PostgresStore::migrate";

/// Whether the server refused because resources were short or because it is shutting down. A later
/// attempt may succeed.
fn passes(error: &DbError) -> bool {
    // The classes: connection, resources, operator intervention, system, and read-only after a
    // failover.
    let code = error.code().code();
    ["08", "53", "57", "58"].iter().any(|class| code.starts_with(class))
        || *error.code() == SqlState::READ_ONLY_SQL_TRANSACTION
        || *error.code() == SqlState::LOCK_NOT_AVAILABLE
}

/// The error of a failed read. The server's `DETAIL` is left out, because it may quote rows.
pub(crate) fn failed(error: Error) -> StoreError {
    // The schema is missing or older: a server may be started before its database is migrated.
    let missing =
        [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN, SqlState::UNDEFINED_FUNCTION];
    match error.as_db_error() {
        Some(db) if missing.contains(db.code()) => StoreError::not_migrated(MIGRATE, error),
        Some(db) if !passes(db) => {
            StoreError::corrupt(format!("{}: {}", db.code().code(), db.message()))
        }
        _ => StoreError::unavailable(error),
    }
}

/// Why a transaction of a commit failed.
pub(crate) struct Refused {
    /// For the caller.
    pub(crate) error: CommitError,
    /// Whether the server has answered, so that nothing has taken effect.
    pub(crate) rolled_back: bool,
}

/// Why a statement of a commit failed. `about` is the conflict if the statement found no row. When
/// the connection fails, the transaction may have been committed.
pub(crate) fn refused(error: Error, about: Option<Conflict>) -> Refused {
    match error.as_db_error() {
        Some(_) => Refused { error: refused_by_server(error, about), rolled_back: true },
        None => {
            let error = StoreError::outcome_unknown(error).into();
            Refused { error, rolled_back: false }
        }
    }
}

/// The conflict that a refusal of the server is. Triggers refuse a missing reference by the code of
/// a foreign key (R459).
fn refused_by_server(error: Error, about: Option<Conflict>) -> CommitError {
    let Some(code) = error.code() else { return failed(error).into() };
    if let (true, Some(conflict)) = (*code == SqlState::DIVISION_BY_ZERO, about) {
        return conflict.into();
    }
    if *code == SqlState::UNIQUE_VIOLATION {
        let constraint = error.as_db_error().and_then(DbError::constraint);
        return Conflict::Taken(unique_key(constraint.unwrap_or_default())).into();
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

/// The failure of work that was done for several callers, for each of them.
pub(crate) fn shared_failure(error: &Arc<StoreError>) -> StoreError {
    match &**error {
        StoreError::OutcomeUnknown(_) => StoreError::outcome_unknown(Arc::clone(error)),
        StoreError::Corrupt(what) => StoreError::Corrupt(what.clone()),
        StoreError::NotMigrated { migrate, .. } => {
            StoreError::not_migrated(migrate, Arc::clone(error))
        }
        _ => StoreError::unavailable(Arc::clone(error)),
    }
}

/// Whether a statement failed only because an earlier one of its transaction did.
pub(crate) fn follows(error: &Error) -> bool {
    error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_learns_why_shared_work_failed_and_whether_its_outcome_is_known() {
        let shared = |error| shared_failure(&Arc::new(error));
        let unknown = shared(StoreError::OutcomeUnknown(None));
        assert!(matches!(unknown, StoreError::OutcomeUnknown(Some(_))));
        let corrupt = shared(StoreError::corrupt("a row"));
        assert!(matches!(corrupt, StoreError::Corrupt(what) if what == "a row"));
        let old = shared(StoreError::not_migrated(MIGRATE, "a column"));
        assert!(matches!(old, StoreError::NotMigrated { migrate, .. } if migrate == MIGRATE));
        assert!(matches!(shared(StoreError::Unavailable(None)), StoreError::Unavailable(Some(_))));
    }

    #[test]
    fn primary_keys_are_the_identity_of_their_rows() {
        assert_eq!(unique_key("contacts_pkey"), UniqueKey::Id);
        assert_eq!(unique_key("contact_email"), UniqueKey::ContactEmail);
    }
}
