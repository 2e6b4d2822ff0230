//! Windows of template dispatch: one for each contact and key (8, D50).

use recado_core::Timestamp;
use recado_core::dispatches::{DispatchWindow, WindowKey, WindowState};
use recado_core::ids::{CompanyId, ContactId, MessageId};
use recado_core::store::{Change, ChangeSet, Conflict, Row, UniqueKey};

use super::Harness;
use super::campaign_scene::at_once;
use super::scene::{Scene, assert_reference, assert_stale, assert_taken, at, conflict, first};

/// All fields of a window are read back; its key may be any bytes.
pub async fn every_field_of_a_dispatch_window_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let keys = [[0; 32], [0xff; 32], scene.random(), std::array::from_fn(|n| n as u8)];
    for (n, key) in keys.into_iter().enumerate() {
        let window = DispatchWindow {
            key: WindowKey::from_bytes(key),
            sent_at: [at(-1), Timestamp::MIN, at(7), Timestamp::MAX][n],
            state: WindowState::ALL[n % 2],
            ends_at: [at(9), Timestamp::MIN, Timestamp::MAX, at(0)][n],
            ..scene.window(&contact, 1)
        };
        scene.add(window.clone()).await;
        assert_eq!(scene.window_now(&window).await, Some(first(window.clone())));
        let next = DispatchWindow {
            message: MessageId::new(scene.uuid()),
            sent_at: at(1),
            state: WindowState::ALL[(n + 1) % 2],
            ends_at: at(2),
            ..window.clone()
        };
        scene.apply(first(window).update(next.clone())).await;
        let stored = scene.window_now(&next).await.expect("it is there");
        assert_eq!((stored.value(), stored.version().number()), (&next, 2));
    }
}

/// A window is found only by its own contact and key.
pub async fn dispatch_windows_are_distinguished_by_contact_and_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (ana, bia, theirs) = (scene.contact(), scene.contact(), other.contact());
    scene.add_all([ana.clone(), bia.clone()]).await;
    other.add(theirs.clone()).await;
    let windows = [
        scene.window(&ana, 1),
        scene.window(&ana, 2),
        scene.window(&bia, 1),
        other.window(&theirs, 1),
    ];
    scene.add_all(windows.clone()).await;
    for window in &windows[..3] {
        assert_eq!(scene.window_now(window).await, Some(first(window.clone())));
    }
    assert_eq!(other.window_now(&windows[3]).await, Some(first(windows[3].clone())));
    assert_eq!(scene.window_now(&scene.window(&bia, 2)).await, None);
    // A key that differs in one bit is another key.
    let mut bytes = [1; 32];
    bytes[31] = 0x81;
    let close = DispatchWindow { key: WindowKey::from_bytes(bytes), ..scene.window(&ana, 1) };
    assert_eq!(scene.window_now(&close).await, None);
    scene.add(close.clone()).await;
    assert_eq!(scene.window_now(&windows[0]).await, Some(first(windows[0].clone())));
}

/// Windows of other contacts and companies, and windows of sent messages, are not listed.
pub async fn the_reserved_windows_of_a_contact_are_listed_by_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (ana, bia) = (scene.contact(), scene.contact());
    scene.add_all([ana.clone(), bia.clone()]).await;
    let sent = DispatchWindow { state: WindowState::Sent, ..scene.window(&ana, 3) };
    let reserved = [scene.window(&ana, 2), scene.window(&ana, 4)];
    let all = [reserved[1].clone(), sent, scene.window(&bia, 1), reserved[0].clone()];
    scene.add_all(all).await;
    let listed = |contact| scene.store.reserved_windows(scene.company, contact);
    assert_eq!(listed(ana.id).await.expect("works"), reserved.clone().map(first));
    let other = scene.another_company().await.company;
    assert_eq!(scene.store.reserved_windows(other, ana.id).await.expect("works"), []);
    let finished = DispatchWindow { state: WindowState::Sent, ..reserved[0].clone() };
    scene.apply(first(reserved[0].clone()).update(finished)).await;
    scene.apply(first(reserved[1].clone()).delete()).await;
    assert_eq!(listed(ana.id).await.expect("works"), []);
}

