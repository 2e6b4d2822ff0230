//! How the contacts of a list become the recipients of a campaign, in one change (D66).

use recado_core::campaigns::{
    Campaign, CampaignStatus, RecipientCounts, RecipientNumber, RecipientStatus,
};
use recado_core::ids::CampaignId;
use recado_core::store::{Change, ChangeSet, UniqueKey};

use super::Harness;
use super::campaign_scene::{at_once, counted};
use super::scene::{Scene, assert_reference, assert_stale, assert_taken, at, first};

/// Recipients are numbered from 1 in the order of contact ids, compared byte by byte. The order of
/// creation does not matter.
pub async fn everybody_on_the_list_is_enrolled_by_contact_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(60).await;
    let ids: Vec<[u8; 16]> =
        enrolled.contacts.iter().map(|contact| contact.id.uuid().into_bytes()).collect();
    assert!(ids.is_sorted(), "the order that is meant is that of the bytes");
    assert!(ids[0][0] < 0x80 && ids[59][0] >= 0x80, "with and without the highest bit");
    let id = enrolled.campaign.id;
    assert_eq!(scene.recipients_now(id).await, enrolled.recipients(&scene));
    for (number, wanted) in (1..).zip(enrolled.recipients(&scene)) {
        assert_eq!(scene.recipient_now(id, number).await, Some(wanted));
    }
    assert_eq!(scene.recipient_now(id, 0).await, None);
    assert_eq!(scene.recipient_now(id, 61).await, None);
    assert_eq!(scene.counts(id).await, counted(&[(RecipientStatus::Waiting, 60)]));
}

/// One change enrolls a long list.
pub async fn a_long_list_is_enrolled_in_one_step(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(3_000).await;
    let id = enrolled.campaign.id;
    assert_eq!(scene.counts(id).await, counted(&[(RecipientStatus::Waiting, 3_000)]));
    assert_eq!(scene.recipients_now(id).await, enrolled.recipients(&scene));
}

/// The use case refuses such a list; in the store there is nothing to enroll.
pub async fn an_empty_or_missing_list_enrolls_nobody(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (campaign, empty, gone) = (scene.campaign(), scene.list(), scene.list());
    scene.add(campaign.clone()).await;
    scene.add_all([empty.clone(), gone.clone()]).await;
    scene.apply(first(gone.clone()).delete()).await;
    for list in [empty.id, gone.id, scene.list().id] {
        scene.apply(Change::enroll(scene.company, campaign.id, list)).await;
        assert_eq!(scene.counts(campaign.id).await, RecipientCounts::default());
    }
    assert_eq!(scene.campaign_now(campaign.id).await, Some(first(campaign)), "nobody wrote it");
}

/// Promise 5, even if there is nothing to enroll.
pub async fn a_campaign_to_enroll_for_must_be_there(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (list, _) = scene.crowd(2).await;
    let (theirs, empty) = (other.campaign(), scene.list());
    other.add(theirs.clone()).await;
    scene.add(empty.clone()).await;
    let unknown = CampaignId::new(scene.uuid());
    for campaign in [unknown, theirs.id] {
        for list in [list.id, empty.id] {
            scene.refuses(Change::enroll(scene.company, campaign, list)).await;
        }
    }
    assert_eq!(other.counts(theirs.id).await, RecipientCounts::default());
}

/// Promise 8: another company's list counts as missing.
pub async fn nobody_of_another_companys_list_is_enrolled(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (list, _) = scene.crowd(2).await;
    let (ours, theirs) = (scene.campaign(), other.campaign());
    scene.add(ours.clone()).await;
    other.add(theirs.clone()).await;
    other.apply(Change::enroll(other.company, theirs.id, list.id)).await;
    assert_eq!(other.recipients_now(theirs.id).await, []);
    // The campaign has to be of the company that is named.
    other.refuses(Change::enroll(other.company, ours.id, list.id)).await;
    assert_eq!(scene.recipients_now(ours.id).await, []);
}

/// Promise 2, and with it promise 1: a second enrolment writes nothing.
pub async fn enrolling_again_names_the_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(3).await;
    let id = enrolled.campaign.id;
    let again = Change::enroll(scene.company, id, enrolled.list.id);
    let new = scene.list();
    let changes = ChangeSet::new().insert(new.clone()).with(again);
    assert_taken(scene.store.commit(changes).await, UniqueKey::Recipient);
    assert!(scene.store.list(scene.company, new.id).await.expect("works").is_none());
    // The numbers are not free for other contacts either.
    let (others, _) = scene.crowd(2).await;
    let again = Change::enroll(scene.company, id, others.id);
    assert_taken(scene.try_apply(again).await, UniqueKey::Recipient);
    assert_eq!(scene.recipients_now(id).await, enrolled.recipients(&scene));
    // Another campaign may use the same list.
    let second = scene.campaign();
    let changes = ChangeSet::new().insert(second.clone()).with(Change::enroll(
        scene.company,
        second.id,
        enrolled.list.id,
    ));
    scene.store.commit(changes).await.expect("they are other recipients");
    assert_eq!(scene.recipients_now(second.id).await.len(), 3);
}

