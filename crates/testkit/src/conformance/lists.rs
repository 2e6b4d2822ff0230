//! Lists and their counts.

use recado_core::lists::ListCandidates;
use recado_core::store::ChangeSet;

use super::Harness;
use super::scene::{Scene, at, first};

/// D58.
pub async fn lists_are_listed_by_creation_then_id_with_their_counts(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    other.add(other.list()).await;
    let contacts = [scene.contact(), scene.contact()];
    scene.add_all(contacts.clone()).await;
    let mut wanted = Vec::new();
    for (n, millis) in [5, 1, 5, 3].into_iter().enumerate() {
        let mut list = scene.list();
        (list.created_at, list.is_active) = (at(millis), n % 2 == 0);
        scene.add(list.clone()).await;
        for contact in &contacts[..n % 3] {
            scene.add(scene.joins(contact, &list)).await;
        }
        wanted.push((list, (n % 3) as u64));
    }
    wanted.sort_by_key(|(list, _)| (list.created_at, list.id));
    assert_eq!(scene.store.lists(scene.company).await.expect("the store works"), wanted);
}

/// The counts are exact, whichever change adds or removes members.
pub async fn counts_follow_memberships(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let list = scene.list();
    let contacts: Vec<_> = (0..5).map(|_| scene.contact()).collect();
    scene.add(list.clone()).await;
    scene.add_all(contacts.clone()).await;
    let count = async || {
        let found = scene.store.list(scene.company, list.id).await.expect("the store works");
        found.expect("the list is there").1
    };
    let joins = contacts.iter().map(|contact| scene.joins(contact, &list)).collect::<Vec<_>>();
    scene.add_all(joins.clone()).await;
    assert_eq!(count().await, 5);
    scene.apply(first(joins[0]).delete()).await;
    assert_eq!(count().await, 4);
    scene.apply(first(contacts[1].clone()).delete()).await;
    assert_eq!(count().await, 3);
    let both = ChangeSet::new().with(first(joins[2]).delete()).insert(joins[0]);
    scene.store.commit(both).await.expect("one goes, one comes");
    assert_eq!(count().await, 3);
    scene.store.upkeep(at(1)).await.expect("the store works");
    assert_eq!(count().await, 3);
}

/// Which contacts exist, and which are members already.
pub async fn candidates_are_distinguished(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (list, another) = (scene.list(), scene.list());
    let (member, stranger, missing) = (scene.contact(), scene.contact(), scene.contact());
    let theirs = other.contact();
    scene.add_all([member.clone(), stranger.clone()]).await;
    other.add(theirs.clone()).await;
    scene.add_all([list.clone(), another.clone()]).await;
    scene.add(scene.joins(&member, &list)).await;
    scene.add(scene.joins(&stranger, &another)).await;
    let asked = [stranger.id, missing.id, theirs.id, member.id];
    let reported = scene.store.list_candidates(scene.company, list.id, &asked, 0).await;
    let mut reported = reported.expect("the store works");
    reported.existing.sort();
    let mut existing = vec![member.id, stranger.id];
    existing.sort();
    assert_eq!(reported, ListCandidates { existing, members: vec![member.id], first: Vec::new() });
    let none = scene.store.list_candidates(scene.company, list.id, &[], 0).await;
    assert_eq!(none.expect("the store works"), ListCandidates::default());
}

/// The first members of a list, by id.
pub async fn members_are_listed_by_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (list, another) = (scene.list(), scene.list());
    let contacts: Vec<_> = (0..5).map(|_| scene.contact()).collect();
    scene.add_all(contacts.clone()).await;
    scene.add_all([list.clone(), another.clone()]).await;
    scene.add_all(contacts[..4].iter().map(|contact| scene.joins(contact, &list))).await;
    scene.add(scene.joins(&contacts[4], &another)).await;
    let mut wanted: Vec<_> = contacts[..4].iter().map(|contact| contact.id).collect();
    wanted.sort();
    for limit in [1, 3, 4, 9] {
        let found = scene.store.list_candidates(scene.company, list.id, &[], limit).await;
        let wanted = &wanted[..wanted.len().min(limit as usize)];
        assert_eq!(found.expect("the store works").first, wanted);
    }
    let other = scene.another_company().await;
    let theirs = other.store.list_candidates(other.company, list.id, &[], 9).await;
    assert_eq!(theirs.expect("the store works"), ListCandidates::default());
}
