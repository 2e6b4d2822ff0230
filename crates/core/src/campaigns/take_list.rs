//! The list of a campaign is taken when it begins (D66), a long one in portions (R447).
//!
//! A long list is read once: that is the moment at which it is taken. Its contacts are then stored
//! as recipients in portions, while the campaign has not begun, and the commit that begins it comes
//! last. A job is the record of this. While it is leased, somebody is at it; if that process died,
//! the job removes what it left.

use std::time::Duration;

use super::{Campaign, CampaignError, Campaigns, Recipient, RecipientNumber};
use crate::error::Error;
use crate::ids::{CampaignId, CompanyId, JobId};
use crate::jobs::{Job, JobKind};
use crate::lists::List;
use crate::problems::Problems;
use crate::store::{
    Change, ChangeSet, Collection, Decided, Reads, RecordsExt, StoreError, Stored, Version,
};
use crate::{Recado, Timestamp, long_deletions};

/// The most recipients that one commit stores, so that no other call waits long for it.
///
/// R447.
const PORTION: u32 = 500;

/// How long after its last portion the work of a process counts as interrupted.
const LEASE: Duration = Duration::from_secs(60);

/// What a campaign that begins needs to know of its list.
#[derive(Debug)]
pub(super) struct ListFacts {
    /// The list and how many contacts it has; `None` where it is gone.
    list: Option<(Stored<List>, u64)>,
    /// The work of somebody who takes it.
    taking: Option<Stored<Job>>,
}

impl ListFacts {
    pub(super) async fn load(store: &dyn Reads, campaign: &Campaign) -> Result<Self, StoreError> {
        let list = store.list(campaign.company, campaign.list).await?;
        let kind = JobKind::take_list_of(campaign.id);
        let taking = store.job_like(campaign.company, &kind).await?;
        Ok(Self { list, taking })
    }
}

/// What a decision about the beginning of a campaign did.
#[derive(Debug)]
pub(super) enum Step {
    /// All there was to do; the campaign as it is now.
    Done(Box<Campaign>),
    /// It recorded that the list is going to be taken, which is to be done now.
    Takes(Stored<Job>),
    /// Nothing: somebody else is taking the list.
    Busy,
}

/// Whoever decides that a campaign begins.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    /// The id of the job, if one is needed.
    pub(super) job: JobId,
    /// The list, where it was taken.
    pub(super) taken: Option<Stored<Job>>,
}

/// What a campaign writes when it goes over to `after`: its list is taken when it first begins
/// (D66).
pub(super) fn going_over(
    campaign: &Stored<Campaign>,
    after: &Campaign,
    ListFacts { list, taking }: ListFacts,
    beginning: &Beginning,
    now: Timestamp,
) -> Result<Decided<Step>, Problems> {
    let update = ChangeSet::new().with(campaign.update(after.clone()));
    if campaign.has_begun() {
        return Ok(Decided::new(update, Step::Done(Box::new(after.clone()))));
    }
    let (list, contacts) =
        list.ok_or_else(|| Problems::of("list_id", "names a list that is gone"))?;
    let update = update.require(list.unchanged());
    let done = Step::Done(Box::new(after.clone()));
    if !after.has_begun() {
        return Ok(Decided::new(update, done));
    }
    let kind = JobKind::TakeList { campaign: campaign.id, list: campaign.list };
    match (taking, &beginning.taken) {
        (None, None) if contacts <= u64::from(PORTION) => {
            let all = Change::enroll(campaign.company, campaign.id, campaign.list);
            Ok(Decided::new(update.with(all), done))
        }
        (None, None) => {
            let due = Job::due_now(beginning.job, campaign.company, kind, now);
            let job = Job { leased_until: Some(now.plus(LEASE)), ..due };
            let changes = ChangeSet::new().require(campaign.unchanged()).insert(job.clone());
            Ok(Decided::new(changes, Step::Takes(Stored::new(job, Version::FIRST))))
        }
        (Some(job), Some(taken)) if job.version() == taken.version() && job.kind == kind => {
            Ok(Decided::new(update.with(job.delete()), done))
        }
        _ => Ok(Decided::unchanged(Step::Busy)),
    }
}

/// The job with a lease from now on.
fn renewed(job: &Stored<Job>, now: Timestamp) -> Job {
    Job { leased_until: Some(now.plus(LEASE)), ..job.value().clone() }
}

