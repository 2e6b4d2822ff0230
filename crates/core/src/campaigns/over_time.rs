//! What became of a campaign's messages over time.

use std::time::Duration;

use super::{
    Campaign, CampaignError, CampaignResult, Campaigns, RecipientStatus, StepCount, TimeSteps,
};
use crate::Timestamp;
use crate::error::Error;
use crate::ids::{CampaignId, CompanyId};
use crate::store::RecordsExt;

/// The steps at most.
const STEPS: u64 = 60;
/// How long after the end of a campaign its outcomes are counted.
const AFTERWARDS: Duration = Duration::from_hours(3 * 24);
/// How long a step may be, in minutes.
const LENGTHS: [u64; 8] = [1, 5, 15, 60, 3 * 60, 6 * 60, 24 * 60, 7 * 24 * 60];
/// The milliseconds of a minute.
const MINUTE: u64 = 60_000;

/// To how many messages of a campaign what had happened at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomesSoFar {
    /// The time.
    pub at: Timestamp,
    /// Accepted by the gateway.
    pub sent: u64,
    /// On the contact's device.
    pub delivered: u64,
    /// Seen by the contact.
    pub read: u64,
    /// Failed, and not known to have arrived since.
    pub failed: u64,
    /// Skipped.
    pub skipped: u64,
}

impl OutcomesSoFar {
    const fn nothing(at: Timestamp) -> Self {
        Self { at, sent: 0, delivered: 0, read: 0, failed: 0, skipped: 0 }
    }

    /// With what happened in one step.
    fn and(mut self, found: &StepCount) -> Self {
        let count = match found.status {
            RecipientStatus::Sent => &mut self.sent,
            RecipientStatus::Delivered => &mut self.delivered,
            RecipientStatus::Read => &mut self.read,
            RecipientStatus::Failed => &mut self.failed,
            RecipientStatus::Skipped => &mut self.skipped,
            RecipientStatus::Waiting | RecipientStatus::Sending => return self,
        };
        *count = count.saturating_add(found.count);
        self
    }
}

/// R429. The steps from the start of a campaign until now, or until three days after its end;
/// `None` before its start. There are 60 at most.
fn steps(
    started: Option<Timestamp>,
    finished: Option<Timestamp>,
    now: Timestamp,
) -> Option<TimeSteps> {
    let started = started?;
    let end = finished.map_or(now, |at| at.plus(AFTERWARDS).min(now));
    let span = u64::try_from(end.millis().saturating_sub(started.millis())).unwrap_or(0);
    let fits = |length: &u64| span / (length * MINUTE) < STEPS;
    let longest = span / MINUTE / (STEPS - 1) + 1;
    let length = LENGTHS.into_iter().find(fits).unwrap_or(longest) * MINUTE;
    let count = u32::try_from(span / length + 1).unwrap_or(u32::MAX);
    Some(TimeSteps { from: started, step: Duration::from_millis(length), count })
}

/// What had happened at the start and at the end of each step, up to the last in which something
/// happened.
fn so_far(steps: TimeSteps, found: &[StepCount], now: Timestamp) -> Vec<OutcomesSoFar> {
    let mut last = OutcomesSoFar::nothing(steps.from);
    let mut all = vec![last];
    let until = found.iter().map(|of| of.step + 1).max().unwrap_or(0);
    for step in 0..until {
        let in_step = found.iter().filter(|of| of.step == step);
        last = in_step.fold(last, OutcomesSoFar::and);
        let behind = steps.millis().saturating_mul(i64::from(step) + 1);
        let end = Timestamp::from_millis(steps.from.millis().saturating_add(behind));
        last.at = end.min(now);
        all.push(last);
    }
    all
}

impl Campaigns<'_> {
    /// R429. To how many messages of a campaign what had happened, at most 61 times from its start
    /// on; nothing before its start. What was recorded more than three days after its end is left
    /// out. The cost grows with its recipients.
    ///
    /// # Errors
    ///
    /// [`CampaignError::NotFound`].
    pub async fn over_time(
        &self,
        company: CompanyId,
        id: CampaignId,
    ) -> CampaignResult<Vec<OutcomesSoFar>> {
        let store = self.app.store();
        let Some(campaign) = store.get::<Campaign>((company, id)).await? else {
            return Err(Error::Rejected(CampaignError::NotFound));
        };
        let now = self.app.now();
        let Some(steps) = steps(campaign.started_at, campaign.finished_at, now) else {
            return Ok(Vec::new());
        };
        let totals = store.campaign_totals(company, id, Some(steps)).await?;
        Ok(so_far(steps, &totals.steps, now))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_millis(minute * 60_000)
    }

    /// R429.
    #[test]
    fn outcomes_add_up_step_by_step_until_the_last() {
        use RecipientStatus::{Failed, Read, Sent};
        let steps = TimeSteps { from: at(10), step: Duration::from_mins(5), count: 9 };
        let of = |step, status, count| StepCount { step, status, count };
        let found = [of(0, Sent, 3), of(2, Sent, 1), of(2, Read, 2), of(2, Failed, 4)];
        let begun = OutcomesSoFar::nothing(at(10));
        let first = OutcomesSoFar { at: at(15), sent: 3, ..begun };
        let second = OutcomesSoFar { at: at(20), ..first };
        let third = OutcomesSoFar { at: at(23), sent: 4, read: 2, failed: 4, ..begun };
        assert_eq!(so_far(steps, &found, at(23)), [begun, first, second, third]);
        assert_eq!(so_far(steps, &[], at(23)), [begun]);
    }

    proptest! {
        /// R429.
        #[test]
        fn steps_reach_until_now_and_are_few(
            started in -1_000_000_i64..1_000_000,
            lasts in 0..10_000_000_i64,
            finished in proptest::option::of(0..10_000_000_i64),
        ) {
            let now = at(started + lasts);
            let finished = finished.map(|after| at(started + after.min(lasts)));
            let taken = steps(Some(at(started)), finished, now).expect("it is started");
            let end = finished.map_or(now, |at| at.plus(AFTERWARDS).min(now));
            prop_assert!(taken.count <= 60, "{taken:?}");
            prop_assert!(taken.of(end) == Some(taken.count - 1), "{taken:?}");
            prop_assert_eq!(steps(None, finished, now), None);
        }
    }
}
