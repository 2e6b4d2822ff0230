//! Campaigns.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::campaigns::{
    Campaign, CampaignReads, CampaignTotals, Recipient, RecipientEntry, RecipientStatus,
    RecipientsFrom, StepCount, TimeSteps,
};
use recado_core::deliveries::ShardNumber;
use recado_core::ids::{CampaignId, CompanyId, MessageId};
use recado_core::page::{Page, PageRequest};
use recado_core::prosas::LedgerTotals;
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::params;
use crate::prosas::spent_on;
use crate::recipients::{add_count, counts_of};
use crate::session::{all_stored, rows};
use crate::table::{Table, columns_of};

/// The running campaigns of the shards `$1`, of all companies, read from an index.
pub(crate) static RUNNING: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} WHERE status = 'running' AND recado_shard_of(id) = ANY($1::smallint[])",
        Campaign::sql().select
    )
});

/// Those of the shards `$1` that are scheduled for the time `$2` or an earlier one, read from an
/// index.
pub(crate) static SCHEDULED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} WHERE status = 'scheduled' AND recado_shard_of(id) = ANY($1::smallint[]) \
         AND scheduled_at <= $2",
        Campaign::sql().select
    )
});

/// The campaigns of a company with the sums of their ledger lines: one row for each campaign and
/// status of its recipients.
pub(crate) static COUNTED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, spent.prosas, spent.cost, counted.status, counted.n FROM campaigns c \
         CROSS JOIN LATERAL ({} OFFSET 0) AS spent \
         LEFT JOIN LATERAL ({} OFFSET 0) AS counted ON true \
         WHERE c.company_id = $1 ORDER BY c.created_at, c.id",
        columns_of::<Campaign>("c"),
        spent_on("c.company_id", "c.id"),
        counts_of("c.company_id", "c.id"),
    )
});

/// One campaign in the same form, without its own columns.
pub(crate) static TOTALS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT spent.prosas, spent.cost, counted.status, counted.n \
         FROM ({}) AS spent LEFT JOIN ({}) AS counted ON true",
        spent_on("$1::uuid", "$2::uuid"),
        counts_of("$1::uuid", "$2::uuid"),
    )
});

/// What happened to the messages of a campaign in steps of time. Its rows are read once.
pub(crate) const STEPS: &str = "\
SELECT (v.at - $3::bigint) / $4::bigint, v.status, count(*) FROM recipients r \
CROSS JOIN LATERAL (VALUES ('sent', r.sent_at), ('delivered', r.delivered_at), \
('read', r.read_at), \
(r.status, CASE WHEN r.status IN ('failed', 'skipped') THEN r.ended_at END)) AS v (status, at) \
WHERE r.company_id = $1 AND r.campaign_id = $2 AND v.at >= $3::bigint AND v.at < $5::bigint \
GROUP BY 1, 2";

/// Adds what a row of [`COUNTED`] or [`TOTALS`] says: the sums, and the count of one status, if
/// there is one.
fn add_totals(totals: &mut CampaignTotals, columns: &mut Columns<'_>) -> Result<(), StoreError> {
    totals.consumption = LedgerTotals { prosas: columns.get()?, cost_brl: columns.get()? };
    if columns.is_present()? { add_count(&mut totals.counts, columns) } else { Ok(()) }
}

#[async_trait]
impl CampaignReads for PostgresStore {
    async fn campaigns(
        &self,
        company: CompanyId,
    ) -> Result<Vec<(Campaign, CampaignTotals)>, StoreError> {
        let found = rows(&self.pool, COUNTED.as_str(), params![company.uuid()]).await?;
        let mut campaigns: Vec<(Campaign, CampaignTotals)> = Vec::new();
        for row in &found {
            let mut columns = Columns::new(row);
            let campaign: Campaign = columns.record()?;
            if campaigns.last().is_none_or(|(last, _)| last.id != campaign.id) {
                campaigns.push((campaign, CampaignTotals::default()));
            }
            if let Some((_, totals)) = campaigns.last_mut() {
                add_totals(totals, &mut columns)?;
            }
        }
        Ok(campaigns)
    }

    async fn campaign_totals(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        steps: Option<TimeSteps>,
    ) -> Result<CampaignTotals, StoreError> {
        let params = params![company.uuid(), campaign.uuid()];
        let mut totals = CampaignTotals::default();
        for row in &rows(&self.pool, TOTALS.as_str(), params).await? {
            add_totals(&mut totals, &mut Columns::new(row))?;
        }
        if let Some(steps) = steps {
            let mut params = params![company.uuid(), campaign.uuid(), steps.from.millis()];
            params.extend(params![steps.millis(), steps.end().millis()]);
            for row in &rows(&self.pool, STEPS, params).await? {
                let mut columns = Columns::new(row);
                let (step, status) = (columns.get()?, columns.get()?);
                totals.steps.push(StepCount { step, status, count: columns.get()? });
            }
            totals.steps.sort_unstable();
        }
        Ok(totals)
    }

    async fn active_campaigns(
        &self,
        shards: &BTreeSet<ShardNumber>,
        until: Timestamp,
    ) -> Result<Vec<Stored<Campaign>>, StoreError> {
        let shards: Vec<i16> = shards.iter().map(|shard| shard.number().cast_signed()).collect();
        // Those that are scheduled come first, so that none is missed while it begins.
        let params = params![shards.clone(), until.millis()];
        let scheduled = rows(&self.pool, SCHEDULED.as_str(), params).await?;
        let mut active: Vec<Stored<Campaign>> = all_stored(&scheduled)?;
        let running: Vec<Stored<Campaign>> =
            all_stored(&rows(&self.pool, RUNNING.as_str(), params![shards]).await?)?;
        let key = |campaign: &Campaign| (campaign.id, campaign.company);
        active.retain(|known| running.iter().all(|other| key(other) != key(known)));
        active.extend(running);
        active.sort_unstable_by_key(|campaign| key(campaign));
        Ok(active)
    }

    async fn recipients(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: RecipientStatus,
        from: RecipientsFrom,
        limit: u32,
    ) -> Result<Vec<Stored<Recipient>>, StoreError> {
        self.queue_of_recipients(company, campaign, status, from, limit).await
    }

    async fn recipients_of(
        &self,
        company: CompanyId,
        messages: &[MessageId],
    ) -> Result<Vec<Stored<Recipient>>, StoreError> {
        self.recipients_of_messages(company, messages).await
    }

    async fn recipient_page(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: Option<RecipientStatus>,
        page: PageRequest,
    ) -> Result<Page<RecipientEntry>, StoreError> {
        self.page_of_recipients(company, campaign, status, page).await
    }
}
