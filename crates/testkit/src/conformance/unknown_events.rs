//! Events that were not understood: how they are kept, listed and deleted (X9).

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::gateway::{
    KeptBody, KeptEvents, KeptOrder, KeptQuery, MAX_KEPT_BODY, MAX_KIND, UnknownEvent, UnknownForm,
    UnknownReason,
};
use recado_core::ids::UnknownEventId;
use recado_core::messages::ProviderMessageId;
use recado_core::store::{Change, RecordsExt, Row, Stored, UniqueKey};
use uuid::Uuid;

use super::Harness;
use super::channel_rows::AWKWARD;
use super::scene::{Scene, assert_stale, assert_taken, at, first};

const DAY: i64 = 86_400_000;
const OLDEST: KeptOrder = KeptOrder::OldestFirst { after: None };

async fn listed(scene: &Scene, query: &KeptQuery) -> KeptEvents {
    scene.store.unknown_events(scene.company, query).await.expect("the store works")
}

/// All of a connection, the newest first.
async fn kept(scene: &Scene, connection: &Connection) -> Vec<Stored<UnknownEvent>> {
    let found = listed(scene, &KeptQuery::newest(connection.id, 1_000)).await;
    assert_eq!(found.total, found.events.len() as u64);
    found.events
}

async fn one(scene: &Scene, of: &UnknownEvent) -> Option<Stored<UnknownEvent>> {
    scene.store.get::<UnknownEvent>((scene.company, of.id)).await.expect("the store works")
}

async fn connected(scene: &Scene) -> Connection {
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    connection
}

/// One of a kind, with an id that sorts by `n`, that came at a time.
fn event(scene: &Scene, of: &Connection, kind: &str, n: u128, came: i64) -> UnknownEvent {
    let id = Uuid::from_u128((scene.company.uuid().as_u128() & !0xffff) + n);
    UnknownEvent {
        id: UnknownEventId::new(id),
        received_at: at(came),
        ..scene.unknown_event(of, kind)
    }
}

fn kinds(events: &[Stored<UnknownEvent>]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

/// All fields are read back: names as gateways write them, bodies of any text and length.
pub async fn every_field_of_a_kept_event_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = connected(&scene).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let longest = "é".repeat(MAX_KIND);
    let names = AWKWARD.iter().copied().chain([longest.as_str(), "Call", "call", "call "]);
    let long = "ç".repeat(MAX_KEPT_BODY / 2);
    let bodies =
        ["", "{\"b\" : 1,  \"a\":1.00,\"a\":2}", "\"\\u0000 \u{10ffff}…", "\u{1}\r\n\t", &long];
    for (n, kind) in names.enumerate() {
        let full = UnknownEvent {
            contact: (n % 2 == 0).then_some(contact.id),
            reason: UnknownReason::ALL[n % UnknownReason::ALL.len()],
            form: UnknownForm::ALL[n % UnknownForm::ALL.len()],
            received_at: [Timestamp::MIN, Timestamp::MAX][n % 2],
            provider_id: (n % 3 == 0)
                .then(|| ProviderMessageId::from_stored(AWKWARD[n % AWKWARD.len()].to_owned())),
            body: KeptBody::from_stored(bodies[n % bodies.len()].to_owned()),
            ..scene.unknown_event(&connection, kind)
        };
        scene.add(full.clone()).await;
        assert_eq!(one(&scene, &full).await, Some(first(full.clone())), "{kind:?}");
        let next = UnknownEvent { id: full.id, ..scene.unknown_event(&connection, kind) };
        scene.apply(first(full.clone()).update(next.clone())).await;
        let stored = one(&scene, &full).await.expect("it is there");
        assert_eq!((stored.value(), stored.version().number()), (&next, 2));
        assert!(kept(&scene, &connection).await.contains(&stored));
    }
}

/// By time, then by id, in both directions; each page goes on where the one before ended.
pub async fn kept_events_come_in_order_page_by_page(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (connection, second) = (connected(&scene).await, connected(&scene).await);
    let events = [("e", 5, 9), ("c", 3, 5), ("b", 2, 5), ("d", 4, 5), ("a", 9, -3)];
    scene.add_all(events.map(|(kind, n, came)| event(&scene, &connection, kind, n, came))).await;
    scene.add(event(&scene, &second, "elsewhere", 1, 6)).await;
    let newest = listed(&scene, &KeptQuery::newest(connection.id, 3)).await;
    assert_eq!((newest.total, kinds(&newest.events)), (5, vec!["e", "d", "c"]));
    let (mut read, mut after) = (Vec::new(), None);
    loop {
        let order = KeptOrder::OldestFirst { after };
        let query = KeptQuery { order, ..KeptQuery::newest(connection.id, 2) };
        let page = listed(&scene, &query).await;
        assert_eq!(page.total, 5, "whatever the page");
        let Some(last) = page.events.last() else { break };
        after = Some((last.received_at, last.id));
        read.extend(page.events);
    }
    assert_eq!(kinds(&read), ["a", "b", "c", "d", "e"]);
    let all = KeptQuery { connection: None, kind: None, order: OLDEST, limit: 9 };
    let all = listed(&scene, &all).await;
    assert_eq!((all.total, kinds(&all.events)), (6, vec!["a", "b", "c", "d", "elsewhere", "e"]));
    let none = listed(&scene, &KeptQuery::newest(connection.id, 0)).await;
    assert_eq!((none.total, none.events), (5, vec![]));
}

