//! The part of a webhook's queue that is in memory: the deliveries that wait, are in flight or
//! still have to be recorded, and what has to be read.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::Timestamp;
use crate::deliveries::{DeliverySeq, DueDelivery, QueueKey, QueuePage, QueueRead, Touch};
use crate::ids::{ContactId, DeliveryId};
use crate::webhooks::{Webhook, WebhookState};

/// How long a transaction with an earlier sequence number may still be under way.
const GRACE: Duration = Duration::from_secs(1);
/// How old the webhook that attempts use may be.
pub(super) const FRESHNESS: Duration = Duration::from_secs(1);
/// How often a queue is read from its start. On Postgres, such a read visits all rows that were
/// finished since the last vacuum.
const RESCAN: Duration = Duration::from_secs(5);
/// The interval at which an inactive webhook is read again.
const INACTIVE_AGAIN: Duration = Duration::from_secs(5);
/// If a queue has both kinds, one of this many attempts is for a delivery that was tried before.
const AGAIN_EVERY: u32 = 4;
/// How many deliveries that were tried before are read at once.
const AGAIN_AT_ONCE: usize = 64;
/// About how many bytes one read may return.
const READ_BYTES: usize = 2 * 1024 * 1024;
/// The assumed size of a delivery before one was read, and the least assumed size.
const SIZE: (usize, usize) = (64 * 1024, 512);

/// How many deliveries a queue may hold now (R68).
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Deliveries that wait in this queue.
    pub(super) window: usize,
    /// Whether all queues together hold as many bytes as they may.
    pub(super) is_heavy: bool,
}

fn bytes_of(due: &DueDelivery) -> usize {
    due.data.as_ref().map_or(0, String::len)
}

/// The queue of one webhook in memory.
#[derive(Debug, Default)]
pub(super) struct Queue {
    webhook: Option<Arc<Webhook>>,
    /// When the read of the webhook ended.
    read_at: Option<Timestamp>,
    /// Deliveries that were never tried, by sequence number.
    fresh: BTreeMap<DeliverySeq, DueDelivery>,
    /// Deliveries that were tried before.
    again: VecDeque<DueDelivery>,
    /// All deliveries that wait, are in flight or still have to be recorded; none is added twice.
    held: HashSet<DeliveryId>,
    /// Contacts whose event is in flight for the first time (D55).
    busy: HashMap<ContactId, u32>,
    in_flight: usize,
    /// Whether the last attempt ended without an answer in time.
    is_silent: bool,
    /// How large the deliveries of the last read were, on average.
    size: Option<usize>,
    started: u32,
    reading: bool,
    /// The webhook was written during a read, which may still return its earlier state.
    outdated: bool,
    /// The last read failed: it is not made again before the next poll.
    failed: bool,
    /// Deliveries recorded during a read, which may still return their earlier state.
    recorded_meanwhile: HashSet<DeliveryId>,
    /// Whether the store may have deliveries that are not held.
    pub(super) stale: bool,
    /// Whether the last read was cut off by its limit.
    more: bool,
    /// No new delivery can appear up to this sequence number, except from a transaction that took
    /// very long.
    floor: DeliverySeq,
    /// The last sequence number that was read, of a delivery that may be finished by now.
    seen: DeliverySeq,
    /// A sequence number, and the time at which it had been read: the next floor, after `GRACE`.
    next_floor: Option<(Timestamp, DeliverySeq)>,
    rescan_at: Option<Timestamp>,
    /// When the next delivery that failed is due, as far as it is known.
    next_due: Option<Timestamp>,
    /// Whether it is in the round of queues that may start attempts.
    pub(super) in_round: bool,
    /// When it last changed.
    touched_at: Option<Timestamp>,
}

impl Queue {
    /// Whether it can be removed without losing anything.
    pub(super) fn is_idle(&self) -> bool {
        self.held.is_empty() && !self.reading && !self.stale && !self.more
    }

    /// Whether it can be removed, having been idle since `before`.
    pub(super) fn is_forgettable(&self, before: Timestamp) -> bool {
        self.is_idle()
            && !self.in_round
            && self.next_due.is_none()
            && self.touched_at.is_none_or(|at| at < before)
    }

    /// Whether no attempt is in flight and none is still to be recorded.
    pub(super) fn is_quiet(&self) -> bool {
        self.in_flight == 0 && self.held.len() == self.waiting()
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// When it has to be processed next, as far as it is known.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.next_due
    }

    fn waiting(&self) -> usize {
        self.fresh.len() + self.again.len()
    }

