//! The listing by last message: order, pages, filters, and what it shows of each contact.

use std::cmp::Reverse;

use recado_core::contacts::{
    Contact, ContactFilter, ContactSlice, CrmStatus, InboxStatus, ListBrief, Platform,
};
use recado_core::custom_fields::FieldStatus;
use recado_core::ids::{ContactId, StageId};
use recado_core::links::LinkClicks;
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, Row};

use super::Harness;
use super::scene::{CNPJ, Scene, at, first};

pub(super) fn ids(slice: &ContactSlice) -> Vec<ContactId> {
    slice.records.iter().map(|record| record.contact.id).collect()
}

/// The ids of these contacts in the order of the listing.
pub(super) fn in_order<'a>(contacts: impl IntoIterator<Item = &'a Contact>) -> Vec<ContactId> {
    let mut contacts: Vec<&Contact> = contacts.into_iter().collect();
    contacts.sort_by_key(|contact| (Reverse(contact.last_message_at), contact.id));
    contacts.into_iter().map(|contact| contact.id).collect()
}

/// Contacts with various filtered values and times. Some have equal times, some have no messages.
pub(super) async fn varied(scene: &Scene, count: usize) -> Vec<Contact> {
    let pipeline = scene.pipeline();
    let stages = [scene.stage(&pipeline, 0), scene.stage(&pipeline, 1)];
    scene.add(pipeline).await;
    scene.add_all(stages.clone()).await;
    let telegram = Platform::parse("telegram").expect("a channel");
    let contacts: Vec<Contact> = (0..count)
        .map(|n| {
            let mut contact = scene.contact();
            if n % 3 == 0 {
                contact.source_platform = telegram.clone();
            }
            if n % 2 == 0 {
                contact.inbox_status = InboxStatus::Resolved;
            }
            contact.pipeline_stage_id = stages.get(n % 5).map(|stage| stage.id);
            contact.crm_status = CrmStatus::ALL[n % CrmStatus::ALL.len()];
            contact.is_ai_enabled = n % 7 < 4;
            contact.is_group = n % 11 == 0;
            contact.last_message_at = (n % 4 != 0).then(|| at((n * 37 % 10) as i64));
            contact
        })
        .collect();
    scene.add_all(contacts.clone()).await;
    contacts
}

/// `last_message_at` descending, contacts without messages last, then `id` ascending.
pub async fn contacts_come_by_last_message_then_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = varied(&scene, 40).await;
    let listed = scene.page(&ContactFilter::default(), 1, 100).await;
    assert_eq!(ids(&listed), in_order(&contacts));
    assert_eq!(listed.total, 40);
    assert!(listed.records.last().expect("some").contact.last_message_at.is_none());

    // A message moves a contact to the front.
    let last = listed.records.last().expect("some").contact.clone();
    let newest = last.changed(at(99), |contact| contact.last_message_at = Some(at(99)));
    scene.apply(last.update(newest.clone())).await;
    let listed = scene.page(&ContactFilter::default(), 1, 100).await;
    assert_eq!(ids(&listed)[0], newest.id);
    assert_eq!(listed.records.len(), 40);
}

/// Pages of any size show each contact once, in order.
pub async fn pages_partition_the_listing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = varied(&scene, 23).await;
    let group = ContactFilter { is_ai_enabled: Some(true), ..ContactFilter::default() };
    for filter in [ContactFilter::default(), group] {
        let wanted = in_order(contacts.iter().filter(|contact| contact.facets().pass(&filter)));
        for limit in [1, 2, 7, 22, 23, 24, 100] {
            let mut seen = Vec::new();
            for page in 1..=(wanted.len() as u32).div_ceil(limit) {
                let slice = scene.page(&filter, page, limit).await;
                assert_eq!(slice.total, wanted.len() as u64);
                assert!(slice.records.len() <= limit as usize);
                seen.extend(ids(&slice));
            }
            assert_eq!(seen, wanted, "with {limit} a page");
        }
    }
}

/// The second page of three contacts, which a store may find without all that pass (R417).
pub(super) async fn assert_small_pages(scene: &Scene, filter: &ContactFilter, all: &[ContactId]) {
    let slice = scene.page(filter, 2, 3).await;
    let wanted: Vec<ContactId> = all.iter().copied().skip(3).take(3).collect();
    assert_eq!((ids(&slice), slice.total), (wanted, all.len() as u64), "{filter:?}");
}

