//! When a campaign begins (X16, R292).

use async_trait::async_trait;

use super::take_list::{Beginning, ListFacts, Step, going_over};
use super::{Campaign, CampaignError, CampaignStatus, Campaigns, PauseReason, paused};
use crate::Timestamp;
use crate::error::Error;
use crate::ids::{CampaignId, CompanyId};
use crate::problems::Problems;
use crate::store::{ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
use crate::use_case::UseCase;

/// Whether a campaign still waits for its time.
fn waits(campaign: &Campaign, now: Timestamp) -> bool {
    campaign.scheduled_at.is_some_and(|at| at > now)
}

/// The campaign after a start: a draft begins, a paused one continues, or both wait for their time;
/// a scheduled, running or finished one stays as it is (D66, X16).
pub(super) fn started(campaign: &Campaign, now: Timestamp) -> Option<Campaign> {
    let is_idle = matches!(campaign.status, CampaignStatus::Draft | CampaignStatus::Paused);
    let started = Campaign { pause_reason: None, updated_at: now, ..campaign.clone() };
    is_idle.then(|| match waits(campaign, now) {
        true => Campaign { status: CampaignStatus::Scheduled, ..started },
        false => running(started, now),
    })
}

/// The campaign as it sends.
fn running(campaign: Campaign, now: Timestamp) -> Campaign {
    let started_at = campaign.started_at.or(Some(now));
    Campaign { status: CampaignStatus::Running, started_at, updated_at: now, ..campaign }
}

/// A scheduled campaign whose time has come, as it begins; `None` before (X16).
fn begun(campaign: &Campaign, now: Timestamp) -> Option<Campaign> {
    let is_due = campaign.status == CampaignStatus::Scheduled && !waits(campaign, now);
    is_due.then(|| running(campaign.clone(), now))
}

/// The campaign after a change: one that was scheduled and has no time any more sends nothing
/// before it is started again (R292).
pub(super) fn rescheduled(before: &Campaign, changed: Campaign) -> Campaign {
    if before.status != CampaignStatus::Scheduled || changed.scheduled_at.is_some() {
        return changed;
    }
    let (status, pause_reason) = match before.has_begun() {
        true => (CampaignStatus::Paused, Some(PauseReason::Operator)),
        false => (CampaignStatus::Draft, None),
    };
    Campaign { status, pause_reason, ..changed }
}

/// A time that is new has to lie in the future (R292).
pub(super) fn require_to_come(
    campaign: &Campaign,
    before: Option<&Campaign>,
    now: Timestamp,
) -> Problems {
    let is_new = before.is_none_or(|before| before.scheduled_at != campaign.scheduled_at);
    match campaign.scheduled_at {
        Some(at) if is_new && at <= now => Problems::of("scheduled_at", "must lie in the future"),
        Some(_) | None => Problems::new(),
    }
}

/// Begins a scheduled campaign whose time has come, or pauses it if its list is gone.
struct BeginCampaign {
    company: CompanyId,
    id: CampaignId,
    beginning: Beginning,
}

#[async_trait]
impl UseCase for BeginCampaign {
    type Loaded = Option<(Stored<Campaign>, ListFacts)>;
    type Output = Step;
    type Error = CampaignError;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let Some(campaign) = store.get::<Campaign>((self.company, self.id)).await? else {
            return Ok(None);
        };
        let list = ListFacts::load(store, &campaign).await?;
        Ok(Some((campaign, list)))
    }

    fn decide(&self, loaded: Self::Loaded, now: Timestamp) -> Result<Decided<Step>, CampaignError> {
        let (campaign, list) = loaded.ok_or(CampaignError::NotFound)?;
        let Some(begun) = begun(&campaign, now) else {
            return Ok(Decided::unchanged(Step::Done(Box::new(campaign.into_value()))));
        };
        going_over(&campaign, &begun, list, &self.beginning, now).or_else(|_| {
            let reason = PauseReason::ListNotFound;
            let paused = paused(&campaign, reason, now).ok_or(CampaignError::NotFound)?;
            let changes = ChangeSet::new().with(campaign.update(paused.clone()));
            Ok(Decided::new(changes, Step::Done(Box::new(paused))))
        })
    }
}

impl Campaigns<'_> {
    /// Begins a scheduled campaign whose time has come. Safe to repeat, by any process.
    pub(super) async fn begin(&self, company: CompanyId, id: CampaignId) -> Result<(), StoreError> {
        let decide = |beginning| async move {
            self.app.run(&BeginCampaign { company, id, beginning }).await
        };
        match self.take_and_begin(company, id, decide).await {
            Ok(_) | Err(Error::Rejected(_) | Error::Denied(_)) => Ok(()),
            Err(Error::Busy) => Err(StoreError::Unavailable(None)),
            Err(Error::Store(error)) => Err(error),
        }
    }
}
