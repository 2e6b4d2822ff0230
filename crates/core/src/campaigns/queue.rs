//! Which recipient of a running campaign is next. Plain data and pure decisions.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use super::{Campaign, RecipientNumber};
use crate::Timestamp;
use crate::access::TimeZone;
use crate::ids::ContactId;
use crate::store::Stored;

/// The most messages of one campaign in flight at once (R97).
pub(super) const IN_FLIGHT: usize = 256;
/// How many recipients are read at once.
pub(super) const CHUNK: u32 = 256;
/// Fewer than this left: more are read.
const LOW: usize = 64;
/// How often a failed step is tried again, and the longest wait.
pub(super) const POLL: Duration = Duration::from_secs(1);
/// So many messages in a row that did not reach the gateway pause the campaign.
const UNREACHED: u32 = 5;

/// The longest wait after the gateway's rate limit, unless the gateway reports a longer one.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// The longest wait that is accepted from a gateway.
const LONGEST_NAMED_REST: Duration = Duration::from_hours(1);

/// The wait after `limited` messages in a row, from 1, that the gateway refused because of its rate
/// limit: 1, 2, 4 … at most 60 seconds (R141).
fn rest_after(limited: u32) -> Duration {
    let seconds = 2_u64.saturating_pow(limited.saturating_sub(1));
    Duration::from_secs(seconds).min(LONGEST_REST)
}

/// A wait because of the gateway's rate limit.
#[derive(Clone, Copy, Debug)]
struct RateLimitWait {
    until: Timestamp,
    length: Duration,
}

impl RateLimitWait {
    fn is_over(self, now: Timestamp) -> bool {
        is_over(self.until, now, self.length)
    }
}

/// A recipient to whom the gateway accepts no message for now.
#[derive(Clone, Copy, Debug)]
struct PutOff {
    /// How many messages in a row were refused.
    refused: u32,
    wait: RateLimitWait,
    /// Whether it waits here to be tried again, and not in the queue.
    waiting: Option<Next>,
}

/// A campaign that is under way, and the time zone of its hours.
#[derive(Clone, Debug)]
pub(super) struct Assigned {
    pub(super) campaign: Stored<Campaign>,
    pub(super) zone: TimeZone,
}

/// A recipient that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) number: RecipientNumber,
    pub(super) contact: Option<ContactId>,
}

/// The next step of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CampaignTask {
    /// Read recipients with a number above this.
    Read(Option<RecipientNumber>),
    /// Ask whether another message may go out now.
    Ask,
    /// Check whether the campaign is finished.
    Finish,
}

/// The waiting recipients of a campaign, and those to which messages are being sent.
#[derive(Debug)]
pub(super) struct RecipientQueue {
    pub(super) campaign: Stored<Campaign>,
    /// The time zone of its hours.
    zone: TimeZone,
    /// Whether the campaign has changed and was not read again yet.
    outdated: bool,
    queue: VecDeque<Next>,
    taking: HashSet<RecipientNumber>,
    /// The last number that was read; recipients left waiting before it are read in the next round.
    read_to: Option<RecipientNumber>,
    is_read: bool,
    reading: bool,
    asking: bool,
    finishing: bool,
    unreached: u32,
    /// How many messages in a row the gateway refused because of its rate limit.
    limited: u32,
    /// No message goes out before this moment, because of that.
    rate_limit: Option<RateLimitWait>,
    /// The recipients to whom the gateway accepts no message for now (R294).
    put_off: BTreeMap<RecipientNumber, PutOff>,
    /// Counts the rounds from the beginning: what an earlier round began is ignored.
    round: u64,
    /// Nothing is begun before this moment.
    waits_until: Option<Timestamp>,
}

impl RecipientQueue {
    pub(super) fn new(assigned: Assigned) -> Self {
        Self {
            campaign: assigned.campaign,
            zone: assigned.zone,
            outdated: false,
            queue: VecDeque::new(),
            taking: HashSet::new(),
            read_to: None,
            is_read: false,
            reading: false,
            asking: false,
            finishing: false,
            unreached: 0,
            limited: 0,
            rate_limit: None,
            put_off: BTreeMap::new(),
            round: 0,
            waits_until: None,
        }
    }

