//! The messages of a dataset: conversations of its contacts. They are the same in every run, except
//! for their ids.

use std::collections::HashSet;

use recado_core::Timestamp;
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::Platform;
use recado_core::conversations::Conversation;
use recado_core::ids::{CompanyId, ConnectionId, ContactId, MessageId};
use recado_core::messages::{
    Blocks, Direction, Media, Message, MessageRef, MessageStatus, MessageType, ProviderMessageId,
    Quoted, RefTarget, SenderType,
};
use recado_core::store::ChangeSet;
use serde_json::{Value, json};

use super::company::uuid;

/// The span of the messages' times, which ends now.
const SPAN_MILLIS: i64 = 365 * 24 * 3600 * 1000;
const SEED: u64 = 20_261_122;
const TEXTS: [&str; 8] = [
    "Bom dia! Vocês têm entrega hoje?",
    "Temos sim, até as 18h.",
    "Qual o valor do frete para o centro?",
    "Seu pedido saiu para entrega e chega em até uma hora.",
    "Obrigado 🙏",
    "Pode me mandar a segunda via do boleto? O meu venceu ontem e não consigo pagar pelo aplicativo.",
    "Claro! Acabei de gerar, segue o código de barras. Qualquer dúvida é só chamar.",
    "ok",
];

/// The secret that signs the calls to the official connection's webhook. It protects only test
/// data.
pub(crate) const APP_SECRET: &str = "load-app-secret";
/// The official connection's number, as the official API names it.
pub(crate) const PHONE_NUMBER_ID: &str = "106540352242922";

/// The connections of a dataset, two on the simulated gateway and one on the official API.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connections {
    /// Reports nothing. Most messages of the dataset are on it.
    pub(crate) silent: ConnectionId,
    /// Reports that messages were sent, delivered and read.
    pub(crate) reporting: ConnectionId,
    /// Receives webhooks of the official API. Some messages are on it.
    pub(crate) official: ConnectionId,
}

impl Connections {
    /// Makes the connections.
    pub(crate) fn make(
        company: CompanyId,
        now: Timestamp,
        changes: ChangeSet,
    ) -> (Self, ChangeSet) {
        let mut random = fastrand::Rng::new();
        let mut connection = |name: &str, gateway: GatewayName, settings: Value| {
            let settings = settings.as_object().cloned().unwrap_or_default();
            Connection {
                id: ConnectionId::new(uuid(now, &mut random)),
                company,
                kind: ConnectionKind::OfficialCloud,
                platform: Platform::whatsapp(),
                name: name.to_owned(),
                identifier: "551130000001".to_owned(),
                gateway,
                settings: ConnectionSettings::from_stored(settings),
                is_active: true,
                status: ConnectionStatus::Connected,
                created_at: now,
                updated_at: now,
                last_heard_at: None,
            }
        };
        let simulated =
            |reports: bool| (GatewayName::new("simulated"), json!({ "reports": reports }));
        let (gateway, settings) = simulated(false);
        let silent = connection("Silent", gateway, settings);
        let (gateway, settings) = simulated(true);
        let reporting = connection("Reporting", gateway, settings);
        let settings = json!({"phone_number_id": PHONE_NUMBER_ID, "app_secret": APP_SECRET,
            "access_token": "load", "verify_token": "load"});
        let official = connection("Official", GatewayName::new("cloud_api"), settings);
        let ids = Self { silent: silent.id, reporting: reporting.id, official: official.id };
        (ids, changes.insert(silent).insert(reporting).insert(official))
    }
}

/// A contact in a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Partner {
    pub(crate) contact: ContactId,
    /// The channel's identifier of the contact.
    pub(crate) identifier: String,
}

/// Makes messages in order, oldest first. Every second one is outbound, accepted, and not yet
/// delivered or read.
pub(crate) struct Maker {
    company: CompanyId,
    connection: ConnectionId,
    partners: Vec<Partner>,
    /// The contacts that have a conversation.
    met: HashSet<usize>,
    now: Timestamp,
    random: fastrand::Rng,
}

/// The provider's id of the outbound message with this number. It is unique on its connection.
pub(crate) fn outbound_id(number: u64) -> String {
    format!("load.out.{number}")
}

