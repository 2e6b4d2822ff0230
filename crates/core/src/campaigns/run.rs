//! The runner: sends to the recipients of the campaigns that are assigned to this process, at their
//! rates.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};

use super::files::CampaignFiles;
use super::personal::{fill, is_personal};
use super::queue::{Assigned, CHUNK, CampaignTask, Next, POLL, RecipientQueue};
use super::send::{SlotOutcome, fault_of};
use super::start::{Finish, FinishCampaign};
use super::{
    Campaign, CampaignStatus, Campaigns, ContactFault, PauseReason, RecipientNumber,
    RecipientStatus, RecipientsFrom,
};
use crate::access::{Gcra, RateCheck, RateDecision, RateKey, TimeZone};
use crate::conversations::ChannelQuery;
use crate::deliveries::Timer;
use crate::error::Error;
use crate::ids::{CampaignId, CompanyId, ContactId};
use crate::store::{RecordsExt, StoreError, Stored};
use crate::workers::{Worker, delivering};
use crate::{Recado, Timestamp};

/// The most messages of campaigns in flight at once, in this process.
const IN_ALL: usize = 1_024;

type Running<'a> = Pin<Box<dyn Future<Output = TaskResult> + Send + 'a>>;

/// The result of a task.
enum TaskResult {
    Polled(Result<Vec<Assigned>, StoreError>),
    Begun(CampaignId, Result<(), StoreError>),
    Read(At, Result<Chunk, StoreError>),
    Asked(At, Result<RateDecision, StoreError>),
    Taken(At, Next, Result<SlotOutcome, StoreError>),
    Finished(At, Result<Finish, StoreError>),
    Paused,
    Slept(Timestamp),
    Stopped,
}

/// What a task was begun for: a campaign, in a round of its queue.
#[derive(Clone, Copy, Debug)]
struct At {
    campaign: CampaignId,
    round: u64,
}

impl Campaigns<'_> {
    /// Runs campaigns until `stop` ends: those that are assigned to this process among all delivery
    /// processes. Run it once a process, beside
    /// [`Deliveries::run`](crate::deliveries::Deliveries::run).
    ///
    /// Each recipient gets at most one message, across crashes, restarts and processes: its slot is
    /// taken in the commit that stores the message. The rate of a campaign holds over all
    /// processes. When `stop` ends no further send begins, and those in flight are finished.
    /// Failures of the store are reported to the timer and tried again (D66).
    pub async fn run(&self, timer: &dyn Timer, stop: impl Future<Output = ()> + Send) {
        Runner::new(self.app, Some(timer)).run(Box::pin(stop.map(|()| TaskResult::Stopped))).await;
    }

    /// Uses every slot that may be used now, then ends: for tests with a clock of their own, and
    /// for programs without background tasks. It does not wait for the rates of campaigns.
    pub async fn drain(&self) {
        Runner::new(self.app, None).run(Box::pin(pending())).await;
    }
}

struct Runner<'a> {
    app: &'a Recado,
    timer: Option<&'a dyn Timer>,
    queues: BTreeMap<CampaignId, RecipientQueue>,
    /// The scheduled campaigns that are beginning now.
    beginning: BTreeSet<CampaignId>,
    files: Arc<CampaignFiles>,
    running: FuturesUnordered<Running<'a>>,
    taking: usize,
    /// Tasks under way that are not waits.
    working: usize,
    polling: bool,
    polled: bool,
    stopping: bool,
    ticked_at: Timestamp,
    wakes_at: Option<Timestamp>,
}

impl<'a> Runner<'a> {
    fn new(app: &'a Recado, timer: Option<&'a dyn Timer>) -> Self {
        Self {
            app,
            timer,
            queues: BTreeMap::new(),
            beginning: BTreeSet::new(),
            files: Arc::default(),
            running: FuturesUnordered::new(),
            taking: 0,
            working: 0,
            polling: false,
            polled: false,
            stopping: false,
            ticked_at: app.now(),
            wakes_at: None,
        }
    }

    async fn run(mut self, stop: Running<'a>) {
        self.running.push(stop);
        self.poll();
        self.sleep(self.app.now());
        while let Some(done) = self.running.next().await {
            self.take_in(done);
            if self.go_on() {
                break;
            }
        }
    }

    fn trouble(&self, error: &StoreError) {
        if let Some(timer) = self.timer {
            timer.troubled(error);
        }
    }

