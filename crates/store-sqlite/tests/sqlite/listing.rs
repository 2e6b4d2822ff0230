//! Listings long enough that every way of reading them is used: ranges, merges, matches looked up
//! one by one, and matches found by reading the index in order.

use recado_core::Timestamp;
use recado_core::access::{Member, Role};
use recado_core::contacts::{
    AssigneeFilter, ContactFilter, ContactReads, ContactSlice, ContactTag, CrmStatus,
    ExportPosition, InboxStatus, SearchQuery,
};
use recado_core::ids::{CompanyId, ListId, MemberId, TagId};
use recado_core::lists::{List, ListMember};
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, Commit, Store};
use recado_core::tags::Tag;
use recado_testkit::MemoryStore;
use uuid::Uuid;

use crate::support::{Scene, company, contact};

const CONTACTS: u32 = 700;

/// Contacts of twenty combinations. Three contacts share a time; every fourth has no messages.
fn contacts(of: CompanyId) -> ChangeSet {
    (0..CONTACTS).fold(ChangeSet::new(), |changes, n| {
        let name = if n % 3 == 0 { format!("Ana Rara {n}") } else { format!("Ana {n}") };
        let mut contact = contact(of, n, &name);
        contact.created_at = Timestamp::from_millis(i64::from(n / 3));
        contact.crm_status = CrmStatus::ALL[n as usize * 7 % 5];
        contact.is_ai_enabled = n % 2 == 0;
        contact.inbox_status = InboxStatus::ALL[usize::from(n % 50 == 0)];
        contact.last_message_at =
            (n % 4 != 0).then(|| Timestamp::from_millis(i64::from(n * 37 % 101)));
        contact.assigned_to_member_id = (n % 6 == 0).then(|| member(of).id);
        contact.has_unread = n % 13 == 0;
        contact.updated_at = Timestamp::from_millis(i64::from(n % 211));
        let id = contact.id;
        let joins = |list: List| ListMember { company: of, list: list.id, contact: id };
        let mut changes = changes.insert(contact);
        if n % 2 == 0 {
            changes = changes.insert(joins(list(of, 1)));
        }
        if n % 30 == 0 {
            changes = changes.insert(joins(list(of, 2)));
        }
        if n % 5 == 0 {
            changes = changes.insert(ContactTag { company: of, contact: id, tag: tag(of).id });
        }
        changes
    })
}

fn member(company: CompanyId) -> Member {
    Member {
        id: MemberId::new(Uuid::from_u128(1)),
        company,
        display_name: "Bia".to_owned(),
        role: Role::Agent,
        created_at: Timestamp::MIN,
    }
}

fn list(company: CompanyId, n: u128) -> List {
    let id = ListId::new(Uuid::from_u128(n));
    List { id, company, name: "L".to_owned(), is_active: true, created_at: Timestamp::MIN }
}

fn tag(company: CompanyId) -> Tag {
    let (id, created_at) = (TagId::new(Uuid::from_u128(1)), Timestamp::MIN);
    Tag { id, company, name: "T".to_owned(), color: "#fff".to_owned(), created_at }
}

/// What contacts are filed under; both companies have the same ids.
fn sets(company: CompanyId) -> ChangeSet {
    ChangeSet::new()
        .insert(member(company))
        .insert(list(company, 1))
        .insert(list(company, 2))
        .insert(tag(company))
}

