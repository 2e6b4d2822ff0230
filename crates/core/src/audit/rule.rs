//! Which changes get an entry, and which records it names (R385).

use std::collections::BTreeSet;

use super::{Acting, Actor, AuditEntry, RecordRef};
use crate::Timestamp;
use crate::campaigns::PauseReason;
use crate::ids::{AuditEntryId, CompanyId};
use crate::jobs::JobKind;
use crate::store::{Change, ChangeKind, ChangeSet, Row, RowKey, RowKind};

/// What a change is to the log.
enum Trace {
    /// Nothing: it follows from other changes, or belongs to the process.
    None,
    /// A reason for an entry, which does not name it.
    Unnamed,
    /// A reason for an entry, which names it.
    Named(RecordRef),
}

/// What the change of a row is to the log. A new kind has to be decided here.
fn trace(key: &RowKey, is_new: bool) -> Trace {
    let named = |kind, id: &dyn std::fmt::Display| Trace::Named(RecordRef::new(kind, id));
    match key {
        RowKey::Company { company } => named("company", company),
        RowKey::ApiKey { id, .. } => named("key", id),
        RowKey::Member { id, .. } => named("member", id),
        RowKey::Login { member, .. } | RowKey::LoginLink { member, .. } => named("member", member),
        RowKey::Session { id, .. } => named("session", id),
        RowKey::OperatorToken { id } => named("operator_token", id),
        // A secret of the installation is made at its first use.
        RowKey::Secret { .. } if is_new => Trace::None,
        RowKey::Secret { name } => named("secret", name),
        RowKey::Contact { id, .. } => named("contact", id),
        RowKey::ContactTag { contact, .. } | RowKey::Conversation { contact, .. } => {
            named("contact", contact)
        }
        RowKey::CustomField { id, .. } => named("custom_field", id),
        RowKey::List { id, .. } => named("list", id),
        RowKey::ListMember { list, .. } => named("list", list),
        RowKey::Tag { id, .. } => named("tag", id),
        RowKey::CloseReason { id, .. } => named("close_reason", id),
        RowKey::Pipeline { id, .. } => named("pipeline", id),
        RowKey::Stage { id, .. } => named("stage", id),
        RowKey::Deal { id, .. } => named("deal", id),
        RowKey::Organization { id, .. } => named("organization", id),
        RowKey::Document { id, .. } => named("document", id),
        RowKey::Upload { id, .. } => named("upload", id),
        RowKey::Link { id, .. } => named("link", id),
        RowKey::Connection { id, .. } => named("connection", id),
        RowKey::Group { connection, .. } => named("connection", connection),
        RowKey::Message { id, .. } => named("message", id),
        RowKey::LeadMemory { contact, .. } => named("lead_memory", contact),
        RowKey::LedgerLine { id, .. } => named("ledger_line", id),
        RowKey::UnknownEvent { id, .. } => named("unknown_event", id),
        RowKey::Template { id, .. } => named("template", id),
        RowKey::Webhook { id, .. } => named("webhook", id),
        RowKey::Delivery { id, .. } => named("delivery", id),
        RowKey::Halt { .. } => Trace::Unnamed,
        RowKey::InboundEndpoint { id, .. } => named("inbound_endpoint", id),
        RowKey::Campaign { id, .. } => named("campaign", id),
        // Work that a call asks for. That it goes on is the process's own.
        RowKey::Job { .. } if is_new => Trace::Unnamed,
        RowKey::Job { .. }
        | RowKey::Recipient { .. }
        | RowKey::Click { .. }
        | RowKey::Alias { .. }
        | RowKey::MessageRef { .. }
        | RowKey::RememberedCall { .. }
        | RowKey::Worker { .. }
        | RowKey::Routes { .. }
        | RowKey::Shard { .. }
        | RowKey::DispatchWindow { .. }
        | RowKey::RememberedOptOut { .. }
        | RowKey::StatusHistory { .. }
        | RowKey::AuditEntry { .. } => Trace::None,
    }
}