/// Those of one kind, by its name as it is written.
pub async fn kept_events_of_one_kind_are_found_and_counted(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (connection, second) = (connected(&scene).await, connected(&scene).await);
    let events = [("call", 1), ("Call", 2), ("call", 3), ("call ", 4), ("", 5)];
    scene.add_all(events.map(|(kind, n)| event(&scene, &connection, kind, n, n as i64))).await;
    scene.add(event(&scene, &second, "call", 9, 9)).await;
    let of = async |connection: Option<&Connection>, kind: &str| {
        let connection = connection.map(|connection| connection.id);
        let kind = Some(kind.to_owned());
        let found = listed(&scene, &KeptQuery { connection, kind, order: OLDEST, limit: 2 }).await;
        (found.total, found.events.iter().map(|event| event.received_at).collect::<Vec<_>>())
    };
    assert_eq!(of(Some(&connection), "call").await, (2, vec![at(1), at(3)]));
    assert_eq!(of(None, "call").await, (3, vec![at(1), at(3)]));
    assert_eq!(of(Some(&connection), "").await, (1, vec![at(5)]));
    assert_eq!(of(Some(&connection), "CALL").await, (0, vec![]));
}

/// There is one row for each id. A change of a row that was read before is stale.
pub async fn a_kept_event_is_there_once(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = connected(&scene).await;
    let event = scene.unknown_event(&connection, "call");
    scene.add(event.clone()).await;
    assert_taken(scene.try_add(event.clone()).await, UniqueKey::Id);
    scene.add(scene.unknown_event(&connection, "call")).await;
    let again = UnknownEvent { kind: "label".to_owned(), received_at: at(1), ..event.clone() };
    scene.apply(first(event.clone()).update(again.clone())).await;
    assert_stale(scene.try_apply(first(event.clone()).update(event.clone())).await);
    assert_stale(scene.try_apply(first(event.clone()).delete()).await);
    let stored = one(&scene, &event).await.expect("it is there");
    assert_eq!(*stored.value(), again);
    scene.apply(stored.delete()).await;
    assert_eq!(one(&scene, &event).await, None);
    assert_stale(scene.try_apply(stored.update(again)).await);
}

/// Promise 5.
pub async fn a_kept_event_needs_its_connection_and_its_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let theirs = connected(&other).await;
    for connection in [scene.connection(), theirs] {
        let row: Row = scene.unknown_event(&connection, "call").into();
        scene.refuses(Change::insert(row)).await;
    }
    let connection = connected(&scene).await;
    let (missing, theirs) = (scene.contact(), other.contact());
    other.add(theirs.clone()).await;
    for contact in [missing.id, theirs.id] {
        let event = scene.unknown_event(&connection, "call");
        let row: Row = UnknownEvent { contact: Some(contact), ..event }.into();
        scene.refuses(Change::insert(row)).await;
    }
}

/// Promise 8.
pub async fn kept_events_of_another_company_are_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let connection = connected(&scene).await;
    let event = scene.unknown_event(&connection, "call");
    scene.add(event.clone()).await;
    assert_eq!(kept(&other, &connection).await, []);
    let all = KeptQuery { connection: None, kind: None, order: OLDEST, limit: 9 };
    assert_eq!(listed(&other, &all).await.total, 0);
    assert_eq!(one(&other, &event).await, None);
    let theirs = UnknownEvent { company: other.company, ..event.clone() };
    assert_stale(scene.try_apply(first(theirs).delete()).await);
    assert_eq!(one(&scene, &event).await, Some(first(event)));
}

/// Promise 6: they go with their connection, and with the contact that they are about.
pub async fn kept_events_go_with_their_connection_and_their_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (gone, stays) = (connected(&scene).await, connected(&scene).await);
    scene.add_all([&gone, &stays].map(|of| scene.unknown_event(of, "call"))).await;
    scene.apply(first(gone.clone()).delete()).await;
    assert_eq!(kept(&scene, &gone).await, []);
    assert_eq!(kinds(&kept(&scene, &stays).await), ["call"]);
    let (erased, other) = (scene.contact(), scene.contact_with_phone("+5534991234567"));
    scene.add_all([erased.clone(), other.clone()]).await;
    let about = |contact, kind| UnknownEvent {
        contact: Some(contact),
        ..scene.unknown_event(&stays, kind)
    };
    scene.add_all([about(erased.id, "erased"), about(other.id, "other")]).await;
    scene.apply(first(erased).delete()).await;
    let left = kept(&scene, &stays).await;
    let mut left = kinds(&left);
    left.sort_unstable();
    assert_eq!(left, ["call", "other"]);
}

/// They are deleted thirty days after they came.
pub async fn kept_events_that_came_long_ago_go(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = connected(&scene).await;
    let came = [("old", 1, 0), ("young", 2, 1)];
    scene.add_all(came.map(|(kind, n, came)| event(&scene, &connection, kind, n, came))).await;
    let left = async |now| {
        for _ in 0..20 {
            scene.store.upkeep(at(now)).await.expect("the store works");
        }
        let kept = kept(&scene, &connection).await;
        kept.into_iter().map(|event| event.kind.clone()).collect::<Vec<_>>()
    };
    assert_eq!(left(30 * DAY - 1).await, ["young", "old"]);
    assert_eq!(left(30 * DAY).await, ["young"]);
    assert_eq!(left(30 * DAY + 1).await, [""; 0]);
}
