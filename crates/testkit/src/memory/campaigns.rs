//! Campaigns and their recipients: how they are enrolled, and reads of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::campaigns::{
    Campaign, CampaignReads, CampaignStatus, CampaignTotals, Recipient, RecipientCounts,
    RecipientEntry, RecipientNumber, RecipientStatus, RecipientsFrom, StepCount, TimeSteps,
};
use recado_core::contacts::Contact;
use recado_core::deliveries::{ShardNumber, Shards};
use recado_core::ids::{CampaignId, CompanyId, ContactId, ListId, MessageId};
use recado_core::lists::ListMember;
use recado_core::page::{Page, PageRequest};
use recado_core::prosas::{Brl, LedgerLine, LedgerTotals, Prosas};
use recado_core::store::{Conflict, RowKey, StoreError, Stored, UniqueKey};

use super::messages::page_of;
use super::{MemoryStore, State};

impl State {
    /// Makes every contact of the list a recipient of the campaign.
    pub(super) fn enroll(
        &mut self,
        company: CompanyId,
        campaign: CampaignId,
        list: ListId,
    ) -> Result<(), Conflict> {
        if self.rows.entry(&RowKey::Campaign { company, id: campaign }).is_none() {
            return Err(Conflict::Reference);
        }
        let members = self.rows.all::<ListMember>();
        let mut contacts: Vec<ContactId> = members
            .filter(|member| member.company == company && member.list == list)
            .map(|member| member.contact)
            .collect();
        contacts.sort();
        let enrolled = (1..).map(RecipientNumber).zip(contacts);
        let enrolled: Vec<(RecipientNumber, ContactId)> = enrolled.collect();
        // Read once for all contacts, because lists are long.
        let there = self.rows.all::<Recipient>();
        let there = there.filter(|r| r.company == company && r.campaign == campaign);
        let (numbers, contacts): (HashSet<_>, HashSet<_>) =
            there.map(|recipient| (recipient.number, recipient.contact)).unzip();
        let is_there = |(number, contact): &(RecipientNumber, ContactId)| {
            numbers.contains(number) || contacts.contains(&Some(*contact))
        };
        if enrolled.iter().any(is_there) {
            return Err(Conflict::Taken(UniqueKey::Recipient));
        }
        for (number, contact) in enrolled {
            let recipient = Recipient::waiting(company, campaign, number, contact);
            self.set_new(recipient.into());
        }
        Ok(())
    }

    /// The recipients of a campaign that fulfil a condition, by number.
    fn recipients_where(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        wanted: impl Fn(&Recipient) -> bool,
    ) -> Vec<Stored<Recipient>> {
        let of_campaign = |r: &Recipient| r.company == company && r.campaign == campaign;
        self.sorted_stored(
            |recipient: &Recipient| of_campaign(recipient) && wanted(recipient),
            |recipient| recipient.number,
        )
    }

    fn counts(&self, company: CompanyId, campaign: CampaignId) -> RecipientCounts {
        let mut counts = RecipientCounts::default();
        for recipient in self.rows.all::<Recipient>() {
            if recipient.company == company && recipient.campaign == campaign {
                counts.add(recipient.status, 1);
            }
        }
        counts
    }

    fn totals(&self, company: CompanyId, campaign: CampaignId) -> CampaignTotals {
        let of_campaign =
            |line: &&LedgerLine| line.company == company && line.campaign == Some(campaign);
        // Exact first: a sum that overflowed on the way would depend on the order of the lines.
        let sum = |units: fn(&LedgerLine) -> i64| {
            let lines = self.rows.all::<LedgerLine>().filter(of_campaign);
            let exact: i128 = lines.map(|line| i128::from(units(line))).sum();
            exact.clamp(i64::MIN.into(), i64::MAX.into()) as i64
        };
        let consumption = LedgerTotals {
            prosas: Prosas::from_units(sum(|line| line.prosas.units())),
            cost_brl: Brl::from_units(sum(|line| line.cost.units())),
        };
        CampaignTotals { counts: self.counts(company, campaign), consumption, steps: Vec::new() }
    }

    fn in_steps(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        steps: TimeSteps,
    ) -> Vec<StepCount> {
        let mut counts: BTreeMap<(u32, RecipientStatus), u64> = BTreeMap::new();
        for recipient in self.recipients_where(company, campaign, |_| true) {
            for (status, at) in recipient.happened() {
                if let Some(step) = steps.of(at) {
                    *counts.entry((step, status)).or_default() += 1;
                }
            }
        }
        let count = |((step, status), count)| StepCount { step, status, count };
        counts.into_iter().map(count).collect()
    }

