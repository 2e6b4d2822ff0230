//! Rows made from a command's numbers.

use recado_core::Timestamp;
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName, StatusHistory,
    StatusSince,
};
use recado_core::contacts::{Alias, ChannelKey, Contact, Identifier, Phone, Platform, Region};
use recado_core::conversations::Conversation;
use recado_core::gateway::{KeptBody, UnknownEvent, UnknownForm, UnknownReason};
use recado_core::groups::{ConnectionGroup, Group, GroupCode};
use recado_core::idempotency::{CallKey, CallState, RememberedCall};
use recado_core::ids::*;
use recado_core::jobs::{Job, JobKind};
use recado_core::leads::{Bant, Inferred, LeadMemory};
use recado_core::messages::{
    Blocks, DeliveryCode, Direction, Early, EarlyEdit, ErrorType, Failure, Location, Media,
    Message, MessageRef, MessageStatus, MessageType, Participant, ProviderMessageId, Quoted,
    RefTarget, SenderType, StatusReport,
};
use recado_core::prosas::{Brl, LedgerLine, LineKind, Prosa, ProsaScope, Prosas};
use recado_core::store::Row;
use recado_core::templates::{
    ButtonNeed, Components, HeaderKind, HeaderPart, Template, TemplateCategory, TemplateNeeds,
    TemplateStatus, TemplateTokenHash,
};
use recado_core::workers::Worker;
use serde_json::json;
use uuid::Uuid;

use super::super::command::Command;
use super::super::pools;
use super::super::world::World;

/// The kinds of row whose ids are remembered. Frequent kinds are listed several times.
pub(in super::super) const KINDS: &[&str] = &[
    "row contact",
    "row contact",
    "row connection",
    "row group",
    "row group",
    "row statuses",
    "row alias",
    "row alias",
    "row alias",
    "row conversation",
    "row conversation",
    "row message",
    "row message",
    "row message",
    "row message",
    "row message",
    "row reference",
    "row reference",
    "row reference",
    "row lead",
    "row line",
    "row line",
    "row call",
    "row worker",
    "row unknown",
    "row unknown",
    "row job",
    "row job",
    "row template",
    "row upload",
    "row upload",
];

/// Channel keys.
const KEYS: &[&str] = &["5534991234567", "553491234567", "lid-1", "LID-1", "líd-1", "bsuid.9", "x"];
/// Codes of groups.
const CODES: &[&str] = &["g1@g.us", "g2@g.us", "G1@g.us", "com@g.us", "com-2@g.us"];
/// Names of events that no adapter recognizes.
const UNKNOWN: &[&str] = &["call", "Call", "label.edit", "é", "a'b\"c\\d %_", ""];
/// Message ids of providers.
const WAMIDS: &[&str] = &["w1", "w2", "w3", "w4", "w5", "w6", "W1", "wamid.HBgM=="];

/// The input for a row: a command, what exists at the time, and an unused id.
pub(super) struct Maker<'a> {
    pub(super) command: &'a Command,
    pub(super) world: &'a World,
    pub(super) company: CompanyId,
    pub(super) now: Timestamp,
    pub(super) fresh: Uuid,
}

