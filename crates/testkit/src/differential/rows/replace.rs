//! Rows that replace others.

use recado_core::connections::{Connection, StatusHistory};
use recado_core::contacts::Contact;
use recado_core::conversations::Conversation;
use recado_core::gateway::UnknownEvent;
use recado_core::groups::{ConnectionGroup, Group};
use recado_core::idempotency::RememberedCall;
use recado_core::jobs::Job;
use recado_core::leads::LeadMemory;
use recado_core::messages::{Message, MessageRef};
use recado_core::prosas::LedgerLine;
use recado_core::store::Row;
use recado_core::templates::Template;
use recado_core::uploads::Upload;
use recado_core::workers::Worker;

/// `made` with the identity of `of`, which is a row of the same kind.
pub(super) fn replacing(of: &Row, made: Row) -> Row {
    match (of, made) {
        (Row::Contact(of), Row::Contact(made)) => Contact { id: of.id, ..made }.into(),
        (Row::Connection(of), Row::Connection(made)) => Connection { id: of.id, ..made }.into(),
        (Row::Group(of), Row::Group(made)) => {
            let group = Group { code: of.group.code.clone(), ..made.group };
            ConnectionGroup { connection: of.connection, group, ..made }.into()
        }
        (Row::StatusHistory(of), Row::StatusHistory(made)) => {
            StatusHistory { connection: of.connection, ..made }.into()
        }
        (Row::Conversation(of), Row::Conversation(made)) => {
            Conversation { contact: of.contact, connection: of.connection, ..made }.into()
        }
        (Row::Message(of), Row::Message(made)) => Message { id: of.id, ..made }.into(),
        (Row::MessageRef(of), Row::MessageRef(made)) => {
            let provider_id = of.provider_id.clone();
            MessageRef { connection: of.connection, provider_id, ..made }.into()
        }
        (Row::LeadMemory(of), Row::LeadMemory(made)) => {
            LeadMemory { contact: of.contact, ..made }.into()
        }
        (Row::LedgerLine(of), Row::LedgerLine(made)) => LedgerLine { id: of.id, ..made }.into(),
        (Row::RememberedCall(of), Row::RememberedCall(made)) => {
            RememberedCall { key: of.key.clone(), ..made }.into()
        }
        (Row::Worker(of), Row::Worker(made)) => Worker { id: of.id, ..made }.into(),
        (Row::UnknownEvent(of), Row::UnknownEvent(made)) => {
            UnknownEvent { id: of.id, ..made }.into()
        }
        (Row::Job(of), Row::Job(made)) => {
            let is_same = of.kind.name() == made.kind.name();
            let is_same = is_same && of.kind.subject() == made.kind.subject();
            let kind = if is_same { made.kind } else { of.kind.clone() };
            Job { id: of.id, kind, ..made }.into()
        }
        (Row::Template(of), Row::Template(made)) => Template { id: of.id, ..made }.into(),
        (Row::Upload(of), Row::Upload(made)) => Upload { id: of.id, ..made }.into(),
        (of, made) => super::reach::replacing(of, made),
    }
}
