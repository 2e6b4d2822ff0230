//! Rows of inbound endpoints, dispatch windows and campaigns, made from a command's numbers.

use recado_core::campaigns::{
    Campaign, CampaignStatus, ContactFault, DayTime, FailureLimit, OutcomeTimes, PauseReason,
    Recipient, RecipientFault, RecipientNumber, RecipientStatus, SendWindow,
};
use recado_core::custom_fields::{CustomField, FieldStatus, FieldType};
use recado_core::dispatches::{DispatchWindow, WindowKey, WindowState};
use recado_core::ids::*;
use recado_core::inbound::{
    AuthMode, EndpointSecretHash, EndpointSlug, InboundEndpoint, VariableMapping,
};
use recado_core::lists::{List, ListMember};
use recado_core::messages::DeliveryCode;
use recado_core::prosas::{Brl, Prosas};
use recado_core::remembered_opt_outs::{OptOutHash, RememberedOptOut};
use recado_core::store::{Change, Row};
use recado_core::templates::{ButtonValue, GivenButton, HeaderValue, Variable};
use uuid::Uuid;

use super::make::Maker;

/// The kinds of row whose ids are remembered. Frequent kinds are listed several times.
pub(in super::super) const REACH_KINDS: &[&str] = &[
    "row contact",
    "row contact",
    "row contact",
    "row contact",
    "row list",
    "row member",
    "row member",
    "row member",
    "row member",
    "row member",
    "row member",
    "row member",
    "row member",
    "row member",
    "row member",
    "row endpoint",
    "row endpoint",
    "row window",
    "row window",
    "row window",
    "row campaign",
    "row campaign",
    "row recipient",
    "row recipient",
    "row recipient",
    "row recipient",
    "row recipient",
    "row recipient",
    "row template",
    "row field",
    "row remembered opt-out",
    "row remembered opt-out",
    "row company member",
    "row company member",
    "row login",
    "row login",
    "row login link",
    "row login link",
    "row login link",
    "row session",
];

/// Slugs of endpoints.
const SLUGS: &[&str] = &["loja", "loja-2", "000", "a--", "formulario-do-site", "x-1", "x-2"];
/// Slugs of fields.
pub(super) const FIELD_SLUGS: &[&str] = &["cidade", "Cidade", "a.b-c_1", "x", "y", "z9"];

