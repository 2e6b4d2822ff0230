//! Campaigns: their rows, their listings, and commits that rely on a running campaign (D58, D66).

use recado_core::Timestamp;
use recado_core::campaigns::{
    Campaign, CampaignStatus, CampaignTotals, DayTime, FailureLimit, PauseReason, Recipient,
    RecipientCounts, RecipientNumber, RecipientStatus, SendWindow, Weekdays,
};
use recado_core::contacts::Contact;
use recado_core::form::Form as _;
use recado_core::ids::{CampaignId, CompanyId, ConnectionId, UploadId};
use recado_core::messages::Location;
use recado_core::prosas::{Brl, LedgerLine, LineKind, Prosas};
use recado_core::store::{Change, ChangeSet, Conflict, Row, Stored, UniqueKey};
use recado_core::templates::{ButtonValue, GivenButton, HeaderValue, Variable, VariableValues};

use serde_json::Number;

use super::Harness;
use super::campaign_scene::{at_once, counted};
use super::channel_rows::AWKWARD;
use super::scene::{Scene, assert_stale, assert_taken, at, conflict, first};

/// The largest amount of any unit.
const LARGEST: i64 = 1_000_000_000_000_000;

/// Variables of every size: for none of a template's positions, for one, and so on; and by name.
fn variables() -> Vec<VariableValues> {
    let texts = AWKWARD.iter().cycle().map(|text| (*text).to_owned());
    let positions = |last: u32| (1..=last).map(Variable::Position);
    let most = positions(999).zip(texts.clone()).collect();
    let name = Variable::Name("nome_2".to_owned());
    let long = [(name, "ç".repeat(1_024)), (Variable::Position(999), "{{2}}".to_owned())];
    let few = positions(999).zip(texts.take(AWKWARD.len())).collect();
    vec![VariableValues::new(), few, most, long.into()]
}

/// Headers of every sort.
fn headers(scene: &Scene, text: &str) -> [HeaderValue; 4] {
    let (text, filename) = (text.to_owned(), Some(text.to_owned()));
    let location = Location {
        latitude: Number::from_f64(-23.550_52).expect("a number"),
        longitude: Number::from(-46),
        name: Some(text.clone()),
        address: None,
        url: None,
        is_live: false,
    };
    [
        HeaderValue::Url { url: "https://loja.example/?a=é".to_owned(), filename: None },
        HeaderValue::Upload { media_id: UploadId::new(scene.uuid()), filename },
        HeaderValue::Location { location },
        HeaderValue::Text { text },
    ]
}

/// Buttons of every sort.
fn buttons(text: &str) -> Vec<ButtonValue> {
    let text = || text.to_owned();
    let given =
        [GivenButton::UrlSuffix(text()), GivenButton::Payload(text()), GivenButton::Code(text())];
    given.into_iter().zip(0..).map(|(given, index)| ButtonValue { index, given }).collect()
}

/// Hours over midnight, on some days.
fn hours() -> SendWindow {
    let time = |text| DayTime::parse(text).expect("a time of day");
    let days = Weekdays::read(&serde_json::json!(["sat", "mon"])).expect("days");
    SendWindow::new(time("22:30"), time("06:00")).days(days)
}

/// A campaign in which no field has its default value.
fn full(scene: &Scene, n: usize) -> Campaign {
    Campaign {
        name: AWKWARD[n % AWKWARD.len()].to_owned(),
        connection: Some(ConnectionId::new(scene.uuid())),
        variables: variables()[n % 4].clone(),
        header: Some(headers(scene, AWKWARD[n % AWKWARD.len()])[n % 4].clone()),
        buttons: buttons(AWKWARD[n % AWKWARD.len()]),
        prosas: Prosas::from_units(LARGEST / 1_000 - n as i64),
        cost: Brl::from_units(LARGEST - n as i64),
        messages_per_second: [1, 80, u32::MAX][n % 3],
        status: CampaignStatus::ALL[n % CampaignStatus::ALL.len()],
        scheduled_at: Some([Timestamp::MAX, at(2)][n % 2]),
        send_between: Some(hours()),
        stop_after_failures: Some(FailureLimit::new(2_u32, 3_u32 + n as u32)),
        failures_after: Some(RecipientNumber([0, u32::MAX][n % 2])),
        pause_reason: Some(PauseReason::ALL[n % PauseReason::ALL.len()]),
        created_at: [at(-9), Timestamp::MIN][n % 2],
        updated_at: [at(9), Timestamp::MAX][n % 2],
        started_at: Some([Timestamp::MAX, at(3)][n % 2]),
        finished_at: Some([at(4), Timestamp::MIN][n % 2]),
        ..scene.campaign()
    }
}