/// Stores the contacts of the list as recipients, in portions. Those that are deleted meanwhile are
/// left out. Each portion renews the lease, and fails if somebody else has taken over the job.
async fn store_all(
    app: &Recado,
    mut job: Stored<Job>,
    campaign: &Campaign,
) -> Result<Stored<Job>, Error<CampaignError>> {
    let (company, list) = (campaign.company, campaign.list);
    let store = app.store();
    let all = store.list_candidates(company, list, &[], u32::MAX).await?.first;
    let mut last = 0;
    for portion in all.chunks(PORTION as usize) {
        let ours = &job;
        let decide = |now: Timestamp| async move {
            let there = store.list_candidates(company, list, portion, 0).await?.existing;
            let count = u32::try_from(there.len()).unwrap_or(PORTION);
            let renewed = renewed(ours, now);
            let changes = ChangeSet::new().with(ours.update(renewed.clone()));
            let numbers = (last + 1..).map(RecipientNumber);
            let changes = numbers.zip(there).fold(changes, |changes, (number, contact)| {
                changes.insert(Recipient::waiting(company, campaign.id, number, contact))
            });
            Ok::<_, Error<CampaignError>>(Decided::new(changes, (renewed, count)))
        };
        let (renewed, count) = app.decide(decide).await?;
        job = Stored::new(renewed, job.version().next());
        last += count;
    }
    Ok(job)
}

/// Removes what was stored for a campaign that has not begun, in portions, and the job. Somebody
/// else may do the same.
async fn clear(app: &Recado, mut job: Stored<Job>) -> Result<(), StoreError> {
    let JobKind::TakeList { campaign: id, .. } = job.kind else { return Ok(()) };
    let (store, company) = (app.store(), job.company);
    loop {
        let campaign = store.get::<Campaign>((company, id)).await?;
        let left = match campaign.as_ref().is_some_and(|campaign| !campaign.has_begun()) {
            true => store.campaign_totals(company, id, None).await?.counts.total(),
            false => 0,
        };
        let now = app.now();
        let changes =
            match left {
                0 => ChangeSet::new().with(job.delete()),
                // A campaign begins only while nobody changes its job.
                _ => ChangeSet::new().with(job.update(renewed(&job, now))).with(
                    Change::remove_rows(company, Collection::Campaign(id), long_deletions::PORTION),
                ),
            };
        // What has a conflict is decided anew by the job, when its lease has lapsed.
        if !app.commit_once(changes).await? || left == 0 {
            return Ok(());
        }
        job = Stored::new(renewed(&job, now), job.version().next());
    }
}

/// Removes what a process left that died while it took a list.
pub(crate) async fn take_list_job(app: &Recado, job: &Stored<Job>) -> Result<(), StoreError> {
    clear(app, job.clone()).await
}

impl Campaigns<'_> {
    /// Decides that a campaign begins, and takes its list where that is long. If it cannot be
    /// finished, what was stored of the list is removed.
    ///
    /// R447.
    pub(super) async fn take_and_begin<F>(
        &self,
        company: CompanyId,
        id: CampaignId,
        decide: impl Fn(Beginning) -> F,
    ) -> Result<Campaign, Error<CampaignError>>
    where
        F: Future<Output = Result<Step, Error<CampaignError>>>,
    {
        let job = JobId::new(self.app.uuid(self.app.now()));
        let mut beginning = Beginning { job, taken: None };
        let outcome = loop {
            match decide(beginning.clone()).await {
                Ok(Step::Takes(job)) => {
                    beginning.taken = Some(job.clone());
                    let campaign = self.app.store().get::<Campaign>((company, id)).await?;
                    let Some(campaign) = campaign else {
                        break Err(Error::Rejected(CampaignError::NotFound));
                    };
                    match store_all(self.app, job, &campaign).await {
                        Ok(job) => beginning.taken = Some(job),
                        Err(failed) => break Err(failed),
                    }
                }
                Ok(Step::Done(campaign)) => break Ok(*campaign),
                Ok(Step::Busy) => break Err(Error::Busy),
                Err(failed) => break Err(failed),
            }
        };
        if beginning.taken.is_some() {
            self.leave(company, id, job).await;
        }
        outcome
    }

    /// Removes what this call stored of a list, unless the campaign has begun. What fails, the job
    /// does when its lease has lapsed.
    async fn leave(&self, company: CompanyId, campaign: CampaignId, job: JobId) {
        let kind = JobKind::take_list_of(campaign);
        if let Ok(Some(left)) = self.app.store().job_like(company, &kind).await
            && left.id == job
        {
            let _: Result<(), StoreError> = clear(self.app, left).await;
        }
    }
}
