//! Running the tasks of the state: reads, attempts, commits, and the wait for the next one.

use std::collections::BTreeSet;
use std::future::{Future, pending};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};

use super::state::{RecordResult, Task, WorkerState};
use super::tasks::{
    Assignment, Running, TaskResult, assign, elsewhere, make_attempt, poll, read_queue, record,
};
use super::{DeliveryLimits, Timer};
use crate::deliveries::{Deliveries, Touch};
use crate::store::{CommitError, Conflict, StoreError};
use crate::{Recado, Timestamp};

/// How often the shards and the pending queues are polled.
const POLL: Duration = Duration::from_secs(1);
/// How many results are processed before the next tasks are decided.
const ENDS_AT_ONCE: usize = 64;
/// How often a drain or a stop tries to release its shards.
const ASSIGNMENT_TRIES: u32 = 8;

/// When the worker ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// When it is stopped.
    Stopped,
    /// When nothing is due any more.
    Drained,
}

impl Deliveries<'_> {
    /// Delivers until `stop` ends: claims shards, sends due deliveries and records the outcomes.
    /// Run it once in a process, besides the renewal of the lease by
    /// [`Workers`](crate::workers::Workers::renew). At least once: a delivery whose attempt was cut
    /// off by a crash is tried again and the attempt is not counted (D52, D52a).
    ///
    /// When `stop` ends, no more attempts begin; those in flight are finished and recorded, and
    /// each shard is released once it has none. Failures of the store are reported to the timer's
    /// [`Timer::troubled`] and tried again.
    pub async fn run(&self, timer: &dyn Timer, stop: impl Future<Output = ()> + Send) {
        let driver = Driver::new(self.app, Some(timer), Until::Stopped);
        driver.run(Box::pin(stop.map(|()| TaskResult::Stopped))).await;
    }

    /// Delivers what is due now and what becomes due by that, then releases all shards: for tests
    /// with a clock of their own, and for programs without background tasks. While another process
    /// delivers too, only the deliveries of this one's shards are sent.
    pub async fn drain(&self) {
        Driver::new(self.app, None, Until::Drained).run(Box::pin(pending())).await;
    }
}

/// Stops the collection of notices, however the worker ends.
struct Listening<'a>(&'a Recado);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.database().fan_out().listen(false);
        self.0.database().fan_out().keep_none();
        self.0.own_lease().set_runs_deliveries(false);
    }
}

