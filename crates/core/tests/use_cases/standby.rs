//! Listings from a standby of the database (R462).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use recado_core::audit::AuditRequest;
use recado_core::campaigns::RecipientFilter;
use recado_core::contacts::{ContactFilter, ListQuery};
use recado_core::deliveries::DeliveryRequest;
use recado_core::page::PageRequest;
use recado_core::prosas::LedgerFilter;
use recado_core::query::Params;
use recado_core::{Clock, Recado, Spawner, Standby, Timestamp, Work};
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, StoreFailure};
use serde_json::json;

use super::campaign_scene::Scene;

const MAX: Duration = Duration::from_secs(10);

/// Runs work whether somebody waits for it or not.
struct Detached;

impl Spawner for Detached {
    fn spawn(&self, work: Work) -> Work {
        let running = tokio::spawn(work);
        Box::pin(async move { running.await.expect("no panic") })
    }
}

/// A campaign that was sent, and a process that has a standby beside the database.
struct Stand {
    scene: Scene,
    app: Recado,
    database: FaultyStore,
    standby: FaultyStore,
}

impl Stand {
    async fn new() -> Self {
        let scene = Scene::of(2).await;
        scene.start().await;
        scene.drain().await;
        let kit = scene.shop.kit();
        let [database, standby] = [(); 2].map(|()| FaultyStore::new(Arc::clone(&kit.store)));
        standby.show_until(Some(kit.clock.now()));
        let replica = Arc::new(standby.clone());
        let app = Kit::builder()
            .store(Arc::new(database.clone()))
            .standby(Standby { replica, max_staleness: MAX })
            .clock(kit.clock.clone())
            .spawner(Detached)
            .start()
            .await;
        let stand = Self { scene, app, database, standby };
        // It is asked beside the first listing.
        assert_eq!(stand.page().await, None);
        stand.settle().await;
        stand
    }

    fn kit(&self) -> &Kit {
        self.scene.shop.kit()
    }

    /// Lets what runs beside calls end.
    async fn settle(&self) {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    /// Reads a page of contacts; of what time it is.
    async fn page(&self) -> Option<Timestamp> {
        let app = self.app.clone().with_stale_listings();
        let (filter, page) = (ContactFilter::default(), PageRequest::FIRST);
        let read = app.contacts().page(&self.kit().caller, &filter, page, false).await;
        assert_eq!(read.expect("it is read").total, 2);
        app.listings_as_of()
    }
}

/// Every listing that may be read from a standby, and an export, which may not.
async fn all_listings(app: &Recado, stand: &Stand) {
    let (caller, company) = (&stand.kit().caller, stand.kit().company.id);
    let (none, first) = (Params::new(Vec::new()), PageRequest::FIRST);
    app.contacts().page(caller, &ContactFilter::default(), first, false).await.unwrap();
    let export = Params::new(vec![("order_by".to_owned(), "created_at".to_owned())]);
    let Ok(ListQuery::Export(export)) = ListQuery::parse(&export) else { panic!("an export") };
    app.contacts().export(caller, &export).await.unwrap();
    app.messages().list(caller, &none).await.unwrap();
    app.messages().list_of_contact(caller, stand.scene.contacts[0], &none).await.unwrap();
    app.deliveries().list(company, &DeliveryRequest::parse(&none).unwrap()).await.unwrap();
    let everyone = RecipientFilter::default();
    app.campaigns().recipients(company, stand.scene.id, everyone, first).await.unwrap();
    app.prosas().lines(company, &LedgerFilter::default(), first).await.unwrap();
    app.audit().list(Some(company), &AuditRequest::parse(&none).unwrap()).await.unwrap();
}

fn names(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(|name| (*name).to_owned()).collect()
}

/// What [`all_listings`] reads for its pages.
const PAGES: [&str; 6] = [
    "contact_page",
    "message_page",
    "deliveries",
    "recipient_page",
    "ledger_page",
    "rows of AuditEntry",
];

/// R462, D25.
#[tokio::test]
async fn listings_are_read_from_the_standby_and_nothing_else_is() {
    let stand = Stand::new().await;
    let before = stand.standby.asked();
    assert_eq!(before, names(&["shows_until"]));
    let app = stand.app.clone().with_stale_listings();
    let is_page = |name: &String| PAGES.contains(&name.as_str()) && name != "contact_page";
    all_listings(&app, &stand).await;
    let of_database = stand.database.asked();
    assert!(!of_database.iter().any(is_page), "{of_database:?}");
    let new = body(json!({"phone": "34991239999"}));
    app.contacts().create(&stand.kit().caller, &new).await.expect("it is decided by the database");
    app.contacts().get(&stand.kit().caller, stand.scene.contacts[0], false).await.unwrap();
    let all = [&PAGES[..], &["shows_until"]].concat();
    assert_eq!(stand.standby.asked(), names(&all));
    assert_eq!(app.listings_as_of(), Some(stand.kit().clock.now()));
}

/// R462.
#[tokio::test]
async fn a_handle_that_does_not_allow_it_reads_everything_from_the_database() {
    let stand = Stand::new().await;
    all_listings(&stand.app, &stand).await;
    assert_eq!(stand.standby.asked(), names(&["shows_until"]));
    assert_eq!(stand.app.listings_as_of(), None);
}

/// R462.
#[tokio::test]
async fn a_standby_that_is_too_far_behind_is_not_read_until_it_is_near_again() {
    let stand = Stand::new().await;
    let shown = stand.page().await.expect("it is near");
    stand.kit().clock.advance(MAX + Duration::from_millis(1));
    assert_eq!(stand.page().await, None);
    stand.settle().await;
    assert_eq!(stand.page().await, None, "it says itself that it is behind");
    stand.standby.show_until(Some(shown.plus(MAX)));
    stand.kit().clock.advance(Duration::from_secs(1));
    stand.page().await;
    stand.settle().await;
    assert_eq!(stand.page().await, Some(shown.plus(MAX)));
    stand.standby.show_until(None);
    stand.kit().clock.advance(Duration::from_secs(1));
    stand.page().await;
    stand.settle().await;
    assert_eq!(stand.page().await, None, "it follows no database any more");
}

/// R462.
#[tokio::test]
async fn what_the_standby_fails_to_answer_the_database_answers() {
    let stand = Stand::new().await;
    assert!(stand.page().await.is_some());
    stand.standby.fail_all(StoreFailure::Unavailable);
    for _ in 0..3 {
        assert_eq!(stand.page().await, None);
    }
    let figures = stand.app.standby().expect("there is one");
    assert_eq!((figures.reads, figures.failures, figures.shows_until), (1, 1, None));
    stand.standby.heal();
    stand.kit().clock.advance(Duration::from_secs(1));
    stand.app.upkeep().await.expect("it asks the standby");
    stand.settle().await;
    assert!(stand.page().await.is_some());
}