    fn is_older_than(&self, age: Duration, now: Timestamp) -> bool {
        // A clock that was set back makes it old too.
        self.read_at.is_none_or(|at| at.plus(age) <= now || now.plus(age) < at)
    }

    fn is_active(&self) -> bool {
        self.webhook.as_ref().is_some_and(|webhook| webhook.state == WebhookState::Active)
    }

    /// A poll of the store found due deliveries.
    pub(super) fn found(&mut self, now: Timestamp) {
        // An inactive webhook's deliveries wait; the commit that activates it notifies.
        if self.webhook.is_none() || self.is_active() || self.is_older_than(INACTIVE_AGAIN, now) {
            self.stale = true;
            // Pending deliveries that are not held may be before the floor.
            if self.held.is_empty() {
                self.rescan_at = None;
            }
        }
    }

    /// There are new deliveries; if the webhook was written, the version read before is not used
    /// any more.
    pub(super) fn touched(&mut self, touch: Touch) {
        self.stale = true;
        if touch == Touch::Webhook {
            self.webhook = None;
            self.outdated = self.reading;
        }
    }

    /// Removes everything that is not in flight: another process takes over the queue. `held_bytes`
    /// is what all queues hold together.
    pub(super) fn let_go(&mut self, held_bytes: &mut usize) {
        for due in std::mem::take(&mut self.fresh).into_values().chain(self.again.drain(..)) {
            self.held.remove(&due.delivery.id);
            *held_bytes -= bytes_of(&due);
        }
        self.stale = false;
        self.more = false;
        self.next_due = None;
        // The removed deliveries are before the floor.
        self.rescan_at = None;
    }

    /// What to read now, if anything.
    pub(super) fn read(&mut self, key: QueueKey, room: Room, now: Timestamp) -> Option<QueueRead> {
        if self.reading || self.failed {
            return None;
        }
        let is_due = self.next_due.is_some_and(|due| due <= now);
        let wanted = self.stale || is_due || (self.more && self.waiting() <= room.window / 2);
        let has_room = self.waiting() < room.window && !(room.is_heavy && self.waiting() > 0);
        let read = if wanted && has_room {
            let from_start = self.rescan_at.is_none_or(|at| at <= now || now.plus(RESCAN) < at);
            if from_start {
                self.rescan_at = Some(now.plus(RESCAN));
            }
            self.stale = false;
            self.more = false;
            if is_due {
                self.next_due = None;
            }
            let size = self.size.unwrap_or(SIZE.0).max(SIZE.1);
            let fit = if room.is_heavy { 1 } else { (READ_BYTES / size).max(4) };
            // Held deliveries may be returned again, and must leave room for others.
            let count = |wanted: usize| {
                u32::try_from(wanted.min(fit) + self.held.len()).unwrap_or(u32::MAX)
            };
            QueueRead {
                key,
                after: if from_start { DeliverySeq::default() } else { self.floor },
                fresh: count(room.window - self.waiting()),
                due: now,
                again: count(AGAIN_AT_ONCE),
            }
        } else if self.waiting() > 0
            && (self.webhook.is_none() || self.is_older_than(FRESHNESS, now))
        {
            // Only to see whether the webhook has changed.
            QueueRead { key, after: self.floor, fresh: 0, due: now, again: 0 }
        } else {
            return None;
        };
        if self.seen > self.floor {
            // Transactions with an earlier sequence number have drawn it by now.
            self.next_floor.get_or_insert((now, self.seen));
        }
        self.reading = true;
        self.touched_at = Some(now);
        Some(read)
    }

    /// A read failed; it is made again with the next poll.
    pub(super) fn read_failed(&mut self) {
        self.reading = false;
        self.outdated = false;
        self.recorded_meanwhile.clear();
        self.more = true;
        self.failed = true;
    }

    /// A failed read may be repeated.
    pub(super) fn retry(&mut self) {
        self.failed = false;
    }