    fn poll(&mut self) {
        if !self.polling && !self.stopping {
            self.polling = true;
            self.working += 1;
            self.running.push(Box::pin(poll(self.app).map(TaskResult::Polled)));
        }
    }

    fn take_in(&mut self, done: TaskResult) {
        let now = self.app.now();
        if !matches!(done, TaskResult::Slept(_) | TaskResult::Stopped) {
            self.working -= 1;
        }
        match done {
            TaskResult::Polled(found) => {
                self.polling = false;
                self.polled = true;
                match found {
                    Ok(campaigns) => self.found(campaigns),
                    Err(error) => self.trouble(&error),
                }
            }
            TaskResult::Begun(id, begun) => {
                self.beginning.remove(&id);
                match begun {
                    Ok(()) => self.poll(),
                    Err(error) => self.trouble(&error),
                }
            }
            TaskResult::Read(at, chunk) => match chunk {
                Ok(chunk) => self.with(at, |queue| queue.read(chunk.next, chunk.read_to)),
                Err(error) => self.failed(at, &error, now),
            },
            TaskResult::Asked(at, decision) => match decision {
                Ok(RateDecision::Allowed) => self.begin_slot(at, now),
                Ok(RateDecision::Limited { retry_after }) => {
                    self.with(at, |queue| queue.paced(now.plus(up_to_millis(retry_after)), now));
                }
                Err(error) => self.failed(at, &error, now),
            },
            TaskResult::Taken(at, next, slot) => {
                self.taking -= 1;
                self.slot_ended(at, next, slot, now);
            }
            TaskResult::Finished(at, finish) => match finish {
                Ok(Finish::Over) => {
                    self.queues.remove(&at.campaign);
                }
                Ok(Finish::Waiting | Finish::Sending) => {
                    self.with(at, |queue| queue.again(now.plus(POLL)));
                }
                Err(error) => self.failed(at, &error, now),
            },
            TaskResult::Paused => self.poll(),
            TaskResult::Slept(at) => {
                self.wakes_at = self.wakes_at.filter(|wakes_at| *wakes_at != at);
                // A clock that was set back does not delay the next poll.
                self.ticked_at = self.ticked_at.min(now);
                if self.ticked_at.plus(POLL) <= now {
                    self.ticked_at = now;
                    self.poll();
                }
            }
            TaskResult::Stopped => self.stopping = true,
        }
    }

    /// Changes a queue, if it is still in the round in which the task was begun.
    fn with(&mut self, at: At, change: impl FnOnce(&mut RecipientQueue)) {
        if let Some(queue) =
            self.queues.get_mut(&at.campaign).filter(|queue| queue.round() == at.round)
        {
            change(queue);
        }
    }

    fn failed(&mut self, at: At, error: &StoreError, now: Timestamp) {
        self.trouble(error);
        self.with(at, |queue| queue.again(now.plus(POLL)));
    }

    /// Sets the running campaigns. Those that no longer run are dropped once nothing of them is in
    /// flight.
    fn found(&mut self, assigned: Vec<Assigned>) {
        let is_scheduled = |known: &Assigned| known.campaign.status == CampaignStatus::Scheduled;
        let (scheduled, running): (Vec<_>, Vec<_>) = assigned.into_iter().partition(is_scheduled);
        let ids: BTreeSet<CampaignId> = running.iter().map(|known| known.campaign.id).collect();
        self.queues.retain(|id, _| ids.contains(id));
        for known in running {
            match self.queues.get_mut(&known.campaign.id) {
                Some(queue) => queue.found(known),
                None => {
                    self.queues.insert(known.campaign.id, RecipientQueue::new(known));
                }
            }
        }
        for known in scheduled {
            self.begin(&known.campaign);
        }
    }

    /// Begins a scheduled campaign whose time has come (X16).
    fn begin(&mut self, campaign: &Campaign) {
        let (app, company, id) = (self.app, campaign.company, campaign.id);
        if self.stopping || !self.beginning.insert(id) {
            return;
        }
        self.working += 1;
        self.running.push(Box::pin(async move {
            TaskResult::Begun(id, app.campaigns().begin(company, id).await)
        }));
    }