/// A page beyond the end has the total and no contacts.
pub async fn a_page_beyond_the_end_is_empty_and_has_the_total(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    assert_eq!(scene.page(&ContactFilter::default(), 1, 10).await.total, 0);
    varied(&scene, 5).await;
    for (page, limit) in [(2, 5), (2, 100), (1_000_000_000, 100)] {
        let slice = scene.page(&ContactFilter::default(), page, limit).await;
        assert_eq!((slice.records.len(), slice.total), (0, 5));
    }
}

/// Tests every exact filter, and all of them together.
pub async fn every_combination_of_filters_answers_as_the_facets_do(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = varied(&scene, 120).await;
    let stage = contacts[0].pipeline_stage_id;
    let platforms = [None, Some(Platform::whatsapp()), Platform::parse("telegram")];
    let inboxes = [None, Some(InboxStatus::Open), Some(InboxStatus::Resolved)];
    let stages = [None, stage, Some(StageId::new(scene.uuid()))];
    let crms = [None, Some(CrmStatus::Lead), Some(CrmStatus::Lost)];
    let switches = [None, Some(true), Some(false)];
    let mut combination = 0_usize;
    for source_platform in &platforms {
        for inbox_status in inboxes {
            for pipeline_stage_id in stages {
                for crm_status in crms {
                    // The last two filters go through their values together.
                    combination += 1;
                    let filter = ContactFilter {
                        source_platform: source_platform.clone(),
                        inbox_status,
                        pipeline_stage_id,
                        crm_status,
                        is_ai_enabled: switches[combination % 3],
                        is_group: switches[combination / 3 % 3],
                        ..ContactFilter::default()
                    };
                    let passing = contacts.iter().filter(|c| c.facets().pass(&filter));
                    let slice = scene.page(&filter, 1, 100).await;
                    let wanted = in_order(passing);
                    assert_eq!(slice.total, wanted.len() as u64, "{filter:?}");
                    assert_eq!(ids(&slice), wanted[..wanted.len().min(100)], "{filter:?}");
                    assert_small_pages(&scene, &filter, &wanted).await;
                }
            }
        }
    }
}

/// Organization, stage and tags come with each contact (R16).
pub async fn a_listing_shows_what_its_contacts_refer_to(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let pipeline = scene.pipeline();
    let (stage, organization) = (scene.stage(&pipeline, 3), scene.organization(CNPJ));
    let (mut young, old) = (scene.tag(), scene.tag());
    young.created_at = at(9);
    let mut contact = scene.contact();
    contact.organization_id = Some(organization.id);
    contact.pipeline_stage_id = Some(stage.id);
    let plain = scene.contact();
    let rows: Vec<Row> = vec![
        pipeline.into(),
        stage.clone().into(),
        organization.clone().into(),
        young.clone().into(),
        old.clone().into(),
        contact.clone().into(),
        plain.clone().into(),
        scene.tagged(&contact, &young).into(),
        scene.tagged(&contact, &old).into(),
    ];
    scene.add_all(rows).await;
    let filter = ContactFilter::default();
    let export = scene.store.contact_export(scene.company, &filter, None, 10, false).await;
    for slice in [scene.page(&filter, 1, 10).await, export.expect("the store works")] {
        assert_eq!(slice.records.len(), 2);
        for record in slice.records {
            let related = record.related;
            if record.contact.id == contact.id {
                assert_eq!(related.organization.as_ref(), Some(&organization));
                assert_eq!(related.stage.as_ref(), Some(&stage));
                assert_eq!(related.tags, [old.clone(), young.clone()]);
            } else {
                assert_eq!((related.organization, related.stage), (None, None));
                assert_eq!(related.tags, []);
            }
            assert_eq!(related.clicks, None);
        }
    }
}

/// Each contact of a listing has its own tags, in their order, also where it shares some of them
/// with others (R16).
pub async fn a_listing_shows_each_contact_with_its_own_tags(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let tags = [(); 3].map(|()| scene.tag());
    let contacts = [(); 5].map(|()| scene.contact());
    scene.add_all(tags.clone()).await;
    scene.add_all(contacts.clone()).await;
    // Which contact has which tags. The last one has them where the others are asked for, too.
    let given = [&[][..], &[0, 2], &[1], &[2, 1, 0], &[1, 2]];
    for (contact, tagged) in contacts.iter().zip(given) {
        for tag in tagged {
            scene.add(scene.tagged(contact, &tags[*tag])).await;
        }
    }
    let filter = ContactFilter::default();
    let first = scene.store.contact_export(scene.company, &filter, None, 4, false).await;
    for (slice, count) in [
        (scene.page(&filter, 1, 10).await, 5),
        (scene.page(&filter, 2, 2).await, 2),
        (first.expect("the store works"), 4),
    ] {
        assert_eq!(slice.records.len(), count);
        for record in slice.records {
            let number = contacts.iter().position(|contact| contact.id == record.contact.id);
            let mut wanted = given[number.expect("one of them")].to_vec();
            wanted.sort_unstable();
            let wanted: Vec<_> = wanted.into_iter().map(|tag| tags[tag].clone()).collect();
            assert_eq!(record.related.tags, wanted);
        }
    }
}

