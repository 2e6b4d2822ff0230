//! The bodies that make and change campaigns (D66).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Campaign, CampaignStatus};
use crate::Timestamp;
use crate::ids::{CampaignId, CompanyId, ConnectionId, ListId, TemplateId};
use crate::input::{Given, Input, read_id, read_number};
use crate::problems::Problems;
use crate::prosas::{Brl, Prosas};
use crate::sending::read_variables;
use crate::text;

/// Messages a second where none are asked for.
pub const DEFAULT_RATE: u32 = 10;
/// The most messages a second.
pub const MAX_RATE: u32 = 1_000;

/// A body that makes a campaign.
#[derive(Clone, Debug)]
pub struct CampaignDraft {
    pub(crate) name: String,
    pub(crate) template: TemplateId,
    pub(crate) list: ListId,
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) variables: BTreeMap<u32, String>,
    prosas: Prosas,
    cost: Brl,
    messages_per_second: u32,
}

/// A body that changes a campaign.
#[derive(Clone, Debug)]
pub struct CampaignPatch {
    name: Option<String>,
    pub(crate) template: Option<TemplateId>,
    pub(crate) list: Option<ListId>,
    pub(crate) connection: Given<ConnectionId>,
    pub(crate) variables: Given<BTreeMap<u32, String>>,
    prosas: Given<Prosas>,
    cost: Given<Brl>,
    messages_per_second: Option<u32>,
}

/// The value that a field has after a body that may have cleared it.
fn after<T: Clone + Default>(given: &Given<T>, before: &T) -> T {
    match given {
        Given::Absent => before.clone(),
        Given::Cleared => T::default(),
        Given::Value(value) => value.clone(),
    }
}

impl CampaignDraft {
    /// Reads `name`, `template_id`, `list_id`, `connection_id?`, `variables?`,
    /// `prosas_per_message?`, `cost_brl_per_message?`, `messages_per_second?`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let name = input.required_text("name", text::NAME);
        let template = input.required("template_id", read_id(TemplateId::parse));
        let list = input.required("list_id", read_id(ListId::parse));
        let connection = input.given("connection_id", read_id(ConnectionId::parse)).value();
        let variables = input.given("variables", read_variables).value();
        let prosas = input.given("prosas_per_message", Prosas::read).value();
        let cost = input.given("cost_brl_per_message", Brl::read).value();
        let rate = input.given("messages_per_second", read_number(1, MAX_RATE)).value();
        input.finish().into_result()?;
        let (Some(name), Some(template), Some(list)) = (name, template, list) else {
            return Err(Problems::of("name", "is required"));
        };
        Ok(Self {
            name,
            template,
            list,
            connection,
            variables: variables.unwrap_or_default(),
            prosas: prosas.unwrap_or_default(),
            cost: cost.unwrap_or_default(),
            messages_per_second: rate.unwrap_or(DEFAULT_RATE),
        })
    }

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
            messages_per_second: self.messages_per_second,
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
    /// Reads any of the fields that make a campaign.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let name = input.given_text("name", text::NAME);
        let template = input.given("template_id", read_id(TemplateId::parse));
        let list = input.given("list_id", read_id(ListId::parse));
        let rate = input.given("messages_per_second", read_number(1, MAX_RATE));
        let patch = Self {
            name: input.kept("name", name),
            template: input.kept("template_id", template),
            list: input.kept("list_id", list),
            connection: input.given("connection_id", read_id(ConnectionId::parse)),
            variables: input.given("variables", read_variables),
            prosas: input.given("prosas_per_message", Prosas::read),
            cost: input.given("cost_brl_per_message", Brl::read),
            messages_per_second: input.kept("messages_per_second", rate),
        };
        input.finish().into_result()?;
        Ok(patch)
    }

    /// The campaign with what was sent written over it.
    pub(super) fn apply(&self, campaign: &Campaign, now: Timestamp) -> Campaign {
        let mut changed = Campaign {
            name: self.name.clone().unwrap_or_else(|| campaign.name.clone()),
            template: self.template.unwrap_or(campaign.template),
            list: self.list.unwrap_or(campaign.list),
            variables: after(&self.variables, &campaign.variables),
            prosas: after(&self.prosas, &campaign.prosas),
            cost: after(&self.cost, &campaign.cost),
            messages_per_second: self.messages_per_second.unwrap_or(campaign.messages_per_second),
            ..campaign.clone()
        };
        self.connection.clone().apply(&mut changed.connection);
        if changed != *campaign {
            changed.updated_at = now;
        }
        changed
    }
}
