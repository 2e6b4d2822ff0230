//! Kinds of events that no adapter recognizes: how they are kept, listed and deleted.

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::gateway::{MAX_KIND, MAX_UNKNOWN_KINDS, UnknownKind};
use recado_core::ids::ConnectionId;
use recado_core::store::{Change, RecordsExt, Row, Stored, UniqueKey};
use serde_json::{Value, json};

use super::Harness;
use super::channel_rows::AWKWARD;
use super::scene::{Scene, assert_stale, assert_taken, at, first};

const DAY: i64 = 86_400_000;

async fn listed(scene: &Scene, connection: ConnectionId) -> Vec<Stored<UnknownKind>> {
    let listed = scene.store.unknown_kinds(scene.company, connection).await;
    listed.expect("the store works")
}

async fn one(scene: &Scene, of: &UnknownKind) -> Option<Stored<UnknownKind>> {
    let found =
        scene.store.get::<UnknownKind>((scene.company, of.connection, of.kind.clone())).await;
    found.expect("the store works")
}

async fn connected(scene: &Scene) -> Connection {
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    connection
}

/// All fields are read back: names as gateways write them, shapes of any form, large counts.
pub async fn every_field_of_an_unknown_kind_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = connected(&scene).await;
    let deep = (0..12).fold(json!("x"), |inner, n| match n % 2 {
        0 => json!([inner]),
        _ => json!({ "a.b \"'": inner }),
    });
    let shapes =
        [Value::Null, json!({}), json!(0), json!("… ?\u{10ffff}"), json!([[], true]), deep];
    let longest = "é".repeat(MAX_KIND);
    let kinds = AWKWARD.iter().copied().chain([longest.as_str(), "Call", "call", "call "]);
    for (n, kind) in kinds.enumerate() {
        let full = UnknownKind {
            shape: shapes[n % shapes.len()].clone(),
            seen: [0, i64::MAX as u64][n % 2],
            first_at: Timestamp::MIN,
            last_at: Timestamp::MAX,
            ..scene.unknown_kind(&connection, kind)
        };
        scene.add(full.clone()).await;
        assert_eq!(one(&scene, &full).await, Some(first(full.clone())), "{kind:?}");
        let next = scene.unknown_kind(&connection, kind);
        scene.apply(first(full.clone()).update(next.clone())).await;
        let stored = one(&scene, &full).await.expect("it is there");
        assert_eq!((stored.value(), stored.version().number()), (&next, 2));
        assert!(listed(&scene, connection.id).await.contains(&stored));
    }
}

