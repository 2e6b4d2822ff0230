//! The bodies that make and change campaigns (D66).

use super::{Campaign, CampaignStatus};
use crate::Timestamp;
use crate::body::{Clearable, Kept, Optional, OrDefault, Required, body};
use crate::form::{Name, Number};
use crate::ids::{CampaignId, CompanyId, ConnectionId, ListId, TemplateId};
use crate::prosas::{Brl, Prosas};
use crate::sending::Variables;

/// Messages a second if the body does not say.
pub const DEFAULT_RATE: u32 = 10;
/// The most messages a second (R97).
pub const MAX_RATE: u32 = 1_000;

/// Messages a second.
type Rate = Number<1, MAX_RATE>;

body! {
    /// A new campaign.
    #[derive(Clone, Debug)]
    pub struct CampaignDraft as "CreateCampaign" {
        name: Required<Name>,
        template as "template_id": Required<TemplateId>,
        /// Whose contacts become its recipients when it is started.
        list as "list_id": Required<ListId>,
        /// The only connection it sends through.
        connection as "connection_id": Optional<ConnectionId>,
        /// The template's variables by position, the same for all recipients.
        variables: OrDefault<Variables>,
        /// 0 by default.
        prosas as "prosas_per_message": OrDefault<Prosas>,
        /// 0 by default.
        cost as "cost_brl_per_message": OrDefault<Brl>,
        /// 10 by default.
        messages_per_second: Optional<Rate>,
    }
}

body! {
    /// What changes of a campaign; null clears what a new one may leave out.
    #[derive(Clone, Debug)]
    pub struct CampaignPatch as "UpdateCampaign" of Campaign {
        name: Kept<Name>,
        template as "template_id": Kept<TemplateId>,
        /// Only before it is started.
        list as "list_id": Kept<ListId>,
        messages_per_second: Kept<Rate>,
        connection as "connection_id": Clearable<ConnectionId>,
        /// All of them.
        variables: Clearable<Variables>,
        prosas as "prosas_per_message": Clearable<Prosas>,
        cost as "cost_brl_per_message": Clearable<Brl>,
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

impl CampaignPatch {
    /// The campaign with the given fields written over it.
    pub(super) fn apply(&self, campaign: &Campaign, now: Timestamp) -> Campaign {
        let mut changed = self.over(campaign);
        if changed != *campaign {
            changed.updated_at = now;
        }
        changed
    }
}
