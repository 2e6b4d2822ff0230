use uuid::Uuid;

use super::super::{CampaignStatus, DayTime, FailureLimit, SendWindow};
use super::*;
use crate::ids::{CampaignId, CompanyId, ListId, TemplateId};
use crate::prosas::{Brl, Prosas};
use crate::store::Version;

const NOW: Timestamp = Timestamp::from_millis(1_000);

fn queue() -> RecipientQueue {
    let campaign = Campaign {
        id: CampaignId::new(Uuid::from_u128(1)),
        company: CompanyId::new(Uuid::from_u128(2)),
        name: String::new(),
        template: TemplateId::new(Uuid::from_u128(3)),
        list: ListId::new(Uuid::from_u128(4)),
        connection: None,
        variables: BTreeMap::new(),
        header: None,
        buttons: Vec::new(),
        prosas: Prosas::ZERO,
        cost: Brl::ZERO,
        messages_per_second: 10,
        scheduled_at: None,
        send_between: None,
        stop_after_failures: None,
        failures_after: None,
        status: CampaignStatus::Running,
        pause_reason: None,
        created_at: NOW,
        updated_at: NOW,
        started_at: Some(NOW),
        finished_at: None,
    };
    let campaign = Stored::new(campaign, Version::FIRST);
    RecipientQueue::new(Assigned { campaign, zone: TimeZone::default() })
}

fn chunk(numbers: std::ops::RangeInclusive<u32>) -> Vec<Next> {
    numbers.map(|n| Next { number: RecipientNumber(n), contact: None }).collect()
}

fn steps(queue: &mut RecipientQueue) -> Vec<CampaignTask> {
    queue.steps(NOW, true)
}

#[test]
fn recipients_take_their_turns_in_order_one_question_at_a_time() {
    let mut queue = queue();
    assert_eq!(steps(&mut queue), [CampaignTask::Read(None)]);
    assert_eq!(steps(&mut queue), []);
    queue.read(chunk(1..=2), Some(RecipientNumber(2)));
    assert_eq!(
        steps(&mut queue),
        [CampaignTask::Read(Some(RecipientNumber(2))), CampaignTask::Ask]
    );
    assert_eq!(queue.next(NOW).map(|next| next.number), Some(RecipientNumber(1)));
    assert_eq!(steps(&mut queue), [CampaignTask::Ask]);
    assert_eq!(queue.next(NOW).map(|next| next.number), Some(RecipientNumber(2)));
    assert_eq!(steps(&mut queue), []);
}

#[test]
fn the_end_is_looked_for_when_nobody_is_left_and_every_turn_has_ended() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=1), Some(RecipientNumber(1)));
    steps(&mut queue);
    queue.next(NOW);
    queue.read(Vec::new(), None);
    assert_eq!(steps(&mut queue), []);
    queue.took(RecipientNumber(1), false);
    assert_eq!(steps(&mut queue), [CampaignTask::Finish]);
    assert_eq!(steps(&mut queue), []);
}

#[test]
fn nothing_is_begun_before_the_rate_allows_it() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=100), Some(RecipientNumber(100)));
    steps(&mut queue);
    queue.paced(Timestamp::from_millis(1_100), NOW);
    assert_eq!(queue.steps(Timestamp::from_millis(1_099), true), []);
    assert_eq!(queue.steps(Timestamp::from_millis(1_100), true), [CampaignTask::Ask]);
}

#[test]
fn no_more_are_on_their_way_than_there_is_room_for() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=300), Some(RecipientNumber(300)));
    for _ in 0..IN_FLIGHT {
        assert_eq!(steps(&mut queue), [CampaignTask::Ask]);
        queue.next(NOW);
        if queue.queue.len() < LOW {
            break;
        }
    }
    assert!(queue.taking.len() <= IN_FLIGHT);
    assert!(!queue.steps(NOW, false).contains(&CampaignTask::Ask));
}

#[test]
fn after_trouble_everything_is_read_from_the_beginning_but_who_is_being_served() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=3), Some(RecipientNumber(3)));
    steps(&mut queue);
    queue.next(NOW);
    let before = queue.round();
    queue.again(NOW);
    assert_ne!(queue.round(), before);
    assert_eq!(steps(&mut queue), [CampaignTask::Read(None)]);
    queue.read(chunk(1..=3), Some(RecipientNumber(3)));
    steps(&mut queue);
    assert_eq!(queue.next(NOW).map(|next| next.number), Some(RecipientNumber(2)));
}