/// The active campaigns of every shard.
async fn active_in(scene: &Scene, until: Timestamp) -> Vec<Stored<Campaign>> {
    let shards = scene.shards().await.all().collect();
    scene.store.active_campaigns(&shards, until).await.expect("works")
}

/// Every read gives back all fields of a campaign.
pub async fn every_field_of_a_campaign_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    for n in 0..20 {
        let (full, plain) = (full(&scene, n), scene.campaign());
        for (written, next) in [(&full, &plain), (&plain, &full)] {
            let id = CampaignId::new(scene.uuid());
            let written = Campaign { id, ..written.clone() };
            scene.add(written.clone()).await;
            assert_eq!(scene.campaign_now(id).await, Some(first(written.clone())));
            let next = Campaign { id, ..next.clone() };
            scene.apply(first(written).update(next.clone())).await;
            let stored = scene.campaign_now(id).await.expect("it is there");
            assert_eq!((stored.value(), stored.version().number()), (&next, 2));
            let listed = scene.store.campaigns(scene.company).await.expect("works");
            assert!(listed.contains(&(next.clone(), CampaignTotals::default())));
            let active = active_in(&scene, Timestamp::MAX).await;
            let is_active =
                matches!(next.status, CampaignStatus::Running | CampaignStatus::Scheduled);
            assert_eq!(active.contains(&stored), is_active);
        }
    }
}

/// Oldest first; of the same time, by id. Each has the counts of its own recipients.
pub async fn campaigns_come_by_creation_then_id_with_their_counts(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    assert_eq!(scene.store.campaigns(scene.company).await.expect("works"), []);
    let (list, _) = scene.crowd(3).await;
    let (theirs, _) = other.crowd(5).await;
    let mut campaigns: Vec<Campaign> = [5, 3, 3, -2, 5, 0]
        .into_iter()
        .map(|millis| Campaign { created_at: at(millis), ..scene.campaign() })
        .collect();
    scene.add_all(campaigns.iter().rev().cloned()).await;
    let started = [campaigns[0].id, campaigns[3].id];
    for id in started {
        scene.apply(Change::enroll(scene.company, id, list.id)).await;
    }
    let foreign = other.campaign();
    other.add(foreign.clone()).await;
    other.apply(Change::enroll(other.company, foreign.id, theirs.id)).await;
    scene.moves(started[1], 2, RecipientStatus::Failed).await;
    campaigns.sort_by_key(|campaign| (campaign.created_at, campaign.id));
    let counts = |id: CampaignId| match id {
        id if id == started[0] => counted(&[(RecipientStatus::Waiting, 3)]),
        id if id == started[1] => {
            counted(&[(RecipientStatus::Waiting, 2), (RecipientStatus::Failed, 1)])
        }
        _ => RecipientCounts::default(),
    };
    let totals = |counts| CampaignTotals { counts, ..CampaignTotals::default() };
    let wanted: Vec<_> = campaigns.into_iter().map(|c| (c.clone(), totals(counts(c.id)))).collect();
    assert_eq!(scene.store.campaigns(scene.company).await.expect("works"), wanted);
    let theirs = other.store.campaigns(other.company).await.expect("works");
    assert_eq!(theirs, [(foreign, totals(counted(&[(RecipientStatus::Waiting, 5)])))]);
}

