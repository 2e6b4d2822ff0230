//! Rows that both contacts have when the rows of one are reassigned to the other (D62): which of
//! the two is kept.

use recado_core::campaigns::{Recipient, RecipientNumber, RecipientStatus, RecipientsFrom};
use recado_core::contacts::{Stays, recipient_that_stays, window_that_stays};
use recado_core::dispatches::{DispatchWindow, WindowState};
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, Row, Stored};

use super::Harness;
use super::reassign::move_to;
use super::scene::{Scene, assert_stale, at, first};

/// Unless a rule says otherwise, the row of the receiving contact is kept without change. The other
/// recipient keeps its number and loses its contact.
pub async fn what_both_contacts_have_stays_as_the_taker_has_it(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let enrolled = scene.enrolled(2).await;
    let [from, into] = [0, 1].map(|n| enrolled.contacts[n].clone());
    let (tag, own_tag) = (scene.tag(), scene.tag());
    scene.add_all([tag.clone(), own_tag.clone()]).await;
    scene.add_all([&from, &into].map(|contact| scene.tagged(contact, &tag))).await;
    scene.add(scene.tagged(&from, &own_tag)).await;
    let (theirs, stays) = (scene.window(&from, 1), scene.window(&into, 1));
    scene.add_all([theirs.clone(), stays.clone(), scene.window(&from, 2)]).await;
    scene.apply(move_to(&scene, &from, &into)).await;

    let record = scene.store.contact_record(scene.company, into.id).await;
    let related = record.expect("works").expect("there").0.related;
    assert_eq!(related.tags, [tag, own_tag]);
    assert_eq!(related.lists.len(), 1);
    let list = scene.store.list(scene.company, enrolled.list.id).await.expect("works");
    assert_eq!(list.map(|(_, members)| members), Some(1));
    assert_eq!(scene.window_now(&theirs).await, None);
    assert_eq!(scene.window_now(&stays).await, Some(first(stays.clone())));
    let moved = scene.window_now(&scene.window(&into, 2)).await.expect("the window is there");
    assert_eq!(moved.version().number(), 2);

    let left_over = scene.recipient_now(enrolled.campaign.id, 1).await.expect("it is there");
    assert_eq!((left_over.contact, left_over.version().number()), (None, 2));
    let kept = scene.recipient_now(enrolled.campaign.id, 2).await.expect("it is there");
    assert_eq!(kept, first(scene.waiting(enrolled.campaign.id, 2, into.id)));
    let page =
        scene.store.recipient_page(scene.company, enrolled.campaign.id, None, PageRequest::FIRST);
    let page = page.await.expect("works");
    assert_eq!((page.total, page.items[0].contact.is_some()), (2, false));
    // The keys of the deleted rows can be used again.
    scene.add_all([theirs]).await;
    scene.add(scene.joins(&from, &enrolled.list)).await;
}

/// D50, R116: of two windows of sent messages the one that ends later is kept, so that nothing is
/// dispatched again before that. A reservation is never kept instead of such a window: its message
/// may still be refused, and then there would be no window.
pub async fn the_window_that_was_sent_or_ends_later_stays(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let [from, into, other] = [scene.contact(), scene.contact(), scene.contact()];
    scene.add_all([from.clone(), into.clone(), other.clone()]).await;
    let states = [WindowState::Reserved, WindowState::Sent];
    let mut pairs = Vec::new();
    for (theirs, own) in states.iter().flat_map(|theirs| states.map(|own| (*theirs, own))) {
        for (ends_at, own_ends_at) in [(8, 9), (9, 9), (9, 8)] {
            let key = pairs.len() as u8;
            let window = |contact, state, ends_at| DispatchWindow {
                state,
                ends_at: at(ends_at),
                ..scene.window(contact, key)
            };
            pairs.push((window(&from, theirs, ends_at), window(&into, own, own_ends_at)));
            scene.add(window(&other, own, 7)).await;
        }
    }
    let (theirs, own): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
    scene.add_all(theirs).await;
    scene.add_all(own).await;
    let changes =
        ChangeSet::new().with(move_to(&scene, &from, &into)).with(first(from.clone()).delete());
    scene.store.commit(changes).await.expect("nothing stands in the way");
    for (theirs, own) in pairs {
        let expected = match window_that_stays(&own, &theirs) {
            Stays::Theirs => {
                let moved = DispatchWindow { contact: into.id, ..theirs.clone() };
                Stored::new(moved, first(()).version().next())
            }
            Stays::Own => first(own.clone()),
        };
        assert_eq!(scene.window_now(&theirs).await, None);
        assert_eq!(scene.window_now(&own).await, Some(expected));
        let untouched = scene.window_now(&DispatchWindow { contact: other.id, ..own }).await;
        assert_eq!(untouched.map(|window| window.ends_at), Some(at(7)));
    }
}

/// D66, R116: if one of the two contacts was already processed by the campaign, a waiting recipient
/// of the other one is not processed again.
pub async fn of_two_recipients_of_a_campaign_the_one_that_was_claimed_stays(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let [from, into, other] = [scene.contact(), scene.contact(), scene.contact()];
    scene.add_all([from.clone(), into.clone(), other.clone()]).await;
    let mut pairs = Vec::new();
    for theirs in RecipientStatus::ALL {
        for own in RecipientStatus::ALL {
            let campaign = scene.campaign();
            let place = |number, contact, status| Recipient {
                status,
                ..scene.waiting(campaign.id, number, contact)
            };
            let (theirs, own) = (place(1, from.id, *theirs), place(2, into.id, *own));
            let last = place(3, other.id, RecipientStatus::Waiting);
            let rows: [Row; 4] =
                [campaign.into(), theirs.clone().into(), own.clone().into(), last.into()];
            scene.add_all(rows).await;
            pairs.push((theirs, own));
        }
    }
    let changes =
        ChangeSet::new().with(move_to(&scene, &from, &into)).with(first(from.clone()).delete());
    scene.store.commit(changes).await.expect("nothing stands in the way");
    let waiting = RecipientStatus::Waiting;
    for (theirs, own) in pairs {
        let is_behind = recipient_that_stays(&own, &theirs) == Stays::Theirs;
        let next = |row| Stored::new(row, first(()).version().next());
        let left_over = |row: &Recipient| next(Recipient { contact: None, ..row.clone() });
        let expected = match is_behind {
            true => [next(Recipient { contact: Some(into.id), ..theirs.clone() }), left_over(&own)],
            false => [left_over(&theirs), first(own.clone())],
        };
        let found = [1, 2].map(|number| scene.recipient_now(own.campaign, number));
        let [one, two] = found;
        let found = [one.await.expect("it is there"), two.await.expect("it is there")];
        assert_eq!(found, expected);
        if is_behind {
            let taken = Recipient { status: RecipientStatus::Sending, ..own.clone() };
            assert_stale(scene.try_apply(first(own.clone()).update(taken)).await);
        }
        // The recipient without a contact stays in the queue, and is skipped.
        let queue = scene
            .store
            .recipients(scene.company, own.campaign, waiting, RecipientsFrom::After(None), 9)
            .await;
        let queue = queue.expect("the store works");
        let waits = |number| queue.iter().any(|place| place.number == RecipientNumber(number));
        assert_eq!((waits(2), waits(3)), (own.status == waiting, true));
        assert_eq!(scene.counts(own.campaign).await.total(), 3);
        let last = scene.recipient_now(own.campaign, 3).await;
        assert_eq!(last, Some(first(scene.waiting(own.campaign, 3, other.id))));
    }
}
