//! Reads of campaigns and their recipients.

use async_trait::async_trait;

use super::{
    Campaign, Recipient, RecipientCounts, RecipientEntry, RecipientNumber, RecipientStatus,
};
use crate::ids::{CampaignId, CompanyId, MessageId};
use crate::page::{Page, PageRequest};
use crate::store::{StoreError, Stored};

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

    /// The running campaigns of all companies, by id. The cost grows with their number only, not
    /// with that of other campaigns.
    async fn running_campaigns(&self) -> Result<Vec<Stored<Campaign>>, StoreError>;

    /// Up to `limit` recipients of a status, those with a number above `after`, by number. The cost
    /// grows with the answer only, not with the number of other recipients.
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
