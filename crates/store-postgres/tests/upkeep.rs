//! Counters and housekeeping in the database.

mod support;

use std::time::Duration;

use recado_core::Timestamp;
use recado_core::access::{Gcra, Limiter, RateCheck, RateKey};
use recado_core::contacts::{
    Contact, ContactFilter, ContactReads, Identifier, InboxStatus, Platform,
};
use recado_core::ids::{CompanyId, ContactId, KeyId, ListId};
use recado_core::lists::{List, ListMember, ListReads};
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, Commit, RecordsExt, Upkeep};
use support::Database;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

fn contact(number: u32) -> Contact {
    let id = ContactId::new(Uuid::from_u128(u128::from(number) + 100));
    let identifier = Identifier::parse(&format!("c{number}")).expect("an identifier");
    Contact::new(id, company(), Platform::whatsapp(), identifier, None, NOW)
}

async fn with_contacts(count: u32) -> Database {
    let database = Database::fresh().await;
    let company = support::company(company(), NOW);
    database.store.commit(ChangeSet::new().insert(company)).await.expect("the company is new");
    for number in 0..count {
        let changes = ChangeSet::new().insert(contact(number));
        database.store.commit(changes).await.expect("the contact is new");
    }
    database
}

async fn count(database: &Database, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    database.client().await.query_one(&sql, &[]).await.expect("it is there").get(0)
}

