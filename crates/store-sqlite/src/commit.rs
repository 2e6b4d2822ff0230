//! Applies a change set inside a savepoint.

use recado_core::access::{ApiKey, Company, Member, Secret};
use recado_core::campaigns::{Campaign, Recipient};
use recado_core::connections::Connection;
use recado_core::contacts::{Alias, Contact, ContactTag};
use recado_core::conversations::Conversation;
use recado_core::custom_fields::CustomField;
use recado_core::deals::{Deal, Pipeline, Stage};
use recado_core::deliveries::{Delivery, Shard};
use recado_core::dispatches::DispatchWindow;
use recado_core::documents::Document;
use recado_core::events::Event;
use recado_core::gateway::UnknownKind;
use recado_core::groups::ConnectionGroup;
use recado_core::idempotency::RememberedCall;
use recado_core::inbound::InboundEndpoint;
use recado_core::jobs::Job;
use recado_core::leads::LeadMemory;
use recado_core::links::{Click, Link};
use recado_core::lists::{List, ListMember};
use recado_core::messages::{Message, MessageRef};
use recado_core::organizations::Organization;
use recado_core::prosas::LedgerLine;
use recado_core::store::{
    ChangeKind, ChangeSet, CommitError, Conflict, Precondition, Row, RowKey, Version,
};
use recado_core::tags::{CloseReason, Tag};
use recado_core::templates::Template;
use recado_core::webhooks::{Routes, Webhook};
use recado_core::workers::Worker;

use crate::belongings;
use crate::cell::Cell;
use crate::contacts::{self, export_frontier};
use crate::deliveries;
use crate::events;
use crate::message_refs;
use crate::messages;
use crate::recipients;
use crate::shards;
use crate::table;
use crate::writer::{Transaction, read_error};

/// Applies everything or fails; the caller takes back what was written before a failure.
pub(crate) fn apply(tx: &mut Transaction<'_>, changes: ChangeSet) -> Result<(), CommitError> {
    for precondition in &changes.requires {
        require(tx, precondition)?;
    }
    for change in changes.changes {
        match change.into_kind() {
            ChangeKind::Insert(row) => insert(tx, &row)?,
            ChangeKind::Update { row, read_at } => update(tx, &row, read_at)?,
            ChangeKind::Delete { key, read_at } => delete(tx, &key, read_at)?,
            ChangeKind::Enroll { company, campaign, list } => {
                recipients::enroll(tx.conn, company, campaign, list)?;
            }
            ChangeKind::MoveBelongings { company, from, into } => {
                belongings::hand_over(tx.conn, company, from, into)?;
            }
            ChangeKind::ForgetMessages { company, contact, expires_at } => {
                message_refs::forget(tx.conn, company, contact, expires_at)?;
            }
            _ => {
                let unknown = recado_core::store::StoreError::corrupt("an unknown kind of change");
                return Err(unknown.into());
            }
        }
    }
    changes.events.iter().try_for_each(|event: &Event| events::insert(tx.conn, event))
}

/// Checks what a decision relied on. It holds until the commit: nobody else can write before.
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
            if table::version::<Routes>(tx.conn, &[(*company).into()])? == *read_at {
                return Ok(());
            }
            Err(Conflict::Stale(RowKey::Routes { company: *company }).into())
        }
    }
}