/// D58: debits less refunds of each campaign by itself, exactly, whoever they were for and whether
/// those contacts and the campaign's recipients are still there.
pub async fn a_campaign_sums_its_debits_less_its_refunds(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (one, two) = (scene.campaign(), scene.campaign());
    scene.add_all([one.clone(), two.clone()]).await;
    let (gone, merged, kept) = (scene.contact(), scene.contact(), scene.contact());
    scene.add_all([gone.clone(), merged.clone(), kept.clone()]).await;
    let line = |contact: Option<&Contact>, campaign: &Campaign, units: i64, cost: i64| {
        let line = scene.debit(contact.map(|contact| contact.id), 0, 0);
        let (prosas, cost) = (Prosas::from_units(units), Brl::from_units(cost));
        LedgerLine { campaign: Some(campaign.id), prosas, cost, ..line }
    };
    let refund = LedgerLine { kind: LineKind::Refund, ..line(Some(&kept), &one, -250, -1) };
    let lines = [
        line(Some(&gone), &one, 1_000, 120_001),
        line(Some(&merged), &one, 1_500, 5),
        refund,
        line(None, &two, 7, 9),
        scene.debit(Some(kept.id), 5_000, 0),
    ];
    scene.add_all(lines).await;
    let theirs = LedgerLine { campaign: Some(one.id), ..other.debit(None, 9_000, 0) };
    other.add(theirs).await;
    let summed = async |campaign: &Campaign| {
        let totals = scene.store.campaign_totals(scene.company, campaign.id, None).await;
        let totals = totals.expect("works");
        let listed = scene.store.campaigns(scene.company).await.expect("works");
        let listed = listed.into_iter().find(|(known, _)| known.id == campaign.id);
        assert_eq!(listed.expect("it is listed").1, totals);
        (totals.consumption.prosas.units(), totals.consumption.cost_brl.units())
    };
    assert_eq!((summed(&one).await, summed(&two).await), ((2_250, 120_005), (7, 9)));
    scene.apply(first(gone).delete()).await;
    let moves = ChangeSet::new()
        .with(Change::reassign(scene.company, merged.id, kept.id))
        .with(first(merged).delete());
    scene.store.commit(moves).await.expect("they can become one");
    assert_eq!((summed(&one).await, summed(&two).await), ((2_250, 120_005), (7, 9)));
    // What does not fit stays at its end.
    let huge = [line(None, &two, i64::MAX, i64::MIN), line(None, &two, i64::MAX, i64::MIN)];
    scene.add_all(huge.clone()).await;
    assert_eq!(summed(&two).await, (i64::MAX, i64::MIN));
    // Lines that change or go are summed as they are.
    for line in huge {
        scene.apply(first(line).delete()).await;
    }
    assert_eq!(summed(&two).await, (7, 9));
    let (moved, mut other) = (line(None, &two, 100, 200), line(None, &one, 2_000, -10));
    other.id = moved.id;
    scene.add(moved.clone()).await;
    scene.apply(first(moved).update(other)).await;
    assert_eq!((summed(&one).await, summed(&two).await), ((4_250, 119_995), (7, 9)));
}

/// Every process reads this for its shards once a second (R98): the campaigns of all companies that
/// run, and those that are scheduled for now or before, as they are now.
pub async fn active_campaigns_of_all_companies_come_by_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let until = at(100);
    let active = async || active_in(&scene, until).await;
    assert_eq!(active().await, []);
    let mut all = Vec::new();
    for n in 0..12 {
        let owner = if n % 3 == 0 { &other } else { &scene };
        let status = CampaignStatus::ALL[n % CampaignStatus::ALL.len()];
        // The campaign's time is before that, the same, later, or there is none.
        let scheduled_at = [Some(at(99)), Some(until), Some(at(101)), None][n / 3];
        let created_at = at(-(n as i64));
        all.push(Campaign { status, scheduled_at, created_at, ..owner.campaign() });
    }
    scene.add_all(all.iter().rev().cloned()).await;
    let is_due = |campaign: &Campaign| campaign.scheduled_at.is_some_and(|at| at <= until);
    let is_active = |campaign: &Campaign| match campaign.status {
        CampaignStatus::Scheduled => is_due(campaign),
        status => status == CampaignStatus::Running,
    };
    let running = all.iter().filter(|known| known.status == CampaignStatus::Running).count();
    let mut wanted: Vec<Stored<Campaign>> = all
        .iter()
        .filter(|campaign| is_active(campaign))
        .map(|campaign| first(campaign.clone()))
        .collect();
    wanted.sort_by_key(|campaign| campaign.id);
    assert_eq!(active().await, wanted);
    let every = scene.shards().await;
    for parity in [0, 1] {
        let shards = every.all().filter(|shard| shard.number() % 2 == parity).collect();
        let part = scene.store.active_campaigns(&shards, until).await.expect("works");
        let is_theirs =
            |campaign: &&Stored<Campaign>| shards.contains(&every.of_campaign(campaign.id));
        assert_eq!(part, wanted.iter().filter(is_theirs).cloned().collect::<Vec<_>>());
    }
    assert_eq!(active_in(&scene, Timestamp::MIN).await.len(), running);
    // Each status follows each other one, and the listing changes with it.
    for status in CampaignStatus::ALL {
        for of in &all {
            let owner = if of.company == other.company { &other } else { &scene };
            let stored = owner.campaign_now(of.id).await.expect("it is there");
            let next = Campaign { status: *status, ..of.clone() };
            owner.apply(stored.update(next)).await;
        }
        let count = match status {
            CampaignStatus::Running => all.len(),
            CampaignStatus::Scheduled => all.iter().filter(|known| is_due(known)).count(),
            _ => 0,
        };
        let now = active().await;
        assert_eq!(now.len(), count, "{status:?}");
        assert!(now.is_sorted_by_key(|campaign| campaign.id));
    }
}