/// Promise 2.
pub async fn a_dispatch_window_that_is_there_names_its_key(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let window = scene.window(&contact, 1);
    scene.add(window.clone()).await;
    let again = scene.window(&contact, 1);
    assert_taken(scene.try_add(again.clone()).await, UniqueKey::DispatchWindow);
    assert_eq!(scene.window_now(&window).await, Some(first(window.clone())));
    // After the window is deleted, its key can be used again.
    scene.apply(first(window).delete()).await;
    scene.add(again.clone()).await;
    assert_eq!(scene.window_now(&again).await, Some(first(again)));
}

/// Promise 5: the contact has to exist. The message need not exist: it may be stored later.
pub async fn a_dispatch_window_needs_its_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (unknown, theirs) = (scene.contact(), other.contact());
    other.add(theirs.clone()).await;
    scene.refuses(Change::insert(scene.window(&unknown, 1))).await;
    scene.refuses(Change::insert(scene.window(&theirs, 1))).await;
    let nowhere =
        DispatchWindow { company: CompanyId::new(scene.uuid()), ..other.window(&theirs, 1) };
    scene.refuses(Change::insert(nowhere)).await;
    other.add(other.window(&theirs, 1)).await;
    // One change set may insert the contact and the window.
    let changes = ChangeSet::new().insert(unknown.clone()).insert(scene.window(&unknown, 1));
    scene.store.commit(changes).await.expect("the contact comes along");
}

/// Promises 3 and 4.
pub async fn a_stale_change_of_a_dispatch_window_changes_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let window = scene.window(&contact, 1);
    scene.add(window.clone()).await;
    let read = first(window.clone());
    let sent = DispatchWindow { state: WindowState::Sent, ends_at: at(99), ..window.clone() };
    scene.apply(read.update(sent.clone())).await;
    assert_stale(scene.try_apply(read.update(window.clone())).await);
    assert_stale(scene.try_apply(read.delete()).await);
    let key = Row::from(window).key();
    let relying = ChangeSet::new().insert(scene.list()).require(read.unchanged());
    assert_eq!(conflict(scene.store.commit(relying).await), Conflict::Stale(key));
    let now = scene.window_now(&sent).await.expect("it is there");
    assert_eq!((now.value(), now.version().number()), (&sent, 2));
    let relying = ChangeSet::new().insert(scene.list()).require(now.unchanged());
    scene.store.commit(relying).await.expect("it is as it was read");
    scene.apply(now.delete()).await;
    assert_stale(scene.try_apply(now.update(sent.clone())).await);
    assert_eq!(scene.window_now(&sent).await, None);
}

/// Promise 8.
pub async fn a_dispatch_window_of_another_company_is_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let window = scene.window(&contact, 1);
    scene.add(window.clone()).await;
    assert_eq!(other.window_now(&window).await, None);
    let theirs = DispatchWindow { company: other.company, ..window.clone() };
    assert_stale(other.try_apply(first(theirs.clone()).update(theirs.clone())).await);
    assert_stale(other.try_apply(first(theirs).delete()).await);
    assert_eq!(scene.window_now(&window).await, Some(first(window)));
}

/// Promise 6.
pub async fn dispatch_windows_go_with_their_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (gone, stays) = (scene.contact(), scene.contact());
    scene.add_all([gone.clone(), stays.clone()]).await;
    let windows = [scene.window(&gone, 1), scene.window(&gone, 2), scene.window(&stays, 1)];
    scene.add_all(windows.clone()).await;
    scene.apply(first(gone.clone()).delete()).await;
    assert_eq!(scene.window_now(&windows[0]).await, None);
    assert_eq!(scene.window_now(&windows[1]).await, None);
    assert_eq!(scene.window_now(&windows[2]).await, Some(first(windows[2].clone())));
    // A contact with the same id gets no window of the deleted one.
    scene.add(gone).await;
    assert_eq!(scene.window_now(&windows[0]).await, None);
    scene.add(windows[0].clone()).await;
}