    fn begin_slot(&mut self, at: At, now: Timestamp) {
        let Some(queue) = self.queues.get_mut(&at.campaign) else { return };
        if self.stopping || queue.round() != at.round {
            return;
        }
        let Some(next) = queue.next(now) else { return };
        self.taking += 1;
        self.working += 1;
        let (app, campaign, files) = (self.app, queue.campaign.clone(), self.files.clone());
        self.running.push(Box::pin(async move {
            let (number, contact) = (next.number, next.contact);
            let slot = app.campaigns().use_slot(&campaign, number, contact, &files).await;
            TaskResult::Taken(at, next, slot)
        }));
    }

    fn slot_ended(
        &mut self,
        at: At,
        next: Next,
        slot: Result<SlotOutcome, StoreError>,
        now: Timestamp,
    ) {
        // In any round, its recipient is no longer being sent to.
        let Some(queue) = self.queues.get_mut(&at.campaign) else { return };
        let number = next.number;
        match slot {
            Ok(SlotOutcome::Sent) => {
                queue.took(number, false);
                queue.passed(now);
            }
            Ok(SlotOutcome::Taken) => {
                queue.took(number, false);
            }
            Ok(SlotOutcome::Limited(wait)) => queue.limited(next, wait, now),
            Ok(SlotOutcome::PutOff) => queue.refused_for_now(next, now),
            Ok(SlotOutcome::Unreached) => {
                if queue.took(number, true) {
                    let (company, id) = (queue.campaign.company, at.campaign);
                    self.queues.remove(&id);
                    self.working += 1;
                    let app = self.app;
                    self.running.push(Box::pin(async move {
                        let reason = PauseReason::Connection;
                        // If it fails, the next messages that do not get through try again.
                        let _paused: Result<(), StoreError> =
                            app.campaigns().pause_for(company, id, reason).await;
                        TaskResult::Paused
                    }));
                }
            }
            Ok(SlotOutcome::Outdated | SlotOutcome::TemplateLost) => {
                queue.not_taken(number);
                self.with(at, |queue| queue.outdated(now));
                self.poll();
            }
            Err(error) => {
                queue.not_taken(number);
                queue.rest(now.plus(POLL));
                self.trouble(&error);
            }
        }
    }

    /// Begins the next steps. Returns whether the runner has ended.
    fn go_on(&mut self) -> bool {
        let now = self.app.now();
        if self.stopping {
            return self.working == 0;
        }
        let app = self.app;
        for (id, queue) in &mut self.queues {
            // While a poll is under way, the known state may be outdated.
            if self.polling && self.timer.is_none() {
                break;
            }
            let has_room = self.taking < IN_ALL;
            for step in queue.steps(now, has_room) {
                self.working += 1;
                let at = At { campaign: *id, round: queue.round() };
                let campaign = queue.campaign.clone();
                self.running.push(match step {
                    CampaignTask::Read(after) => {
                        Box::pin(
                            async move { TaskResult::Read(at, read(app, &campaign, after).await) },
                        )
                    }
                    CampaignTask::Ask => {
                        Box::pin(async move { TaskResult::Asked(at, ask(app, &campaign).await) })
                    }
                    CampaignTask::Finish => {
                        Box::pin(
                            async move { TaskResult::Finished(at, finish(app, &campaign).await) },
                        )
                    }
                });
            }
        }
        if self.timer.is_none() {
            return self.working == 0 && self.polled;
        }
        self.sleep(now);
        false
    }

    /// Wakes up in time for the next poll, and for the next message before it.
    fn sleep(&mut self, now: Timestamp) {
        let Some(timer) = self.timer else { return };
        let tick = self.ticked_at.plus(POLL);
        let next = self.queues.values().filter_map(RecipientQueue::wakes_at).min();
        let wake = next.map_or(tick, |next| next.min(tick));
        if self.wakes_at.is_none_or(|at| wake < at) {
            self.wakes_at = Some(wake);
            let wait = wake.since(now).clamp(Duration::from_millis(1), POLL);
            self.running.push(Box::pin(async move {
                timer.sleep(wait).await;
                TaskResult::Slept(wake)
            }));
        }
    }
}

/// A wait in whole milliseconds, rounded up: the clock has no finer unit.
fn up_to_millis(wait: Duration) -> Duration {
    Duration::from_millis(u64::try_from(wait.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX))
}

