//! The long list of a campaign is taken in portions (R447).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use recado_core::Error;
use recado_core::audit::AuditRequest;
use recado_core::campaigns::{
    Campaign, CampaignRecord, CampaignResult, Recipient, RecipientNumber,
};
use recado_core::contacts::{Contact, Identifier};
use recado_core::ids::{CompanyId, ContactId, ListId};
use recado_core::lists::ListMember;
use recado_core::query::Params;
use recado_core::store::{Change, ChangeKind, ChangeSet, Commit as _, RecordsExt, Row};
use recado_testkit::{MemoryStore, StoreFailure};
use serde_json::json;
use uuid::Uuid;

use super::campaign_scene::Scene;
use super::shop::{Shop, cut_off};
use super::{code, create_phone};

/// A portion and some.
pub(crate) const CONTACTS: usize = 620;

/// How many recipients a commit stores.
fn stored(changes: &ChangeSet) -> usize {
    let is_recipient =
        |change: &&Change| matches!(change.kind(), ChangeKind::Insert(Row::Recipient(_)));
    changes.changes.iter().filter(is_recipient).count()
}

/// A campaign, not started, to a long list.
pub(crate) async fn long(shop: Shop, with: serde_json::Value) -> Scene {
    let mut scene = Scene::with(shop, 1, with).await;
    let (company, list) = (scene.shop.kit().company.id, scene.list);
    let first = scene.shop.model.get::<Contact>((company, scene.contacts[0])).await.unwrap();
    let first = first.unwrap().into_value();
    let mut changes = ChangeSet::new();
    for n in 1..CONTACTS {
        let id = ContactId::new(Uuid::from_u128(n as u128));
        let identifier = Identifier::parse(&format!("lid-{n}")).expect("an identifier");
        changes = changes
            .insert(Contact { id, identifier, phone: None, ..first.clone() })
            .insert(ListMember { company, list, contact: id });
        scene.contacts.push(id);
    }
    scene.shop.model.commit(changes).await.unwrap();
    scene.contacts.sort();
    scene
}

/// Lets something happen at the first portion.
fn meanwhile(scene: &Scene, happens: impl AsyncFn(&MemoryStore, CompanyId) + Send + 'static) {
    let (model, company) = (scene.shop.model.clone(), scene.shop.kit().company.id);
    let mut is_first = true;
    scene.shop.store.plan_commits(move |changes| {
        if stored(changes) > 0 && std::mem::take(&mut is_first) {
            happens(&model, company).now_or_never().expect("the model does not wait");
        }
        None
    });
}

async fn start(scene: &Scene) -> CampaignResult<CampaignRecord> {
    scene.shop.app().campaigns().start(scene.shop.kit().company.id, scene.id).await
}

/// How many recipients are stored, whether they are shown or not.
async fn rows(scene: &Scene) -> usize {
    let company = scene.shop.kit().company.id;
    let mut found = 0;
    for number in 1..=CONTACTS + 1 {
        let key = (company, scene.id, RecipientNumber(u32::try_from(number).unwrap()));
        found += usize::from(scene.shop.model.get::<Recipient>(key).await.unwrap().is_some());
    }
    found
}

/// How many pieces of work are there.
async fn jobs(scene: &Scene) -> usize {
    scene.shop.model.jobs(scene.shop.kit().company.id).len()
}

/// R447.
#[tokio::test]
async fn a_long_list_is_taken_in_portions() {
    let scene = long(Shop::new().await, json!({})).await;
    let portions: Arc<Mutex<Vec<usize>>> = Arc::default();
    let seen = Arc::clone(&portions);
    scene.shop.store.plan_commits(move |changes| {
        seen.lock().unwrap().push(stored(changes));
        None
    });
    let started = scene.start().await;
    assert_eq!((started.campaign.status.as_str(), started.campaign.counts.total), ("running", 620));
    let portions: Vec<usize> =
        portions.lock().unwrap().iter().copied().filter(|stored| *stored > 0).collect();
    assert_eq!(portions, [500, 120]);
    // Numbered from 1 in the order of the contacts' ids, as a short list is.
    let found: Vec<_> =
        scene.recipients().await.iter().map(|one| one.contact_id.unwrap()).collect();
    assert_eq!(found, scene.contacts);
    assert_eq!(jobs(&scene).await, 0);
    let again = scene.start().await;
    assert_eq!(again.campaign.counts.total, 620);
}

/// R385, R447.
#[tokio::test]
async fn the_start_with_a_long_list_has_one_entry_in_the_audit_log() {
    let scene = long(Shop::new().await, json!({})).await;
    let entries = async || {
        let request = AuditRequest::parse(&Params::default()).expect("acceptable filters");
        scene.shop.app().audit().list(None, &request).await.unwrap().entries
    };
    let before = entries().await.len();
    scene.start().await;
    let entries = entries().await;
    assert_eq!(entries.len(), before + 1);
    assert_eq!(entries[0].records[0].kind, "campaign");
}

/// R447: nobody sees a part of a list.
#[tokio::test]
async fn a_start_that_fails_leaves_a_draft_without_recipients() {
    let scene = long(Shop::new().await, json!({})).await;
    let mut portions = 0;
    scene.shop.store.plan_commits(move |changes| {
        portions += usize::from(stored(changes) > 0);
        (portions == 2 && stored(changes) > 0).then_some(StoreFailure::Unavailable)
    });
    assert!(matches!(start(&scene).await, Err(Error::Store(_))));
    scene.shop.store.heal();
    assert_eq!(
        (scene.status().await.0.as_str(), &scene.counts().await["total"]),
        ("draft", &json!(0))
    );
    assert_eq!(scene.recipients().await.len(), 0);
    assert_eq!((rows(&scene).await, jobs(&scene).await), (0, 0));
    assert_eq!(start(&scene).await.unwrap().campaign.counts.total, 620);
}

