//! Reads of campaigns and their recipients.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::{
    Campaign, CampaignTotals, Recipient, RecipientEntry, RecipientNumber, RecipientStatus,
    TimeSteps,
};
use crate::Timestamp;
use crate::deliveries::ShardNumber;
use crate::ids::{CampaignId, CompanyId, MessageId};
use crate::page::{Page, PageRequest};
use crate::store::{StoreError, Stored};

/// From where a queue of recipients is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipientsFrom {
    /// By number, those with a number above this.
    After(Option<RecipientNumber>),
    /// The last ones, the highest number first.
    Last,
}

/// Reads of campaigns. Listings of campaigns are by `created_at`, then `id`; of recipients by
/// number.
#[async_trait]
pub trait CampaignReads: Send + Sync {
    /// All campaigns of the company, each with how many of its recipients have which status, and
    /// with the sums of its ledger lines (both exact). The cost grows with the number of campaigns
    /// only, not with that of recipients and lines (R448).
    async fn campaigns(
        &self,
        company: CompanyId,
    ) -> Result<Vec<(Campaign, CampaignTotals)>, StoreError>;

    /// The same of one campaign. With steps of time also what happened in them
    /// ([`Recipient::happened`]); for these the rows of its recipients are read.
    async fn campaign_totals(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        steps: Option<TimeSteps>,
    ) -> Result<CampaignTotals, StoreError>;

    /// The campaigns of `shards` that run, and those that are scheduled for `until` or an earlier
    /// time, of all companies, by id. The cost grows with their number only, not with that of other
    /// campaigns, and in a store that processes share by a network not with those of other shards
    /// (R98).
    async fn active_campaigns(
        &self,
        shards: &BTreeSet<ShardNumber>,
        until: Timestamp,
    ) -> Result<Vec<Stored<Campaign>>, StoreError>;

    /// Up to `limit` recipients of a status, from the first after a number or from the last. The
    /// cost grows with the answer only, not with the number of other recipients.
    async fn recipients(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: RecipientStatus,
        from: RecipientsFrom,
        limit: u32,
    ) -> Result<Vec<Stored<Recipient>>, StoreError>;

    /// The recipients that got these messages, by campaign and number.
    async fn recipients_of(
        &self,
        company: CompanyId,
        messages: &[MessageId],
    ) -> Result<Vec<Stored<Recipient>>, StoreError>;

    /// One page of the recipients of a campaign, by number, of one status where one is asked for;
    /// each with the debit that it names.
    async fn recipient_page(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: Option<RecipientStatus>,
        page: PageRequest,
    ) -> Result<Page<RecipientEntry>, StoreError>;
}
