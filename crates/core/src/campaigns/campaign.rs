//! A campaign, and a recipient with its contact.

use super::{FailureLimit, Recipient, RecipientNumber, SendWindow};
use crate::Timestamp;
use crate::contacts::{Identifier, Phone};
use crate::ids::{CampaignId, CompanyId, ConnectionId, ListId, TemplateId};
use crate::prosas::{Brl, Prosa, Prosas};
use crate::templates::{ButtonValue, HeaderValue, TemplateValues, VariableValues};
use crate::words::words;

words! {
    /// The status of a campaign (D58, X16).
    CampaignStatus {
        /// Not started yet.
        Draft = "draft",
        /// Started; its messages are sent from its time on (X16).
        Scheduled = "scheduled",
        /// Its messages are being sent.
        Running = "running",
        /// It waits to be started again.
        Paused = "paused",
        /// No recipient waits any more.
        Finished = "finished",
    }
}

words! {
    /// Why a campaign is paused (D66, X16).
    PauseReason {
        /// The operator paused it.
        Operator = "operator",
        /// Its template was deleted.
        TemplateNotFound = "template_not_found",
        /// Its template is not approved any more.
        TemplateNotApproved = "template_not_approved",
        /// Its template needs variables that the campaign does not have.
        TemplateVariables = "template_variables",
        /// No connection can send it.
        Connection = "connection",
        /// Its list was deleted before its time came.
        ListNotFound = "list_not_found",
        /// As many of its last messages failed as `stop_after_failures` says.
        Failures = "failures",
    }
}

/// A campaign of a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// Its id.
    pub id: CampaignId,
    /// Its company.
    pub company: CompanyId,
    /// Its name.
    pub name: String,
    /// The template it sends. It may have been deleted.
    pub template: TemplateId,
    /// The list whose contacts become its recipients at its start. It may be deleted after that.
    pub list: ListId,
    /// The only connection it sends through; with `None` D35 chooses. It may have been deleted.
    pub connection: Option<ConnectionId>,
    /// The template's variables, which may name fields of a contact (X16).
    pub variables: VariableValues,
    /// What is given for the template's header.
    pub header: Option<HeaderValue>,
    /// What is given for the template's buttons.
    pub buttons: Vec<ButtonValue>,
    /// What each message is debited, in prosas.
    pub prosas: Prosas,
    /// What each message is debited, in money.
    pub cost: Brl,
    /// The most messages a second that are sent to the gateway.
    pub messages_per_second: u32,
    /// When it begins to send, once it was started; with `None` at once.
    pub scheduled_at: Option<Timestamp>,
    /// The hours in which it sends; with `None` always.
    pub send_between: Option<SendWindow>,
    /// How many failures pause it.
    pub stop_after_failures: Option<FailureLimit>,
    /// The last recipient whose failure does not count for that any more (R295).
    pub failures_after: Option<RecipientNumber>,
    /// Its status.
    pub status: CampaignStatus,
    /// Why it is paused; only while it is.
    pub pause_reason: Option<PauseReason>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it first began to send: from then on its list is fixed.
    pub started_at: Option<Timestamp>,
    /// When its last recipient was finished.
    pub finished_at: Option<Timestamp>,
}

impl Campaign {
    /// Whether its list was taken: its recipients are fixed.
    pub const fn has_begun(&self) -> bool {
        self.started_at.is_some()
    }

    /// What is given with the template.
    pub fn values(&self) -> TemplateValues {
        TemplateValues {
            variables: self.variables.clone(),
            header: self.header.clone(),
            buttons: self.buttons.clone(),
        }
    }
}

/// The campaign after a pause; `None` unless it is running or scheduled (D66, X16).
pub(crate) fn paused(campaign: &Campaign, reason: PauseReason, now: Timestamp) -> Option<Campaign> {
    let is_active = matches!(campaign.status, CampaignStatus::Running | CampaignStatus::Scheduled);
    is_active.then(|| Campaign {
        status: CampaignStatus::Paused,
        pause_reason: Some(reason),
        updated_at: now,
        ..campaign.clone()
    })
}

/// A recipient, with the fields that identify its contact, if it has one, and its debit.
#[derive(Clone, Debug, PartialEq)]
pub struct RecipientEntry {
    /// The recipient.
    pub recipient: Recipient,
    /// The phone and the identifier of its contact.
    pub contact: Option<(Option<Phone>, Identifier)>,
    /// The name by which its contact is shown.
    pub name: Option<String>,
    /// The debit of its message.
    pub prosa: Option<Prosa>,
}