    fn recipient_entry(&self, recipient: Recipient) -> RecipientEntry {
        let company = recipient.company;
        let contact = recipient.contact.and_then(|id| {
            let contact = self.rows.get::<Contact>(&RowKey::Contact { company, id })?;
            Some((contact.phone.clone(), contact.identifier.clone(), contact.display_name.clone()))
        });
        let name = contact.as_ref().map(|(_, _, name)| name.clone());
        let contact = contact.map(|(phone, identifier, _)| (phone, identifier));
        let prosa = recipient.debit.and_then(|id| {
            let line = self.rows.get::<LedgerLine>(&RowKey::LedgerLine { company, id })?;
            Some(line.prosa())
        });
        RecipientEntry { recipient, contact, name, prosa }
    }
}

#[async_trait]
impl CampaignReads for MemoryStore {
    async fn campaigns(
        &self,
        company: CompanyId,
    ) -> Result<Vec<(Campaign, CampaignTotals)>, StoreError> {
        let state = self.state();
        let campaigns = state.sorted(
            |campaign: &Campaign| campaign.company == company,
            |campaign| (campaign.created_at, campaign.id),
        );
        let counted = |campaign: Campaign| {
            let totals = state.totals(company, campaign.id);
            (campaign, totals)
        };
        Ok(campaigns.into_iter().map(counted).collect())
    }

    async fn campaign_totals(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        steps: Option<TimeSteps>,
    ) -> Result<CampaignTotals, StoreError> {
        let state = self.state();
        let in_steps = steps.map(|steps| state.in_steps(company, campaign, steps));
        let steps = in_steps.unwrap_or_default();
        Ok(CampaignTotals { steps, ..state.totals(company, campaign) })
    }

    async fn active_campaigns(
        &self,
        shards: &BTreeSet<ShardNumber>,
        until: Timestamp,
    ) -> Result<Vec<Stored<Campaign>>, StoreError> {
        let is_active = |campaign: &Campaign| match campaign.status {
            CampaignStatus::Running => true,
            CampaignStatus::Scheduled => campaign.scheduled_at.is_some_and(|at| at <= until),
            CampaignStatus::Draft | CampaignStatus::Paused | CampaignStatus::Finished => false,
        };
        let is_theirs = |campaign: &Campaign| {
            shards.contains(&Shards::USUAL.of_campaign(campaign.id)) && is_active(campaign)
        };
        Ok(self.state().sorted_stored(is_theirs, |campaign| campaign.id))
    }

    async fn recipients(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: RecipientStatus,
        from: RecipientsFrom,
        limit: u32,
    ) -> Result<Vec<Stored<Recipient>>, StoreError> {
        let mut found = self.state().recipients_where(company, campaign, |recipient| {
            let is_behind = match from {
                RecipientsFrom::After(after) => Some(recipient.number) > after,
                RecipientsFrom::Last => true,
            };
            recipient.status == status && is_behind
        });
        if from == RecipientsFrom::Last {
            found.reverse();
        }
        found.truncate(limit as usize);
        Ok(found)
    }

    async fn recipients_of(
        &self,
        company: CompanyId,
        messages: &[MessageId],
    ) -> Result<Vec<Stored<Recipient>>, StoreError> {
        let got_one = |recipient: &Recipient| {
            recipient.message.is_some_and(|message| messages.contains(&message))
        };
        Ok(self.state().sorted_stored(
            |recipient: &Recipient| recipient.company == company && got_one(recipient),
            |recipient| (recipient.campaign, recipient.number),
        ))
    }

    async fn recipient_page(
        &self,
        company: CompanyId,
        campaign: CampaignId,
        status: Option<RecipientStatus>,
        page: PageRequest,
    ) -> Result<Page<RecipientEntry>, StoreError> {
        let state = self.state();
        let found = state.recipients_where(company, campaign, |recipient| {
            status.is_none_or(|status| recipient.status == status)
        });
        let entry = |recipient: Stored<Recipient>| state.recipient_entry(recipient.into_value());
        Ok(page_of(found.into_iter().map(entry).collect(), page))
    }
}
