//! Starting, pausing and finishing campaigns (D66).

use async_trait::async_trait;

use super::schedule::started;
use super::take_list::{Beginning, ListFacts, Step, going_over};
use super::watch::last_begun;
use super::{
    Campaign, CampaignError, CampaignRecord, CampaignResult, CampaignStatus, Campaigns,
    ContactFault, PauseReason, Recipient, RecipientFault, RecipientNumber, RecipientStatus,
    RecipientsFrom, paused,
};
use crate::Timestamp;
use crate::error::{Error, NotFound};
use crate::ids::{CampaignId, CompanyId};
use crate::store::{ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;

/// How many recipients whose contact was deleted during the send are recorded in one commit.
const ORPHANS: u32 = 100;

/// What a start reads.
struct StartFacts {
    campaign: Stored<Campaign>,
    list: ListFacts,
    /// The last recipient whose failure does not count any more (R295).
    last_begun: Option<RecipientNumber>,
}

/// Starts or continues a campaign (R91).
struct StartCampaign {
    company: CompanyId,
    id: CampaignId,
    beginning: Beginning,
}

#[async_trait]
impl UseCase for StartCampaign {
    type Loaded = Option<StartFacts>;
    type Output = Step;
    type Error = CampaignError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let Some(campaign) = store.get::<Campaign>((self.company, self.id)).await? else {
            return Ok(None);
        };
        let list = ListFacts::load(store, &campaign).await?;
        let last_begun = match campaign.pause_reason {
            Some(PauseReason::Failures) => last_begun(store, &campaign).await?,
            _ => campaign.failures_after,
        };
        Ok(Some(StartFacts { campaign, list, last_begun }))
    }

    fn decide(&self, loaded: Self::Loaded, now: Timestamp) -> Result<Decided<Step>, CampaignError> {
        let StartFacts { campaign, list, last_begun } = loaded.ok_or(CampaignError::NotFound)?;
        let Some(after) = started(&campaign, now) else {
            return Ok(Decided::unchanged(Step::Done(Box::new(campaign.into_value()))));
        };
        let after = Campaign { failures_after: last_begun, ..after };
        Ok(going_over(&campaign, &after, list, &self.beginning, now)?)
    }
}

/// Pauses a campaign.
pub(super) struct PauseCampaign {
    pub(super) company: CompanyId,
    pub(super) id: CampaignId,
    pub(super) reason: PauseReason,
}

#[async_trait]
impl UseCase for PauseCampaign {
    type Loaded = Option<Stored<Campaign>>;
    type Output = Campaign;
    type Error = CampaignError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        store.get::<Campaign>((self.company, self.id)).await
    }

    fn decide(
        &self,
        campaign: Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Campaign>, CampaignError> {
        let campaign = campaign.ok_or(CampaignError::NotFound)?;
        match paused(&campaign, self.reason, now) {
            None => Ok(Decided::unchanged(campaign.into_value())),
            Some(paused) => {
                let change = campaign.update(paused.clone());
                Ok(Decided::new(ChangeSet::new().with(change), paused))
            }
        }
    }
}

/// Finishes a campaign without waiting recipients and without messages in flight.
pub(super) struct FinishCampaign {
    pub(super) company: CompanyId,
    pub(super) id: CampaignId,
}

/// Whether a campaign has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// It has ended, now or before.
    Over,
    /// Some recipients still wait.
    Waiting,
    /// Some messages are in flight, here or left over from a process that died.
    Sending,
}

/// What finishing reads.
pub(super) struct UnfinishedFacts {
    campaign: Stored<Campaign>,
    waiting: bool,
    sending: Vec<Stored<Recipient>>,
}