fn insert(tx: &mut Transaction<'_>, row: &Row) -> Result<(), CommitError> {
    let conn = tx.conn;
    match row {
        Row::Company(row) => table::insert(conn, row),
        Row::ApiKey(row) => table::insert(conn, row),
        Row::Member(row) => table::insert(conn, row),
        Row::Secret(row) => table::insert(conn, row),
        Row::Contact(row) => contacts::insert(tx, row),
        Row::ContactTag(row) => table::insert(conn, row),
        Row::CustomField(row) => table::insert(conn, row),
        Row::List(row) => table::insert(conn, row),
        Row::ListMember(row) => table::insert(conn, row),
        Row::Tag(row) => table::insert(conn, row),
        Row::CloseReason(row) => table::insert(conn, row),
        Row::Pipeline(row) => table::insert(conn, row),
        Row::Stage(row) => table::insert(conn, row),
        Row::Deal(row) => table::insert(conn, row),
        Row::Organization(row) => table::insert(conn, row),
        Row::Document(row) => table::insert(conn, row),
        Row::Link(row) => table::insert(conn, row),
        Row::Click(row) => table::insert(conn, row),
        Row::Connection(row) => table::insert(conn, row),
        Row::Group(row) => table::insert(conn, row),
        Row::Alias(row) => table::insert(conn, row),
        Row::Conversation(row) => table::insert(conn, row),
        Row::Message(row) => messages::insert(conn, row),
        Row::MessageRef(row) => table::insert(conn, row),
        Row::LeadMemory(row) => table::insert(conn, row),
        Row::LedgerLine(row) => table::insert(conn, row),
        Row::RememberedCall(row) => table::insert(conn, row),
        Row::Worker(row) => table::insert(conn, row),
        Row::UnknownKind(row) => table::insert(conn, row),
        Row::Template(row) => table::insert(conn, row),
        Row::Webhook(row) => table::insert(conn, row),
        Row::Routes(row) => table::insert(conn, row),
        Row::Delivery(row) => table::insert(conn, row),
        Row::Shard(row) => table::insert(conn, row),
        Row::InboundEndpoint(row) => table::insert(conn, row),
        Row::DispatchWindow(row) => table::insert(conn, row),
        Row::Campaign(row) => table::insert(conn, row),
        Row::Recipient(row) => table::insert(conn, row),
        Row::Job(row) => table::insert(conn, row),
    }
}

fn update(tx: &mut Transaction<'_>, new: &Row, read_at: Version) -> Result<(), CommitError> {
    let conn = tx.conn;
    let key = || new.key();
    match new {
        Row::Company(row) => table::update(conn, row, read_at, key),
        Row::ApiKey(row) => table::update(conn, row, read_at, key),
        Row::Member(row) => table::update(conn, row, read_at, key),
        Row::Secret(row) => table::update(conn, row, read_at, key),
        Row::Contact(row) => contacts::update(tx, row, read_at),
        Row::ContactTag(row) => table::update(conn, row, read_at, key),
        Row::CustomField(row) => table::update(conn, row, read_at, key),
        Row::List(row) => table::update(conn, row, read_at, key),
        Row::ListMember(row) => table::update(conn, row, read_at, key),
        Row::Tag(row) => table::update(conn, row, read_at, key),
        Row::CloseReason(row) => table::update(conn, row, read_at, key),
        Row::Pipeline(row) => table::update(conn, row, read_at, key),
        Row::Stage(row) => table::update(conn, row, read_at, key),
        Row::Deal(row) => table::update(conn, row, read_at, key),
        Row::Organization(row) => table::update(conn, row, read_at, key),
        Row::Document(row) => table::update(conn, row, read_at, key),
        Row::Link(row) => table::update(conn, row, read_at, key),
        Row::Click(row) => table::update(conn, row, read_at, key),
        Row::Connection(row) => table::update(conn, row, read_at, key),
        Row::Group(row) => table::update(conn, row, read_at, key),
        Row::Alias(row) => table::update(conn, row, read_at, key),
        Row::Conversation(row) => table::update(conn, row, read_at, key),
        Row::Message(row) => messages::update(conn, row, read_at),
        Row::MessageRef(row) => table::update(conn, row, read_at, key),
        Row::LeadMemory(row) => table::update(conn, row, read_at, key),
        Row::LedgerLine(row) => table::update(conn, row, read_at, key),
        Row::RememberedCall(row) => table::update(conn, row, read_at, key),
        Row::Worker(row) => table::update(conn, row, read_at, key),
        Row::UnknownKind(row) => table::update(conn, row, read_at, key),
        Row::Template(row) => table::update(conn, row, read_at, key),
        Row::Webhook(row) => table::update(conn, row, read_at, key),
        Row::Routes(row) => table::update(conn, row, read_at, key),
        Row::Delivery(row) => deliveries::update(conn, row, read_at),
        Row::Shard(row) => table::update(conn, row, read_at, key),
        Row::InboundEndpoint(row) => table::update(conn, row, read_at, key),
        Row::DispatchWindow(row) => table::update(conn, row, read_at, key),
        Row::Campaign(row) => table::update(conn, row, read_at, key),
        Row::Recipient(row) => recipients::update(conn, row, read_at),
        Row::Job(row) => table::update(conn, row, read_at, key),
    }
}

