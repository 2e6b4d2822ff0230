//! Campaigns.

use std::collections::BTreeSet;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::campaigns::{
    Campaign, CampaignReads, CampaignTotals, Recipient, RecipientEntry, RecipientStatus,
    RecipientsFrom, TimeSteps,
};
use recado_core::deliveries::{ShardNumber, Shards};
use recado_core::ids::{CampaignId, CompanyId, MessageId};
use recado_core::page::{Page, PageRequest};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::database::Connection;
use crate::error::ReadResult;
use crate::prosas;
use crate::recipients;
use crate::table::{self};

/// The running campaigns of all companies, as [`table::list`] takes it.
const RUNNING: &str = "status = 'running' ORDER BY id, company_id";
/// Those that are scheduled for a time or an earlier one.
const SCHEDULED: &str = "status = 'scheduled' AND scheduled_at <= ?1";

/// What is counted and summed of a campaign, without steps in indexes alone.
fn totals(
    conn: &Connection,
    company: CompanyId,
    campaign: CampaignId,
    steps: Option<TimeSteps>,
) -> ReadResult<CampaignTotals> {
    let in_steps = |steps| recipients::in_steps(conn, company, campaign, steps);
    Ok(CampaignTotals {
        counts: recipients::counts(conn, company, campaign)?,
        consumption: prosas::of_campaign(conn, company, campaign)?,
        steps: steps.map(in_steps).transpose()?.unwrap_or_default(),
    })
}

#[async_trait]
impl CampaignReads for SqliteStore {
    async fn campaigns(
        &self,
        company: CompanyId,
    ) -> Result<Vec<(Campaign, CampaignTotals)>, StoreError> {
        self.read_of(company, move |conn| {
            let campaigns = table::all::<Campaign>(conn, company)?;
            let counted = |campaign: Campaign| {
                let totals = totals(conn, company, campaign.id, None)?;
                Ok((campaign, totals))
            };
            campaigns.into_iter().map(counted).collect()
        })
        .await
    }

    async fn campaign_totals(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        steps: Option<TimeSteps>,
    ) -> Result<CampaignTotals, StoreError> {
        self.read_of(company, move |conn| totals(conn, company, campaign, steps)).await
    }

    async fn active_campaigns(
        &self,
        shards: &BTreeSet<ShardNumber>,
        until: Timestamp,
    ) -> Result<Vec<Stored<Campaign>>, StoreError> {
        let shards = shards.clone();
        self.read(move |conn| {
            // Those that are scheduled come first, so that none is missed while it begins.
            let mut active: Vec<Stored<Campaign>> =
                table::list(conn, SCHEDULED, &[until.millis().into()])?;
            let running: Vec<Stored<Campaign>> = table::list(conn, RUNNING, &[])?;
            let key = |campaign: &Campaign| (campaign.id, campaign.company);
            active.retain(|known| running.iter().all(|other| key(other) != key(known)));
            active.extend(running);
            active.retain(|campaign| shards.contains(&Shards::USUAL.of_campaign(campaign.id)));
            active.sort_unstable_by_key(|campaign| key(campaign));
            Ok(active)
        })
        .await
    }

    async fn recipients(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: RecipientStatus,
        from: RecipientsFrom,
        limit: u32,
    ) -> Result<Vec<Stored<Recipient>>, StoreError> {
        self.read_of(company, move |conn| {
            recipients::of_status(conn, company, campaign, status, from, limit)
        })
        .await
    }

    async fn recipients_of(
        &self,
        company: CompanyId,
        messages: &[MessageId],
    ) -> Result<Vec<Stored<Recipient>>, StoreError> {
        if messages.is_empty() {
            return Ok(Vec::new());
        }
        let messages = messages.to_vec();
        self.read_of(company, move |conn| recipients::of_messages(conn, company, messages)).await
    }

    async fn recipient_page(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: Option<RecipientStatus>,
        page: PageRequest,
    ) -> Result<Page<RecipientEntry>, StoreError> {
        self.read_of(company, move |conn| recipients::page(conn, company, campaign, status, page))
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;
    use crate::table::Table;

    #[test]
    fn campaigns_that_do_not_run_are_not_met_by_those_who_look_for_running_ones() {
        let query = format!("{} WHERE {RUNNING}", Campaign::statements().select);
        let step = plans::step(&plans::database(), &query);
        assert_eq!(step, "SCAN campaigns USING INDEX campaigns_running");
        let query = format!("{} WHERE {SCHEDULED}", Campaign::statements().select);
        let step = plans::step(&plans::database(), &query);
        assert_eq!(step, "SEARCH campaigns USING INDEX campaigns_scheduled (scheduled_at<?)");
    }
}
