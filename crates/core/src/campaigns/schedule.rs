//! When a campaign begins (X16, R292).

use async_trait::async_trait;

use super::{Campaign, CampaignStatus, Campaigns, PauseReason, paused};
use crate::Timestamp;
use crate::error::{Error, NotFound};
use crate::ids::{CampaignId, CompanyId};
use crate::lists::List;
use crate::problems::Problems;
use crate::store::{Change, ChangeSet, Decided, Reads, RecordsExt, StoreError, Stored};
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

/// What a campaign writes when it goes over to `after`: its list is taken when it first begins
/// (D66). `list` is `None` where that is gone.
pub(super) fn going_over(
    campaign: &Stored<Campaign>,
    after: &Campaign,
    list: Option<Stored<List>>,
) -> Result<ChangeSet, Problems> {
    let mut changes = ChangeSet::new();
    if !campaign.has_begun() {
        let list = list.ok_or_else(|| Problems::of("list_id", "names a list that is gone"))?;
        changes = changes.require(list.unchanged());
    }
    changes = changes.with(campaign.update(after.clone()));
    if !campaign.has_begun() && after.has_begun() {
        changes = changes.with(Change::enroll(campaign.company, campaign.id, campaign.list));
    }
    Ok(changes)
}

/// Begins a scheduled campaign whose time has come, or pauses it if its list is gone.
struct BeginCampaign {
    company: CompanyId,
    id: CampaignId,
}

#[async_trait]
impl UseCase for BeginCampaign {
    type Loaded = Option<(Stored<Campaign>, Option<Stored<List>>)>;
    type Output = ();
    type Error = NotFound;

    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError> {
        let Some(campaign) = store.get::<Campaign>((self.company, self.id)).await? else {
            return Ok(None);
        };
        let list = store.list(self.company, campaign.list).await?;
        Ok(Some((campaign, list.map(|(list, _)| list))))
    }

    fn decide(&self, loaded: Self::Loaded, now: Timestamp) -> Result<Decided<()>, NotFound> {
        let Some((campaign, list)) = loaded else { return Ok(Decided::unchanged(())) };
        let Some(begun) = begun(&campaign, now) else { return Ok(Decided::unchanged(())) };
        let changes = going_over(&campaign, &begun, list).or_else(|_| {
            let paused = paused(&campaign, PauseReason::ListNotFound, now).ok_or(NotFound)?;
            Ok(ChangeSet::new().with(campaign.update(paused)))
        })?;
        Ok(Decided::new(changes, ()))
    }
}

impl Campaigns<'_> {
    /// Begins a scheduled campaign whose time has come. Safe to repeat, by any process.
    pub(super) async fn begin(&self, company: CompanyId, id: CampaignId) -> Result<(), StoreError> {
        match self.app.run(&BeginCampaign { company, id }).await {
            Ok(()) | Err(Error::Rejected(_) | Error::Denied(_)) => Ok(()),
            Err(Error::Busy) => Err(StoreError::Unavailable(None)),
            Err(Error::Store(error)) => Err(error),
        }
    }
}
