//! Doing what the state asks for: reads, attempts, commits, and the wait for what comes next.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, pending};
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};

use super::state::{Action, Dispatch, Recorded, Settled, Trial};
use super::tenure::plan;
use super::{DispatchLimits, Timer};
use crate::deliveries::{
    Deliveries, Delivery, Lane, LanePage, LaneRead, Outcome, Pending, ShardNumber, Touch,
    after_attempt, cancelled, envelope, headers, overtaken,
};
use crate::store::{Change, ChangeSet, CommitError, Conflict, StoreError};
use crate::transport::{OutboundRequest, TransportError};
use crate::{Recado, Timestamp};

/// How often the shards are looked at, and the store for what nobody rang for.
const POLL: Duration = Duration::from_secs(1);
/// How many queues one read answers of those that have something pending.
const LANES_AT_ONCE: u32 = 1_000;
/// How much of an answer is read (D53).
const ANSWER_BYTES: usize = 64 * 1024;
/// How many ends are taken in before it is decided what comes next.
const ENDS_AT_ONCE: usize = 64;
/// How often a drain or a stop tries to settle its shards.
const TENURE_TRIES: u32 = 8;

type Running<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

/// What this process holds.
#[derive(Debug, Default)]
struct Tenure {
    held: BTreeSet<ShardNumber>,
    leaving: BTreeSet<ShardNumber>,
    is_alone: bool,
    /// Somebody else wrote the shards at the same time: look again.
    disturbed: bool,
}

/// How something that was under way has ended.
enum Done {
    Read { read: LaneRead, began: Timestamp, page: Result<LanePage, StoreError> },
    Tried { trial: Box<Trial>, after: Box<Delivery>, silent: bool },
    Recorded { batch: Vec<Settled>, how: Result<(), CommitError> },
    Cancelled(Lane, Result<bool, StoreError>),
    Looked(Result<Vec<Pending>, StoreError>),
    Settled(u64, Result<Tenure, StoreError>),
    Rung(BTreeMap<Lane, Touch>),
    RungElsewhere(Option<Vec<Lane>>),
    Slept(Timestamp),
    Stopped,
}

/// When the dispatcher ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// When it is told to.
    Stopped,
    /// When nothing is due any more.
    Drained,
}

impl Deliveries<'_> {
    /// Dispatches until `stop` ends: claims its share of the webhooks, sends what is due, records
    /// what came of it. Run it once a process, beside the beat of
    /// [`Workers`](crate::workers::Workers::beat). At least once: a delivery whose attempt was cut
    /// off by a crash is tried again and the attempt is not counted (D52, D52a).
    ///
    /// When `stop` ends, nothing more is begun; what is in flight is finished and recorded, and each
    /// shard is handed back as soon as it is quiet. Failures of the store are told to the timer's
    /// [`Timer::troubled`] and tried again.
    pub async fn run(&self, timer: &dyn Timer, stop: impl Future<Output = ()> + Send) {
        let driver = Driver::new(self.app, Some(timer), Until::Stopped);
        driver.run(Box::pin(stop.map(|()| Done::Stopped))).await;
    }

    /// Dispatches what is due now and what becomes due by that, then hands everything back: for
    /// tests with a clock of their own, and for programs without background tasks. While another
    /// process dispatches too, only this one's share is sent.
    pub async fn drain(&self) {
        Driver::new(self.app, None, Until::Drained).run(Box::pin(pending())).await;
    }
}

/// Tells that nobody listens any more, however the dispatcher ends.
struct Listening<'a>(&'a Recado);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.fan_out().listen(false);
        self.0.fan_out().set_alone(false);
        self.0.own_lease().set_dispatches(false);
    }
}

struct Driver<'a> {
    app: &'a Recado,
    timer: Option<&'a dyn Timer>,
    until: Until,
    state: Dispatch,
    running: FuturesUnordered<Running<'a>>,
    /// Reads, attempts and commits under way.
    working: usize,
    settling: bool,
    /// Raised when what is held is let go of: what was asked for before tells nothing any more.
    tenures: u64,
    looking: bool,
    looked: bool,
    stopping: bool,
    failures: u32,
    ticked_at: Timestamp,
    wakes_at: Option<Timestamp>,
}