/// Newest first; of the same time by name, byte by byte.
pub async fn unknown_kinds_come_newest_first_then_by_kind(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (connection, second) = (connected(&scene).await, connected(&scene).await);
    let kinds = [("b", 5), ("a", 5), ("B", 5), ("é", 5), ("old", -3), ("new", 9), ("z", 5)];
    let kind = |kind, last| UnknownKind {
        last_at: at(last),
        first_at: at(-last),
        ..scene.unknown_kind(&connection, kind)
    };
    scene.add_all(kinds.map(|(name, last)| kind(name, last))).await;
    scene.add(scene.unknown_kind(&second, "elsewhere")).await;
    let names = async || {
        let listed = listed(&scene, connection.id).await;
        listed.iter().map(|kind| kind.kind.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["new", "B", "a", "b", "z", "é", "old"]);
    scene.apply(first(kind("old", -3)).update(kind("old", 10))).await;
    assert_eq!(names().await, ["old", "new", "B", "a", "b", "z", "é"]);
    assert_eq!(listed(&scene, ConnectionId::new(scene.uuid())).await, []);
}

/// Only the newest ones are listed.
pub async fn a_listing_of_unknown_kinds_is_bounded(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = connected(&scene).await;
    let kinds = (0..MAX_UNKNOWN_KINDS as i64 + 5).map(|n| UnknownKind {
        last_at: at(n),
        ..scene.unknown_kind(&connection, &format!("k{n}"))
    });
    scene.add_all(kinds).await;
    let listed = listed(&scene, connection.id).await;
    assert_eq!(listed.len(), MAX_UNKNOWN_KINDS);
    assert_eq!(listed[0].kind, format!("k{}", MAX_UNKNOWN_KINDS + 4));
    assert_eq!(listed[MAX_UNKNOWN_KINDS - 1].kind, "k5");
}

/// There is one row for each connection and name. A change of a row that was read before is stale.
pub async fn an_unknown_kind_is_there_once(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (connection, second) = (connected(&scene).await, connected(&scene).await);
    let kind = scene.unknown_kind(&connection, "call");
    scene.add(kind.clone()).await;
    assert_taken(scene.try_add(kind.clone()).await, UniqueKey::Id);
    scene.add(scene.unknown_kind(&second, "call")).await;
    scene.add(scene.unknown_kind(&connection, "Call")).await;
    let again = UnknownKind { seen: 2, last_at: at(1), ..kind.clone() };
    scene.apply(first(kind.clone()).update(again.clone())).await;
    assert_stale(scene.try_apply(first(kind.clone()).update(kind.clone())).await);
    assert_stale(scene.try_apply(first(kind.clone()).delete()).await);
    let stored = one(&scene, &kind).await.expect("it is there");
    assert_eq!(*stored.value(), again);
    scene.apply(stored.delete()).await;
    assert_eq!(one(&scene, &kind).await, None);
    assert_stale(scene.try_apply(stored.update(again)).await);
}

/// Promise 5.
pub async fn an_unknown_kind_needs_its_connection(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let theirs = connected(&other).await;
    for connection in [scene.connection(), theirs] {
        let row: Row = scene.unknown_kind(&connection, "call").into();
        scene.refuses(Change::insert(row)).await;
    }
}

/// Promise 8.
pub async fn unknown_kinds_of_another_company_are_missing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let connection = connected(&scene).await;
    let kind = scene.unknown_kind(&connection, "call");
    scene.add(kind.clone()).await;
    assert_eq!(listed(&other, connection.id).await, []);
    assert_eq!(one(&other, &kind).await, None);
    assert_eq!(one(&scene, &scene.unknown_kind(&connection, "CALL")).await, None);
    let theirs = UnknownKind { company: other.company, ..kind.clone() };
    assert_stale(scene.try_apply(first(theirs).delete()).await);
    assert_eq!(one(&scene, &kind).await, Some(first(kind)));
}

/// Promise 6.
pub async fn unknown_kinds_go_with_their_connection(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (gone, stays) = (connected(&scene).await, connected(&scene).await);
    scene.add_all([&gone, &stays].map(|of| scene.unknown_kind(of, "call"))).await;
    scene.apply(first(gone.clone()).delete()).await;
    assert_eq!(listed(&scene, gone.id).await, []);
    assert_eq!(listed(&scene, stays.id).await.len(), 1);
    scene.add(gone.clone()).await;
    assert_eq!(listed(&scene, gone.id).await, []);
    scene.add(scene.unknown_kind(&gone, "call")).await;
}

/// They are deleted thirty days after the last report.
pub async fn unknown_kinds_that_came_long_ago_go(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = connected(&scene).await;
    let kind = |name, last| UnknownKind {
        first_at: at(-DAY),
        last_at: at(last),
        ..scene.unknown_kind(&connection, name)
    };
    scene.add_all([kind("old", 0), kind("young", 1)]).await;
    let left = async |now| {
        for _ in 0..20 {
            scene.store.upkeep(at(now)).await.expect("the store works");
        }
        let listed = listed(&scene, connection.id).await;
        listed.into_iter().map(|kind| kind.kind.clone()).collect::<Vec<_>>()
    };
    assert_eq!(left(30 * DAY - 1).await, ["young", "old"]);
    assert_eq!(left(30 * DAY).await, ["young"]);
    assert_eq!(left(30 * DAY + 1).await, [""; 0]);
}