/// Upkeep deletes windows that have ended, in any state, and no others.
pub async fn dispatch_windows_that_ended_go(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (contact, theirs) = (scene.contact(), other.contact());
    scene.add(contact.clone()).await;
    other.add(theirs.clone()).await;
    let ending = |key: u8, millis: i64| DispatchWindow {
        ends_at: at(millis),
        state: WindowState::ALL[usize::from(key) % 2],
        ..scene.window(&contact, key)
    };
    let windows = [ending(0, 10), ending(1, 10), ending(2, 11), ending(3, 11)];
    let far = DispatchWindow { ends_at: Timestamp::MAX, ..scene.window(&contact, 9) };
    let of_theirs = DispatchWindow { ends_at: at(10), ..other.window(&theirs, 1) };
    scene.add_all(windows.clone()).await;
    scene.add_all([far.clone(), of_theirs.clone()]).await;
    let there = async |millis: i64| {
        for _ in 0..20 {
            scene.store.upkeep(at(millis)).await.expect("the store works");
        }
        let mut there = Vec::new();
        for window in &windows {
            there.push(scene.window_now(window).await.is_some());
        }
        there.push(other.window_now(&of_theirs).await.is_some());
        there
    };
    assert_eq!(there(9).await, [true, true, true, true, true]);
    assert_eq!(there(10).await, [false, false, true, true, false], "the end is exclusive");
    assert_eq!(there(1_000_000_000_000).await, [false; 5]);
    assert_eq!(scene.window_now(&far).await, Some(first(far)));
    scene.add_all(windows).await;
}

/// D50: of several dispatches at the same time, one is sent.
pub async fn of_many_reservations_of_one_window_one_wins(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    for round in 0..5 {
        let windows: Vec<_> = (0..20).map(|_| scene.window(&contact, round)).collect();
        let reserve = windows.iter().map(|window| ChangeSet::new().insert(window.clone()));
        let outcomes = at_once(harness, &scene, reserve.collect()).await;
        let winners: Vec<usize> = (0..20).filter(|n| outcomes[*n].is_ok()).collect();
        assert_eq!(winners.len(), 1);
        for lost in outcomes.into_iter().filter(Result::is_err) {
            assert_taken(lost, UniqueKey::DispatchWindow);
        }
        let stored = scene.window_now(&windows[0]).await;
        assert_eq!(stored, Some(first(windows[winners[0]].clone())));
    }
}

/// D50: a window that has ended is taken over once.
pub async fn of_many_takeovers_of_one_window_one_wins(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    for round in 0..5 {
        let lapsed = scene.window(&contact, round);
        scene.add(lapsed.clone()).await;
        let next: Vec<_> = (0..20).map(|_| scene.window(&contact, round)).collect();
        let take = next
            .iter()
            .map(|window| ChangeSet::new().with(first(lapsed.clone()).update(window.clone())));
        let outcomes = at_once(harness, &scene, take.collect()).await;
        let winners: Vec<usize> = (0..20).filter(|n| outcomes[*n].is_ok()).collect();
        assert_eq!(winners.len(), 1);
        outcomes.into_iter().filter(Result::is_err).for_each(assert_stale);
        let stored = scene.window_now(&lapsed).await.expect("it is there");
        assert_eq!((stored.value(), stored.version().number()), (&next[winners[0]], 2));
    }
}

/// Promise 5 with concurrent commits: a window is never left without its contact.
pub async fn a_dispatch_window_is_never_left_without_its_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    for _ in 0..20 {
        let contact = scene.contact();
        scene.add(contact.clone()).await;
        let window = scene.window(&contact, 1);
        let insert = ChangeSet::new().insert(window.clone());
        let delete = ChangeSet::new().with(first(contact.clone()).delete());
        let outcomes = at_once(harness, &scene, vec![insert, delete]).await;
        assert!(outcomes[1].is_ok(), "nothing stands in the way of deleting a contact");
        for lost in outcomes.into_iter().filter(Result::is_err) {
            assert_reference(lost);
        }
        assert_eq!(scene.window_now(&window).await, None);
        let same: ContactId = contact.id;
        assert!(!scene.has_contact(same).await);
    }
}