#[async_trait]
impl UseCase for FinishCampaign {
    type Loaded = Option<UnfinishedFacts>;
    type Output = Finish;
    type Error = NotFound;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let (company, id) = (self.company, self.id);
        let Some(campaign) = store.get::<Campaign>((company, id)).await? else { return Ok(None) };
        let first = RecipientsFrom::After(None);
        // In the order in which recipients change status, so that none is missed between the two
        // reads.
        let waiting = store.recipients(company, id, RecipientStatus::Waiting, first, 1).await?;
        let sending =
            store.recipients(company, id, RecipientStatus::Sending, first, ORPHANS).await?;
        Ok(Some(UnfinishedFacts { campaign, waiting: !waiting.is_empty(), sending }))
    }

    fn decide(&self, rest: Self::Loaded, now: Timestamp) -> Result<Decided<Finish>, NotFound> {
        let Some(rest) = rest else { return Ok(Decided::unchanged(Finish::Over)) };
        if rest.campaign.status != CampaignStatus::Running {
            return Ok(Decided::unchanged(Finish::Over));
        }
        if rest.waiting {
            return Ok(Decided::unchanged(Finish::Waiting));
        }
        if rest.sending.is_empty() {
            let finished = Campaign {
                status: CampaignStatus::Finished,
                finished_at: Some(now),
                updated_at: now,
                ..rest.campaign.value().clone()
            };
            let change = rest.campaign.update(finished);
            return Ok(Decided::new(ChangeSet::new().with(change), Finish::Over));
        }
        // The outcome of a message that was deleted with its contact is recorded nowhere else.
        let orphans = rest.sending.iter().filter(|recipient| recipient.contact.is_none());
        let changes = orphans.fold(ChangeSet::new(), |changes, orphan| {
            changes.with(orphan.update(Recipient {
                status: RecipientStatus::Failed,
                fault: Some(RecipientFault::Contact(ContactFault::Deleted)),
                outcomes: orphan.outcomes.after(RecipientStatus::Failed, now),
                ..orphan.value().clone()
            }))
        });
        Ok(Decided::new(changes, Finish::Sending))
    }
}

impl Campaigns<'_> {
    /// Starts a campaign: every contact that is in its list now becomes a recipient, and its
    /// messages begin to go out. Both wait for its time if it has one that is still to come (X16).
    /// A paused one continues; one that is scheduled, running or finished stays as it is (D66).
    ///
    /// A long list is stored in portions, which nobody sees before the campaign has begun (R447).
    /// If that is interrupted, the campaign has not begun.
    ///
    /// # Errors
    ///
    /// [`CampaignError::NotFound`]; [`CampaignError::Invalid`] if the list was deleted;
    /// [`Error::Busy`] while another call takes the list, or what one left is removed.
    pub async fn start(
        &self,
        company: CompanyId,
        id: CampaignId,
    ) -> CampaignResult<CampaignRecord> {
        let decide = |beginning| async move {
            self.app.run(&StartCampaign { company, id, beginning }).await
        };
        let campaign = self.take_and_begin(company, id, decide).await?;
        self.show(&campaign).await
    }

    /// Pauses a campaign: no message begins to be sent after this has answered; those in flight are
    /// finished. A scheduled one waits to be started again. Any other stays as it is (D66).
    ///
    /// # Errors
    ///
    /// [`CampaignError::NotFound`].
    pub async fn pause(
        &self,
        company: CompanyId,
        id: CampaignId,
    ) -> CampaignResult<CampaignRecord> {
        let reason = PauseReason::Operator;
        let campaign = self.app.run(&PauseCampaign { company, id, reason }).await?;
        self.show(&campaign).await
    }

    pub(super) async fn pause_for(
        &self,
        company: CompanyId,
        id: CampaignId,
        reason: PauseReason,
    ) -> Result<(), StoreError> {
        match self.app.run(&PauseCampaign { company, id, reason }).await {
            Ok(_) | Err(Error::Rejected(_) | Error::Denied(_)) => Ok(()),
            Err(Error::Busy) => Err(StoreError::Unavailable(None)),
            Err(Error::Store(error)) => Err(error),
        }
    }
}
