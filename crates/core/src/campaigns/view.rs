//! A campaign as it is shown (D58).

use serde::Serialize;

use super::{
    Campaign, CampaignStatus, CampaignTotals, FailureLimit, PauseReason, RecipientCounts,
    RecipientStatus, SendWindow,
};
use crate::Timestamp;
use crate::ids::{CampaignId, ConnectionId, ListId, TemplateId};
use crate::prosas::{Brl, LedgerTotals, Prosas};
use crate::templates::{ButtonValue, HeaderValue, VariableValues};
#[cfg(feature = "openapi")]
use crate::templates::{ButtonValueDraft, HeaderValueDraft};

/// How many recipients there are, and how many of them have which status now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct CampaignCounts {
    /// All, those with status `waiting` or `sending` included.
    pub total: u64,
    /// Accepted by the gateway, without a later status yet.
    pub sent: u64,
    /// On the contact's device.
    pub delivered: u64,
    /// Seen by the contact.
    pub read: u64,
    /// Failed.
    pub failed: u64,
    /// Skipped.
    pub skipped: u64,
}

impl From<RecipientCounts> for CampaignCounts {
    fn from(counts: RecipientCounts) -> Self {
        Self {
            total: counts.total(),
            sent: counts.of(RecipientStatus::Sent),
            delivered: counts.of(RecipientStatus::Delivered),
            read: counts.of(RecipientStatus::Read),
            failed: counts.of(RecipientStatus::Failed),
            skipped: counts.of(RecipientStatus::Skipped),
        }
    }
}

/// A campaign as the public API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct CampaignView {
    /// Its id.
    pub id: CampaignId,
    /// Its name.
    pub name: String,
    /// Its status.
    pub status: CampaignStatus,
    /// The template it sends.
    pub template_id: TemplateId,
    /// The list it goes to.
    pub list_id: ListId,
    /// Its recipients by current status.
    pub counts: CampaignCounts,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it first began to send.
    pub started_at: Option<Timestamp>,
    /// When its last recipient was finished.
    pub finished_at: Option<Timestamp>,
    /// What its messages were debited, less what was refunded.
    pub consumption: LedgerTotals,
}

impl CampaignView {
    /// The campaign as it is shown. Before it has begun it has no recipients, although they may be
    /// stored already (R447).
    pub fn new(campaign: &Campaign, totals: &CampaignTotals) -> Self {
        let counts = if campaign.has_begun() { totals.counts } else { RecipientCounts::default() };
        Self {
            id: campaign.id,
            name: campaign.name.clone(),
            status: campaign.status,
            template_id: campaign.template,
            list_id: campaign.list,
            counts: counts.into(),
            created_at: campaign.created_at,
            started_at: campaign.started_at,
            finished_at: campaign.finished_at,
            consumption: totals.consumption,
        }
    }
}

/// A campaign as the operator sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CampaignRecord {
    /// The fields that the public API shows.
    #[serde(flatten)]
    pub campaign: CampaignView,
    /// The only connection it sends through.
    pub connection_id: Option<ConnectionId>,
    /// The template's variables by position or name, as they were given.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, String>))]
    pub variables: VariableValues,
    /// What the template's header needs.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<HeaderValueDraft>))]
    pub header: Option<HeaderValue>,
    /// What the template's buttons need.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<ButtonValueDraft>))]
    pub buttons: Vec<ButtonValue>,
    /// What each message is debited, in prosas.
    pub prosas_per_message: Prosas,
    /// What each message is debited, in money.
    pub cost_brl_per_message: Brl,
    /// The most messages a second that are sent to the gateway.
    pub messages_per_second: u32,
    /// When it begins to send, once it was started; null: at once.
    pub scheduled_at: Option<Timestamp>,
    /// The hours in which it sends, in the company's time zone; null: always.
    pub send_between: Option<SendWindow>,
    /// How many failures among its last messages pause it; null: any number.
    pub stop_after_failures: Option<FailureLimit>,
    /// Why it is paused; null while it is not.
    pub paused_reason: Option<PauseReason>,
    /// The same as `paused_reason`, by its earlier name.
    pub pause_reason: Option<PauseReason>,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl CampaignRecord {
    /// The campaign as the operator sees it.
    pub fn new(campaign: &Campaign, totals: &CampaignTotals) -> Self {
        Self {
            campaign: CampaignView::new(campaign, totals),
            connection_id: campaign.connection,
            variables: campaign.variables.clone(),
            header: campaign.header.clone(),
            buttons: campaign.buttons.clone(),
            prosas_per_message: campaign.prosas,
            cost_brl_per_message: campaign.cost,
            messages_per_second: campaign.messages_per_second,
            scheduled_at: campaign.scheduled_at,
            send_between: campaign.send_between.clone(),
            stop_after_failures: campaign.stop_after_failures,
            paused_reason: campaign.pause_reason,
            pause_reason: campaign.pause_reason,
            updated_at: campaign.updated_at,
        }
    }
}