struct Driver<'a> {
    app: &'a Recado,
    timer: Option<&'a dyn Timer>,
    until: Until,
    state: WorkerState,
    running: FuturesUnordered<Running<'a>>,
    /// Reads, attempts and commits under way.
    working: usize,
    assigning: bool,
    /// Raised when all shards are given up: the results of earlier tasks are ignored.
    epoch: u64,
    polling: bool,
    /// Shards were gained while a poll was under way: they are polled after it.
    gained: bool,
    polled: bool,
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
            state: WorkerState::new(DeliveryLimits::default()),
            running: FuturesUnordered::new(),
            working: 0,
            assigning: false,
            epoch: 0,
            polling: false,
            gained: false,
            polled: false,
            stopping: false,
            failures: 0,
            ticked_at: app.now(),
            wakes_at: None,
        }
    }

    async fn run(mut self, stop: Running<'a>) {
        let listening = Listening(self.app);
        self.app.database().fan_out().listen(true);
        self.app.own_lease().set_runs_deliveries(true);
        self.running.push(stop);
        self.running
            .push(Box::pin(self.app.database().fan_out().notified().map(TaskResult::Notified)));
        if self.timer.is_some() {
            self.running.push(elsewhere(self.app));
        }
        // Published to the other processes before anything is claimed.
        if let Err(error) = self.app.workers().renew().await {
            self.trouble(&error);
        }
        if let Err(error) = self.app.halts().current().await {
            self.trouble(&error);
        }
        self.assign();
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
            let _reported: Result<(), StoreError> = self.app.workers().renew().await;
        }
    }

    fn trouble(&mut self, error: &StoreError) {
        self.failures += 1;
        if let Some(timer) = self.timer {
            timer.troubled(error);
        }
    }

    fn take_in(&mut self, done: TaskResult) {
        let now = self.app.now();
        match done {
            TaskResult::Read { read, began, page } => {
                self.working -= 1;
                let page = page.map_err(|error| self.trouble(&error)).ok();
                self.state.read_ended(&read, page, began, now);
            }
            TaskResult::Tried { attempt, end } => {
                self.working -= 1;
                self.polled = false;
                self.state.tried(*attempt, *end);
            }
            TaskResult::Recorded { batch, how } => {
                self.working -= 1;
                let how = match how {
                    Ok(()) => RecordResult::Done,
                    Err(CommitError::Conflict(Conflict::Contended)) => RecordResult::Contended,
                    Err(CommitError::Conflict(_)) => RecordResult::Conflict,
                    // It is recorded once the installation is open again (D76).
                    Err(CommitError::Store(StoreError::Closed)) => RecordResult::Failed,
                    Err(CommitError::Store(error)) => {
                        self.trouble(&error);
                        RecordResult::Failed
                    }
                };
                self.state.recorded(batch, how, now);
            }
            TaskResult::Cancelled(key, ended) => {
                self.working -= 1;
                self.state.cancelled(key);
                match ended {
                    Ok(false) => {}
                    Ok(true) => self.state.notified([(key, Touch::Queue)]),
                    Err(error) => self.trouble(&error),
                }
            }
            TaskResult::Polled(found) => {
                self.polling = false;
                if std::mem::take(&mut self.gained) {
                    self.poll();
                }
                match found {
                    Ok(pending) => self.state.found(&pending, now),
                    Err(error) => self.trouble(&error),
                }
            }
            TaskResult::Assigned(asked, assignment) => {
                self.assigning = false;
                if asked == self.epoch {
                    self.assigned(assignment);
                } else {
                    self.assign();
                }
            }
            TaskResult::Notified(queues) => {
                self.state.notified(queues);
                self.running.push(Box::pin(
                    self.app.database().fan_out().notified().map(TaskResult::Notified),
                ));
            }
            TaskResult::NotifiedElsewhere(queues) => {
                match queues {
                    Some(queues) => {
                        self.state.notified(queues.into_iter().map(|key| (key, Touch::Queue)));
                    }
                    None => {
                        self.assign();
                        self.poll();
                    }
                }
                self.running.push(elsewhere(self.app));
            }
            TaskResult::Slept(at) => {
                // Other timers that are not needed any more may still run.
                self.wakes_at = self.wakes_at.filter(|wakes_at| *wakes_at != at);
                // A clock that was set back does not delay the next poll.
                self.ticked_at = self.ticked_at.min(now);
                if self.ticked_at.plus(POLL) <= now {
                    self.ticked_at = now;
                    self.state.tick(now);
                    self.assign();
                    self.poll();
                }
            }
            TaskResult::Stopped => self.stop(),
        }
    }

    fn assigned(&mut self, assignment: Result<Assignment, StoreError>) {
        match assignment {
            Err(error) => self.trouble(&error),
            Ok(assignment) => {
                if assignment.disturbed {
                    self.failures += 1;
                } else {
                    self.failures = 0;
                }
                let leaving =
                    if self.stopping { assignment.held.clone() } else { assignment.leaving };
                let kept = &assignment.held - &leaving;
                self.app.database().fan_out().keep(assignment.shards, kept);
                self.state.set_shards(assignment.shards);
                // What other processes did with the gained shards meanwhile is not known.
                let gained = !assignment.held.is_subset(self.state.held());
                self.state.hold(assignment.held, leaving);
                if gained {
                    self.gained = self.polling;
                    self.poll();
                }
                if assignment.disturbed && self.timer.is_none() {
                    self.assign();
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
            self.assign();
        }
    }

    /// Starts the next tasks. Returns whether the worker has ended.
    fn go_on(&mut self) -> bool {
        let now = self.app.now();
        let alive = now < self.app.own_lease().keeps_shards_until();
        let may_call = self.read_halts();
        if !alive && !self.stopping && !self.state.held().is_empty() {
            // Other processes may have claimed all shards: they are claimed anew.
            self.state.hold(BTreeSet::new(), BTreeSet::new());
            self.app.database().fan_out().keep_none();
            self.epoch += 1;
            self.assign();
        }
        for task in self.state.tasks(now, alive && may_call && !self.stopping) {
            self.working += 1;
            let app = self.app;
            self.running.push(match task {
                Task::Read(read) => Box::pin(read_queue(app, read)),
                Task::Attempt(attempt) => Box::pin(make_attempt(app, attempt)),
                Task::Record(batch) => Box::pin(record(app, batch)),
                Task::Cancel(key) => Box::pin(async move {
                    let deliveries = app.deliveries();
                    TaskResult::Cancelled(key, deliveries.cancel(key.company, key.webhook, 1).await)
                }),
            });
        }
        let under_way = self.working > 0 || self.assigning || self.polling;
        if self.stopping {
            if self.state.held().is_empty() {
                return !under_way;
            }
            let given_up = self.failures >= ASSIGNMENT_TRIES;
            if !self.assigning && !given_up && !self.state.quiet().is_empty() {
                self.assign();
            }
            if given_up && !under_way {
                return true;
            }
        } else if self.until == Until::Drained && !under_way {
            if self.failures >= ASSIGNMENT_TRIES {
                return true;
            }
            match (self.state.is_idle(now) || !may_call, self.polled) {
                (true, true) => self.stop(),
                (true, false) => {
                    self.polled = true;
                    self.poll();
                }
                // After a failure it is tried again at once, as no time passes here.
                (false, _) => {
                    self.failures += 1;
                    self.state.tick(now);
                    self.poll();
                }
            }
        }
        self.sleep(now);
        false
    }

    /// Whether attempts may begin: it is known that the installation is neither held nor closed
    /// (D75, D76). Each poll reads it.
    fn read_halts(&mut self) -> bool {
        let Some(halted) = self.app.known_halts().last() else { return false };
        self.state.quieten(halted.quiet_companies());
        !halted.is_quiet()
    }

    /// Wakes up in time for the next poll, and for what is due before it.
    fn sleep(&mut self, now: Timestamp) {
        let Some(timer) = self.timer else { return };
        let tick = self.ticked_at.plus(POLL);
        let wake = self.state.next_due().map_or(tick, |due| due.min(tick));
        if self.wakes_at.is_none_or(|at| wake < at) {
            self.wakes_at = Some(wake);
            let wait = wake.since(now).clamp(Duration::from_millis(1), POLL);
            self.running.push(Box::pin(async move {
                timer.sleep(wait).await;
                TaskResult::Slept(wake)
            }));
        }
    }

    fn assign(&mut self) {
        if !self.assigning {
            self.assigning = true;
            let (app, quiet, stopping) = (self.app, self.state.quiet(), self.stopping);
            let asked = self.epoch;
            self.running.push(Box::pin(async move {
                TaskResult::Assigned(asked, assign(app, &quiet, stopping).await)
            }));
        }
    }

    fn poll(&mut self) {
        if !self.polling && !self.stopping {
            self.polling = true;
            let shards = self.state.held().clone();
            self.running.push(Box::pin(poll(self.app, shards)));
        }
    }
}
