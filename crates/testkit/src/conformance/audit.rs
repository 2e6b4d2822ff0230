//! The audit log: how entries are kept and listed (R388, R389).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use recado_core::audit::{Acting, Actor, AuditEntry, OperationName, RecordRef};
use recado_core::ids::{AuditEntryId, CompanyId, KeyId, MemberId, OperatorTokenId};
use recado_core::store::{Change, Listing, RecordsExt, Row, Stored};
use recado_core::{Code, Timestamp};
use uuid::Uuid;

use super::Harness;
use super::scene::{Scene, at, first};

fn id(n: u128) -> AuditEntryId {
    AuditEntryId::new(Uuid::from_u128(n))
}

fn entry(n: u128, time: i64, company: Option<CompanyId>) -> AuditEntry {
    let acting = Acting::program("company create");
    let records = [RecordRef::new("contact", n)].into_iter().collect();
    AuditEntry::new(id(n), at(time), &acting, company, records)
}

async fn ids(scene: &Scene, listing: Listing) -> Vec<AuditEntryId> {
    let rows = scene.store.rows(listing).await.expect("the store works");
    let id = |row: Stored<Row>| match row.into_value() {
        Row::AuditEntry(entry) => entry.id,
        row => panic!("another kind: {row:?}"),
    };
    rows.into_iter().map(id).collect()
}

/// All fields are read back: of every actor, from every kind of address, with and without records.
pub async fn every_field_of_an_audit_entry_is_read_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let uuid = Uuid::from_u128(7);
    let actors = [
        Actor::Root,
        Actor::OperatorToken(OperatorTokenId::new(uuid)),
        Actor::Member(scene.company, MemberId::new(uuid)),
        Actor::Key(scene.company, KeyId::new(uuid)),
        Actor::Program,
        Actor::Outside,
        Actor::System,
    ];
    for (n, actor) in actors.into_iter().enumerate() {
        let from = [
            None,
            Some(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9))),
            Some(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        ][n % 3];
        let acting = Acting::new(actor, OperationName::of("createContact"), from);
        let records = (0..n as u128 * 5).map(|n| RecordRef::new("contact", n)).collect();
        let company = (n % 2 == 0).then_some(scene.company);
        let full = AuditEntry {
            denied: (n % 3 == 0).then_some(Code::InsufficientRole),
            ..AuditEntry::new(id(n as u128), Timestamp::MAX, &acting, company, records)
        };
        scene.add(full.clone()).await;
        let read =
            scene.store.get::<AuditEntry>((full.at, full.id)).await.expect("the store works");
        assert_eq!(read, Some(first(full)));
    }
}

/// By time, then by id, the newest first, of one company or of all, before a place; and the oldest
/// until a time.
pub async fn audit_entries_are_listed_by_time_and_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (own, other) = (Some(scene.company), Some(CompanyId::new(Uuid::from_u128(9))));
    for (n, time, company) in [(1, 5, own), (2, 5, other), (3, 4, own), (4, 6, None), (5, 5, own)] {
        scene.add(entry(n, time, company)).await;
    }
    let list = async |company, before, limit| {
        let found = ids(&scene, Listing::Audited { company, before, limit }).await;
        found.iter().map(|id| id.uuid().as_u128()).collect::<Vec<_>>()
    };
    let newest = (Timestamp::MAX, AuditEntryId::new(Uuid::max()));
    assert_eq!(list(None, newest, 9).await, [4, 5, 2, 1, 3]);
    assert_eq!(list(None, newest, 2).await, [4, 5]);
    assert_eq!(list(own, newest, 9).await, [5, 1, 3]);
    assert_eq!(list(None, (at(5), id(2)), 9).await, [1, 3]);
    assert_eq!(list(own, (at(5), id(5)), 9).await, [1, 3]);
    assert_eq!(list(other, newest, 9).await, [2]);
    let oldest = Listing::AuditedBefore { until: at(5), limit: 3 };
    assert_eq!(ids(&scene, oldest.clone()).await, [id(3), id(1), id(2)]);
    // They are deleted by what was read.
    let old = scene.store.rows(oldest).await.expect("the store works");
    let deletions: Vec<Change> = old.iter().map(Stored::delete).collect();
    for deletion in deletions {
        scene.apply(deletion).await;
    }
    assert_eq!(list(None, newest, 9).await, [4, 5]);
}