impl Maker<'_> {
    pub(super) fn list_id(&self, n: usize) -> ListId {
        ListId::new(self.known(n, "row list"))
    }

    pub(super) fn campaign_id(&self, n: usize) -> CampaignId {
        CampaignId::new(self.known(n, "row campaign"))
    }

    pub(super) fn endpoint_id(&self, n: usize) -> InboundEndpointId {
        InboundEndpointId::new(self.known(n, "row endpoint"))
    }

    pub(super) fn field_id(&self, n: usize) -> CustomFieldId {
        CustomFieldId::new(self.known(n, "row field"))
    }

    pub(super) fn slug(&self, n: usize) -> EndpointSlug {
        EndpointSlug::parse(self.command.pick(n, SLUGS)).expect("a slug")
    }

    pub(super) fn window_key(&self, n: usize) -> WindowKey {
        self.one(n, &Self::window_keys())
    }

    pub(super) fn opt_out_hash(&self, n: usize) -> OptOutHash {
        OptOutHash::from_bytes([self.command.number(n) as u8 % 3; 32])
    }

    /// Every key of a window in use.
    pub(super) fn window_keys() -> [WindowKey; 3] {
        [0, 0x7f, 0xff].map(|byte| WindowKey::from_bytes([byte; 32]))
    }

    /// The id of a message that recipients refer to. The message does not exist.
    pub(super) fn named_message(&self, n: usize) -> MessageId {
        MessageId::new(Uuid::from_u128(1 + self.command.number(n) as u128 % 24))
    }

    pub(super) fn status(&self, n: usize) -> RecipientStatus {
        self.one(n, RecipientStatus::ALL)
    }

    /// The change that makes a row of a kind. Recipients are made by enrolling a list.
    pub(super) fn change(&self, kind: &str) -> Change {
        match kind {
            "row recipient" => Change::enroll(self.company, self.campaign_id(1), self.list_id(2)),
            _ => Change::insert(self.row(kind)),
        }
    }

    pub(super) fn reach_row(&self, kind: &str) -> Row {
        match kind {
            "row list" => List {
                id: ListId::new(self.fresh),
                company: self.company,
                name: self.text(1),
                is_active: self.once_in(2, 2),
                created_at: self.time(3),
            }
            .into(),
            "row member" => {
                let (list, contact) = (self.list_id(1), self.contact_id(2));
                ListMember { company: self.company, list, contact }.into()
            }
            "row field" => CustomField {
                id: CustomFieldId::new(self.fresh),
                company: self.company,
                slug: self.command.pick(1, FIELD_SLUGS).to_owned(),
                label: self.text(2),
                field_type: self.one(3, FieldType::ALL),
                status: self.one(4, FieldStatus::ALL),
                created_at: self.time(5),
            }
            .into(),
            "row endpoint" => self.endpoint().into(),
            "row window" => self.window(1, self.contact_id(9)).into(),
            "row campaign" => self.campaign().into(),
            "row remembered opt-out" => RememberedOptOut {
                company: self.company,
                hash: self.opt_out_hash(1),
                since: self.time(2),
            }
            .into(),
            _ => self.account_row(kind).unwrap_or_else(|| self.recipient().into()),
        }
    }

    fn endpoint(&self) -> InboundEndpoint {
        let keys = (10..10 + self.command.number(1) % 4).map(|n| (self.text(n), self.text(n + 4)));
        InboundEndpoint {
            id: InboundEndpointId::new(self.fresh),
            company: self.company,
            slug: self.slug(2),
            mapping: VariableMapping::from_stored(keys.collect()),
            auth_mode: self.one(3, AuthMode::ALL),
            secret_hash: EndpointSecretHash::from_bytes([self.command.number(4) as u8; 32]),
            is_active: self.once_in(5, 2),
            created_at: self.time(6),
            updated_at: self.time(7),
        }
    }

    pub(super) fn window(&self, n: usize, contact: ContactId) -> DispatchWindow {
        DispatchWindow {
            company: self.company,
            contact,
            key: self.window_key(n),
            message: self.named_message(n + 1),
            sent_at: self.time(n + 2),
            state: self.one(n + 3, WindowState::ALL),
            ends_at: self.soon(n + 4),
        }
    }

    fn campaign(&self) -> Campaign {
        let status = self.one(1, CampaignStatus::ALL);
        let position = |n| Variable::Position(1 + self.command.number(20 + n) as u32 % 999);
        let variables =
            (0..self.command.number(2) % 4).map(|n| (position(n), self.text(24 + n))).collect();
        let code = || ButtonValue { index: 1, given: GivenButton::Code(self.text(28)) };
        Campaign {
            id: CampaignId::new(self.fresh),
            company: self.company,
            name: self.text(3),
            template: self.template_id(4),
            list: self.list_id(5),
            connection: self.maybe(6, || self.connection_id(7)),
            variables,
            header: self.maybe(29, || HeaderValue::Text { text: self.text(30) }),
            buttons: self.maybe(31, code).into_iter().collect(),
            prosas: Prosas::from_units(self.command.number(8) as i64),
            cost: Brl::from_units(self.command.number(9) as i64),
            messages_per_second: 1 + self.command.number(10) as u32,
            status: if self.once_in(11, 3) { CampaignStatus::Running } else { status },
            scheduled_at: self.maybe(30, || self.time(31)),
            send_between: self.maybe(32, || {
                let from = DayTime::parse("22:30").expect("a time");
                SendWindow::new(from, DayTime::parse("06:00").expect("a time"))
            }),
            stop_after_failures: self.maybe(33, || FailureLimit::new(3_u32, 9_u32)),
            failures_after: self.maybe(34, || RecipientNumber(7)),
            pause_reason: self.maybe(12, || self.one(13, PauseReason::ALL)),
            created_at: self.time(14),
            updated_at: self.time(15),
            started_at: self.maybe(16, || self.time(17)),
            finished_at: self.maybe(18, || self.time(19)),
        }
    }

    /// The new values of a recipient. The caller sets its identity.
    fn recipient(&self) -> Recipient {
        let fault = match self.once_in(1, 2) {
            true => RecipientFault::Contact(self.one(2, ContactFault::ALL)),
            false => RecipientFault::Delivery(self.one(2, DeliveryCode::ALL)),
        };
        Recipient {
            company: self.company,
            campaign: self.campaign_id(3),
            number: RecipientNumber(1 + self.command.number(4) as u32 % 8),
            contact: self.maybe(5, || self.contact_id(6)),
            status: self.status(7),
            message: self.maybe(8, || self.named_message(9)),
            debit: self.maybe(10, || LedgerLineId::new(self.fresh)),
            fault: self.maybe(11, || fault),
            sent_at: self.maybe(12, || self.time(13)),
            outcomes: OutcomeTimes {
                delivered: self.maybe(14, || self.time(15)),
                read: self.maybe(16, || self.time(17)),
                ended: self.maybe(18, || self.time(19)),
            },
        }
    }
}