    /// The current round.
    pub(super) const fn round(&self) -> u64 {
        self.round
    }

    /// The steps to begin now; each is under way until its end is reported.
    pub(super) fn steps(&mut self, now: Timestamp, has_room: bool) -> Vec<CampaignTask> {
        if self.waits_until.is_some_and(|until| !is_over(until, now, POLL)) {
            return Vec::new();
        }
        self.waits_until = None;
        let mut steps = Vec::new();
        if self.outdated {
            return steps;
        }
        if !self.is_read && !self.reading && self.queue.len() < LOW {
            self.reading = true;
            steps.push(CampaignTask::Read(self.read_to));
        }
        self.call_back(now);
        let has_room = has_room && self.taking.len() < self.most_in_flight();
        if self.rate_limit.is_some_and(|rest| rest.is_over(now)) {
            self.rate_limit = None;
        }
        let may_ask = !self.asking && self.rate_limit.is_none() && self.is_open(now);
        if may_ask && !self.queue.is_empty() && has_room {
            self.asking = true;
            steps.push(CampaignTask::Ask);
        }
        let nobody_waits = self.queue.is_empty() && !self.has_put_off();
        let is_through = self.is_read && nobody_waits && self.taking.is_empty();
        if is_through && !self.reading && !self.asking && !self.finishing {
            self.finishing = true;
            steps.push(CampaignTask::Finish);
        }
        steps
    }

    /// A chunk was read up to a recipient, or there was none any more.
    pub(super) fn read(&mut self, chunk: Vec<Next>, read_to: Option<RecipientNumber>) {
        self.reading = false;
        match read_to {
            Some(last) => self.read_to = Some(last),
            None => self.is_read = true,
        }
        for next in chunk {
            // Recipients to which messages are being sent may still be read as waiting, and one
            // that was put back may be read again.
            let is_known = self.taking.contains(&next.number)
                || self.queue.iter().any(|other| other.number == next.number);
            match self.put_off.get_mut(&next.number) {
                _ if is_known => {}
                Some(put_off) => put_off.waiting = Some(next),
                None => self.queue.push_back(next),
            }
        }
    }

