//! Rows of connections, conversations, messages and related rows, for use with those of [`Scene`].

use recado_core::Timestamp;
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName, StatusHistory,
    StatusSince,
};
use recado_core::contacts::{Alias, ChannelKey, Contact, Platform};
use recado_core::conversations::Conversation;
use recado_core::gateway::{KeptBody, UnknownEvent, UnknownForm, UnknownReason};
use recado_core::groups::{ConnectionGroup, Group, GroupCode};
use recado_core::idempotency::{CallKey, CallState, RememberedCall};
use recado_core::ids::{
    ConnectionId, ContactId, LedgerLineId, MessageId, TemplateId, UnknownEventId, WorkerId,
};
use recado_core::leads::{Inferred, LeadMemory};
use recado_core::messages::{
    Blocks, Direction, Early, Media, Message, MessageRef, MessageStatus, MessageType,
    ProviderMessageId, Quoted, RefTarget, SenderType, StatusReport,
};
use recado_core::prosas::{Brl, LedgerLine, LineKind, ProsaScope, Prosas};
use recado_core::store::{RecordsExt, Stored};
use recado_core::templates::{
    Components, Template, TemplateCategory, TemplateNeeds, TemplateStatus, TemplateTokenHash,
};
use recado_core::workers::Worker;
use serde_json::json;

use super::call_site::CallSite;
use super::scene::{Scene, at};

/// A channel key as a store keeps it.
pub(super) fn key(key: &str) -> ChannelKey {
    ChannelKey::from_stored(key.to_owned())
}

/// A group code.
pub(super) fn code(id: &str) -> GroupCode {
    GroupCode::parse(&format!("{id}@g.us"), "g.us").expect("a group code")
}

/// A provider's message id.
pub(super) fn wamid(id: &str) -> ProviderMessageId {
    ProviderMessageId::parse(id).expect("a provider's id")
}

/// A channel by name.
pub(super) fn platform(name: &str) -> Platform {
    Platform::parse(name).expect("a channel")
}

impl Scene {
    /// A stored contact and a stored connection.
    pub(super) async fn pair(&self) -> (Contact, Connection) {
        let (contact, connection) = (self.contact(), self.connection());
        self.add(contact.clone()).await;
        self.add(connection.clone()).await;
        (contact, connection)
    }

    /// A message as it is stored now.
    #[track_caller]
    pub(super) fn message_now(
        &self,
        id: MessageId,
    ) -> impl Future<Output = Option<Stored<Message>>> {
        let caller = CallSite::here();
        async move {
            let mut found = caller.works(self.store.messages(self.company, &[id]).await);
            assert!(found.len() <= 1, "{caller}: a message is there once");
            found.pop()
        }
    }

    /// A connection as it is stored now.
    #[track_caller]
    pub(super) fn connection_now(
        &self,
        id: ConnectionId,
    ) -> impl Future<Output = Option<Stored<Connection>>> {
        let caller = CallSite::here();
        async move { caller.works(self.store.get::<Connection>((self.company, id)).await) }
    }

    pub(super) fn connection(&self) -> Connection {
        Connection {
            id: ConnectionId::new(self.uuid()),
            company: self.company,
            kind: ConnectionKind::Qr,
            platform: Platform::whatsapp(),
            name: "Loja".to_owned(),
            identifier: "551133224455".to_owned(),
            gateway: GatewayName::new("simulated"),
            settings: ConnectionSettings::default(),
            is_active: true,
            status: ConnectionStatus::Connected,
            created_at: at(0),
            updated_at: at(0),
            last_heard_at: None,
        }
    }

    pub(super) fn group(&self, connection: &Connection, id: &str) -> ConnectionGroup {
        let group = Group::seen(code(id));
        ConnectionGroup { company: self.company, connection: connection.id, group }
    }

    /// That a connection was reached from the start.
    pub(super) fn statuses(&self, connection: &Connection) -> StatusHistory {
        let since = StatusSince { at: at(0), status: ConnectionStatus::Connected };
        StatusHistory { company: self.company, connection: connection.id, changes: vec![since] }
    }

    /// An event that no adapter recognizes, about nobody.
    pub(super) fn unknown_event(&self, connection: &Connection, kind: &str) -> UnknownEvent {
        UnknownEvent {
            company: self.company,
            id: UnknownEventId::new(self.uuid()),
            connection: connection.id,
            contact: None,
            kind: kind.to_owned(),
            reason: UnknownReason::UnknownKind,
            form: UnknownForm::Gateway,
            received_at: at(0),
            provider_id: None,
            body: KeptBody::from_stored(json!({ "event": kind }).to_string()),
        }
    }

    pub(super) fn alias(&self, contact: &Contact, name: &str) -> Alias {
        Alias {
            company: self.company,
            platform: contact.source_platform.clone(),
            key: key(name),
            contact: contact.id,
        }
    }

