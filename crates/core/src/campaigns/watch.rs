//! Pausing a campaign of which too many messages failed (X16, R295).

use async_trait::async_trait;

use super::{
    Campaign, CampaignStatus, Campaigns, PauseReason, RecipientNumber, RecipientStatus,
    RecipientsFrom, paused,
};
use crate::Timestamp;
use crate::error::{Error, NotFound};
use crate::ids::{CampaignId, CompanyId};
use crate::store::{ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;

/// The statuses of messages that did not fail.
const PASSED: [RecipientStatus; 3] =
    [RecipientStatus::Sent, RecipientStatus::Delivered, RecipientStatus::Read];

/// Pauses a running campaign if so many of its last messages failed.
struct StopOnFailures {
    company: CompanyId,
    id: CampaignId,
}

/// What is read for it.
struct Outcomes {
    campaign: Stored<Campaign>,
    /// How many messages after the decisive failure did not fail; `None` where too few failed at
    /// all.
    others: Option<usize>,
    /// Whether somebody still waits, so that there is something to pause.
    waiting: bool,
}

#[async_trait]
impl UseCase for StopOnFailures {
    type Loaded = Option<Outcomes>;
    /// Whether it is paused now.
    type Output = bool;
    type Error = NotFound;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let (company, id) = (self.company, self.id);
        let found = store.get::<Campaign>((company, id)).await?;
        let Some(campaign) = found.filter(|known| known.status == CampaignStatus::Running) else {
            return Ok(None);
        };
        let Some(limit) = campaign.stop_after_failures else { return Ok(None) };
        let (status, last) = (RecipientStatus::Failed, RecipientsFrom::Last);
        let failed = store.recipients(company, id, status, last, limit.failed).await?;
        let failed: Vec<RecipientNumber> = failed.iter().map(|failed| failed.number).collect();
        let mut outcomes = Outcomes { campaign, others: None, waiting: false };
        let Some(decisive) = limit.decisive(&failed, outcomes.campaign.failures_after) else {
            return Ok(Some(outcomes));
        };
        let mut others = 0;
        for status in PASSED {
            let after = RecipientsFrom::After(Some(decisive));
            others += store.recipients(company, id, status, after, limit.of).await?.len();
        }
        outcomes.others = Some(others);
        let first = RecipientsFrom::After(None);
        let waiting = store.recipients(company, id, RecipientStatus::Waiting, first, 1).await?;
        outcomes.waiting = !waiting.is_empty();
        Ok(Some(outcomes))
    }

    fn decide(&self, loaded: Self::Loaded, now: Timestamp) -> Result<Decided<bool>, NotFound> {
        let Some(outcomes) = loaded.filter(|outcomes| outcomes.waiting) else {
            return Ok(Decided::unchanged(false));
        };
        let campaign = outcomes.campaign;
        let reached = campaign.stop_after_failures.zip(outcomes.others);
        let is_reached = reached.is_some_and(|(limit, others)| limit.is_reached(others));
        match paused(&campaign, PauseReason::Failures, now).filter(|_| is_reached) {
            Some(paused) => Ok(Decided::new(ChangeSet::new().with(campaign.update(paused)), true)),
            None => Ok(Decided::unchanged(false)),
        }
    }
}

/// The last recipient of a campaign whose message was begun.
pub(super) async fn last_begun(
    store: &dyn Reads,
    campaign: &Campaign,
) -> Result<Option<RecipientNumber>, StoreError> {
    let begun = [RecipientStatus::Sending, RecipientStatus::Failed];
    let mut last = None;
    for status in PASSED.into_iter().chain(begun) {
        let (company, id, from) = (campaign.company, campaign.id, RecipientsFrom::Last);
        let found = store.recipients(company, id, status, from, 1).await?;
        last = last.max(found.first().map(|found| found.number));
    }
    Ok(last)
}

impl Campaigns<'_> {
    /// Pauses a campaign if so many of its last messages failed as stop it; returns whether it did.
    pub(super) async fn stop_on_failures(&self, campaign: &Campaign) -> Result<bool, StoreError> {
        if campaign.stop_after_failures.is_none() {
            return Ok(false);
        }
        let (company, id) = (campaign.company, campaign.id);
        match self.app.run(&StopOnFailures { company, id }).await {
            Ok(stopped) => Ok(stopped),
            Err(Error::Rejected(_) | Error::Denied(_)) => Ok(false),
            Err(Error::Busy) => Err(StoreError::Unavailable(None)),
            Err(Error::Store(error)) => Err(error),
        }
    }
}