fn delete(tx: &mut Transaction<'_>, key: &RowKey, read_at: Version) -> Result<(), CommitError> {
    let conn = tx.conn;
    let by = key_cells(key);
    let named = || key.clone();
    match key {
        RowKey::Company { .. } => table::delete::<Company>(conn, &by, read_at, named),
        RowKey::ApiKey { .. } => table::delete::<ApiKey>(conn, &by, read_at, named),
        RowKey::Member { .. } => table::delete::<Member>(conn, &by, read_at, named),
        RowKey::Secret { .. } => table::delete::<Secret>(conn, &by, read_at, named),
        RowKey::Contact { company, id } => contacts::delete(tx, *company, *id, read_at),
        RowKey::ContactTag { .. } => table::delete::<ContactTag>(conn, &by, read_at, named),
        RowKey::CustomField { .. } => table::delete::<CustomField>(conn, &by, read_at, named),
        RowKey::List { .. } => table::delete::<List>(conn, &by, read_at, named),
        RowKey::ListMember { .. } => table::delete::<ListMember>(conn, &by, read_at, named),
        RowKey::Tag { .. } => table::delete::<Tag>(conn, &by, read_at, named),
        RowKey::CloseReason { .. } => table::delete::<CloseReason>(conn, &by, read_at, named),
        RowKey::Pipeline { .. } => table::delete::<Pipeline>(conn, &by, read_at, named),
        RowKey::Stage { .. } => table::delete::<Stage>(conn, &by, read_at, named),
        RowKey::Deal { .. } => table::delete::<Deal>(conn, &by, read_at, named),
        RowKey::Organization { .. } => table::delete::<Organization>(conn, &by, read_at, named),
        RowKey::Document { .. } => table::delete::<Document>(conn, &by, read_at, named),
        RowKey::Link { .. } => table::delete::<Link>(conn, &by, read_at, named),
        RowKey::Click { .. } => table::delete::<Click>(conn, &by, read_at, named),
        RowKey::Connection { .. } => table::delete::<Connection>(conn, &by, read_at, named),
        RowKey::Group { .. } => table::delete::<ConnectionGroup>(conn, &by, read_at, named),
        RowKey::Alias { .. } => table::delete::<Alias>(conn, &by, read_at, named),
        RowKey::Conversation { .. } => table::delete::<Conversation>(conn, &by, read_at, named),
        RowKey::Message { .. } => table::delete::<Message>(conn, &by, read_at, named),
        RowKey::MessageRef { .. } => table::delete::<MessageRef>(conn, &by, read_at, named),
        RowKey::LeadMemory { .. } => table::delete::<LeadMemory>(conn, &by, read_at, named),
        RowKey::LedgerLine { .. } => table::delete::<LedgerLine>(conn, &by, read_at, named),
        RowKey::RememberedCall { .. } => table::delete::<RememberedCall>(conn, &by, read_at, named),
        RowKey::Worker { .. } => table::delete::<Worker>(conn, &by, read_at, named),
        RowKey::UnknownKind { .. } => table::delete::<UnknownKind>(conn, &by, read_at, named),
        RowKey::Template { .. } => table::delete::<Template>(conn, &by, read_at, named),
        RowKey::Webhook { .. } => table::delete::<Webhook>(conn, &by, read_at, named),
        RowKey::Routes { .. } => table::delete::<Routes>(conn, &by, read_at, named),
        RowKey::Delivery { .. } => table::delete::<Delivery>(conn, &by, read_at, named),
        RowKey::Shard { .. } => table::delete::<Shard>(conn, &by, read_at, named),
        RowKey::InboundEndpoint { .. } => {
            table::delete::<InboundEndpoint>(conn, &by, read_at, named)
        }
        RowKey::DispatchWindow { .. } => table::delete::<DispatchWindow>(conn, &by, read_at, named),
        RowKey::Campaign { .. } => table::delete::<Campaign>(conn, &by, read_at, named),
        RowKey::Recipient { .. } => table::delete::<Recipient>(conn, &by, read_at, named),
        RowKey::Job { .. } => table::delete::<Job>(conn, &by, read_at, named),
    }
}

