//! The tasks of a delivery worker: reads, attempts and commits, and their results.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt;

use super::assignment::plan;
use super::state::{AttemptChange, AttemptEnd, NextAttempt};
use crate::deliveries::{
    AttemptOutcome, Delivery, LateAttempt, PendingQueue, QueueKey, QueuePage, QueueRead, Shard,
    ShardNumber, Shards, Touch, after_attempt, cancelled, envelope, headers, overtaken,
};
use crate::store::{Change, ChangeSet, CommitError, Conflict, RecordsExt, StoreError};
use crate::transport::{OutboundRequest, TransportError};
use crate::workers::Worker;
use crate::{Recado, Timestamp};

/// How many queues with pending deliveries one read returns.
pub(super) const QUEUES_AT_ONCE: u32 = 1_000;
/// How much of an answer is read (D53).
pub(super) const ANSWER_BYTES: usize = 64 * 1024;

/// How long a redelivery waits whose event could not be read.
const UNREAD_WAIT: Duration = Duration::from_secs(5);
/// How often a late outcome is added to a delivery that others write at the same time.
const LATE_TRIES: u32 = 8;

pub(super) type Running<'a> = Pin<Box<dyn Future<Output = TaskResult> + Send + 'a>>;

/// The shards that this process holds.
#[derive(Debug, Default)]
pub(super) struct Assignment {
    /// How many shards there are.
    pub(super) shards: Shards,
    pub(super) held: BTreeSet<ShardNumber>,
    pub(super) leaving: BTreeSet<ShardNumber>,
    /// Another process wrote the shards at the same time: read them again.
    pub(super) disturbed: bool,
}

/// The result of a task.
pub(super) enum TaskResult {
    Read { read: QueueRead, began: Timestamp, page: Result<QueuePage, StoreError> },
    Tried { attempt: Box<NextAttempt>, end: Box<AttemptEnd> },
    Recorded { batch: Vec<AttemptChange>, how: Result<(), CommitError> },
    Cancelled(QueueKey, Result<bool, StoreError>),
    Polled(Result<Vec<PendingQueue>, StoreError>),
    Assigned(u64, Result<Assignment, StoreError>),
    Notified(BTreeMap<QueueKey, Touch>),
    NotifiedElsewhere(Option<Vec<QueueKey>>),
    Slept(Timestamp),
    Stopped,
}

pub(super) fn elsewhere(app: &Recado) -> Running<'_> {
    Box::pin(app.database().signals().notified().map(TaskResult::NotifiedElsewhere))
}

/// The queues of these shards in which something is pending.
pub(super) async fn poll(app: &Recado, shards: BTreeSet<ShardNumber>) -> TaskResult {
    if let Err(error) = app.halts().current().await {
        return TaskResult::Polled(Err(error));
    }
    let mut all: Vec<PendingQueue> = Vec::new();
    if shards.is_empty() {
        return TaskResult::Polled(Ok(all));
    }
    loop {
        let after = all.last().map(|pending| pending.key);
        match app.database().due().pending_queues(&shards, after, QUEUES_AT_ONCE).await {
            Ok(pending) => {
                let is_last = pending.len() < usize::try_from(QUEUES_AT_ONCE).unwrap_or(usize::MAX);
                all.extend(pending);
                if is_last {
                    return TaskResult::Polled(Ok(all));
                }
            }
            Err(error) => return TaskResult::Polled(Err(error)),
        }
    }
}

pub(super) async fn read_queue(app: &Recado, read: QueueRead) -> TaskResult {
    let began = app.now();
    let page = app.database().due().read_queue(read).await;
    TaskResult::Read { read, began, page }
}

pub(super) async fn make_attempt(app: &Recado, attempt: Box<NextAttempt>) -> TaskResult {
    let delivery = attempt.due.delivery.value();
    let data = match may_be_sent(app, &attempt).await {
        Ok(Some(data)) => data,
        Ok(None) => {
            let after = cancelled(delivery);
            return unsent(attempt, after);
        }
        Err(_) => {
            let due_at = Some(app.now().plus(UNREAD_WAIT));
            let after = Delivery { due_at, ..delivery.clone() };
            return unsent(attempt, after);
        }
    };
    let settings = app.settings();
    let started_at = app.now();
    let webhook = &attempt.webhook;
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
    let answer = app.transport().send(request).await;
    let outcome = AttemptOutcome { started_at, ended_at: app.now(), answer };
    let silent = matches!(outcome.answer, Err(TransportError::TimedOut { .. }));
    let after = after_attempt(delivery, &outcome, &settings.retry_waits);
    let end = AttemptEnd { after, silent, arrived: outcome.may_have_arrived() };
    TaskResult::Tried { attempt, end: Box::new(end) }
}

