//! Why a commit or a read did not succeed.

use super::error::StoreError;
use super::{RowKey, RowKind};
use crate::ids::CompanyId;

/// Why a change set was not applied. It is never shown to a caller: the decision is made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// A row that was read was changed or deleted, or a precondition no longer holds.
    Stale(RowKey),
    /// An export of the company has passed the position of a new contact
    /// ([`Precondition::NotExported`](super::Precondition::NotExported)).
    Exported(CompanyId),
    /// The installation, or a company that the set writes for, is closed
    /// ([`Precondition::Open`](super::Precondition::Open)).
    Closed,
    /// A unique key is held by another row.
    Taken(UniqueKey),
    /// A referenced row is missing, or a row to be deleted is still referred to.
    Reference,
    /// The database aborted the transaction (deadlock, serialization failure); trying again may
    /// succeed.
    Contended,
}

/// A commit that was not applied, or whose outcome is unknown.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Nothing was applied.
    #[error("the change set conflicts: {0:?}")]
    Conflict(Conflict),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Conflict> for CommitError {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}

/// The unique keys of the schema, beyond the identifiers themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UniqueKey {
    /// The primary key of any row.
    Id,
    /// (company, source_platform, identifier) of a contact (D17).
    ContactIdentifier,
    /// (company, email) of a contact (D20).
    ContactEmail,
    /// (company, slug) of a custom-field definition (D58).
    CustomFieldSlug,
    /// (company, cnpj) of an organization (D22).
    OrganizationCnpj,
    /// The SHA-256 of an API key (D11).
    KeyHash,
    /// (company, member) of a login, and of a one-time link.
    LoginMember,
    /// The address of a login, over all companies (R394).
    LoginEmail,
    /// Who a login belongs to at the provider of sign-ins, over all companies (R433).
    LoginSubject,
    /// The code of a tracked link, over all companies (D60).
    LinkCode,
    /// (company, kind, subject) of a job: at most one job of a kind for one record.
    JobSubject,
    /// The name of an installation secret.
    SecretName,
    /// (company, source_platform, key) of an alias (D62).
    AliasKey,
    /// (connection, code) of a group.
    GroupCode,
    /// (contact, connection) of a conversation.
    Conversation,
    /// (connection, provider's message id) (D31).
    ProviderMessage,
    /// The contact of a lead memory.
    LeadMemory,
    /// (company, operation, key) of a remembered call (D37).
    CallKey,
    /// The token of a template, over all companies (4.10).
    TemplateToken,
    /// (list, contact).
    ListMember,
    /// (contact, tag).
    ContactTag,
    /// The company of a row of routes.
    Routes,
    /// The number of a share of the webhooks.
    Shard,
    /// What a halt stops.
    Halt,
    /// The slug of an inbound endpoint, over all companies (D46a).
    EndpointSlug,
    /// (contact, key) of a dispatch window (D50).
    DispatchWindow,
    /// (campaign, number) and (campaign, contact) of a recipient (D66).
    Recipient,
}

impl UniqueKey {
    /// The unique key that identifies the rows of a kind.
    pub const fn identity(kind: RowKind) -> Self {
        match kind {
            RowKind::Secret => Self::SecretName,
            RowKind::Login | RowKind::LoginLink => Self::LoginMember,
            RowKind::ListMember => Self::ListMember,
            RowKind::ContactTag => Self::ContactTag,
            RowKind::Alias => Self::AliasKey,
            RowKind::Group => Self::GroupCode,
            RowKind::Conversation => Self::Conversation,
            RowKind::MessageRef => Self::ProviderMessage,
            RowKind::LeadMemory => Self::LeadMemory,
            RowKind::RememberedCall => Self::CallKey,
            RowKind::Routes => Self::Routes,
            RowKind::Shard => Self::Shard,
            RowKind::Halt => Self::Halt,
            RowKind::DispatchWindow => Self::DispatchWindow,
            RowKind::Recipient => Self::Recipient,
            _ => Self::Id,
        }
    }
}