    /// A read that began at `began` has ended at `now`. Returns whether the webhook is deleted.
    pub(super) fn read_ended(
        &mut self,
        read: &QueueRead,
        page: QueuePage,
        (began, now): (Timestamp, Timestamp),
        held_bytes: &mut usize,
    ) -> bool {
        self.reading = false;
        let recorded = std::mem::take(&mut self.recorded_meanwhile);
        if std::mem::take(&mut self.outdated) {
            self.stale = true;
            return false;
        }
        // The age counts from the end of the read, as with a slow store nothing would ever be sent
        // otherwise.
        self.read_at = Some(now);
        self.webhook = page.webhook.map(|webhook| Arc::new(webhook.into_value()));
        if !self.is_active() {
            let deleted = |webhook: &Arc<Webhook>| webhook.state == WebhookState::Deleted;
            let is_gone = self.webhook.as_ref().is_none_or(deleted);
            let something = self.waiting() > 0 || !page.fresh.is_empty() || !page.again.is_empty();
            self.let_go(held_bytes);
            return is_gone && something;
        }
        let is_full = |got: usize, asked: u32| asked > 0 && u32::try_from(got) == Ok(asked);
        self.more |= is_full(page.fresh.len(), read.fresh) || is_full(page.again.len(), read.again);
        let passed = page
            .fresh
            .iter()
            .take_while(|due| due.delivery.created_at.plus(GRACE) <= began)
            .map(|due| due.seq)
            .last();
        self.floor = self.floor.max(passed.unwrap_or_default());
        let last = page.fresh.last().map_or(read.after, |due| due.seq);
        self.seen = self.seen.max(last);
        if let Some((at, seq)) = self.next_floor
            && at.plus(GRACE) <= began
            && read.fresh > 0
            && (!is_full(page.fresh.len(), read.fresh) || last >= seq)
        {
            self.floor = self.floor.max(seq);
            self.next_floor = None;
        }
        let bytes: usize = page.fresh.iter().chain(&page.again).map(bytes_of).sum();
        self.size = bytes.checked_div(page.fresh.len() + page.again.len()).or(self.size);
        for due in page.fresh.into_iter().chain(page.again) {
            let id = due.delivery.id;
            if recorded.contains(&id) || !self.held.insert(id) {
                continue;
            }
            *held_bytes += bytes_of(&due);
            if due.delivery.is_fresh() {
                self.fresh.insert(due.seq, due);
            } else {
                self.again.push_back(due);
            }
        }
        false
    }

    /// Takes what is tried next, with the webhook it goes to. Of the deliveries that were never
    /// tried, the first whose contact has none in flight (D55).
    pub(super) fn take(&mut self, now: Timestamp) -> Option<(DueDelivery, Arc<Webhook>)> {
        // If the webhook has to be read again, it is read at once.
        let webhook = self.webhook.clone().filter(|_| !self.is_older_than(FRESHNESS, now))?;
        let again_first = self.started % AGAIN_EVERY == AGAIN_EVERY - 1;
        let taken = if again_first {
            self.again.pop_front().or_else(|| self.take_fresh())
        } else {
            self.take_fresh().or_else(|| self.again.pop_front())
        };
        let due = taken?;
        self.started = self.started.wrapping_add(1);
        self.in_flight += 1;
        self.touched_at = Some(now);
        if let Some(contact) = due.contact.filter(|_| due.delivery.is_fresh()) {
            *self.busy.entry(contact).or_default() += 1;
        }
        Some((due, webhook))
    }

    /// The next first attempt whose contact has none in flight here (R69).
    fn take_fresh(&mut self) -> Option<DueDelivery> {
        let is_free =
            |due: &DueDelivery| due.contact.is_none_or(|contact| !self.busy.contains_key(&contact));
        let seq = self.fresh.iter().find(|(_, due)| is_free(due)).map(|(seq, _)| *seq)?;
        self.fresh.remove(&seq)
    }

    /// How many of its attempts may end without an answer.
    pub(super) fn silent_in_flight(&self) -> usize {
        if self.is_silent { self.in_flight } else { 0 }
    }

    /// Whether its last attempt ended without an answer.
    pub(super) fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// An attempt has ended: the contact's next event may go (D55).
    pub(super) fn tried(&mut self, contact: Option<ContactId>, was_fresh: bool, silent: bool) {
        self.in_flight -= 1;
        self.is_silent = silent;
        if let Some(contact) = contact.filter(|_| was_fresh)
            && let Some(count) = self.busy.get_mut(&contact)
        {
            *count -= 1;
            if *count == 0 {
                self.busy.remove(&contact);
            }
        }
    }

    /// An attempt was recorded; `due_at` is when it is tried again.
    pub(super) fn recorded(&mut self, id: DeliveryId, due_at: Option<Timestamp>) {
        self.held.remove(&id);
        if self.reading {
            self.recorded_meanwhile.insert(id);
        }
        if let Some(due_at) = due_at {
            self.next_due = Some(self.next_due.map_or(due_at, |known| known.min(due_at)));
        }
    }
}

#[cfg(test)]
mod tests;