    pub(super) fn conversation(&self, contact: &Contact, connection: &Connection) -> Conversation {
        Conversation {
            company: self.company,
            contact: contact.id,
            connection: connection.id,
            identifier: "5534991234567".to_owned(),
            last_message_at: Some(at(0)),
            last_inbound_at: None,
            unread: 1,
        }
    }

    /// A received text, stored at this time.
    pub(super) fn inbound(
        &self,
        contact: &Contact,
        connection: &Connection,
        millis: i64,
    ) -> Message {
        Message {
            id: MessageId::new(self.uuid()),
            company: self.company,
            contact: contact.id,
            connection: connection.id,
            direction: Direction::Inbound,
            message_type: MessageType::Text,
            sender_type: SenderType::Contact,
            status: MessageStatus::Received,
            failure: None,
            content: Some("oi".to_owned()),
            media: Media::default(),
            blocks: Blocks::default(),
            provider_id: None,
            external_id: None,
            quoted: Quoted::default(),
            participant: None,
            template_category: None,
            prosa: None,
            is_history: false,
            edited_at: None,
            sender: None,
            created_at: at(millis),
            timestamp: at(millis),
        }
    }

    /// A text sent by the company's software at this time.
    pub(super) fn outbound(
        &self,
        contact: &Contact,
        connection: &Connection,
        millis: i64,
    ) -> Message {
        Message {
            direction: Direction::Outbound,
            sender_type: SenderType::System,
            status: MessageStatus::Sent,
            ..self.inbound(contact, connection, millis)
        }
    }

    /// A message that a process is sending.
    pub(super) fn pending(
        &self,
        contact: &Contact,
        connection: &Connection,
        sender: WorkerId,
    ) -> Message {
        let status = MessageStatus::Pending;
        Message { status, sender: Some(sender), ..self.outbound(contact, connection, 0) }
    }

    /// The reference to a message on its connection.
    pub(super) fn reference(&self, message: &Message, id: &str) -> MessageRef {
        MessageRef {
            company: self.company,
            connection: message.connection,
            provider_id: wamid(id),
            target: RefTarget::Message(message.id),
        }
    }

    /// A report of a message that is not stored yet.
    pub(super) fn report(
        &self,
        connection: &Connection,
        id: &str,
        expires_at: Timestamp,
    ) -> MessageRef {
        let report = StatusReport { status: MessageStatus::Delivered, failure: None };
        MessageRef {
            company: self.company,
            connection: connection.id,
            provider_id: wamid(id),
            target: RefTarget::Early { early: Early::of_report(report), expires_at },
        }
    }

    pub(super) fn lead(&self, contact: &Contact) -> LeadMemory {
        LeadMemory {
            company: self.company,
            contact: contact.id,
            version: 1,
            inferred: Inferred { summary: "quer bolo".to_owned(), ..Inferred::default() },
            interaction_count: 1,
            first_interaction_at: at(0),
            last_memory_update_at: at(0),
        }
    }

    /// A debit of this many thousandths of a prosa, at this time.
    pub(super) fn debit(&self, contact: Option<ContactId>, units: i64, millis: i64) -> LedgerLine {
        let id = LedgerLineId::new(self.uuid());
        LedgerLine {
            id,
            company: self.company,
            consumption_id: id,
            kind: LineKind::Debit,
            scope: ProsaScope::Message,
            prosas: Prosas::from_units(units),
            cost: Brl::from_units(units * 7),
            refunded: (Prosas::ZERO, Brl::ZERO),
            contact,
            campaign: None,
            description: None,
            created_at: at(millis),
        }
    }

    pub(super) fn call(&self, key: &str, contact: Option<ContactId>) -> RememberedCall {
        RememberedCall {
            company: self.company,
            key: CallKey { operation: "POST /v1/messages".to_owned(), key: key.to_owned() },
            body_hash: self.random(),
            state: CallState::Answered { answer: "{}".to_owned() },
            contact,
            expires_at: at(86_400_000),
        }
    }

    /// A process whose lease ends at this time.
    pub(super) fn worker(&self, millis: i64) -> Worker {
        Worker { id: WorkerId::new(self.uuid()), leased_until: at(millis), runs_deliveries: false }
    }

    pub(super) fn template(&self, connection: Option<&Connection>) -> Template {
        Template {
            id: TemplateId::new(self.uuid()),
            company: self.company,
            name: "boas_vindas".to_owned(),
            category: TemplateCategory::Utility,
            language: "pt_BR".to_owned(),
            body: "Olá, {{1}}!".to_owned(),
            components: Components::default(),
            status: TemplateStatus::Approved,
            connection: connection.map(|connection| connection.id),
            provider_id: None,
            needs: TemplateNeeds::default(),
            token_hash: TemplateTokenHash::from_bytes(self.random()),
            created_at: at(0),
            updated_at: at(0),
        }
    }
}
