//! Lists, tags and campaigns with very many rows are deleted in portions (R442).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use recado_core::Error;
use recado_core::audit::AuditRequest;
use recado_core::campaigns::{Campaign, CampaignStatus};
use recado_core::contacts::{ContactFilter, ContactTag};
use recado_core::ids::TagId;
use recado_core::page::PageRequest;
use recado_core::query::Params;
use recado_core::store::{ChangeKind, ChangeSet, Commit as _, RecordsExt as _, StoreError};
use recado_core::tags::TagDraft;
use recado_testkit::StoreFailure;
use serde_json::json;

use super::campaign_lists::{CONTACTS, long};
use super::campaign_scene::Scene;
use super::code;
use super::shop::Shop;

/// A campaign, not started, to a list of more than a portion; all contacts of it have a tag.
struct Case {
    scene: Scene,
    tag: TagId,
    /// What happens at the next commits that remove a portion, and how many there were.
    portions: Arc<AtomicUsize>,
}

impl Case {
    async fn new() -> Self {
        let scene = long(Shop::new().await, json!({})).await;
        let company = scene.shop.kit().company.id;
        let tags = scene.shop.app().tags();
        let tag = tags.create(company, TagDraft::new("VIP", "red")).await.unwrap();
        let tagged = scene.contacts.iter().fold(ChangeSet::new(), |changes, contact| {
            changes.insert(ContactTag { company, contact: *contact, tag: tag.id })
        });
        scene.shop.model.commit(tagged).await.unwrap();
        Self { scene, tag: tag.id, portions: Arc::default() }
    }

    /// Counts the portions; the commit after so many fails once.
    fn fail_after(&self, number: Option<usize>) {
        let (portions, failing) = (Arc::clone(&self.portions), Mutex::new(number));
        portions.store(0, Ordering::Relaxed);
        self.scene.shop.store.plan_commits(move |changes| {
            let mut failing = failing.lock().unwrap();
            if *failing == Some(portions.load(Ordering::Relaxed)) {
                *failing = None;
                return Some(StoreFailure::Unavailable);
            }
            let mut kinds = changes.changes.iter().map(|change| change.kind());
            if kinds.any(|kind| matches!(kind, ChangeKind::RemoveRows { .. })) {
                portions.fetch_add(1, Ordering::Relaxed);
            }
            None
        });
    }

    fn portions(&self) -> usize {
        self.portions.load(Ordering::Relaxed)
    }

    async fn with_tag(&self) -> u64 {
        let filter = ContactFilter { tag: Some(self.tag), ..ContactFilter::default() };
        let (company, store) = (self.scene.shop.kit().company.id, self.scene.shop.app().store());
        store.contact_page(company, &filter, PageRequest::FIRST, false).await.unwrap().total
    }

    async fn in_list(&self) -> u64 {
        let company = self.scene.shop.kit().company.id;
        let list = self.scene.shop.app().lists().get(company, self.scene.list).await.unwrap();
        list.contacts_count
    }

    async fn recipients(&self) -> u64 {
        let company = self.scene.shop.kit().company.id;
        let campaign = self.scene.shop.app().campaigns().get(company, self.scene.id).await.unwrap();
        campaign.campaign.counts.total
    }
}

fn failed<T: std::fmt::Debug, E: std::fmt::Debug>(outcome: Result<T, Error<E>>) {
    assert!(matches!(outcome, Err(Error::Store(StoreError::Unavailable(_)))), "{outcome:?}");
}

/// R442.
#[tokio::test]
async fn a_long_list_leaves_its_contacts_in_portions_and_a_repeat_completes_it() {
    let case = Case::new().await;
    let (app, company) = (case.scene.shop.app(), case.scene.shop.kit().company.id);
    case.fail_after(Some(1));
    failed(app.lists().delete(company, case.scene.list).await);
    assert_eq!((case.portions(), case.in_list().await), (1, 120));
    app.lists().delete(company, case.scene.list).await.unwrap();
    assert_eq!(case.portions(), 1);
    assert_eq!(code(app.lists().get(company, case.scene.list).await), "NOT_FOUND");
    assert_eq!(code(app.lists().delete(company, case.scene.list).await), "NOT_FOUND");
    assert_eq!(case.with_tag().await, CONTACTS as u64);
}

