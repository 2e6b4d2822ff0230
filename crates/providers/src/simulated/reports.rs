//! The reports that are still to come, in the order in which they are due.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recado_core::Clock;
use recado_core::gateway::{GatewayEvent, Incoming, StatusEvent};
use recado_core::ids::{CompanyId, ConnectionId, MessageId};
use recado_core::messages::{DeliveryCode, Failure, MessageStatus, ProviderMessageId};
use tokio::sync::Notify;
use tokio::time::Instant;

/// How many messages may wait for their next report; those beyond are never reported.
pub(super) const CAPACITY: usize = 50_000;
/// How many reports are returned together.
const MAX_AT_ONCE: usize = 512;
/// The code of the official API for a number that cannot be reached.
const UNDELIVERABLE: u32 = 131_026;

/// The next report about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportStage {
    Sent,
    Delivered,
    Read,
    Failed,
}

impl ReportStage {
    const fn next(self) -> Option<Self> {
        match self {
            Self::Sent => Some(Self::Delivered),
            Self::Delivered => Some(Self::Read),
            Self::Read | Self::Failed => None,
        }
    }

    const fn status(self) -> MessageStatus {
        match self {
            Self::Sent => MessageStatus::Sent,
            Self::Delivered => MessageStatus::Delivered,
            Self::Read => MessageStatus::Read,
            Self::Failed => MessageStatus::Failed,
        }
    }

    fn failure(self) -> Option<Failure> {
        let text = || format!("{UNDELIVERABLE}: message undeliverable (simulated)");
        let failed = self == Self::Failed;
        failed.then(|| Failure::new(DeliveryCode::of_official(UNDELIVERABLE), text()))
    }
}

/// An accepted message, and its further reports.
#[derive(Debug)]
pub(super) struct Course {
    pub(super) company: CompanyId,
    pub(super) connection: ConnectionId,
    pub(super) provider_id: ProviderMessageId,
    pub(super) reference: MessageId,
    /// Before each report.
    pub(super) delay: Duration,
    pub(super) stage: ReportStage,
}

/// A course, ordered by the time of its next report, then by its begin.
#[derive(Debug)]
struct WaitingReport {
    due: Instant,
    number: u64,
    course: Course,
}

impl WaitingReport {
    const fn key(&self) -> (Instant, u64) {
        (self.due, self.number)
    }
}

impl PartialEq for WaitingReport {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for WaitingReport {}

impl PartialOrd for WaitingReport {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for WaitingReport {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[derive(Debug, Default)]
struct State {
    waiting: BinaryHeap<Reverse<WaitingReport>>,
    begun: u64,
    dropped: u64,
    /// No more courses begin.
    closed: bool,
    /// The receiver of the reports was dropped.
    unheard: bool,
}

/// The queue between the provider and the host program.
#[derive(Debug, Default)]
pub(super) struct ReportQueue {
    state: Mutex<State>,
    changed: Notify,
}

impl ReportQueue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a course. If there is no room, nothing is reported of the message.
    pub(super) fn begin(&self, course: Course) {
        let due = Instant::now() + course.delay;
        let mut state = self.state();
        if state.unheard {
            return;
        }
        if state.waiting.len() >= CAPACITY {
            state.dropped += 1;
            if state.dropped.is_power_of_two() {
                tracing::warn!(dropped = state.dropped, "messages without reports: too many wait");
            }
            return;
        }
        let is_first = state.waiting.peek().is_none_or(|first| due < first.0.due);
        state.begun += 1;
        let number = state.begun;
        state.waiting.push(Reverse(WaitingReport { due, number, course }));
        drop(state);
        if is_first {
            self.changed.notify_one();
        }
    }

    /// No more courses begin.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_one();
    }

    /// Takes the due reports; courses with further reports stay.
    fn take_due(&self, now: Instant) -> Vec<Course> {
        let mut state = self.state();
        let mut due = Vec::new();
        while due.len() < MAX_AT_ONCE
            && state.waiting.peek().is_some_and(|first| first.0.due <= now)
        {
            let Some(Reverse(first)) = state.waiting.pop() else { break };
            if let Some(stage) = first.course.stage.next() {
                let course =
                    Course { provider_id: first.course.provider_id.clone(), ..first.course };
                let due = first.due + course.delay;
                let course = Course { stage, ..course };
                state.waiting.push(Reverse(WaitingReport { due, number: first.number, course }));
            }
            due.push(first.course);
        }
        due
    }

    /// When the next report is due; `None` when nothing waits.
    fn next_due(&self) -> Option<Instant> {
        self.state().waiting.peek().map(|first| first.0.due)
    }
}

/// Reports of one connection that are due, oldest first: what
/// `recado.inbox().receive(company, connection, events)` takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportBatch {
    /// The company.
    pub company: CompanyId,
    /// The connection.
    pub connection: ConnectionId,
    /// The reports.
    pub events: Vec<Incoming>,
}

/// The reports of a simulated gateway, for the program to pass to the core.
pub struct Reports {
    queue: Arc<ReportQueue>,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Reports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reports").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.unheard = true;
        state.waiting = BinaryHeap::new();
    }
}

impl Reports {
    pub(super) const fn new(queue: Arc<ReportQueue>, clock: Arc<dyn Clock>) -> Self {
        Self { queue, clock }
    }

    /// Waits until reports are due and takes them, in one batch for each connection; `None` once
    /// the gateway is dropped and no report is left. A call that is dropped while it waits takes
    /// nothing.
    ///
    /// Reports of one message come in their order as long as a batch is passed on before the next
    /// call.
    pub async fn next(&mut self) -> Option<Vec<ReportBatch>> {
        loop {
            let due = self.queue.take_due(Instant::now());
            if !due.is_empty() {
                return Some(self.batches(due));
            }
            let changed = self.queue.changed.notified();
            match self.queue.next_due() {
                Some(at) => tokio::select! {
                    () = tokio::time::sleep_until(at) => {}
                    () = changed => {}
                },
                None if self.queue.state().closed => return None,
                None => changed.await,
            }
        }
    }

    /// How many messages wait for their next report.
    pub fn waiting(&self) -> usize {
        self.queue.state().waiting.len()
    }

    /// Of how many messages nothing is reported because too many were waiting.
    pub fn dropped(&self) -> u64 {
        self.queue.state().dropped
    }

    fn batches(&self, due: Vec<Course>) -> Vec<ReportBatch> {
        let now = self.clock.now();
        let mut batches: BTreeMap<(CompanyId, ConnectionId), Vec<Incoming>> = BTreeMap::new();
        for course in due {
            let key = (course.company, course.connection);
            batches.entry(key).or_default().push(Ok(GatewayEvent::Status(StatusEvent {
                provider_id: course.provider_id,
                reference: Some(course.reference),
                status: course.stage.status(),
                failure: course.stage.failure(),
                timestamp: Some(now),
                names: Vec::new(),
            })));
        }
        let batches = batches.into_iter();
        batches
            .map(|((company, connection), events)| ReportBatch { company, connection, events })
            .collect()
    }
}
