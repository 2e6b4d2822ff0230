//! Campaigns: one template to every contact of a list, each at most once (D58, D66).

mod draft;
mod listing;
mod manage;
mod queue;
mod recipient;
mod run;
mod send;
mod start;
mod view;

use std::collections::BTreeMap;

use async_trait::async_trait;

pub use draft::{CampaignDraft, CampaignPatch, DEFAULT_RATE, MAX_RATE};
pub use listing::{RecipientFilter, RecipientListing, RecipientView};
pub use manage::{CampaignError, CampaignResult, Campaigns};
pub use recipient::{
    ContactFault, Recipient, RecipientCounts, RecipientFault, RecipientNumber, RecipientStatus,
    follow,
};
pub use view::{CampaignCounts, CampaignRecord, CampaignView};

use crate::Timestamp;
use crate::contacts::{Identifier, Phone};
use crate::ids::{CampaignId, CompanyId, ConnectionId, ListId, MessageId, TemplateId};
use crate::page::{Page, PageRequest};
use crate::prosas::{Brl, Prosas};
use crate::store::{StoreError, Stored};
use crate::words::words;

words! {
    /// How far a campaign is (D58).
    CampaignStatus {
        /// Not started yet.
        Draft = "draft",
        /// Its messages go out.
        Running = "running",
        /// It waits to be started again.
        Paused = "paused",
        /// Every recipient had its turn.
        Finished = "finished",
    }
}

words! {
    /// Why a campaign is paused (D66).
    PauseReason {
        /// The operator wanted it.
        Operator = "operator",
        /// Its template is gone.
        TemplateNotFound = "template_not_found",
        /// Its template is not approved any more.
        TemplateNotApproved = "template_not_approved",
        /// Its template needs variables that the campaign does not have.
        TemplateVariables = "template_variables",
        /// No connection can carry it.
        Connection = "connection",
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
    /// The template it sends. It may be gone.
    pub template: TemplateId,
    /// The list whose contacts become its recipients at its start. It may be gone after that.
    pub list: ListId,
    /// The only connection it sends through; `None` goes by D35. It may be gone.
    pub connection: Option<ConnectionId>,
    /// The template's variables, alike for all recipients.
    pub variables: BTreeMap<u32, String>,
    /// What each message is debited, in prosas.
    pub prosas: Prosas,
    /// What each message is debited, in money.
    pub cost: Brl,
    /// How many messages a second are handed to the gateway at most.
    pub messages_per_second: u32,
    /// How far it is.
    pub status: CampaignStatus,
    /// Why it is paused; only while it is.
    pub pause_reason: Option<PauseReason>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was first started.
    pub started_at: Option<Timestamp>,
    /// When its last recipient had its turn.
    pub finished_at: Option<Timestamp>,
}

/// A recipient with what its contact is shown by, as long as there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct RecipientEntry {
    /// The recipient.
    pub recipient: Recipient,
    /// The phone and the identifier of its contact.
    pub contact: Option<(Option<Phone>, Identifier)>,
}

/// Reads of campaigns. Listings of campaigns are by `created_at`, then `id`; of recipients by
/// number.
#[async_trait]
pub trait CampaignReads: Send + Sync {
    /// All campaigns of the company, each with how many of its recipients have which status
    /// (exact).
    async fn campaigns(
        &self,
        company: CompanyId,
    ) -> Result<Vec<(Campaign, RecipientCounts)>, StoreError>;

    /// How many recipients of a campaign have which status (exact).
    async fn recipient_counts(
        &self,
        company: CompanyId,
        campaign: CampaignId,
    ) -> Result<RecipientCounts, StoreError>;

    /// The running campaigns of all companies, by id. Costs what there is of them, however many
    /// others there are.
    async fn running_campaigns(&self) -> Result<Vec<Stored<Campaign>>, StoreError>;

    /// Up to `limit` recipients of a status, those with a number above `after`, by number. Costs
    /// what it answers, however many others there are.
    async fn recipients(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: RecipientStatus,
        after: Option<RecipientNumber>,
        limit: u32,
    ) -> Result<Vec<Stored<Recipient>>, StoreError>;

    /// The recipients that got these messages, by campaign and number.
    async fn recipients_of(
        &self,
        company: CompanyId,
        messages: &[MessageId],
    ) -> Result<Vec<Stored<Recipient>>, StoreError>;

    /// One page of the recipients of a campaign, by number, of one status where one is asked for.
    async fn recipient_page(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: Option<RecipientStatus>,
        page: PageRequest,
    ) -> Result<Page<RecipientEntry>, StoreError>;
}