#[test]
fn five_messages_in_a_row_that_do_not_get_through_are_too_many() {
    let mut queue = queue();
    for n in 1..=4 {
        assert!(!queue.took(RecipientNumber(n), true));
    }
    assert!(!queue.took(RecipientNumber(5), false));
    for n in 6..=9 {
        assert!(!queue.took(RecipientNumber(n), true));
    }
    assert!(queue.took(RecipientNumber(10), true));
}

#[test]
fn a_gateway_that_takes_no_more_gets_longer_and_longer_rests_until_it_takes_one() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=300), Some(RecipientNumber(300)));
    let (mut now, mut waits) = (NOW, Vec::new());
    for _ in 0..8 {
        assert!(queue.steps(now, true).contains(&CampaignTask::Ask));
        let next = queue.next(now).expect("somebody waits");
        queue.limited(next, None, now);
        // Results of messages that were in flight meanwhile change nothing.
        queue.limited(Next { number: RecipientNumber(301), contact: None }, None, now);
        queue.passed(now);
        let until = queue.wakes_at().expect("it rests");
        assert!(
            !queue
                .steps(Timestamp::from_millis(until.millis() - 1), true)
                .contains(&CampaignTask::Ask)
        );
        waits.push(until.since(now).as_secs());
        now = until;
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
    assert!(queue.steps(now, true).contains(&CampaignTask::Ask));
    queue.passed(now);
    let next = queue.next(now).expect("somebody waits");
    queue.limited(next, None, now);
    assert_eq!(queue.wakes_at(), Some(now.plus(Duration::from_secs(1))));
}

/// R141.
#[test]
fn a_gateway_that_names_a_longer_rest_gets_it_and_a_shorter_one_changes_nothing() {
    for (named, expected) in [(0, 1), (45, 45), (90, 90), (100_000, 3_600)] {
        let mut queue = queue();
        steps(&mut queue);
        queue.read(chunk(1..=100), Some(RecipientNumber(100)));
        let next = queue.next(NOW).expect("somebody waits");
        queue.limited(next, Some(Duration::from_secs(named)), NOW);
        let until = queue.wakes_at().expect("it rests");
        assert_eq!(until.since(NOW).as_secs(), expected);
        assert!(!queue.steps(NOW, true).contains(&CampaignTask::Ask));
        assert!(queue.steps(until, true).contains(&CampaignTask::Ask));
    }
}

/// R294.
#[test]
fn who_was_refused_for_the_rate_comes_first_again_and_alone_until_one_is_accepted() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=100), Some(RecipientNumber(100)));
    let taken: Vec<Next> = (0..3).filter_map(|_| queue.next(NOW)).collect();
    for next in taken.iter().rev() {
        queue.limited(*next, None, NOW);
    }
    let later = NOW.plus(Duration::from_secs(1));
    assert!(queue.steps(later, true).contains(&CampaignTask::Ask));
    let first = queue.next(later).expect("somebody waits");
    assert_eq!(first.number, RecipientNumber(1));
    assert!(!queue.steps(later, true).contains(&CampaignTask::Ask), "one is tried out");
    queue.took(first.number, false);
    queue.passed(later);
    for number in 2..=4 {
        assert!(queue.steps(later, true).contains(&CampaignTask::Ask));
        assert_eq!(queue.next(later).map(|next| next.number), Some(RecipientNumber(number)));
    }
}

/// R294.
#[test]
fn who_gets_too_much_waits_alone_longer_and_longer_and_is_not_forgotten_at_the_end() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=1), Some(RecipientNumber(1)));
    queue.read(Vec::new(), None);
    let mut now = NOW;
    for seconds in [1, 2, 4] {
        assert_eq!(queue.steps(now, true), [CampaignTask::Ask]);
        let next = queue.next(now).expect("it waits");
        queue.refused_for_now(next, now);
        assert_eq!(queue.steps(now, true), [], "neither a try nor the end");
        // It may be read again as waiting meanwhile.
        queue.read(chunk(1..=1), Some(RecipientNumber(1)));
        now = queue.wakes_at().expect("it waits for a moment");
        assert_eq!(now.since(NOW).as_secs(), 2 * seconds - 1);
    }
    assert_eq!(queue.steps(now, true), [CampaignTask::Ask]);
    let next = queue.next(now).expect("it waits");
    queue.took(next.number, false);
    queue.is_read = true;
    assert_eq!(queue.steps(now, true), [CampaignTask::Finish]);
}

