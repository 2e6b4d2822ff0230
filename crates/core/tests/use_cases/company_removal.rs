//! The removal of a company, whatever fails meanwhile: R208, R209.

use std::sync::Arc;
use std::time::Duration;

use recado_core::links::Visit;
use recado_core::store::{Listing, Records, RowKind};
use recado_testkit::files::{FailureAt, FaultyFiles, FileOp};
use recado_testkit::kit::body;
use recado_testkit::store::{FaultyStore, StoreFailure, StoreOp};
use recado_testkit::{Kit, MemoryFiles, MemoryStore};
use serde_json::json;

use super::campaign_scene::Scene;
use super::{code, create_phone};

struct Case {
    kit: Kit,
    store: MemoryStore,
    faulty: Arc<FaultyStore>,
    disk: MemoryFiles,
    /// The code of the link.
    code: String,
}

/// A company with contacts, documents and a link.
async fn case() -> Case {
    let store = MemoryStore::new();
    let faulty = Arc::new(FaultyStore::new(Arc::new(store.clone())));
    let disk = MemoryFiles::new();
    let builder = Kit::builder().store(faulty.clone()).files(disk.clone());
    let kit = builder.build().await;
    let company = kit.company.id;
    let mut contacts = Vec::new();
    for phone in ["34991230001", "34991230002", "34991230003"] {
        let id = create_phone(&kit, phone).await;
        let attached = kit.app.documents().attach(company, id, "a.txt", vec![1, 2, 3]).await;
        attached.expect("the document store works");
        contacts.push(id);
    }
    let new = body(json!({ "contact_id": contacts[0], "url": "https://example.com/x" }));
    let code = kit.app.links().create(company, &new).await.expect("a link").code;
    Case { kit, store, faulty, disk, code }
}

impl Case {
    /// Lets time pass until nothing is due any more, as the loops of a server do.
    async fn finish(&self) {
        for _ in 0..30 {
            while self.kit.app.jobs().run_one().await.unwrap_or(false) {}
            self.kit.clock.advance(Duration::from_secs(61));
        }
    }

    async fn assert_gone(&self, when: &str) {
        assert_eq!(self.disk.keys(), Vec::<String>::new(), "{when}");
        let company = self.kit.company.id;
        for kind in RowKind::ALL.iter().copied() {
            let rows = self.store.rows(Listing::Some { company, kind, limit: 1 }).await;
            assert_eq!(rows.expect("the store works"), [], "{when}: {kind:?}");
        }
        assert!(self.store.events(company).is_empty(), "{when}");
    }
}

/// R208.
#[tokio::test]
async fn a_deleted_company_is_unknown_before_anything_of_it_is_removed() {
    let case = case().await;
    let (app, company) = (&case.kit.app, case.kit.company.id);
    let rows = case.store.row_count();
    app.access().delete_company(company).await.expect("it is there");
    assert!(case.store.row_count() > rows, "a job, and no row less");
    assert_eq!(code(app.access().authenticate(&case.kit.key).await), "UNAUTHORIZED");
    assert_eq!(code(app.access().company(company).await), "NOT_FOUND");
    assert_eq!(code(app.access().delete_company(company).await), "NOT_FOUND");
    let patch = body(json!({ "name": "Nova" }));
    assert_eq!(code(app.access().change_company(company, &patch).await), "NOT_FOUND");
    assert!(app.access().companies().await.expect("the store works").is_empty());
    let visit = Visit::default();
    assert!(app.links().follow(&case.code, visit).await.is_err());
    case.finish().await;
    case.assert_gone("at the end").await;
}

/// R209: after a failure of any commit, known or not, the job goes on.
#[tokio::test]
async fn a_removal_goes_on_after_any_failure_of_the_store() {
    for failure in [StoreFailure::Unavailable, StoreFailure::UnknownAfter] {
        for n in 0..12 {
            let case = case().await;
            let company = case.kit.company.id;
            case.kit.app.access().delete_company(company).await.expect("it is there");
            case.faulty.fail_nth(StoreOp::Commit, n, failure);
            while case.kit.app.jobs().run_one().await.unwrap_or(false) {}
            case.faulty.heal();
            case.finish().await;
            case.assert_gone(&format!("{failure:?} {n}")).await;
        }
    }
}

/// R209: a document whose file cannot be removed keeps its row, so that the file is found again.
#[tokio::test]
async fn files_go_before_their_rows() {
    let store = MemoryStore::new();
    let disk = MemoryFiles::new();
    let files = FaultyFiles::new(disk.clone());
    let failing = files.clone();
    let kit = Kit::builder().store(Arc::new(store.clone())).files(files).build().await;
    let company = kit.company.id;
    let id = create_phone(&kit, "34991230001").await;
    let attached = kit.app.documents().attach(company, id, "a.txt", vec![1, 2, 3]).await;
    attached.expect("the document store works");
    kit.app.access().delete_company(company).await.expect("it is there");
    failing.fail_every(FileOp::Remove, FailureAt::Before);
    while kit.app.jobs().run_one().await.expect("the store works") {}
    let kind = RowKind::Document;
    let rows = store.rows(Listing::Some { company, kind, limit: 1 }).await;
    assert_eq!(rows.expect("the store works").len(), 1);
    assert_eq!(disk.keys().len(), 1);
    failing.heal();
    kit.clock.advance(Duration::from_secs(60));
    while kit.app.jobs().run_one().await.expect("the store works") {}
    assert_eq!(disk.keys(), Vec::<String>::new());
    assert_eq!(code(kit.app.access().company(company).await), "NOT_FOUND");
}

/// R208: a campaign that runs sends nothing after the deletion.
#[tokio::test]
async fn a_running_campaign_of_a_deleted_company_sends_no_more() {
    let scene = Scene::of(3).await;
    scene.change(json!({ "messages_per_second": 1 })).await;
    scene.start().await;
    scene.shop.app().campaigns().drain().await;
    let kit = scene.shop.kit();
    let before = kit.provider.sent().len();
    assert!((1..3).contains(&before), "{before}");
    kit.app.access().delete_company(kit.company.id).await.expect("it is there");
    for _ in 0..5 {
        kit.clock.advance(Duration::from_secs(60));
        scene.shop.app().campaigns().drain().await;
    }
    assert_eq!(kit.provider.sent().len(), before);
}