/// The data to send; `None` once it was erased, or may not be handed out again. The contact of a
/// redelivery may have been deleted since the queue was read, so it is looked up (D74).
async fn may_be_sent<'a>(
    app: &Recado,
    attempt: &'a NextAttempt,
) -> Result<Option<&'a str>, StoreError> {
    let due = &attempt.due;
    if due.delivery.is_redelivery() {
        let event = app.store().event(due.delivery.company, due.delivery.event).await?;
        if event.is_none_or(|event| event.shown_data().is_none()) {
            return Ok(None);
        }
    }
    Ok(due.data.as_deref())
}

/// The end of an attempt that was not made, which counts as none.
fn unsent(attempt: Box<NextAttempt>, after: Delivery) -> TaskResult {
    let end = AttemptEnd { after, silent: false, arrived: false };
    TaskResult::Tried { attempt, end: Box::new(end) }
}

pub(super) async fn record(app: &Recado, batch: Vec<AttemptChange>) -> TaskResult {
    let mut changes = ChangeSet::new();
    for change in &batch {
        changes = changes.with(change.before.update(change.after.clone()));
    }
    let mut how = app.database().commit_unnotified(changes, app.acting()).await;
    if let (Err(CommitError::Conflict(Conflict::Stale(_))), [change]) = (&how, batch.as_slice()) {
        how = record_late(app, change).await;
    }
    // The outcome of a company that is closed alone is not waited for: it would hold back those of
    // all others. That of an attempt during a closure of everything is recorded after it (D76).
    if matches!(how, Err(CommitError::Store(StoreError::Closed)))
        && app.halts().read().await.is_ok_and(|halted| !halted.is_closed())
    {
        how = Err(Conflict::Closed.into());
    }
    TaskResult::Recorded { batch, how }
}

/// Records an attempt whose delivery was cancelled or tried by another process during it (D52a,
/// D53).
async fn record_late(app: &Recado, change: &AttemptChange) -> Result<(), CommitError> {
    let AttemptChange { before, after, arrived, .. } = change;
    let late = LateAttempt { before, after, arrived: *arrived };
    let mut tries = 0;
    loop {
        let Some(known) = app.store().get::<Delivery>((after.company, after.id)).await? else {
            return Ok(());
        };
        let Some(both) = overtaken(&known, &late, &app.settings().retry_waits) else {
            return Ok(());
        };
        let changes = ChangeSet::new().with(known.update(both));
        let how = app.database().commit_unnotified(changes, app.acting()).await;
        tries += 1;
        let is_stale = matches!(how, Err(CommitError::Conflict(Conflict::Stale(_))));
        if !is_stale || tries == LATE_TRIES {
            return how;
        }
    }
}

/// Claims and releases shards by the plan.
pub(super) async fn assign(
    app: &Recado,
    quiet: &BTreeSet<ShardNumber>,
    stopping: bool,
) -> Result<Assignment, StoreError> {
    if stopping {
        // Set first, so that released shards are assigned to other processes at once.
        app.own_lease().set_runs_deliveries(false);
        app.workers().renew().await?;
    } else {
        app.workers().ensure_alive().await?;
    }
    let store = app.store();
    let shards = store.shards().await?;
    let (workers, known) = (store.all::<Worker>(()).await?, store.all_stored::<Shard>(()).await?);
    let own = app.own_lease().id();
    let plan = plan(own, &workers, (shards, &known), quiet, stopping, app.now());
    let mut assignment =
        Assignment { shards, held: plan.held, leaving: plan.leaving, ..Assignment::default() };
    let releasing: BTreeSet<ShardNumber> =
        plan.releases.iter().map(|(number, _)| *number).collect();
    let (released, taken) = (commit(app, plan.releases).await?, commit(app, plan.claims).await?);
    assignment.disturbed = released.is_none() || taken.is_none();
    if released.is_none() {
        assignment.held.extend(&releasing);
        assignment.leaving.extend(&releasing);
    }
    if released.is_some_and(|released| !released.is_empty()) {
        // The processes that they are assigned to may claim them at once.
        app.database().signals().notify(&[]);
    }
    if let Some(taken) = taken {
        assignment.held.extend(taken);
    }
    Ok(assignment)
}

/// Writes shards; `None` when another process wrote one of them meanwhile.
pub(super) async fn commit(
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
    Ok(app.commit_once(changes).await?.then_some(numbers))
}