/// A deleted campaign is not listed as running. A campaign with the same id is not running because
/// of that.
pub async fn a_deleted_campaign_is_running_no_more(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(3).await;
    let id = enrolled.campaign.id;
    assert_eq!(active_in(&scene, Timestamp::MAX).await.len(), 1);
    scene.apply(first(enrolled.campaign.clone()).delete()).await;
    assert_eq!(active_in(&scene, Timestamp::MAX).await, []);
    assert_eq!(scene.campaign_now(id).await, None);
    assert_eq!(scene.store.campaigns(scene.company).await.expect("works"), []);
    // Promise 6: its recipients were deleted with it, and those of another campaign were not.
    assert_eq!(scene.recipients_now(id).await, []);
    assert_eq!(scene.counts(id).await, RecipientCounts::default());
    scene.add(enrolled.campaign.clone()).await;
    assert_eq!(scene.recipients_now(id).await, []);
    scene.apply(Change::enroll(scene.company, id, enrolled.list.id)).await;
    assert_eq!(scene.recipients_now(id).await, enrolled.recipients(&scene));
}

/// Promise 6.
pub async fn recipients_go_with_their_campaign_alone(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (gone, stays) = (scene.enrolled(4).await, scene.enrolled(2).await);
    let way = scene.on_its_way(&scene.waiting(gone.campaign.id, 2, gone.contacts[1].id));
    scene.apply(gone.recipients(&scene)[1].update(way.clone())).await;
    scene.apply(first(gone.campaign.clone()).delete()).await;
    assert_eq!(scene.recipients_now(stays.campaign.id).await, stays.recipients(&scene));
    let message = way.message.expect("it has one");
    let left = scene.store.recipients_of(scene.company, &[message]).await.expect("works");
    assert_eq!(left, []);
    // Neither the list nor its contacts were deleted.
    for contact in &gone.contacts {
        assert!(scene.has_contact(contact.id).await);
    }
    let list = scene.store.list(scene.company, gone.list.id).await.expect("works");
    assert_eq!(list.map(|(_, count)| count), Some(4));
}

/// D66: a campaign stays when its template, its list or its connection is deleted.
pub async fn what_a_campaign_names_may_be_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (list, connection, template) = (scene.list(), scene.connection(), scene.template(None));
    scene.add(list.clone()).await;
    scene.add(connection.clone()).await;
    scene.add(template.clone()).await;
    let campaign = Campaign {
        template: template.id,
        list: list.id,
        connection: Some(connection.id),
        ..scene.campaign()
    };
    scene.add(campaign.clone()).await;
    scene.apply(first(list).delete()).await;
    scene.apply(first(connection).delete()).await;
    scene.apply(first(template).delete()).await;
    let stored = scene.campaign_now(campaign.id).await.expect("it is there");
    assert_eq!(stored, first(campaign.clone()), "it says what it said");
    let renamed = Campaign { name: "Páscoa".to_owned(), ..campaign };
    scene.apply(stored.update(renamed)).await;
}

/// Promises 3 and 4.
pub async fn a_stale_change_of_a_campaign_changes_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let campaign = scene.campaign();
    scene.add(campaign.clone()).await;
    assert_taken(scene.try_add(campaign.clone()).await, UniqueKey::Id);
    let read = first(campaign.clone());
    let running = Campaign { status: CampaignStatus::Running, ..campaign.clone() };
    scene.apply(read.update(running.clone())).await;
    assert_stale(scene.try_apply(read.update(campaign.clone())).await);
    assert_stale(scene.try_apply(read.delete()).await);
    let key = Row::from(campaign.clone()).key();
    let relying = ChangeSet::new().insert(scene.list()).require(read.unchanged());
    assert_eq!(conflict(scene.store.commit(relying).await), Conflict::Stale(key));
    let now = scene.campaign_now(campaign.id).await.expect("it is there");
    assert_eq!((now.value(), now.version().number()), (&running, 2));
    let relying = ChangeSet::new().insert(scene.list()).require(now.unchanged());
    scene.store.commit(relying).await.expect("it is as it was read");
    scene.apply(now.delete()).await;
    assert_stale(scene.try_apply(now.update(running)).await);
}