impl Maker<'_> {
    pub(super) fn one<T: Copy>(&self, n: usize, of: &[T]) -> T {
        of[self.command.number(n) % of.len()]
    }

    pub(super) fn once_in(&self, n: usize, times: usize) -> bool {
        self.command.once_in(n, times)
    }

    /// A time near the current one. There are few such times, so that some repeat.
    pub(super) fn time(&self, n: usize) -> Timestamp {
        let millis = self.command.number(n) as i64 % 8 - 5;
        Timestamp::from_millis(self.now.millis() / 8 * 8 + millis)
    }

    /// A time in the near future.
    pub(super) fn soon(&self, n: usize) -> Timestamp {
        Timestamp::from_millis(self.now.millis() + self.command.number(n) as i64 % 500)
    }

    pub(super) fn maybe<T>(&self, n: usize, made: impl FnOnce() -> T) -> Option<T> {
        self.once_in(n, 2).then(made)
    }

    pub(super) fn text(&self, n: usize) -> String {
        self.command.pick(n, pools::NAMES).to_owned()
    }

    pub(super) fn known(&self, n: usize, kind: &str) -> Uuid {
        Uuid::parse_str(&self.world.id(kind, self.command, n)).unwrap_or(Uuid::nil())
    }

    pub(super) fn contact_id(&self, n: usize) -> ContactId {
        ContactId::new(self.known(n, "row contact"))
    }

    pub(super) fn connection_id(&self, n: usize) -> ConnectionId {
        ConnectionId::new(self.known(n, "row connection"))
    }

    pub(super) fn message_id(&self, n: usize) -> MessageId {
        MessageId::new(self.known(n, "row message"))
    }

    pub(super) fn worker_id(&self, n: usize) -> WorkerId {
        WorkerId::new(self.known(n, "row worker"))
    }

    pub(super) fn line_id(&self, n: usize) -> LedgerLineId {
        LedgerLineId::new(self.known(n, "row line"))
    }

    pub(super) fn template_id(&self, n: usize) -> TemplateId {
        TemplateId::new(self.known(n, "row template"))
    }

    pub(super) fn platform(&self, n: usize) -> Platform {
        let name = if self.once_in(n, 4) { "telegram" } else { "whatsapp" };
        Platform::parse(name).expect("a channel")
    }

    pub(super) fn key(&self, n: usize) -> ChannelKey {
        ChannelKey::from_stored(self.command.pick(n, KEYS).to_owned())
    }

    pub(super) fn code(&self, n: usize) -> GroupCode {
        GroupCode::from_stored(self.command.pick(n, CODES).to_owned())
    }

    pub(super) fn wamid(&self, n: usize) -> ProviderMessageId {
        ProviderMessageId::from_stored(self.command.pick(n, WAMIDS).to_owned())
    }

    /// Every provider's id in use, and the trace of each on a connection.
    pub(super) fn wamids_and_traces(connection: ConnectionId) -> Vec<ProviderMessageId> {
        let ids = WAMIDS.iter().map(|id| ProviderMessageId::from_stored((*id).to_owned()));
        ids.flat_map(|id| [id.trace(connection), id]).collect()
    }

    pub(super) fn phone(&self, n: usize) -> Phone {
        let number = format!("+553499123456{}", self.command.number(n) % 4);
        Phone::parse(&number, &Region::br()).expect("a phone number")
    }

    pub(super) fn identifier(&self, n: usize) -> Identifier {
        Identifier::parse(self.command.pick(n, KEYS)).expect("acceptable")
    }

    pub(super) fn call_key(&self, n: usize) -> CallKey {
        let operation = ["POST /a", "POST /b"][self.command.number(n) % 2].to_owned();
        CallKey { operation, key: format!("k{}", self.command.number(n + 1) % 4) }
    }

    pub(super) fn row(&self, kind: &str) -> Row {
        match kind {
            "row contact" => self.contact().into(),
            "row connection" => self.connection().into(),
            "row group" => self.group().into(),
            "row statuses" => self.statuses().into(),
            "row alias" => self.alias().into(),
            "row conversation" => self.conversation().into(),
            "row message" => self.message().into(),
            "row reference" => self.reference().into(),
            "row lead" => self.lead().into(),
            "row line" => self.line().into(),
            "row call" => self.call().into(),
            "row worker" => {
                let id = WorkerId::new(self.fresh);
                let leased_until = self.time(1);
                Worker { id, leased_until, runs_deliveries: self.once_in(2, 2) }.into()
            }
            "row template" => self.template().into(),
            "row upload" => self.upload().into(),
            "row unknown" => self.unknown().into(),
            "row job" => self.job().into(),
            _ => self.reach_row(kind),
        }
    }

    fn contact(&self) -> Contact {
        let identifier = match self.once_in(1, 3) {
            true => self.identifier(2),
            false => Identifier::parse(&self.fresh.to_string()).expect("acceptable"),
        };
        let (id, platform) = (ContactId::new(self.fresh), self.platform(3));
        let phone = self.maybe(4, || self.phone(5));
        let mut contact = Contact::new(id, self.company, platform, identifier, phone, self.time(6));
        contact.name = self.text(7);
        contact.is_group = self.once_in(8, 3);
        contact.has_unread = self.once_in(19, 3);
        contact.external_chat_id = self.maybe(9, || self.code(10).as_str().to_owned());
        contact.last_connection_id = self.maybe(11, || self.connection_id(12));
        contact.opt_out_backfilled = self.once_in(13, 2);
        contact.opted_in_at = self.maybe(14, || self.time(15));
        contact.last_message_at = self.maybe(16, || self.time(17));
        contact.updated_at = self.time(18);
        contact.derive();
        contact
    }

    fn connection(&self) -> Connection {
        let settings = json!({ "delay_ms": self.command.number(1), "api_key": self.text(2) });
        Connection {
            id: ConnectionId::new(self.fresh),
            company: self.company,
            kind: self.one(3, ConnectionKind::ALL),
            platform: self.platform(4),
            name: self.text(5),
            identifier: self.phone(6).digits().to_owned(),
            gateway: GatewayName::new(self.one(7, &["simulated", "cloud_api", "waha", "house_2"])),
            settings: ConnectionSettings::from_stored(
                settings.as_object().cloned().unwrap_or_default(),
            ),
            is_active: self.once_in(8, 2),
            status: self.one(9, ConnectionStatus::ALL),
            created_at: self.time(10),
            updated_at: self.time(11),
            last_heard_at: self.maybe(12, || self.time(13)),
        }
    }

    fn group(&self) -> ConnectionGroup {
        let group = Group {
            code: self.code(2),
            subject: self.maybe(3, || self.text(4)),
            is_community: self.once_in(5, 3),
            community_code: self.maybe(6, || self.code(7)),
            is_announcement: self.once_in(8, 2),
            announce_only: self.once_in(9, 2),
            participates: self.once_in(10, 2),
            is_admin: self.once_in(11, 2),
        };
        ConnectionGroup { company: self.company, connection: self.connection_id(1), group }
    }

    fn statuses(&self) -> StatusHistory {
        let since =
            |n| StatusSince { at: self.time(n), status: self.one(n + 1, ConnectionStatus::ALL) };
        let changes = (0..self.command.number(2) % 3).map(|n| since(3 + 2 * n)).collect();
        StatusHistory { company: self.company, connection: self.connection_id(1), changes }
    }

    fn alias(&self) -> Alias {
        Alias {
            company: self.company,
            platform: self.platform(1),
            key: self.key(2),
            contact: self.contact_id(3),
        }
    }

    fn conversation(&self) -> Conversation {
        Conversation {
            company: self.company,
            contact: self.contact_id(1),
            connection: self.connection_id(2),
            identifier: self.text(3),
            last_message_at: self.maybe(4, || self.time(5)),
            last_inbound_at: self.maybe(6, || self.time(7)),
            unread: self.command.number(8) as u32,
        }
    }

    fn failure(&self, n: usize) -> Failure {
        Failure {
            error_type: self.one(n, ErrorType::ALL),
            code: self.one(n + 1, DeliveryCode::ALL),
            message: self.maybe(n + 2, || self.text(n + 3)),
        }
    }

    fn message(&self) -> Message {
        let status = self.one(1, MessageStatus::ALL);
        Message {
            id: MessageId::new(self.fresh),
            company: self.company,
            contact: self.contact_id(2),
            connection: self.connection_id(3),
            direction: self.one(4, Direction::ALL),
            message_type: self.one(5, &MessageType::ALL[..3]),
            sender_type: self.one(6, SenderType::ALL),
            status,
            failure: (status == MessageStatus::Failed).then(|| self.failure(7)),
            content: self.maybe(11, || self.text(12)),
            media: Media {
                url: self.maybe(13, || self.text(14)),
                source: None,
                document: self.maybe(15, || DocumentId::new(self.known(16, "row message"))),
                upload: self.maybe(17, || self.upload_id(16)),
                mimetype: self.maybe(17, || "image/png".to_owned()),
                filename: self.maybe(54, || self.text(55)),
                caption: self.maybe(18, || self.text(19)),
            },
            blocks: Blocks {
                location: self.maybe(47, || Location {
                    latitude: (-23).into(),
                    longitude: 46.into(),
                    name: self.maybe(48, || self.text(49)),
                    address: None,
                    url: None,
                    is_live: self.once_in(50, 2),
                }),
                is_voice: self.once_in(51, 4),
                deleted_by_sender_at: self.maybe(52, || self.time(53)),
                ..Blocks::default()
            },
            provider_id: self.maybe(20, || self.wamid(21)),
            external_id: self.maybe(22, || self.text(23)),
            quoted: Quoted {
                message: self.maybe(24, || self.message_id(25)),
                content: self.maybe(26, || self.text(27)),
                message_type: self.maybe(28, || self.one(29, MessageType::ALL)),
            },
            participant: self.maybe(30, || Participant {
                identifier: self.text(31),
                phone: self.maybe(43, || self.phone(44)),
                name: self.maybe(45, || self.text(46)),
            }),
            template_category: self.maybe(32, || self.one(33, TemplateCategory::ALL)),
            prosa: self.maybe(34, || Prosa {
                consumption_id: self.line_id(35),
                prosas: Prosas::from_units(self.command.number(36) as i64),
                cost: Brl::from_units(self.command.number(37) as i64),
                scope: self.one(38, ProsaScope::ALL),
            }),
            is_history: self.once_in(39, 4),
            edited_at: self.maybe(40, || self.time(41)),
            sender: (status == MessageStatus::Pending).then(|| self.worker_id(42)),
            created_at: self.time(43),
            timestamp: self.time(44),
        }
    }

    fn reference(&self) -> MessageRef {
        let target = if self.once_in(1, 3) {
            let failure = self.maybe(2, || self.failure(3));
            let report = StatusReport { status: self.one(7, MessageStatus::ALL), failure };
            let report = self.maybe(12, || report);
            let deleted_at = self.maybe(13, || self.time(14));
            let edit = self.maybe(15, || EarlyEdit { content: self.text(16), at: self.time(17) });
            let named_by = self.maybe(18, || self.message_id(19)).into_iter().collect();
            let early = Early { report, edit, deleted_at, named_by };
            RefTarget::Early { early, expires_at: self.soon(8) }
        } else if self.once_in(4, 8) {
            RefTarget::Forgotten { expires_at: self.soon(8) }
        } else {
            RefTarget::Message(self.message_id(9))
        };
        let (company, connection) = (self.company, self.connection_id(10));
        MessageRef { company, connection, provider_id: self.wamid(11), target }
    }

    fn lead(&self) -> LeadMemory {
        LeadMemory {
            company: self.company,
            contact: self.contact_id(1),
            version: self.command.number(2) as u32,
            inferred: Inferred {
                summary: self.text(3),
                bant: Bant { authority_raw: self.maybe(4, || self.text(5)), ..Bant::default() },
                key_facts: (6..6 + self.command.number(6) % 3).map(|n| self.text(n)).collect(),
                ..Inferred::default()
            },
            interaction_count: self.command.number(9) as u32,
            first_interaction_at: self.time(10),
            last_memory_update_at: self.time(11),
        }
    }

    fn line(&self) -> LedgerLine {
        let sign = if self.once_in(1, 3) { -1 } else { 1 };
        LedgerLine {
            id: LedgerLineId::new(self.fresh),
            company: self.company,
            consumption_id: self.line_id(2),
            kind: self.one(3, LineKind::ALL),
            scope: self.one(4, ProsaScope::ALL),
            prosas: Prosas::from_units(sign * self.command.number(5) as i64),
            cost: Brl::from_units(sign * self.command.number(6) as i64),
            refunded: (Prosas::from_units(self.command.number(7) as i64), Brl::ZERO),
            contact: self.maybe(8, || self.contact_id(9)),
            campaign: self.maybe(10, || CampaignId::new(self.fresh)),
            description: self.maybe(11, || self.text(12)),
            created_at: self.time(13),
        }
    }

    fn call(&self) -> RememberedCall {
        let state = match self.once_in(1, 2) {
            true => CallState::InFlight { worker: self.worker_id(2) },
            false => CallState::Answered { answer: self.text(3) },
        };
        RememberedCall {
            company: self.company,
            key: self.call_key(4),
            body_hash: [self.command.number(6) as u8; 32],
            state,
            contact: self.maybe(7, || self.contact_id(8)),
            expires_at: self.soon(9),
        }
    }

    fn unknown(&self) -> UnknownEvent {
        // Some came so long ago that they are about to be deleted.
        let back = if self.once_in(3, 3) { 30 * 86_400_000 } else { 0 };
        let body = match self.command.number(4) % 3 {
            0 => json!({ "event": "call", "id": [0, null, self.text(5)] }).to_string(),
            1 => self.text(5),
            _ => String::new(),
        };
        UnknownEvent {
            company: self.company,
            id: UnknownEventId::new(self.fresh),
            connection: self.connection_id(1),
            contact: self.maybe(10, || self.contact_id(11)),
            kind: self.unknown_name(2),
            reason: self.one(6, UnknownReason::ALL),
            form: self.one(7, UnknownForm::ALL),
            received_at: Timestamp::from_millis(self.soon(8).millis() - back),
            provider_id: self.maybe(9, || self.wamid(12)),
            body: KeptBody::from_stored(body),
        }
    }

    pub(super) fn unknown_id(&self, n: usize) -> UnknownEventId {
        UnknownEventId::new(self.known(n, "row unknown"))
    }

    /// The name of an event that no adapter recognizes.
    pub(super) fn unknown_name(&self, n: usize) -> String {
        self.command.pick(n, UNKNOWN).to_owned()
    }

    fn job(&self) -> Job {
        let (connection, message) = (self.connection_id(1), self.message_id(2));
        let since = self.time(3);
        let kind = match self.command.number(4) % 8 {
            0 => JobKind::CheckConnection { connection },
            1 => JobKind::CheckConnectionOnce { connection },
            2 | 3 => JobKind::PullMissed { connection, since },
            4 => JobKind::PullMissedOnce { connection, since },
            5 => JobKind::FindSent { message },
            6 => JobKind::LearnNames { message },
            _ => JobKind::SyncGroupsOnce { connection },
        };
        let (id, due_at) = (JobId::new(self.fresh), self.soon(5));
        let attempts = self.command.number(6) as u32 % 9;
        let leased_until = self.maybe(7, || self.soon(8));
        let created_at = self.time(9);
        Job { id, company: self.company, kind, attempts, due_at, leased_until, created_at }
    }

    fn needs(&self) -> TemplateNeeds {
        let button = || ButtonNeed { index: 1, kind: self.text(13) };
        TemplateNeeds {
            header: self.maybe(12, || self.text(14)),
            buttons: self.maybe(15, button).into_iter().collect(),
            other: self.maybe(16, || self.text(17)).into_iter().collect(),
        }
    }

    fn template(&self) -> Template {
        // Few tokens are used, so that they repeat.
        let token = [self.command.number(1) as u8 % 16; 32];
        Template {
            id: TemplateId::new(self.fresh),
            company: self.company,
            name: self.text(2),
            category: self.one(3, TemplateCategory::ALL),
            language: "pt_BR".to_owned(),
            body: self.text(4),
            components: Components {
                header: self.maybe(18, || HeaderPart {
                    kind: self.one(19, HeaderKind::ALL),
                    text: self.maybe(20, || self.text(21)),
                }),
                footer: self.maybe(22, || self.text(23)),
                buttons: Vec::new(),
            },
            status: self.one(5, TemplateStatus::ALL),
            connection: self.maybe(6, || self.connection_id(7)),
            provider_id: self.maybe(10, || self.text(11)),
            needs: self.needs(),
            token_hash: TemplateTokenHash::from_bytes(token),
            created_at: self.time(8),
            updated_at: self.time(9),
        }
    }
}