fn filters() -> Vec<ContactFilter> {
    let company = company(1).id;
    let (half, few) = (Some(list(company, 1).id), Some(list(company, 2).id));
    let (tagged, to) = (Some(tag(company).id), AssigneeFilter::Member(member(company).id));
    let to = Some(to);
    let since = |millis| Some(Timestamp::from_millis(millis));
    let exact = [
        ContactFilter::default(),
        ContactFilter { is_ai_enabled: Some(true), ..ContactFilter::default() },
        ContactFilter { inbox_status: Some(InboxStatus::Resolved), ..ContactFilter::default() },
        ContactFilter {
            crm_status: Some(CrmStatus::Lead),
            is_ai_enabled: Some(false),
            ..ContactFilter::default()
        },
        ContactFilter { is_group: Some(true), ..ContactFilter::default() },
        ContactFilter { unread: Some(true), ..ContactFilter::default() },
        ContactFilter { assigned_to: Some(AssigneeFilter::Nobody), ..ContactFilter::default() },
        ContactFilter { list: half, ..ContactFilter::default() },
        ContactFilter { list: half, crm_status: Some(CrmStatus::Lead), ..ContactFilter::default() },
        ContactFilter { list: half, tag: tagged, ..ContactFilter::default() },
        ContactFilter { list: few, tag: tagged, unread: Some(false), ..ContactFilter::default() },
        ContactFilter { list: few, assigned_to: to, ..ContactFilter::default() },
        ContactFilter { tag: tagged, updated_since: since(200), ..ContactFilter::default() },
        ContactFilter { list: few, updated_since: since(0), ..ContactFilter::default() },
        ContactFilter { active_since: since(90), ..ContactFilter::default() },
        ContactFilter { active_since: since(0), list: half, ..ContactFilter::default() },
        ContactFilter {
            active_since: since(50),
            updated_since: since(150),
            is_ai_enabled: Some(true),
            ..ContactFilter::default()
        },
    ];
    let searches = ["", "a", "rara", "ana", "ana 69", "na r", "zzz"];
    let search = |text| SearchQuery::parse(text).expect("a search");
    exact
        .iter()
        .flat_map(|exact| {
            searches.map(|text| ContactFilter { search: search(text), ..exact.clone() })
        })
        .collect()
}

fn assert_same(ours: &ContactSlice, models: &ContactSlice, what: &str) {
    assert_eq!(ours.total, models.total, "total of {what}");
    let ids = |slice: &ContactSlice| -> Vec<_> {
        slice.records.iter().map(|record| record.contact.id).collect()
    };
    assert_eq!(ids(ours), ids(models), "{what}");
    assert_eq!(ours, models, "{what}");
}

async fn scene() -> (Scene, MemoryStore) {
    let (scene, model) = (Scene::new().await, MemoryStore::new());
    model.commit(ChangeSet::new().insert(company(1))).await.expect("new rows");
    // No contact of another company may appear.
    let neighbour = ChangeSet::new().insert(company(2));
    scene.store.commit(neighbour).await.expect("new rows");
    scene.store.commit(sets(company(2).id)).await.expect("new rows");
    scene.store.commit(contacts(company(2).id)).await.expect("new rows");
    for store in [&*scene.store as &dyn Store, &model] {
        store.commit(sets(scene.company)).await.expect("new rows");
        store.commit(contacts(scene.company)).await.expect("new rows");
    }
    (scene, model)
}

#[tokio::test]
async fn every_page_is_that_of_the_model() {
    let (scene, model) = scene().await;
    for filter in filters() {
        for (page, limit) in [(1, 1), (1, 50), (2, 50), (7, 100), (40, 13), (8, 100), (900, 100)] {
            let request = PageRequest { page, limit };
            let ours = scene.store.contact_page(scene.company, &filter, request, true).await;
            let models = model.contact_page(scene.company, &filter, request, true).await;
            let what = format!("{request:?} {filter:?}");
            assert_same(&ours.unwrap(), &models.unwrap(), &what);
        }
    }
}

#[tokio::test]
async fn every_part_of_an_export_is_that_of_the_model() {
    let (scene, model) = scene().await;
    for filter in filters() {
        let mut after = None;
        loop {
            let ours = scene.store.contact_export(scene.company, &filter, after, 97, false).await;
            let models = model.contact_export(scene.company, &filter, after, 97, false).await;
            let (ours, models) = (ours.unwrap(), models.unwrap());
            assert_same(&ours, &models, &format!("{after:?} {filter:?}"));
            match ours.records.last() {
                Some(last) if ours.more => after = Some(ExportPosition::of(&last.contact)),
                _ => break,
            }
        }
    }
}
