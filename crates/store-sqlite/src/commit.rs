//! Applies a change set inside a savepoint.

use recado_core::events::Event;
use recado_core::store::{
    ChangeKind, ChangeSet, CommitError, Conflict, Precondition, Row, RowKey, Version,
};
use recado_core::{match_kind, match_row};

use crate::batch::Transaction;
use crate::contacts::{self, export_frontier};
use crate::deliveries;
use crate::events;
use crate::halts::Closed;
use crate::message_refs;
use crate::messages;
use crate::portions;
use crate::reassign;
use crate::recipients;
use crate::records::count_about;
use crate::table;
use crate::writer::read_error;

/// Applies all changes, or fails. The caller undoes what was written before a failure.
pub(crate) fn apply(tx: &mut Transaction<'_>, changes: ChangeSet) -> Result<(), CommitError> {
    for precondition in &changes.requires {
        require(tx, precondition)?;
    }
    for change in changes.changes {
        match change.into_kind() {
            ChangeKind::Insert(row) => insert(tx, &row)?,
            ChangeKind::Update { row, read_at, part: _ } => update(tx, &row, read_at)?,
            ChangeKind::Delete { key, read_at } => delete(tx, &key, read_at)?,
            ChangeKind::Enroll { company, campaign, list } => {
                recipients::enroll(tx.conn, company, campaign, list)?;
            }
            ChangeKind::Reassign { company, from, into } => {
                reassign::reassign(tx.conn, company, from, into)?;
            }
            ChangeKind::ForgetMessages { company, contact, expires_at } => {
                message_refs::forget(tx.conn, company, contact, expires_at)?;
            }
            ChangeKind::ReassignSome { company, from, into, most } => {
                portions::reassign_some(tx.conn, company, from, into, most)?;
            }
            ChangeKind::RemoveSome { company, contact, expires_at, most } => {
                portions::remove_some(tx.conn, company, contact, expires_at, most)?;
            }
            ChangeKind::RemoveRows { company, of, most } => {
                portions::remove_rows(tx.conn, company, of, most)?;
            }
            _ => {
                let unknown = recado_core::store::StoreError::corrupt("an unknown kind of change");
                return Err(unknown.into());
            }
        }
    }
    changes.events.iter().try_for_each(|event: &Event| events::insert(tx.conn, event))
}

/// Checks a precondition. It still holds at the commit, because no other writer can run before
/// that.
fn require(tx: &Transaction<'_>, precondition: &Precondition) -> Result<(), CommitError> {
    match precondition {
        Precondition::Unchanged { key, read_at } => {
            if version(tx, key)? == Some(*read_at) {
                return Ok(());
            }
            Err(Conflict::Stale(key.clone()).into())
        }
        Precondition::NotExported { company, created_at } => {
            let frontier = export_frontier(tx.conn, *company).map_err(read_error)?;
            if frontier.is_none_or(|frontier| frontier < *created_at) {
                return Ok(());
            }
            Err(Conflict::Exported(*company).into())
        }
        Precondition::Routed { company, read_at } => {
            let key = RowKey::Routes { company: *company };
            if version(tx, &key)? == *read_at {
                return Ok(());
            }
            Err(Conflict::Stale(key).into())
        }
        Precondition::Open { companies } => {
            let closed = Closed::read(tx.conn).map_err(read_error)?;
            if closed.is_everything() || companies.iter().any(|one| closed.includes(*one)) {
                return Err(Conflict::Closed.into());
            }
            Ok(())
        }
        Precondition::Counted { company, kind, contact, count } => {
            let found = count_about(tx.conn, *company, *kind, *contact).map_err(read_error)?;
            if found == *count {
                return Ok(());
            }
            let key = RowKey::Contact { company: *company, id: *contact };
            Err(Conflict::Stale(key).into())
        }
    }
}

fn insert(tx: &mut Transaction<'_>, row: &Row) -> Result<(), CommitError> {
    match row {
        Row::Contact(contact) => contacts::insert(tx, contact),
        Row::Message(message) => messages::insert(tx.conn, message),
        row => match_row!(row, record => table::insert(tx.conn, record)),
    }
}

fn update(tx: &mut Transaction<'_>, row: &Row, read_at: Version) -> Result<(), CommitError> {
    match row {
        Row::Contact(contact) => contacts::update(tx, contact, read_at),
        Row::Message(message) => messages::update(tx.conn, message, read_at),
        Row::Delivery(delivery) => deliveries::update(tx.conn, delivery, read_at),
        Row::Recipient(recipient) => recipients::update(tx.conn, recipient, read_at),
        row => match_row!(row, record => table::update(tx.conn, record, read_at)),
    }
}

fn delete(tx: &mut Transaction<'_>, key: &RowKey, read_at: Version) -> Result<(), CommitError> {
    tx.has_erased = true;
    match key {
        RowKey::Contact { company, id } => contacts::delete(tx, *company, *id, read_at),
        key => match_kind!(key.kind(), T => table::delete::<T>(tx.conn, key, read_at)),
    }
}

/// The version of a row, `None` if it is missing.
fn version(tx: &Transaction<'_>, key: &RowKey) -> Result<Option<Version>, CommitError> {
    match_kind!(key.kind(), T => table::version::<T>(tx.conn, key))
}