/// What a change is to the log.
fn traces(change: &Change) -> Vec<Trace> {
    let contact = |id| Trace::Named(RecordRef::new("contact", id));
    match change.kind() {
        // The commit that begins the campaign gets the entry (R447).
        ChangeKind::Insert(Row::Job(job)) if matches!(job.kind, JobKind::TakeList { .. }) => {
            vec![Trace::None]
        }
        ChangeKind::Insert(row) => vec![trace(&row.key(), true)],
        ChangeKind::Update { row, .. } => vec![trace(&row.key(), false)],
        ChangeKind::Delete { key, .. } => vec![trace(key, false)],
        ChangeKind::Enroll { campaign, .. } => {
            vec![Trace::Named(RecordRef::new("campaign", campaign))]
        }
        ChangeKind::Reassign { from, into, .. } => vec![contact(*into), contact(*from)],
        // The last commit of a long merge or deletion gets the entry of all (R441, R442).
        ChangeKind::ForgetMessages { .. }
        | ChangeKind::ReassignSome { .. }
        | ChangeKind::RemoveSome { .. }
        | ChangeKind::RemoveRows { .. } => vec![Trace::None],
    }
}

/// Whether the process decides something by itself: it removes a company or an organization, or
/// pauses a campaign.
fn decides(change: &Change) -> bool {
    match change.kind() {
        ChangeKind::Delete { key, .. } => {
            matches!(key.kind(), RowKind::Company | RowKind::Organization)
        }
        ChangeKind::Update { row: Row::Campaign(campaign), .. } => {
            campaign.pause_reason.is_some_and(|reason| reason != PauseReason::Operator)
        }
        _ => false,
    }
}

/// Whether what an actor changes gets an entry (R385). What a person, a key or the host program
/// changes does. What comes in from gateways and other systems does not: the message history and
/// the ledger keep it. Of the process's own work only what it decides by itself does: deliveries,
/// reports of status, schedules and retention follow from calls and settings.
pub fn is_logged(actor: Actor, changes: &ChangeSet) -> bool {
    match actor {
        Actor::Outside => false,
        Actor::System => changes.changes.iter().any(decides),
        Actor::Root
        | Actor::OperatorToken(_)
        | Actor::Member(..)
        | Actor::Key(..)
        | Actor::Program => {
            let mut traces = changes.changes.iter().flat_map(traces);
            traces.any(|trace| !matches!(trace, Trace::None))
        }
    }
}

/// The company of a change.
fn company(change: &Change) -> Option<CompanyId> {
    match change.kind() {
        ChangeKind::Insert(Row::OperatorToken(token))
        | ChangeKind::Update { row: Row::OperatorToken(token), .. } => token.company,
        ChangeKind::Insert(row) | ChangeKind::Update { row, .. } => row.key().company(),
        ChangeKind::Delete { key, .. } => key.company(),
        ChangeKind::Enroll { company, .. }
        | ChangeKind::Reassign { company, .. }
        | ChangeKind::ForgetMessages { company, .. }
        | ChangeKind::ReassignSome { company, .. }
        | ChangeKind::RemoveSome { company, .. }
        | ChangeKind::RemoveRows { company, .. } => Some(*company),
    }
}

/// The entry of a change set; `None` where it gets none (R385).
pub fn entry_of(
    changes: &ChangeSet,
    acting: &Acting,
    at: Timestamp,
    id: impl FnOnce() -> AuditEntryId,
) -> Option<AuditEntry> {
    if !is_logged(acting.actor(), changes) {
        return None;
    }
    let named = changes.changes.iter().flat_map(traces).filter_map(|trace| match trace {
        Trace::Named(record) => Some(record),
        Trace::None | Trace::Unnamed => None,
    });
    let records = named.collect();
    let companies: BTreeSet<_> = changes.changes.iter().filter_map(company).collect();
    let company = companies.first().copied().filter(|_| companies.len() == 1);
    Some(AuditEntry::new(id(), at, acting, company, records))
}