impl Maker {
    pub(crate) fn new(
        company: CompanyId,
        connection: ConnectionId,
        partners: Vec<Partner>,
        now: Timestamp,
    ) -> Self {
        let random = fastrand::Rng::with_seed(SEED);
        Self { company, connection, partners, met: HashSet::new(), now, random }
    }

    /// Adds the message with this index, of `of` messages.
    pub(crate) fn message(&mut self, index: u64, of: u64, mut changes: ChangeSet) -> ChangeSet {
        let age = SPAN_MILLIS * i64::try_from(of - index).unwrap_or(i64::MAX)
            / i64::try_from(of).unwrap_or(i64::MAX);
        let at = Timestamp::from_millis(self.now.millis() - age);
        let chosen = self.random.usize(..self.partners.len());
        let partner = self.partners[chosen].clone();
        let outbound = index % 2 == 1;
        let provider_id = match outbound {
            true => outbound_id(index / 2),
            false => format!("load.in.{index}"),
        };
        let provider_id = ProviderMessageId::from_stored(provider_id);
        let message = Message {
            id: MessageId::new(uuid(at, &mut self.random)),
            company: self.company,
            contact: partner.contact,
            connection: self.connection,
            direction: if outbound { Direction::Outbound } else { Direction::Inbound },
            message_type: MessageType::Text,
            sender_type: if outbound { SenderType::System } else { SenderType::Contact },
            status: if outbound { MessageStatus::Sent } else { MessageStatus::Received },
            failure: None,
            content: Some(TEXTS[self.random.usize(..TEXTS.len())].to_owned()),
            media: Media::default(),
            blocks: Blocks::default(),
            provider_id: Some(provider_id.clone()),
            external_id: None,
            quoted: Quoted::default(),
            participant: None,
            template_category: None,
            prosa: None,
            is_history: false,
            edited_at: None,
            sender: None,
            created_at: at,
            timestamp: at,
        };
        let reference = MessageRef {
            company: self.company,
            connection: self.connection,
            provider_id,
            target: RefTarget::Message(message.id),
        };
        if self.met.insert(chosen) {
            // The conversation is written once: a bulk load does not update it for each message.
            changes = changes.insert(Conversation {
                company: self.company,
                contact: partner.contact,
                connection: self.connection,
                identifier: partner.identifier,
                last_message_at: Some(self.now),
                last_inbound_at: Some(self.now),
                unread: 0,
            });
        }
        changes.insert(message).insert(reference)
    }
}

#[cfg(test)]
mod tests {
    use recado_core::store::{ChangeKind, Row};

    use super::*;

    #[test]
    fn messages_are_made_oldest_first_and_half_of_them_wait_for_reports() {
        let now = Timestamp::from_millis(1_795_000_000_000);
        let mut random = fastrand::Rng::with_seed(1);
        let mut id = || uuid(now, &mut random);
        let partners = (0..10)
            .map(|n| Partner { contact: ContactId::new(id()), identifier: n.to_string() })
            .collect();
        let (company, connection) = (CompanyId::new(id()), ConnectionId::new(id()));
        let mut maker = Maker::new(company, connection, partners, now);
        let mut changes = ChangeSet::new();
        for index in 0..1000 {
            changes = maker.message(index, 1000, changes);
        }
        let (mut messages, mut conversations) = (Vec::new(), 0);
        for change in changes.changes {
            match change.into_kind() {
                ChangeKind::Insert(Row::Message(message)) => messages.push(message),
                ChangeKind::Insert(Row::Conversation(_)) => conversations += 1,
                _ => {}
            }
        }
        assert_eq!((messages.len(), conversations), (1000, 10));
        assert!(messages.windows(2).all(|pair| pair[0].created_at < pair[1].created_at));
        assert!(messages.iter().all(|message| message.created_at < now));
        let waiting: Vec<_> =
            messages.iter().filter(|message| message.status == MessageStatus::Sent).collect();
        assert_eq!(waiting.len(), 500);
        let last = waiting[499].provider_id.as_ref().map(ProviderMessageId::as_str);
        assert_eq!(last, Some(outbound_id(499).as_str()));
    }
}
