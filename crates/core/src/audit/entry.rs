//! An entry of the audit log (R384).

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Acting, ActorKind, OperationName};
use crate::Timestamp;
use crate::code::Code;
use crate::ids::{AuditEntryId, CompanyId};

/// How many records an entry names at most; beyond them it has their number only.
pub const MAX_RECORDS: usize = 10;

/// A record that an entry names. It has ids only, and nothing that a person wrote (R390).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordRef {
    /// The kind, such as `contact`.
    pub kind: String,
    /// The id: a UUID, or the word of a record that has none.
    pub id: String,
}

impl RecordRef {
    /// A record of a kind.
    pub fn new(kind: &'static str, id: impl std::fmt::Display) -> Self {
        Self { kind: kind.to_owned(), id: id.to_string() }
    }
}

/// The records of an entry: the first of them, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordRefs {
    named: Vec<RecordRef>,
    count: u32,
}

impl RecordRefs {
    /// The first of them, by kind and id.
    pub fn named(&self) -> &[RecordRef] {
        &self.named
    }

    /// How many there are.
    pub const fn count(&self) -> u32 {
        self.count
    }
}

/// Each record is counted once, and they are in order: the order in which a store reads the rows of
/// a change is its own (R384).
impl FromIterator<RecordRef> for RecordRefs {
    fn from_iter<I: IntoIterator<Item = RecordRef>>(records: I) -> Self {
        let all: BTreeSet<RecordRef> = records.into_iter().collect();
        let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
        Self { named: all.into_iter().take(MAX_RECORDS).collect(), count }
    }
}

/// The address that an entry has, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditAddress(String);

impl AuditAddress {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A stored text; `None` for what is no address.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(|address: IpAddr| Self(address.to_string()))
    }
}

/// An entry of the audit log. It is added by the commit of what it tells, is never changed, and
/// leaves the log by its age alone (R384, R389).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its id.
    pub id: AuditEntryId,
    /// The company it is about; `None`: the installation, or several companies.
    pub company: Option<CompanyId>,
    /// When.
    pub at: Timestamp,
    /// The kind of who acted.
    pub actor: ActorKind,
    /// The id of the token, member or key.
    pub actor_id: Option<Uuid>,
    /// From where.
    pub client: Option<AuditAddress>,
    /// In which operation.
    pub operation: OperationName,
    /// On which records.
    pub records: RecordRefs,
    /// The code of the refusal; `None`: it was done.
    pub denied: Option<Code>,
}

impl AuditEntry {
    /// What one did.
    pub fn new(
        id: AuditEntryId,
        at: Timestamp,
        acting: &Acting,
        company: Option<CompanyId>,
        records: RecordRefs,
    ) -> Self {
        let actor = acting.actor();
        Self {
            id,
            company: actor.company().or(company).or(acting.about()),
            at,
            actor: actor.kind(),
            actor_id: actor.id(),
            client: acting.from().map(|address| AuditAddress(address.to_string())),
            operation: acting.operation().clone(),
            records,
            denied: None,
        }
    }
}

/// An entry as it is shown.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct AuditEntryView {
    /// Its id.
    pub id: AuditEntryId,
    /// The company it is about; null: the installation, or several companies.
    pub company_id: Option<CompanyId>,
    /// When.
    pub at: Timestamp,
    /// The kind of who acted.
    pub actor: ActorKind,
    /// The id of the token, member or key; null for others.
    pub actor_id: Option<Uuid>,
    /// The address of the client; null where there is none.
    pub from: Option<String>,
    /// The `operationId` of the call, or the words of the command.
    pub operation: OperationName,
    /// The first ten records.
    pub records: Vec<RecordRef>,
    /// How many records there are.
    pub record_count: u32,
    /// `done` or `denied`.
    pub outcome: AuditOutcome,
    /// The code of the refusal; null where it was done.
    pub code: Option<&'static str>,
}

crate::words::words! {
    /// How an operation ended.
    AuditOutcome {
        /// It was done.
        Done = "done",
        /// It was refused.
        Denied = "denied",
    }
}

impl AuditEntry {
    /// How it ended.
    pub const fn outcome(&self) -> AuditOutcome {
        match self.denied {
            None => AuditOutcome::Done,
            Some(_) => AuditOutcome::Denied,
        }
    }
}

impl From<AuditEntry> for AuditEntryView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            outcome: entry.outcome(),
            id: entry.id,
            company_id: entry.company,
            at: entry.at,
            actor: entry.actor,
            actor_id: entry.actor_id,
            from: entry.client.map(|address| address.0),
            operation: entry.operation,
            record_count: entry.records.count,
            records: entry.records.named,
            code: entry.denied.map(Code::as_str),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R384.
    #[test]
    fn an_entry_names_ten_records_and_counts_the_others() {
        let of = |n: u32| RecordRef::new("contact", n);
        let records: RecordRefs = (10..35).chain(10..15).map(of).collect();
        assert_eq!((records.named().len(), records.count()), (10, 25));
        assert_eq!(records.named()[9], of(19));
    }

    /// R384.
    #[test]
    fn the_records_of_an_entry_are_the_same_in_whatever_order_they_were_read() {
        let (contact, tag) =
            (|n: u32| RecordRef::new("contact", n), |n: u32| RecordRef::new("tag", n));
        let one: RecordRefs = (10..25).map(contact).chain((10..15).map(tag)).collect();
        let other: RecordRefs =
            (10..15).rev().map(tag).chain((10..25).rev().map(contact)).collect();
        assert_eq!(one, other);
        assert_eq!(one.named().first(), Some(&contact(10)));
    }
}