/// The version of a row, `None` when it is gone.
fn version(tx: &Transaction<'_>, key: &RowKey) -> Result<Option<Version>, CommitError> {
    let conn = tx.conn;
    let by = key_cells(key);
    match key {
        RowKey::Company { .. } => table::version::<Company>(conn, &by),
        RowKey::ApiKey { .. } => table::version::<ApiKey>(conn, &by),
        RowKey::Member { .. } => table::version::<Member>(conn, &by),
        RowKey::Secret { .. } => table::version::<Secret>(conn, &by),
        RowKey::Contact { .. } => table::version::<Contact>(conn, &by),
        RowKey::ContactTag { .. } => table::version::<ContactTag>(conn, &by),
        RowKey::CustomField { .. } => table::version::<CustomField>(conn, &by),
        RowKey::List { .. } => table::version::<List>(conn, &by),
        RowKey::ListMember { .. } => table::version::<ListMember>(conn, &by),
        RowKey::Tag { .. } => table::version::<Tag>(conn, &by),
        RowKey::CloseReason { .. } => table::version::<CloseReason>(conn, &by),
        RowKey::Pipeline { .. } => table::version::<Pipeline>(conn, &by),
        RowKey::Stage { .. } => table::version::<Stage>(conn, &by),
        RowKey::Deal { .. } => table::version::<Deal>(conn, &by),
        RowKey::Organization { .. } => table::version::<Organization>(conn, &by),
        RowKey::Document { .. } => table::version::<Document>(conn, &by),
        RowKey::Link { .. } => table::version::<Link>(conn, &by),
        RowKey::Click { .. } => table::version::<Click>(conn, &by),
        RowKey::Connection { .. } => table::version::<Connection>(conn, &by),
        RowKey::Group { .. } => table::version::<ConnectionGroup>(conn, &by),
        RowKey::Alias { .. } => table::version::<Alias>(conn, &by),
        RowKey::Conversation { .. } => table::version::<Conversation>(conn, &by),
        RowKey::Message { .. } => table::version::<Message>(conn, &by),
        RowKey::MessageRef { .. } => table::version::<MessageRef>(conn, &by),
        RowKey::LeadMemory { .. } => table::version::<LeadMemory>(conn, &by),
        RowKey::LedgerLine { .. } => table::version::<LedgerLine>(conn, &by),
        RowKey::RememberedCall { .. } => table::version::<RememberedCall>(conn, &by),
        RowKey::Worker { .. } => table::version::<Worker>(conn, &by),
        RowKey::UnknownKind { .. } => table::version::<UnknownKind>(conn, &by),
        RowKey::Template { .. } => table::version::<Template>(conn, &by),
        RowKey::Webhook { .. } => table::version::<Webhook>(conn, &by),
        RowKey::Routes { .. } => table::version::<Routes>(conn, &by),
        RowKey::Delivery { .. } => table::version::<Delivery>(conn, &by),
        RowKey::Shard { .. } => table::version::<Shard>(conn, &by),
        RowKey::InboundEndpoint { .. } => table::version::<InboundEndpoint>(conn, &by),
        RowKey::DispatchWindow { .. } => table::version::<DispatchWindow>(conn, &by),
        RowKey::Campaign { .. } => table::version::<Campaign>(conn, &by),
        RowKey::Recipient { .. } => table::version::<Recipient>(conn, &by),
        RowKey::Job { .. } => table::version::<Job>(conn, &by),
    }
}