impl<'a> Driver<'a> {
    fn new(app: &'a Recado, timer: Option<&'a dyn Timer>, until: Until) -> Self {
        Self {
            app,
            timer,
            until,
            state: Dispatch::new(DispatchLimits::default()),
            running: FuturesUnordered::new(),
            working: 0,
            settling: false,
            tenures: 0,
            looking: false,
            looked: false,
            stopping: false,
            failures: 0,
            ticked_at: app.now(),
            wakes_at: None,
        }
    }

    async fn run(mut self, stop: Running<'a>) {
        let listening = Listening(self.app);
        self.app.fan_out().listen(true);
        self.app.own_lease().set_dispatches(true);
        self.running.push(stop);
        self.running.push(Box::pin(self.app.fan_out().rung().map(Done::Rung)));
        if self.timer.is_some() {
            self.running.push(elsewhere(self.app));
        }
        // Told to the others before anything is claimed.
        if let Err(error) = self.app.workers().beat().await {
            self.trouble(&error);
        }
        self.settle();
        while let Some(done) = self.running.next().await {
            self.take_in(done);
            for _ in 1..ENDS_AT_ONCE {
                match self.running.next().now_or_never() {
                    Some(Some(done)) => self.take_in(done),
                    Some(None) | None => break,
                }
            }
            if self.go_on() {
                break;
            }
        }
        drop(listening);
        if self.until == Until::Drained {
            // So that no other process waits for this one.
            let _told: Result<(), StoreError> = self.app.workers().beat().await;
        }
    }

    fn trouble(&mut self, error: &StoreError) {
        self.failures += 1;
        if let Some(timer) = self.timer {
            timer.troubled(error);
        }
    }

    fn take_in(&mut self, done: Done) {
        let now = self.app.now();
        match done {
            Done::Read { read, began, page } => {
                self.working -= 1;
                let page = page.map_err(|error| self.trouble(&error)).ok();
                self.state.read_ended(&read, page, began, now);
            }
            Done::Tried { trial, after, silent } => {
                self.working -= 1;
                self.looked = false;
                self.state.tried(*trial, *after, silent);
            }
            Done::Recorded { batch, how } => {
                self.working -= 1;
                let how = match how {
                    Ok(()) => Recorded::Done,
                    Err(CommitError::Conflict(Conflict::Contended)) => Recorded::Contended,
                    Err(CommitError::Conflict(_)) => Recorded::Conflict,
                    Err(CommitError::Store(error)) => {
                        self.trouble(&error);
                        Recorded::Failed
                    }
                };
                self.state.recorded(batch, how, now);
            }
            Done::Cancelled(lane, ended) => {
                self.working -= 1;
                self.state.cancelled(lane);
                match ended {
                    Ok(false) => {}
                    Ok(true) => self.state.rung([(lane, Touch::Queue)]),
                    Err(error) => self.trouble(&error),
                }
            }
            Done::Looked(found) => {
                self.looking = false;
                match found {
                    Ok(pending) => self.state.found(&pending, now),
                    Err(error) => self.trouble(&error),
                }
            }
            Done::Settled(asked, tenure) => {
                self.settling = false;
                if asked == self.tenures {
                    self.settled(tenure);
                } else {
                    self.settle();
                }
            }
            Done::Rung(lanes) => {
                self.state.rung(lanes);
                self.running.push(Box::pin(self.app.fan_out().rung().map(Done::Rung)));
            }
            Done::RungElsewhere(lanes) => {
                match lanes {
                    Some(lanes) => {
                        self.state.rung(lanes.into_iter().map(|lane| (lane, Touch::Queue)));
                    }
                    None => {
                        self.settle();
                        self.look();
                    }
                }
                self.running.push(elsewhere(self.app));
            }
            Done::Slept(at) => {
                // Others may still sleep that were not needed any more.
                self.wakes_at = self.wakes_at.filter(|wakes_at| *wakes_at != at);
                // A clock that was set back does not hold up the next look.
                self.ticked_at = self.ticked_at.min(now);
                if self.ticked_at.plus(POLL) <= now {
                    self.ticked_at = now;
                    self.state.tick(now);
                    self.settle();
                    self.look();
                }
            }
            Done::Stopped => self.stop(),
        }
    }