/// The campaigns that run or whose time has come and that are assigned to this process, without
/// those that failures stop.
async fn poll(app: &Recado) -> Result<Vec<Assigned>, StoreError> {
    let halted = app.halts().current().await?;
    if halted.is_quiet() {
        // D75, D76.
        return Ok(Vec::new());
    }
    app.workers().ensure_alive().await?;
    let (own, now) = (app.workers().own_id(), app.now());
    let workers = app.store().all::<Worker>(()).await?;
    let alive = delivering(&workers, now);
    let shares = app.store().shards().await?.shares(own, &alive);
    let mut active = app.store().active_campaigns(&shares, now).await?;
    active.retain(|campaign| !halted.is_quiet_for(campaign.company));
    let mut zones: BTreeMap<CompanyId, Option<TimeZone>> = BTreeMap::new();
    let mut assigned = Vec::with_capacity(active.len());
    for campaign in active {
        let zone = match zones.get(&campaign.company) {
            Some(known) => *known,
            None => {
                let company = app.company(campaign.company).await?;
                let zone = company.map(|company| company.time_zone);
                zones.insert(campaign.company, zone);
                zone
            }
        };
        // Reports that came since may have failed many (R295).
        if let Some(zone) = zone
            && !app.campaigns().stop_on_failures(&campaign).await?
        {
            assigned.push(Assigned { campaign, zone });
        }
    }
    Ok(assigned)
}

/// Some recipients that wait.
struct Chunk {
    next: Vec<Next>,
    /// The last one that was examined; `None` when there was none.
    read_to: Option<RecipientNumber>,
}

/// The next recipients that wait. Those that get no message are skipped at once, so that they use
/// none of the campaign's rate.
async fn read(
    app: &Recado,
    campaign: &Stored<Campaign>,
    after: Option<RecipientNumber>,
) -> Result<Chunk, StoreError> {
    let (store, company) = (app.store(), campaign.company);
    let waiting = RecipientStatus::Waiting;
    let found = store
        .recipients(company, campaign.id, waiting, RecipientsFrom::After(after), CHUNK)
        .await?;
    let mut chunk = Chunk { next: Vec::new(), read_to: found.last().map(|last| last.number) };
    let ids: Vec<ContactId> = found.iter().filter_map(|recipient| recipient.contact).collect();
    if found.is_empty() {
        return Ok(chunk);
    }
    let query = ChannelQuery { ids, ..ChannelQuery::default() };
    let contacts = store.channel_contacts(company, &query).await?;
    for recipient in &found {
        let is_it = |contact: ContactId| recipient.contact == Some(contact);
        let contact = contacts.iter().find(|known| is_it(known.contact.id));
        let shown = fault_of(contact.map(|known| known.contact.value()));
        if shown.is_some() || is_empty_for(app, campaign, recipient.contact).await? {
            let fault = Some(ContactFault::EmptyVariable.into()).filter(|_| shown.is_none());
            app.campaigns().pass_over(campaign, recipient.number, fault).await?;
        } else {
            chunk.next.push(Next { number: recipient.number, contact: recipient.contact });
        }
    }
    Ok(chunk)
}

/// Whether a contact lacks what the campaign says of it (X16).
async fn is_empty_for(
    app: &Recado,
    campaign: &Campaign,
    contact: Option<ContactId>,
) -> Result<bool, StoreError> {
    let values = campaign.values();
    let Some(contact) = contact.filter(|_| is_personal(&values)) else { return Ok(false) };
    let person = app.campaigns().person(campaign, contact).await?;
    Ok(person.is_some_and(|person| !fill(&values, &person).is_whole))
}

/// Whether another message may go out now.
async fn ask(app: &Recado, campaign: &Campaign) -> Result<RateDecision, StoreError> {
    let allowance = Gcra::per_second(campaign.messages_per_second);
    let check = RateCheck { key: RateKey::Campaign(campaign.id), allowance };
    app.limiter().check(&[check], app.now()).await
}

async fn finish(app: &Recado, campaign: &Campaign) -> Result<Finish, StoreError> {
    let (company, id) = (campaign.company, campaign.id);
    match app.run(&FinishCampaign { company, id }).await {
        Ok(finish) => Ok(finish),
        Err(Error::Rejected(_) | Error::Denied(_)) => Ok(Finish::Over),
        Err(Error::Busy) => Err(StoreError::Unavailable(None)),
        Err(Error::Store(error)) => Err(error),
    }
}