/// The values of the key's columns, in the order of the table's key.
fn key_cells(key: &RowKey) -> Vec<Cell<'_>> {
    match *key {
        RowKey::Company { company } => vec![company.into()],
        RowKey::Secret { name } => vec![name.as_str().into()],
        RowKey::ApiKey { company, id } => vec![company.into(), id.into()],
        RowKey::Member { company, id } => vec![company.into(), id.into()],
        RowKey::Contact { company, id } => vec![company.into(), id.into()],
        RowKey::ContactTag { company, contact, tag } => {
            vec![company.into(), contact.into(), tag.into()]
        }
        RowKey::CustomField { company, id } => vec![company.into(), id.into()],
        RowKey::List { company, id } => vec![company.into(), id.into()],
        RowKey::ListMember { company, list, contact } => {
            vec![company.into(), list.into(), contact.into()]
        }
        RowKey::Tag { company, id } => vec![company.into(), id.into()],
        RowKey::CloseReason { company, id } => vec![company.into(), id.into()],
        RowKey::Pipeline { company, id } => vec![company.into(), id.into()],
        RowKey::Stage { company, id } => vec![company.into(), id.into()],
        RowKey::Deal { company, id } => vec![company.into(), id.into()],
        RowKey::Organization { company, id } => vec![company.into(), id.into()],
        RowKey::Document { company, id } => vec![company.into(), id.into()],
        RowKey::Link { company, id } => vec![company.into(), id.into()],
        RowKey::Click { company, id } => vec![company.into(), id.into()],
        RowKey::Connection { company, id } => vec![company.into(), id.into()],
        RowKey::Group { company, connection, ref code } => {
            vec![company.into(), connection.into(), code.as_str().into()]
        }
        RowKey::Alias { company, ref platform, ref key } => {
            vec![company.into(), platform.as_str().into(), key.as_str().into()]
        }
        RowKey::Conversation { company, contact, connection } => {
            vec![company.into(), contact.into(), connection.into()]
        }
        RowKey::Message { company, id } => vec![company.into(), id.into()],
        RowKey::MessageRef { company, connection, ref provider_id } => {
            vec![company.into(), connection.into(), provider_id.as_str().into()]
        }
        RowKey::LeadMemory { company, contact } => vec![company.into(), contact.into()],
        RowKey::LedgerLine { company, id } => vec![company.into(), id.into()],
        RowKey::RememberedCall { company, ref key } => {
            vec![company.into(), (&key.operation).into(), (&key.key).into()]
        }
        RowKey::Worker { id } => vec![id.into()],
        RowKey::UnknownKind { company, connection, ref kind } => {
            vec![company.into(), connection.into(), kind.as_str().into()]
        }
        RowKey::Template { company, id } => vec![company.into(), id.into()],
        RowKey::Webhook { company, id } => vec![company.into(), id.into()],
        RowKey::Routes { company } => vec![company.into()],
        RowKey::Delivery { company, id } => vec![company.into(), id.into()],
        RowKey::Shard { number } => vec![shards::number(number)],
        RowKey::InboundEndpoint { company, id } => vec![company.into(), id.into()],
        RowKey::DispatchWindow { company, contact, ref key } => {
            vec![company.into(), contact.into(), Cell::Bytes(key.as_bytes())]
        }
        RowKey::Campaign { company, id } => vec![company.into(), id.into()],
        RowKey::Recipient { company, campaign, number } => {
            vec![company.into(), campaign.into(), number.0.into()]
        }
        RowKey::Job { company, id } => vec![company.into(), id.into()],
    }
}