    /// Another message may be sent: the next recipient, while the campaign may send.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<Next> {
        self.asking = false;
        if !self.is_open(now) {
            return None;
        }
        let next = self.queue.pop_front()?;
        self.taking.insert(next.number);
        Some(next)
    }

    /// Whether the campaign's hours are open (X16, R293).
    fn is_open(&self, now: Timestamp) -> bool {
        self.opens_at(now) <= now
    }

    fn opens_at(&self, now: Timestamp) -> Timestamp {
        let hours = self.campaign.send_between.as_ref();
        hours.map_or(now, |hours| hours.opens_at(self.zone, now))
    }

    /// How many of its messages may be in flight: of a campaign that failures stop no more than are
    /// looked back on (R295), and one while the gateway's limit is tried out (R294).
    fn most_in_flight(&self) -> usize {
        if self.limited > 0 {
            return 1;
        }
        let limit = self.campaign.stop_after_failures;
        let looked_back_on = limit.and_then(|limit| usize::try_from(limit.of).ok());
        looked_back_on.unwrap_or(IN_FLIGHT).min(IN_FLIGHT)
    }

    fn has_put_off(&self) -> bool {
        self.put_off.values().any(|put_off| put_off.waiting.is_some())
    }

    /// Puts the recipients whose wait is over back into the queue.
    fn call_back(&mut self, now: Timestamp) {
        let over = self.put_off.values_mut().filter(|put_off| put_off.wait.is_over(now));
        let due: Vec<Next> = over.filter_map(|put_off| put_off.waiting.take()).collect();
        for next in due {
            self.put_back(next);
        }
    }

    /// Puts a recipient back in its place: before those with higher numbers.
    fn put_back(&mut self, next: Next) {
        let place = self.queue.partition_point(|other| other.number < next.number);
        self.queue.insert(place, next);
    }

    /// No message may be sent before `until`; the rate is checked again then, or sooner.
    pub(super) fn paced(&mut self, until: Timestamp, now: Timestamp) {
        self.asking = false;
        self.waits_until = Some(until.min(now.plus(POLL)));
    }

    /// A slot ended; returns whether so many in a row did not reach the gateway that the campaign
    /// has to pause.
    pub(super) fn took(&mut self, number: RecipientNumber, unreached: bool) -> bool {
        self.taking.remove(&number);
        self.put_off.remove(&number);
        self.unreached = if unreached { self.unreached + 1 } else { 0 };
        self.unreached >= UNREACHED
    }

    /// A message was not sent because the gateway accepts none to this recipient for now. It is
    /// tried again after a wait; the others go on (R294).
    pub(super) fn refused_for_now(&mut self, next: Next, now: Timestamp) {
        self.taking.remove(&next.number);
        self.unreached = 0;
        let refused =
            self.put_off.get(&next.number).map_or(1, |known| known.refused.saturating_add(1));
        let length = rest_after(refused);
        let wait = RateLimitWait { until: now.plus(length), length };
        self.put_off.insert(next.number, PutOff { refused, wait, waiting: Some(next) });
    }

    /// A message was not sent because of the gateway's rate limit: its recipient waits again, in
    /// its place (R294). Messages that were in flight when the wait began do not make it longer.
    /// `named` is the wait that the gateway reported.
    pub(super) fn limited(&mut self, next: Next, named: Option<Duration>, now: Timestamp) {
        self.took(next.number, false);
        self.put_back(next);
        if self.rate_limit.is_none_or(|rest| rest.is_over(now)) {
            self.limited = self.limited.saturating_add(1);
            let named = named.unwrap_or_default().min(LONGEST_NAMED_REST);
            let length = rest_after(self.limited).max(named);
            self.rate_limit = Some(RateLimitWait { until: now.plus(length), length });
        }
    }

    /// A message was accepted. One that was in flight when a wait began does not end the wait.
    pub(super) fn passed(&mut self, now: Timestamp) {
        if self.rate_limit.is_none_or(|rest| rest.is_over(now)) {
            self.limited = 0;
        }
    }

    /// The next moment at which there may be something to begin, if it waits for one.
    pub(super) fn wakes_at(&self) -> Option<Timestamp> {
        let put_off = self.put_off.values().filter(|put_off| put_off.waiting.is_some());
        let moments = put_off.map(|put_off| put_off.wait.until).chain(self.waits_until);
        moments.chain(self.rate_limit.map(|rest| rest.until)).min()
    }

    /// A slot was not used: its recipient may still wait, and gets another slot in the next round.
    pub(super) fn not_taken(&mut self, number: RecipientNumber) {
        self.taking.remove(&number);
    }

    /// Nothing is begun before `until`.
    pub(super) fn rest(&mut self, until: Timestamp) {
        self.waits_until = Some(until);
    }

    /// The campaign or a recipient is not as it was read. Until the campaign is read again, no slot
    /// can be used.
    pub(super) fn outdated(&mut self, now: Timestamp) {
        self.again(now);
        self.outdated = true;
    }

    /// The campaign as it was read again.
    pub(super) fn found(&mut self, assigned: Assigned) {
        self.campaign = assigned.campaign;
        self.zone = assigned.zone;
        self.outdated = false;
    }

    /// Something failed: everything is read again after `until`.
    pub(super) fn again(&mut self, until: Timestamp) {
        self.reading = false;
        self.asking = false;
        self.finishing = false;
        self.is_read = false;
        self.read_to = None;
        self.queue.clear();
        for put_off in self.put_off.values_mut() {
            put_off.waiting = None;
        }
        self.round += 1;
        self.waits_until = Some(until);
    }
}

/// Whether a wait has ended. A wait longer than `longest` was computed before the clock was set
/// back, and counts as ended.
fn is_over(until: Timestamp, now: Timestamp, longest: Duration) -> bool {
    until <= now || until.since(now) > longest
}

#[cfg(test)]
mod tests;