/// The single read adds the member and the lists (R16).
pub async fn a_single_contact_shows_its_member_and_lists(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (member, mut contact) = (scene.member(), scene.contact());
    contact.assigned_to_member_id = Some(member.id);
    let (mut young, old, foreign) = (scene.list(), scene.list(), scene.list());
    young.created_at = at(9);
    young.name = "Novos".to_owned();
    let changes = ChangeSet::new()
        .insert(member.clone())
        .insert(contact.clone())
        .insert(young.clone())
        .insert(old.clone())
        .insert(foreign)
        .insert(scene.joins(&contact, &young))
        .insert(scene.joins(&contact, &old));
    scene.store.commit(changes).await.expect("all can be stored");
    let record = scene.store.contact_record(scene.company, contact.id).await;
    let (record, _) = record.expect("the store works").expect("the contact is there");
    assert_eq!(record.related.assigned_to, Some(member));
    let brief =
        |list: &recado_core::lists::List| ListBrief { id: list.id, name: list.name.clone() };
    assert_eq!(record.related.lists, [brief(&old), brief(&young)]);
    assert_eq!(record.contact, first(contact));
}

/// D60: counts human clicks on all links of a contact, and adds up what the links say, however
/// many clicks are kept (R207).
pub async fn clicks_are_counted_when_they_are_asked_for(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (clicked, plain) = (scene.contact(), scene.contact());
    let links = [
        scene.clicked_link(&clicked, 2, 30),
        scene.clicked_link(&clicked, 1, 20),
        scene.link(&plain),
    ];
    scene.add_all([clicked.clone(), plain.clone()]).await;
    scene.add_all(links.clone()).await;
    let clicks = [
        scene.click(&links[0], 30, true),
        scene.click(&links[1], 40, false),
        scene.click(&links[2], 50, false),
    ];
    scene.add_all(clicks).await;
    let (store, company) = (&scene.store, scene.company);
    let filter = ContactFilter::default();
    let page = store.contact_page(company, &filter, PageRequest::FIRST, true).await;
    let export = store.contact_export(company, &filter, None, 10, true).await;
    for slice in [page.expect("works"), export.expect("works")] {
        for record in slice.records {
            let wanted = if record.contact.id == clicked.id {
                LinkClicks { total: 3, last_at: Some(at(30)) }
            } else {
                LinkClicks::default()
            };
            assert_eq!(record.related.clicks, Some(wanted));
        }
    }
}

/// Promise 8, listings.
pub async fn another_companys_contacts_are_not_listed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    scene.add(scene.contact()).await;
    let theirs = other.contact();
    other.add(theirs.clone()).await;
    let slice = other.page(&ContactFilter::default(), 1, 10).await;
    assert_eq!((ids(&slice), slice.total), (vec![theirs.id], 1));
    let filter = ContactFilter::default();
    let export = other.store.contact_export(other.company, &filter, None, 9, false);
    let export = export.await.expect("the store works");
    assert_eq!((ids(&export), export.total), (vec![theirs.id], 1));
}

/// The list form shows values of inactive definitions too (D58).
pub async fn definitions_come_with_the_values_in_any_status(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (active, mut inactive) = (scene.field("a"), scene.field("b"));
    inactive.status = FieldStatus::Inactive;
    scene.add_all([active.clone(), inactive.clone()]).await;
    let mut contact = scene.contact();
    contact.custom_fields = [(active.id, "1".to_owned()), (inactive.id, "2".to_owned())].into();
    scene.add(contact.clone()).await;
    let filter = ContactFilter::default();
    let export = scene.store.contact_export(scene.company, &filter, None, 9, false).await;
    let record = scene.store.contact_record(scene.company, contact.id).await;
    let (_, of_record) = record.expect("the store works").expect("the contact is there");
    for fields in [scene.page(&filter, 1, 9).await.fields, export.expect("works").fields, of_record]
    {
        assert!(fields.contains(&active) && fields.contains(&inactive), "{fields:?}");
    }
}