    fn settled(&mut self, tenure: Result<Tenure, StoreError>) {
        match tenure {
            Err(error) => self.trouble(&error),
            Ok(tenure) => {
                if tenure.disturbed {
                    self.failures += 1;
                } else {
                    self.failures = 0;
                }
                self.app.fan_out().set_alone(tenure.is_alone && !self.stopping);
                let leaving = if self.stopping { tenure.held.clone() } else { tenure.leaving };
                // What others did with them meanwhile is not known, nor what was let go of.
                let gained = !tenure.held.is_subset(self.state.held());
                self.state.hold(tenure.held, leaving);
                if gained {
                    self.look();
                }
                if tenure.disturbed && self.timer.is_none() {
                    self.settle();
                }
            }
        }
    }

    fn stop(&mut self) {
        if !self.stopping {
            self.stopping = true;
            self.failures = 0;
            let held = self.state.held().clone();
            self.state.hold(held.clone(), held);
            self.settle();
        }
    }

    /// Starts what is to be done next. Tells whether the dispatcher has come to its end.
    fn go_on(&mut self) -> bool {
        let now = self.app.now();
        let alive = now < self.app.own_lease().lasts_until();
        if !alive && !self.stopping && !self.state.held().is_empty() {
            // Others may have taken everything over: it is asked for anew, whatever was held.
            self.state.hold(BTreeSet::new(), BTreeSet::new());
            self.tenures += 1;
            self.settle();
        }
        for action in self.state.actions(now, alive && !self.stopping) {
            self.working += 1;
            let app = self.app;
            self.running.push(match action {
                Action::Read(read) => Box::pin(read_lane(app, read)),
                Action::Try(trial) => Box::pin(attempt(app, trial)),
                Action::Record(batch) => Box::pin(record(app, batch)),
                Action::Cancel(lane) => Box::pin(async move {
                    let deliveries = app.deliveries();
                    Done::Cancelled(lane, deliveries.cancel(lane.company, lane.webhook, 1).await)
                }),
            });
        }
        let under_way = self.working > 0 || self.settling || self.looking;
        if self.stopping {
            if self.state.held().is_empty() {
                return !under_way;
            }
            let given_up = self.failures >= TENURE_TRIES;
            if !self.settling && !given_up && !self.state.quiet().is_empty() {
                self.settle();
            }
            if given_up && !under_way {
                return true;
            }
        } else if self.until == Until::Drained && !under_way {
            if self.failures >= TENURE_TRIES {
                return true;
            }
            match (self.state.is_idle(now), self.looked) {
                (true, true) => self.stop(),
                (true, false) => {
                    self.looked = true;
                    self.look();
                }
                // Something failed: it is tried again at once, as no time passes here.
                (false, _) => {
                    self.failures += 1;
                    self.state.tick(now);
                    self.look();
                }
            }
        }
        self.sleep(now);
        false
    }

    /// Wakes up in time for the next look, and for what is due before it.
    fn sleep(&mut self, now: Timestamp) {
        let Some(timer) = self.timer else { return };
        let tick = self.ticked_at.plus(POLL);
        let wake = self.state.next_due().map_or(tick, |due| due.min(tick));
        if self.wakes_at.is_none_or(|at| wake < at) {
            self.wakes_at = Some(wake);
            let wait = wake.since(now).clamp(Duration::from_millis(1), POLL);
            self.running.push(Box::pin(async move {
                timer.sleep(wait).await;
                Done::Slept(wake)
            }));
        }
    }

    fn settle(&mut self) {
        if !self.settling {
            self.settling = true;
            let (app, quiet, stopping) = (self.app, self.state.quiet(), self.stopping);
            let asked = self.tenures;
            self.running.push(Box::pin(async move {
                Done::Settled(asked, settle(app, &quiet, stopping).await)
            }));
        }
    }

    fn look(&mut self) {
        if !self.looking && !self.stopping {
            self.looking = true;
            self.running.push(Box::pin(look(self.app)));
        }
    }
}

fn elsewhere(app: &Recado) -> Running<'_> {
    Box::pin(app.store().rung().map(Done::RungElsewhere))
}

async fn look(app: &Recado) -> Done {
    let mut all: Vec<Pending> = Vec::new();
    loop {
        let after = all.last().map(|pending| pending.lane);
        match app.store().pending_lanes(after, LANES_AT_ONCE).await {
            Ok(pending) => {
                let is_last = pending.len() < usize::try_from(LANES_AT_ONCE).unwrap_or(usize::MAX);
                all.extend(pending);
                if is_last {
                    return Done::Looked(Ok(all));
                }
            }
            Err(error) => return Done::Looked(Err(error)),
        }
    }
}