/// Promise 5.
pub async fn a_campaign_needs_its_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let company = CompanyId::new(scene.uuid());
    let status = CampaignStatus::Running;
    scene.refuses(Change::insert(Campaign { company, status, ..scene.campaign() })).await;
    assert_eq!(active_in(&scene, Timestamp::MAX).await, []);
}

/// Promise 8.
pub async fn a_campaign_of_another_company_is_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let campaign = scene.campaign();
    scene.add(campaign.clone()).await;
    assert_eq!(other.campaign_now(campaign.id).await, None);
    assert_eq!(other.store.campaigns(other.company).await.expect("works"), []);
    let theirs = Campaign { company: other.company, ..campaign.clone() };
    assert_stale(other.try_apply(first(theirs.clone()).update(theirs.clone())).await);
    assert_stale(other.try_apply(first(theirs).delete()).await);
    assert_eq!(scene.campaign_now(campaign.id).await, Some(first(campaign)));
}

/// Promise 4 with concurrent commits: every claim relies on its campaign running. A claim is
/// committed before the pause is, or not at all.
pub async fn no_recipient_is_claimed_once_a_pause_was_committed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (mut claimed_in_all, mut rounds_lost) = (0, 0);
    for _ in 0..8 {
        let enrolled = scene.enrolled(12).await;
        let campaign = first(enrolled.campaign.clone());
        let claims = enrolled.recipients(&scene).into_iter().map(|recipient| {
            let sending = scene.on_its_way(recipient.value());
            ChangeSet::new().with(recipient.update(sending)).require(campaign.unchanged())
        });
        let paused = Campaign {
            status: CampaignStatus::Paused,
            pause_reason: Some(PauseReason::Operator),
            ..enrolled.campaign.clone()
        };
        let mut changes: Vec<ChangeSet> = claims.collect();
        changes.insert(6, ChangeSet::new().with(campaign.update(paused.clone())));
        let outcomes = at_once(harness, &scene, changes).await;
        assert!(outcomes[6].is_ok(), "nothing but another change of it stops a pause");
        let claimed = outcomes.iter().enumerate().filter(|(n, o)| *n != 6 && o.is_ok()).count();
        for lost in outcomes.into_iter().filter(Result::is_err) {
            assert_eq!(conflict(lost), Conflict::Stale(Row::from(paused.clone()).key()));
        }
        let counts = scene.counts(enrolled.campaign.id).await;
        assert_eq!(counts.of(RecipientStatus::Sending), claimed as u64);
        assert_eq!(counts.of(RecipientStatus::Waiting), 12 - claimed as u64);
        claimed_in_all += claimed;
        rounds_lost += usize::from(claimed < 12);
        // And no recipient is claimed afterwards.
        let stored = scene.recipients_now(enrolled.campaign.id).await;
        let left = stored.into_iter().find(|r| r.status == RecipientStatus::Waiting);
        if let Some(left) = left {
            let sending: Recipient = scene.on_its_way(left.value());
            let late = ChangeSet::new().with(left.update(sending)).require(campaign.unchanged());
            assert_stale(scene.store.commit(late).await);
        }
    }
    // Which side wins each round is up to the scheduler; here it only matters that all rounds end.
    assert!(claimed_in_all > 0 || rounds_lost > 0);
}

/// Several claims rely on the same campaign at once, and none of them fails because of that.
pub async fn claims_that_rely_on_one_campaign_all_pass(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(24).await;
    let campaign = first(enrolled.campaign.clone());
    let claims = enrolled.recipients(&scene).into_iter().map(|recipient| {
        let sending = scene.on_its_way(recipient.value());
        ChangeSet::new().with(recipient.update(sending)).require(campaign.unchanged())
    });
    let outcomes = at_once(harness, &scene, claims.collect()).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let id = enrolled.campaign.id;
    assert_eq!(scene.counts(id).await, counted(&[(RecipientStatus::Sending, 24)]));
    assert_eq!(scene.campaign_now(id).await, Some(campaign), "relying on it is no write");
}
