//! Campaigns.

use async_trait::async_trait;
use recado_core::campaigns::{
    Campaign, CampaignReads, CampaignStatus, PauseReason, Recipient, RecipientCounts,
    RecipientEntry, RecipientNumber, RecipientStatus,
};
use recado_core::ids::{CampaignId, CompanyId, ConnectionId, ListId, MessageId, TemplateId};
use recado_core::page::{Page, PageRequest};
use recado_core::prosas::{Brl, Prosas};
use recado_core::store::{StoreError, Stored};

use crate::SqliteStore;
use crate::cell::{Cell, Columns, json};
use crate::error::ReadResult;
use crate::recipients;
use crate::table::{self, Table, statements};

/// The running campaigns of all companies, as [`table::list`] takes it.
const RUNNING: &str = "status = 'running' ORDER BY id, company_id";

impl Table for Campaign {
    statements!(
        "campaigns",
        ["company_id", "id"],
        [
            "name",
            "template_id",
            "list_id",
            "connection_id",
            "variables",
            "prosas",
            "cost",
            "messages_per_second",
            "status",
            "pause_reason",
            "created_at",
            "updated_at",
            "started_at",
            "finished_at",
        ]
    );

    fn values(&self) -> Vec<Cell<'_>> {
        vec![
            self.company.into(),
            self.id.into(),
            (&self.name).into(),
            self.template.into(),
            self.list.into(),
            self.connection.into(),
            json(&self.variables),
            self.prosas.units().into(),
            self.cost.units().into(),
            self.messages_per_second.into(),
            self.status.as_str().into(),
            self.pause_reason.map(PauseReason::as_str).into(),
            self.created_at.into(),
            self.updated_at.into(),
            self.started_at.into(),
            self.finished_at.into(),
        ]
    }

    fn read(columns: &mut Columns<'_, '_>) -> ReadResult<Self> {
        Ok(Self {
            company: columns.id(CompanyId::new)?,
            id: columns.id(CampaignId::new)?,
            name: columns.text()?,
            template: columns.id(TemplateId::new)?,
            list: columns.id(ListId::new)?,
            connection: columns.opt_id(ConnectionId::new)?,
            variables: columns.json()?,
            prosas: Prosas::from_units(columns.number()?),
            cost: Brl::from_units(columns.number()?),
            messages_per_second: columns.number()?,
            status: columns.word(CampaignStatus::parse)?,
            pause_reason: columns.opt_word(PauseReason::parse)?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
            started_at: columns.opt_time()?,
            finished_at: columns.opt_time()?,
        })
    }
}

#[async_trait]
impl CampaignReads for SqliteStore {
    async fn campaign(
        &self,
        company: CompanyId,
        id: CampaignId,
    ) -> Result<Option<Stored<Campaign>>, StoreError> {
        self.read(move |conn| table::get(conn, &[company.into(), id.into()])).await
    }

    async fn campaigns(
        &self,
        company: CompanyId,
    ) -> Result<Vec<(Campaign, RecipientCounts)>, StoreError> {
        self.read(move |conn| {
            let campaigns = table::all::<Campaign>(conn, company)?;
            let counted = |campaign: Campaign| {
                let counts = recipients::counts(conn, company, campaign.id)?;
                Ok((campaign, counts))
            };
            campaigns.into_iter().map(counted).collect()
        })
        .await
    }

    async fn recipient_counts(
        &self,
        company: CompanyId,
        campaign: CampaignId,
    ) -> Result<RecipientCounts, StoreError> {
        self.read(move |conn| recipients::counts(conn, company, campaign)).await
    }

    async fn running_campaigns(&self) -> Result<Vec<Stored<Campaign>>, StoreError> {
        self.read(|conn| table::list(conn, RUNNING, &[])).await
    }

    async fn recipients(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: RecipientStatus,
        after: Option<RecipientNumber>,
        limit: u32,
    ) -> Result<Vec<Stored<Recipient>>, StoreError> {
        self.read(move |conn| recipients::of_status(conn, company, campaign, status, after, limit))
            .await
    }

    async fn recipient(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        number: RecipientNumber,
    ) -> Result<Option<Stored<Recipient>>, StoreError> {
        let key = [company.into(), campaign.into(), number.0.into()];
        self.read(move |conn| table::get(conn, &key)).await
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
        self.read(move |conn| recipients::of_messages(conn, company, messages)).await
    }

    async fn recipient_page(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: Option<RecipientStatus>,
        page: PageRequest,
    ) -> Result<Page<RecipientEntry>, StoreError> {
        self.read(move |conn| recipients::page(conn, company, campaign, status, page)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn campaigns_that_do_not_run_are_not_met_by_those_who_look_for_running_ones() {
        let query = format!("{} WHERE {RUNNING}", Campaign::statements().select);
        let step = plans::step(&plans::database(), &query);
        assert_eq!(step, "SCAN campaigns USING INDEX campaigns_running");
    }
}