/// R447: what a process left that died is not shown, and is removed before another start.
#[tokio::test]
async fn a_list_that_a_dead_process_was_taking_is_taken_anew() {
    let scene = long(Shop::new().await, json!({})).await;
    let mut steps = 1;
    while rows(&scene).await == 0 {
        assert!(cut_off(start(&scene), steps).await.is_none(), "it ended after {steps} steps");
        steps += 1;
        if rows(&scene).await == 0 {
            scene.shop.advance(Duration::from_secs(61));
            while scene.shop.app().jobs().run_one().await.unwrap() {}
        }
    }
    assert_eq!(
        (scene.status().await.0.as_str(), &scene.counts().await["total"]),
        ("draft", &json!(0))
    );
    assert_eq!(scene.recipients().await.len(), 0);
    let company = scene.shop.kit().company.id;
    let other = scene.shop.other.campaigns().start(company, scene.id).await;
    assert!(matches!(other, Err(Error::Busy)), "{other:?}");
    scene.shop.advance(Duration::from_secs(61));
    while scene.shop.other.jobs().run_one().await.unwrap() {}
    assert_eq!((rows(&scene).await, jobs(&scene).await), (0, 0));
    assert_eq!(start(&scene).await.unwrap().campaign.counts.total, 620);
}

/// R447: a process that was thought dead stores nothing any more.
#[tokio::test]
async fn of_two_that_take_a_list_one_begins() {
    let scene = long(Shop::new().await, json!({})).await;
    let company = scene.shop.kit().company.id;
    let campaigns = scene.shop.other.campaigns();
    let (one, other) = tokio::join!(start(&scene), campaigns.start(company, scene.id));
    let begun = [&one, &other].iter().filter(|outcome| outcome.is_ok()).count();
    assert!(begun >= 1, "{one:?} {other:?}");
    for outcome in [one, other] {
        assert!(matches!(outcome, Ok(_) | Err(Error::Busy)), "{outcome:?}");
    }
    assert_eq!(scene.counts().await["total"], 620);
    assert_eq!((rows(&scene).await, jobs(&scene).await), (CONTACTS, 0));
}

/// D66, R447: the list is taken as it is when it is read.
#[tokio::test]
async fn who_joins_while_a_list_is_taken_is_no_recipient_and_who_is_deleted_is_left_out() {
    let scene = long(Shop::new().await, json!({})).await;
    let late = create_phone(scene.shop.kit(), "34991239999").await;
    let (left, deleted) = (scene.contacts[CONTACTS - 2], scene.contacts[CONTACTS - 1]);
    let list = scene.list;
    meanwhile(&scene, async move |model, company| {
        let contact = model.get::<Contact>((company, deleted)).await.unwrap().unwrap();
        let leaves = model.get::<ListMember>((company, list, left)).await.unwrap().unwrap();
        let joins = ListMember { company, list, contact: late };
        let changes = ChangeSet::new().insert(joins).with(contact.delete()).with(leaves.delete());
        model.commit(changes).await.unwrap();
    });
    scene.start().await;
    let found: Vec<_> = scene.recipients().await.iter().map(|one| one.contact_id).collect();
    assert_eq!(found.len(), CONTACTS - 1);
    assert!(!found.contains(&Some(late)) && !found.contains(&Some(deleted)));
    assert!(found.contains(&Some(left)), "it was in the list");
}

/// R447: a list that is no longer the campaign's is not taken.
#[tokio::test]
async fn a_campaign_that_gets_another_list_meanwhile_does_not_begin_with_the_first_one() {
    let scene = long(Shop::new().await, json!({})).await;
    let second: ListId = scene.shop.list(&scene.contacts[..3]).await;
    let id = scene.id;
    meanwhile(&scene, async move |model, company| {
        let campaign = model.get::<Campaign>((company, id)).await.unwrap().unwrap();
        let changed = Campaign { list: second, ..campaign.value().clone() };
        model.commit(ChangeSet::new().with(campaign.update(changed))).await.unwrap();
    });
    assert!(matches!(start(&scene).await, Err(Error::Busy)));
    assert_eq!((rows(&scene).await, jobs(&scene).await), (0, 0));
    assert_eq!(start(&scene).await.unwrap().campaign.counts.total, 3);
}

/// R292, R447.
#[tokio::test]
async fn a_scheduled_campaign_takes_its_long_list_when_it_begins() {
    let shop = Shop::new().await;
    let at = shop.now().plus(Duration::from_secs(60));
    let scene = long(shop, json!({ "scheduled_at": at })).await;
    scene.start().await;
    assert_eq!(rows(&scene).await, 0);
    scene.shop.advance(Duration::from_secs(61));
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.status().await.0, "running");
    assert_eq!(scene.counts().await["total"], 620);
}

/// R447: a deleted draft leaves nothing.
#[tokio::test]
async fn a_campaign_that_is_deleted_while_its_list_is_taken_leaves_nothing() {
    let scene = long(Shop::new().await, json!({})).await;
    let id = scene.id;
    meanwhile(&scene, async move |model, company| {
        let campaign = model.get::<Campaign>((company, id)).await.unwrap().unwrap();
        model.commit(ChangeSet::new().with(campaign.delete())).await.unwrap();
    });
    let outcome = start(&scene).await;
    assert!(outcome.is_err(), "{outcome:?}");
    assert_eq!((rows(&scene).await, jobs(&scene).await), (0, 0));
    assert_eq!(code(start(&scene).await), "NOT_FOUND");
}