async fn total(database: &Database, filter: &ContactFilter) -> u64 {
    let page = database.store.contact_page(company(), filter, PageRequest::FIRST, false).await;
    page.expect("the database works").total
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_that_follow_each_other_add_to_one_difference() {
    let database = with_contacts(40).await;
    assert_eq!(count(&database, "contact_facet_deltas").await, 1);
    assert_eq!(total(&database, &ContactFilter::default()).await, 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn upkeep_folds_the_counts_of_contacts() {
    let database = with_contacts(3).await;
    let open = ContactFilter { inbox_status: Some(InboxStatus::Open), ..ContactFilter::default() };
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!(count(&database, "contact_facet_deltas").await, 0);
    assert_eq!(total(&database, &open).await, 3);

    let stored = database.store.get::<Contact>((company(), contact(0).id)).await.unwrap().unwrap();
    let mut resolved = stored.value().clone();
    resolved.inbox_status = InboxStatus::Resolved;
    database.store.commit(ChangeSet::new().with(stored.update(resolved))).await.unwrap();
    assert_eq!(total(&database, &open).await, 2);
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!(count(&database, "contact_facet_deltas").await, 0);
    assert_eq!(total(&database, &open).await, 2);
    assert_eq!(total(&database, &ContactFilter::default()).await, 3);
}

/// R417.
#[tokio::test(flavor = "multi_thread")]
async fn the_total_is_exact_before_and_after_counts_are_folded() {
    let database = with_contacts(3).await;
    let all = ContactFilter::default();
    let folded = async || {
        let sql = "SELECT coalesce(sum(n), 0)::bigint FROM contact_totals";
        database.client().await.query_one(sql, &[]).await.expect("it is there").get::<_, i64>(0)
    };
    assert_eq!((folded().await, total(&database, &all).await), (0, 3));
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!((folded().await, total(&database, &all).await), (3, 3));

    database.store.commit(ChangeSet::new().insert(contact(3))).await.unwrap();
    let key = (company(), contact(0).id);
    let stored = database.store.get::<Contact>(key).await.unwrap().unwrap();
    let mut resolved = stored.value().clone();
    resolved.inbox_status = InboxStatus::Resolved;
    database.store.commit(ChangeSet::new().with(stored.update(resolved))).await.unwrap();
    let stored = database.store.get::<Contact>((company(), contact(1).id)).await.unwrap().unwrap();
    database.store.commit(ChangeSet::new().with(stored.delete())).await.unwrap();
    assert_eq!((folded().await, total(&database, &all).await), (3, 3));
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!((folded().await, total(&database, &all).await), (3, 3));
    let stored = database.store.get::<Contact>((company(), contact(2).id)).await.unwrap().unwrap();
    database.store.commit(ChangeSet::new().with(stored.delete())).await.unwrap();
    assert_eq!((folded().await, total(&database, &all).await), (3, 2));
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!((folded().await, total(&database, &all).await), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_moves_no_filtered_value_counts_nothing() {
    let database = with_contacts(1).await;
    database.store.upkeep(NOW).await.unwrap();
    let stored = database.store.get::<Contact>((company(), contact(0).id)).await.unwrap().unwrap();
    let mut renamed = stored.value().clone();
    renamed.name = "Ana".to_owned();
    database.store.commit(ChangeSet::new().with(stored.update(renamed))).await.unwrap();
    assert_eq!(count(&database, "contact_facet_deltas").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn upkeep_folds_the_counts_of_lists() {
    let database = with_contacts(5).await;
    let id = ListId::new(Uuid::from_u128(7));
    let list =
        List { id, company: company(), name: "VIP".to_owned(), is_active: true, created_at: NOW };
    let member = |number| ListMember { company: company(), list: id, contact: contact(number).id };
    let changes = (0..5).fold(ChangeSet::new().insert(list), |set, n| set.insert(member(n)));
    database.store.commit(changes).await.unwrap();
    assert_eq!(count(&database, "list_count_deltas").await, 1);
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!(count(&database, "list_count_deltas").await, 0);
    let (list, members) = database.store.list(company(), id).await.unwrap().unwrap();
    assert_eq!(members, 5);

    database.store.commit(ChangeSet::new().with(list.delete())).await.unwrap();
    assert_eq!(count(&database, "list_members").await, 0);
    assert_eq!(count(&database, "list_count_deltas").await, 1, "one for all that went with it");
}

#[tokio::test(flavor = "multi_thread")]
async fn upkeep_forgets_events_that_were_kept_for_thirty_days() {
    let database = with_contacts(0).await;
    let seed = "INSERT INTO connections SELECT id, id, 'qr', 'whatsapp', 'n', 'i', 'waha', '{}', \
                true, 'connected', 0, 0, 1 FROM companies; \
                INSERT INTO unknown_events SELECT id, md5('e' || i)::uuid, id, NULL, 'k', \
                'unknown_kind', 'gateway', 1790000000000 - i, NULL, '{}', 1 FROM companies, generate_series(0, 2) i";
    database.client().await.batch_execute(seed).await.unwrap();
    let days = Duration::from_secs(30 * 24 * 3600);
    for (after, left) in [(0, 2), (1, 1), (2, 0)] {
        let now = NOW.plus(days).minus(Duration::from_millis(2)).plus(Duration::from_millis(after));
        database.store.upkeep(now).await.unwrap();
        assert_eq!(count(&database, "unknown_events").await, left, "after {after}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn upkeep_forgets_allowances_that_are_whole_again_and_no_others() {
    let database = Database::fresh().await;
    let limiter = database.store.limiter();
    let check = |key: u128, rate| RateCheck {
        key: RateKey::Calls(KeyId::new(Uuid::from_u128(key))),
        allowance: Gcra::per_minute(rate),
    };
    limiter.check(&[check(1, 60)], NOW).await.unwrap();
    limiter.check(&[check(2, 1)], NOW).await.unwrap();
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!(count(&database, "rate_limits").await, 2);
    database.store.upkeep(NOW.plus(Duration::from_secs(1))).await.unwrap();
    assert_eq!(count(&database, "rate_limits").await, 1);
    database.store.upkeep(NOW.plus(Duration::from_secs(60))).await.unwrap();
    assert_eq!(count(&database, "rate_limits").await, 0);
}

/// The locks that `upkeep.rs` names.
const FOLDING: i64 = 0x7265_6361_646f_0002;
const TURN: i64 = 0x7265_6361_646f_0003;

/// How many processes hold or want the turn.
async fn turns(database: &Database) -> i64 {
    let sql = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 \
               AND (classid::bigint << 32 | objid::bigint) = $1 \
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    database.client().await.query_one(sql, &[&TURN]).await.expect("an answer").get(0)
}

/// R452.
#[tokio::test(flavor = "multi_thread")]
async fn upkeep_is_left_to_the_process_that_is_doing_it() {
    let database = with_contacts(3).await;
    let other = database.client().await;
    other.execute("SELECT pg_advisory_lock($1)", &[&TURN]).await.unwrap();
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!(count(&database, "contact_facet_deltas").await, 1);
    other.execute("SELECT pg_advisory_unlock($1)", &[&TURN]).await.unwrap();
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!(count(&database, "contact_facet_deltas").await, 0);
    assert_eq!(turns(&database).await, 0, "nobody keeps the turn");
}

/// R452.
#[tokio::test(flavor = "multi_thread")]
async fn folding_does_not_wait_for_the_removal_of_a_company() {
    let database = with_contacts(3).await;
    let mut other = database.client().await;
    let removal = other.transaction().await.unwrap();
    removal.execute("SELECT pg_advisory_xact_lock($1)", &[&FOLDING]).await.unwrap();
    let upkeep = tokio::time::timeout(Duration::from_secs(20), database.store.upkeep(NOW));
    upkeep.await.expect("it does not wait").unwrap();
    assert_eq!(count(&database, "contact_facet_deltas").await, 1);
    removal.commit().await.unwrap();
    database.store.upkeep(NOW).await.unwrap();
    assert_eq!(count(&database, "contact_facet_deltas").await, 0);
}

/// R452.
#[tokio::test(flavor = "multi_thread")]
async fn upkeep_that_is_cut_short_leaves_the_turn_to_others() {
    let database = with_contacts(3).await;
    let mut other = database.client().await;
    let holding = other.transaction().await.unwrap();
    holding.execute("LOCK TABLE rate_limits IN ACCESS EXCLUSIVE MODE", &[]).await.unwrap();
    let store = database.store.clone();
    let upkeep = tokio::spawn(async move { store.upkeep(NOW).await });
    support::until_waiting(&database.client().await, 1).await;
    assert_eq!(turns(&database).await, 1);
    upkeep.abort();
    assert!(upkeep.await.unwrap_err().is_cancelled());
    holding.commit().await.unwrap();
    let free = async {
        while turns(&database).await > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), free).await.expect("the turn is free again");
}