async fn read_lane(app: &Recado, read: LaneRead) -> Done {
    let began = app.now();
    let page = app.store().lane(read).await;
    Done::Read { read, began, page }
}

async fn attempt(app: &Recado, trial: Box<Trial>) -> Done {
    let delivery = trial.due.delivery.value();
    let Some(data) = &trial.due.data else {
        // What it told of was erased between two steps; there is nothing to send.
        let after = Box::new(cancelled(delivery));
        return Done::Tried { trial, after, silent: false };
    };
    let settings = app.settings();
    let started_at = app.now();
    let webhook = &trial.webhook;
    let body =
        envelope(delivery.event_type, delivery.created_at, delivery.company, delivery.id, data);
    let headers = headers(
        &webhook.secrets,
        webhook.standard_headers,
        delivery.event_type,
        delivery.id,
        &body,
        started_at,
    );
    let mut request = OutboundRequest::post(webhook.url.as_str(), headers, body.into_bytes())
        .with_timeout(settings.webhook_timeout)
        .with_answer_limit(ANSWER_BYTES);
    request.status_decides = true;
    request.repeatable = true;
    let answer = app.transport().send(request).await;
    let outcome = Outcome { started_at, ended_at: app.now(), answer };
    let silent = matches!(outcome.answer, Err(TransportError::TimedOut { .. }));
    let after = Box::new(after_attempt(delivery, &outcome, &settings.retry_waits));
    Done::Tried { trial, after, silent }
}

async fn record(app: &Recado, batch: Vec<Settled>) -> Done {
    let mut changes = ChangeSet::new();
    for settled in &batch {
        changes = changes.with(settled.before.update(settled.after.clone()));
    }
    let mut how = app.store().commit(changes).await;
    if let (Err(CommitError::Conflict(Conflict::Stale(_))), [settled]) = (&how, batch.as_slice()) {
        how = record_late(app, settled).await;
    }
    Done::Recorded { batch, how }
}

/// Records an attempt whose delivery was given up while it was made (D52a).
async fn record_late(app: &Recado, settled: &Settled) -> Result<(), CommitError> {
    let after = &settled.after;
    let Some(known) = app.store().delivery(after.company, after.id).await? else { return Ok(()) };
    match overtaken(&known, after) {
        Some(both) => app.store().commit(ChangeSet::new().with(known.update(both))).await,
        None => Ok(()),
    }
}

/// Claims and hands back shards as the plan says.
async fn settle(
    app: &Recado,
    quiet: &BTreeSet<ShardNumber>,
    stopping: bool,
) -> Result<Tenure, StoreError> {
    if stopping {
        // Told first, so that what is handed back falls to the others at once.
        app.own_lease().set_dispatches(false);
        app.workers().beat().await?;
    } else {
        app.workers().ensure_alive().await?;
    }
    let store = app.store();
    let (workers, shards) = (store.workers().await?, store.shards().await?);
    let own = app.own_lease().id();
    let plan = plan(own, &workers, &shards, quiet, stopping, app.now());
    let mut tenure = Tenure {
        held: plan.held,
        leaving: plan.leaving,
        is_alone: plan.is_alone,
        ..Tenure::default()
    };
    let releasing: BTreeSet<ShardNumber> =
        plan.releases.iter().map(|(number, _)| *number).collect();
    let (released, taken) = (commit(app, plan.releases).await?, commit(app, plan.claims).await?);
    tenure.disturbed = released.is_none() || taken.is_none();
    if released.is_none() {
        tenure.held.extend(&releasing);
        tenure.leaving.extend(&releasing);
    }
    if released.is_some_and(|released| !released.is_empty()) {
        // Whoever they fall to may take them at once.
        store.ring(&[]);
    }
    if let Some(taken) = taken {
        tenure.held.extend(taken);
    }
    Ok(tenure)
}

/// Writes shards; `None` when somebody else wrote one of them meanwhile.
async fn commit(
    app: &Recado,
    writes: Vec<(ShardNumber, Change)>,
) -> Result<Option<Vec<ShardNumber>>, StoreError> {
    if writes.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let mut changes = ChangeSet::new();
    let mut numbers = Vec::with_capacity(writes.len());
    for (number, change) in writes {
        numbers.push(number);
        changes = changes.with(change);
    }
    match app.store().commit(changes).await {
        Ok(()) => Ok(Some(numbers)),
        Err(CommitError::Conflict(_)) => Ok(None),
        Err(CommitError::Store(error)) => Err(error),
    }
}
