//! The bodies that make and change campaigns (D66).

use super::{Campaign, CampaignStatus};
use crate::Timestamp;
use crate::body::{Clearable, Kept, Optional, OrDefault, Required, body};
use crate::form::{Name, Number};
use crate::ids::{CampaignId, CompanyId, ConnectionId, ListId, TemplateId};
use crate::input::Given;
use crate::prosas::{Brl, Prosas};
use crate::templates::{
    ButtonValue, ButtonValues, HeaderValue, HeaderValueDraft, VariableValues, Variables,
};

/// Messages a second if the body does not say.
pub const DEFAULT_RATE: u32 = 10;
/// The most messages a second (R97).
pub const MAX_RATE: u32 = 1_000;

/// Messages a second.
type PerSecond = Number<1, MAX_RATE>;

body! {
    /// A new campaign.
    #[derive(Clone, Debug)]
    pub struct CampaignDraft as "CreateCampaign" {
        name: String = Required<Name>,
        template as "template_id": TemplateId = Required<TemplateId>,
        /// The list whose contacts become its recipients when it is started.
        list as "list_id": ListId = Required<ListId>,
        /// The only connection it sends through.
        connection as "connection_id": Option<ConnectionId> = Optional<ConnectionId>,
        /// The template's variables by position or name, the same for all recipients.
        variables: VariableValues = OrDefault<Variables>,
        /// What the template's header needs, the same for all recipients.
        header: Option<HeaderValue> = Optional<HeaderValueDraft>,
        /// What the template's buttons need, the same for all recipients.
        buttons: Vec<ButtonValue> = OrDefault<ButtonValues>,
        /// 0 by default.
        prosas as "prosas_per_message": Prosas = OrDefault<Prosas>,
        /// 0 by default.
        cost as "cost_brl_per_message": Brl = OrDefault<Brl>,
        /// 10 by default.
        messages_per_second: Option<u32> = Optional<PerSecond>,
    }
}

body! {
    /// What changes of a campaign; null clears what a new one may leave out.
    #[derive(Clone, Debug)]
    pub struct CampaignPatch as "UpdateCampaign" of Campaign, updated_at {
        name: Option<String> = Kept<Name>,
        template as "template_id": Option<TemplateId> = Kept<TemplateId>,
        /// Only before it is started.
        list as "list_id": Option<ListId> = Kept<ListId>,
        messages_per_second: Option<u32> = Kept<PerSecond>,
        connection as "connection_id": Given<ConnectionId> = Clearable<ConnectionId>,
        /// All of them.
        variables: Given<VariableValues> = Clearable<Variables>,
        header: Given<HeaderValue> = Clearable<HeaderValueDraft>,
        /// All of them.
        buttons: Given<Vec<ButtonValue>> = Clearable<ButtonValues>,
        prosas as "prosas_per_message": Given<Prosas> = Clearable<Prosas>,
        cost as "cost_brl_per_message": Given<Brl> = Clearable<Brl>,
    }
}

impl CampaignDraft {
    pub(super) fn into_campaign(
        self,
        company: CompanyId,
        id: CampaignId,
        now: Timestamp,
    ) -> Campaign {
        Campaign {
            id,
            company,
            name: self.name,
            template: self.template,
            list: self.list,
            connection: self.connection,
            variables: self.variables,
            header: self.header,
            buttons: self.buttons,
            prosas: self.prosas,
            cost: self.cost,
            messages_per_second: self.messages_per_second.unwrap_or(DEFAULT_RATE),
            status: CampaignStatus::Draft,
            pause_reason: None,
            created_at: now,
            updated_at: now,
            started_at: None,
            finished_at: None,
        }
    }
}
