//! Promise 6: which rows are deleted with a row, and which are not.

use recado_core::contacts::{Contact, ContactFilter};
use recado_core::deals::Deal;
use recado_core::jobs::JobKind;
use recado_core::links::{Link, LinkClicks};
use recado_core::lists::List;
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, RecordsExt};
use recado_core::tags::Tag;

use super::Harness;
use super::scene::{Scene, at, first};

/// A contact with one row of each kind that is deleted with it.
struct Rich {
    contact: Contact,
    list: List,
    tag: Tag,
    deal: Deal,
    link: Link,
}

async fn rich(scene: &Scene) -> Rich {
    let (contact, list, tag) = (scene.contact(), scene.list(), scene.tag());
    let (deal, link) = (scene.deal(&contact, None), scene.clicked_link(&contact, 2, 7));
    let changes = ChangeSet::new()
        .insert(contact.clone())
        .insert(list.clone())
        .insert(tag.clone())
        .insert(scene.joins(&contact, &list))
        .insert(scene.tagged(&contact, &tag))
        .insert(deal.clone())
        .insert(link.clone())
        .insert(scene.click(&link, 5, true))
        .insert(scene.click(&link, 7, true));
    scene.store.commit(changes).await.expect("all can be stored");
    Rich { contact, list, tag, deal, link }
}

async fn clicks(scene: &Scene) -> Vec<Option<LinkClicks>> {
    let (filter, first_page) = (ContactFilter::default(), PageRequest::FIRST);
    let page = scene.store.contact_page(scene.company, &filter, first_page, true);
    let slice = page.await.expect("the store works");
    slice.records.into_iter().map(|record| record.related.clicks).collect()
}

async fn count(scene: &Scene, list: &List) -> Option<u64> {
    let list = scene.store.list(scene.company, list.id).await.expect("the store works");
    list.map(|(_, count)| count)
}

/// The rows that are deleted with a contact.
pub async fn memberships_tags_deals_links_and_clicks_go_with_the_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let gone = rich(&scene).await;
    let stays = rich(&scene).await;
    scene.add(scene.joins(&stays.contact, &gone.list)).await;
    assert_eq!(count(&scene, &gone.list).await, Some(2));
    scene.apply(first(gone.contact.clone()).delete()).await;

    let (store, company) = (&scene.store, scene.company);
    assert_eq!(count(&scene, &gone.list).await, Some(1));
    assert!(store.get::<Tag>((company, gone.tag.id)).await.expect("works").is_some());
    assert!(store.get::<Deal>((company, gone.deal.id)).await.expect("works").is_none());
    assert!(store.get::<Link>((company, gone.link.id)).await.expect("works").is_none());
    assert!(store.link_by_code(&gone.link.code_hash).await.expect("works").is_none());
    let candidates = store.list_candidates(company, gone.list.id, &[gone.contact.id], 0).await;
    assert_eq!(candidates.expect("works"), Default::default());

    let kept = store.contact_record(company, stays.contact.id).await.expect("works");
    let (kept, _) = kept.expect("the other contact is there");
    assert_eq!((kept.related.tags.len(), kept.related.lists.len()), (1, 2));
    assert_eq!(store.deals(company, None).await.expect("works"), [stays.deal]);
    assert_eq!(clicks(&scene).await, [Some(LinkClicks { total: 2, last_at: Some(at(7)) })]);
}

/// The rows that stay when a contact is deleted.
pub async fn jobs_and_events_stay_when_the_contact_goes(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    let mut job = scene.job();
    job.kind = recado_core::jobs::JobKind::Purge {
        contact: contact.id,
        documents: Vec::new(),
        stage: recado_core::jobs::PurgeStage::Erasing,
    };
    let event = scene.event(&contact, "{}");
    let changes = ChangeSet::new().insert(contact.clone()).insert(job.clone()).emit(event.clone());
    scene.store.commit(changes).await.expect("all can be stored");
    scene.apply(first(contact.clone()).delete()).await;
    let kept = scene
        .store
        .job_like(scene.company, &JobKind::purge_of(contact.id))
        .await
        .expect("the store works");
    assert_eq!(kept, Some(first(job)));
    assert_eq!(harness.events(scene.company).await, [event]);
}

/// No row is left that a contact with the same id would get.
pub async fn a_contact_made_again_with_the_same_id_starts_empty(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let rich = rich(&scene).await;
    scene.apply(first(rich.contact.clone()).delete()).await;
    scene.add(rich.contact.clone()).await;
    let record = scene.store.contact_record(scene.company, rich.contact.id).await;
    let (record, _) = record.expect("the store works").expect("the contact is there");
    assert_eq!((record.related.tags.len(), record.related.lists.len()), (0, 0));
    assert_eq!(scene.store.deals(scene.company, Some(rich.contact.id)).await.expect("works"), []);
    assert_eq!(clicks(&scene).await, [Some(LinkClicks::default())]);
    assert_eq!(scene.stored(rich.contact.id).await, first(rich.contact));
}

/// The rows that are deleted with a list (R5).
pub async fn memberships_go_with_the_list(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let rich = rich(&scene).await;
    scene.apply(first(rich.list.clone()).delete()).await;
    assert_eq!(count(&scene, &rich.list).await, None);
    scene.add(rich.list.clone()).await;
    assert_eq!(count(&scene, &rich.list).await, Some(0));
    assert!(scene.has_contact(rich.contact.id).await);
}

/// The rows that are deleted with a tag (R5).
pub async fn given_tags_go_with_the_tag(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let rich = rich(&scene).await;
    scene.apply(first(rich.tag.clone()).delete()).await;
    scene.add(rich.tag.clone()).await;
    let record = scene.store.contact_record(scene.company, rich.contact.id).await;
    let (record, _) = record.expect("the store works").expect("the contact is there");
    assert_eq!(record.related.tags, []);
}

/// The rows that are deleted with a link.
pub async fn clicks_go_with_the_link(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let rich = rich(&scene).await;
    let other = scene.clicked_link(&rich.contact, 1, 3);
    scene.add(other.clone()).await;
    scene.add(scene.click(&other, 3, true)).await;
    scene.apply(first(rich.link).delete()).await;
    assert_eq!(clicks(&scene).await, [Some(LinkClicks { total: 1, last_at: Some(at(3)) })]);
    scene.apply(first(other).delete()).await;
    assert_eq!(clicks(&scene).await, [Some(LinkClicks::default())]);
}