/// D66: the recipients are the contacts that were on the list when the campaign was started.
pub async fn who_joins_or_leaves_the_list_later_changes_no_recipient(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(3).await;
    let id = enrolled.campaign.id;
    let late = scene.contact();
    scene.add(late.clone()).await;
    scene.add(scene.joins(&late, &enrolled.list)).await;
    let leaves = first(scene.joins(&enrolled.contacts[1], &enrolled.list));
    scene.apply(leaves.delete()).await;
    assert_eq!(scene.recipients_now(id).await, enrolled.recipients(&scene));
    scene.apply(first(enrolled.list.clone()).delete()).await;
    assert_eq!(scene.recipients_now(id).await, enrolled.recipients(&scene));
}

/// Changes are applied in order: the enrolment sees the list as earlier changes of the set made it.
pub async fn an_enrollment_sees_the_changes_before_it_in_its_set(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (list, contacts) = scene.crowd(3).await;
    let (campaign, joins, late) = (scene.campaign(), scene.contact(), scene.contact());
    let changes = ChangeSet::new()
        .insert(joins.clone())
        .insert(late.clone())
        .insert(scene.joins(&joins, &list))
        .with(first(contacts[0].clone()).delete())
        .insert(campaign.clone())
        .with(Change::enroll(scene.company, campaign.id, list.id))
        .insert(scene.joins(&late, &list));
    scene.store.commit(changes).await.expect("all can be applied");
    let mut wanted = vec![contacts[1].id, contacts[2].id, joins.id];
    wanted.sort();
    let stored = scene.recipients_now(campaign.id).await;
    let enrolled: Vec<_> = stored.iter().filter_map(|recipient| recipient.contact).collect();
    assert_eq!(enrolled, wanted);
    let numbers: Vec<_> = stored.iter().map(|recipient| recipient.number).collect();
    assert_eq!(numbers, [1, 2, 3].map(RecipientNumber));
}

/// Promise 1: a start that fails for another reason enrolls no contact.
pub async fn a_start_that_fails_enrolls_nobody(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (list, _) = scene.crowd(3).await;
    let campaign = scene.campaign();
    scene.add(campaign.clone()).await;
    let running = Campaign { status: CampaignStatus::Running, ..campaign.clone() };
    let renamed = Campaign { updated_at: at(1), ..campaign.clone() };
    scene.apply(first(campaign.clone()).update(renamed.clone())).await;
    let start = |read: recado_core::store::Stored<Campaign>| {
        ChangeSet::new()
            .with(Change::enroll(scene.company, campaign.id, list.id))
            .with(read.update(running.clone()))
    };
    assert_stale(scene.store.commit(start(first(campaign.clone()))).await);
    assert_eq!(scene.recipients_now(campaign.id).await, []);
    let read = scene.campaign_now(campaign.id).await.expect("it is there");
    assert_eq!(read.value(), &renamed);
    scene.store.commit(start(read)).await.expect("it is as it was read");
    assert_eq!(scene.counts(campaign.id).await, counted(&[(RecipientStatus::Waiting, 3)]));
}

/// Promise 2 with concurrent commits: a campaign is started once.
pub async fn of_many_enrollments_of_one_campaign_one_wins(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (list, contacts) = scene.crowd(20).await;
    for _ in 0..4 {
        let campaign = scene.campaign();
        scene.add(campaign.clone()).await;
        let enroll = Change::enroll(scene.company, campaign.id, list.id);
        let all = (0..6).map(|_| ChangeSet::new().with(enroll.clone())).collect();
        let outcomes = at_once(harness, &scene, all).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        for lost in outcomes.into_iter().filter(Result::is_err) {
            assert_taken(lost, UniqueKey::Recipient);
        }
        let stored = scene.recipients_now(campaign.id).await;
        let enrolled: Vec<_> = stored.iter().filter_map(|recipient| recipient.contact).collect();
        assert_eq!(enrolled, contacts.iter().map(|contact| contact.id).collect::<Vec<_>>());
    }
}

/// Promise 5 with concurrent commits: a recipient never refers to a deleted contact.
pub async fn no_recipient_keeps_a_contact_that_is_gone(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    for _ in 0..10 {
        let (list, contacts) = scene.crowd(6).await;
        let campaign = scene.campaign();
        scene.add(campaign.clone()).await;
        let mut all =
            vec![ChangeSet::new().with(Change::enroll(scene.company, campaign.id, list.id))];
        let gone = &contacts[..3];
        all.extend(gone.iter().map(|c| ChangeSet::new().with(first(c.clone()).delete())));
        let outcomes = at_once(harness, &scene, all).await;
        assert!(outcomes[1..].iter().all(Result::is_ok), "{outcomes:?}");
        match &outcomes[0] {
            Ok(()) => {}
            // A contact that was deleted during the enrolment counts as missing.
            Err(_) => {
                assert_reference(outcomes.into_iter().next().expect("there is one"));
                continue;
            }
        }
        let stored = scene.recipients_now(campaign.id).await;
        let kept: Vec<_> = stored.iter().filter_map(|recipient| recipient.contact).collect();
        assert_eq!(kept, contacts[3..].iter().map(|c| c.id).collect::<Vec<_>>());
        assert!((3..=6).contains(&stored.len()));
        let numbers: Vec<u32> = stored.iter().map(|recipient| recipient.number.0).collect();
        assert_eq!(numbers, (1..=stored.len() as u32).collect::<Vec<_>>());
    }
}