/// X16, R293.
#[test]
fn outside_of_its_hours_nothing_begins_and_what_was_asked_for_is_not_sent() {
    let mut queue = queue();
    let time = |text| DayTime::parse(text).expect("a time of day");
    // The test begins at 21:00:01 of São Paulo.
    let hours = SendWindow::new(time("20:00"), time("21:01"));
    let campaign = Campaign { send_between: Some(hours), ..queue.campaign.value().clone() };
    let campaign = Stored::new(campaign, Version::FIRST);
    queue.found(Assigned { campaign, zone: queue.zone });
    steps(&mut queue);
    queue.read(chunk(1..=100), Some(RecipientNumber(100)));
    assert_eq!(steps(&mut queue), [CampaignTask::Ask]);
    let closed = Timestamp::from_millis(60_000);
    assert_eq!(queue.next(closed), None, "they closed meanwhile");
    assert_eq!(queue.steps(closed, true), []);
    let next_day = closed.plus(Duration::from_secs(23 * 3_600));
    assert_eq!(queue.steps(next_day, true), [CampaignTask::Ask]);
    assert_eq!(queue.next(next_day).map(|next| next.number), Some(RecipientNumber(1)));
}

/// R295.
#[test]
fn no_more_are_in_flight_than_the_limit_of_failures_looks_back_on() {
    let mut queue = queue();
    let limit = FailureLimit::new(2_u32, 3_u32);
    let campaign = Campaign { stop_after_failures: Some(limit), ..queue.campaign.value().clone() };
    let campaign = Stored::new(campaign, Version::FIRST);
    queue.found(Assigned { campaign, zone: queue.zone });
    steps(&mut queue);
    queue.read(chunk(1..=100), Some(RecipientNumber(100)));
    for _ in 0..3 {
        assert_eq!(steps(&mut queue), [CampaignTask::Ask]);
        queue.next(NOW);
    }
    assert_eq!(steps(&mut queue), []);
    queue.took(RecipientNumber(2), false);
    assert_eq!(steps(&mut queue), [CampaignTask::Ask]);
}

#[test]
fn a_rest_that_a_clock_made_that_was_set_back_since_is_over() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=100), Some(RecipientNumber(100)));
    let next = queue.next(NOW).expect("somebody waits");
    queue.limited(next, None, NOW.plus(Duration::from_secs(3_600)));
    assert!(queue.steps(NOW, true).contains(&CampaignTask::Ask));
}

#[test]
fn a_clock_that_is_set_back_holds_nothing_up() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=100), Some(RecipientNumber(100)));
    steps(&mut queue);
    let later = Timestamp::from_millis(3_600_000);
    queue.paced(later.plus(Duration::from_millis(100)), later);
    assert_eq!(queue.steps(later, true), []);
    assert_eq!(queue.steps(NOW, true), [CampaignTask::Ask]);
}

#[test]
fn a_wait_of_minutes_is_asked_about_again_after_a_second() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=100), Some(RecipientNumber(100)));
    steps(&mut queue);
    queue.paced(NOW.plus(Duration::from_secs(120)), NOW);
    assert_eq!(queue.steps(Timestamp::from_millis(1_999), true), []);
    assert_eq!(queue.steps(Timestamp::from_millis(2_000), true), [CampaignTask::Ask]);
}

#[test]
fn of_a_campaign_that_has_changed_nothing_is_begun_before_it_was_looked_up() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=100), Some(RecipientNumber(100)));
    steps(&mut queue);
    queue.outdated(NOW);
    assert_eq!(queue.steps(NOW.plus(Duration::from_secs(60)), true), []);
    assert_eq!(queue.waits_until, None);
    queue.found(Assigned { campaign: queue.campaign.clone(), zone: queue.zone });
    assert_eq!(steps(&mut queue), [CampaignTask::Read(None)]);
}

#[test]
fn recipients_who_are_all_passed_over_end_nothing() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(Vec::new(), Some(RecipientNumber(256)));
    assert_eq!(steps(&mut queue), [CampaignTask::Read(Some(RecipientNumber(256)))]);
}

#[test]
fn a_recipient_in_trouble_holds_up_nobody_behind_it() {
    let mut queue = queue();
    steps(&mut queue);
    queue.read(chunk(1..=3), Some(RecipientNumber(3)));
    steps(&mut queue);
    queue.next(NOW);
    queue.not_taken(RecipientNumber(1));
    queue.rest(NOW);
    assert_eq!(steps(&mut queue), [CampaignTask::Ask]);
    assert_eq!(queue.next(NOW).map(|next| next.number), Some(RecipientNumber(2)));
}