/// R442.
#[tokio::test]
async fn contacts_lose_a_tag_in_portions_and_a_repeat_completes_it() {
    let case = Case::new().await;
    let (app, company) = (case.scene.shop.app(), case.scene.shop.kit().company.id);
    case.fail_after(Some(1));
    failed(app.tags().delete(company, case.tag).await);
    assert_eq!((case.portions(), case.with_tag().await), (1, 120));
    app.tags().delete(company, case.tag).await.unwrap();
    assert_eq!((case.portions(), case.with_tag().await), (1, 0));
    assert_eq!(code(app.tags().delete(company, case.tag).await), "NOT_FOUND");
    assert_eq!(case.in_list().await, CONTACTS as u64);
}

/// R93, R442: nothing of a campaign that runs is removed.
#[tokio::test]
async fn many_recipients_go_in_portions_unless_the_campaign_runs() {
    let case = Case::new().await;
    let (app, company) = (case.scene.shop.app(), case.scene.shop.kit().company.id);
    case.scene.start().await;
    case.fail_after(None);
    let refused = app.campaigns().delete(company, case.scene.id).await;
    assert_eq!(code(refused), "CAMPAIGN_RUNNING");
    assert_eq!((case.portions(), case.recipients().await), (0, CONTACTS as u64));
    case.scene.pause().await;
    case.fail_after(Some(1));
    failed(app.campaigns().delete(company, case.scene.id).await);
    assert_eq!((case.portions(), case.recipients().await), (1, 120));
    app.campaigns().delete(company, case.scene.id).await.unwrap();
    assert_eq!(case.portions(), 1);
    assert_eq!(code(app.campaigns().get(company, case.scene.id).await), "NOT_FOUND");
}

/// R442: a portion is decided anew, so that a campaign which was started meanwhile stays.
#[tokio::test]
async fn a_campaign_that_is_started_while_it_is_deleted_stays() {
    let case = Case::new().await;
    let (app, company) = (case.scene.shop.app(), case.scene.shop.kit().company.id);
    case.scene.start().await;
    case.scene.pause().await;
    let (model, key) = (case.scene.shop.model.clone(), (company, case.scene.id));
    let mut is_first = true;
    case.scene.shop.store.plan_commits(move |_| {
        if std::mem::take(&mut is_first) {
            let started = async {
                let paused = model.get::<Campaign>(key).await.unwrap().unwrap();
                let (status, pause_reason) = (CampaignStatus::Running, None);
                let running = Campaign { status, pause_reason, ..paused.value().clone() };
                model.commit(ChangeSet::new().with(paused.update(running))).await.unwrap();
            };
            started.now_or_never().expect("the model does not wait");
        }
        None
    });
    let refused = app.campaigns().delete(company, case.scene.id).await;
    assert_eq!(code(refused), "CAMPAIGN_RUNNING");
    assert_eq!(case.recipients().await, CONTACTS as u64);
}

/// R385, R442.
#[tokio::test]
async fn the_deletion_of_a_long_list_has_one_entry_in_the_audit_log() {
    let case = Case::new().await;
    let (app, company) = (case.scene.shop.app(), case.scene.shop.kit().company.id);
    let entries = async || {
        let request = AuditRequest::parse(&Params::default()).expect("acceptable filters");
        app.audit().list(None, &request).await.unwrap().entries.len()
    };
    let before = entries().await;
    app.lists().delete(company, case.scene.list).await.unwrap();
    assert_eq!(entries().await, before + 1);
}
